from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from experiments.paper_lines import line, row

from btai.errors import RunFileError
from btai.experiments import RunFile, Summary
from btai.experiments.paper import ROWS, Row, reproduce

FAST = [replace(row("BTAI_BF", 8), planning=2), replace(row("BTAI_3MF", 8), planning=2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def test_each_line_has_the_trials_that_its_agent_needs(folder: Path) -> None:
    flat, factored = reproduce(folder, quick=True, rows=FAST)
    assert (flat.random.summary.trials, flat.all_starts, flat.whole) == (100, None, flat.random)
    assert factored.all_starts is not None
    assert (factored.random.summary.trials, factored.all_starts.summary.trials) == (100, 3072)
    assert (factored.all_starts.summary.exhaustive, factored.whole) == (True, factored.all_starts)
    agent, env = flat.random.configuration["agent"], flat.random.configuration["environment"]
    assert agent["class"].endswith("ToldFirstCell")
    assert agent["agent"]["class"].endswith("BTAI_BF")
    assert (agent["agent"]["max_planning_steps"], env["env"]["max_cycles"]) == (2, 20)


def test_thousand_random_trials_begin_with_the_papers_hundred(folder: Path) -> None:
    (quick,) = reproduce(folder, quick=True, rows=FAST[:1])
    (whole,) = reproduce(folder, rows=FAST[:1])
    assert whole.random.summary.trials == 1000
    assert [t.actions for t in whole.random.trials[:100]] == [t.actions for t in quick.random.trials]
    assert whole.sample_score(0.0) == quick.score(0.0)


def test_workers_make_no_difference(tmp_path: Path, folder: Path) -> None:
    alone, shared = (list(reproduce(f, quick=True, rows=FAST[:1], workers=w)) for f, w in ((folder, 1), (tmp_path, 2)))
    assert [t.actions for t in alone[0].random.trials] == [t.actions for t in shared[0].random.trials]


def test_line_with_other_ties_is_run_with_them(folder: Path) -> None:
    (first,) = reproduce(folder, quick=True, rows=[replace(row("BTAI_3MF", 1, 100, "first"), planning=2)])
    assert first.random.configuration["agent"]["ties"] == "first"
    assert first.random.path == folder / "BTAI_3MF-g1-n2-ties-first-random-100.sqlite"


# --- scores by hand ---------------------------------------------------------------------------------------------------


def test_unfinished_trials_are_counted_both_ways() -> None:
    flat = line(row("BTAI_BF", 8))  # of 100: 90 of reward 1, 4 of reward -1, 6 unfinished
    assert flat.score(-1.0).p_solved == pytest.approx((90 - 4 - 6 + 100) / 200)
    assert flat.score(0.0).p_solved == pytest.approx((90 - 4 + 100) / 200)
    assert flat.score(0.0) == flat.sample_score(0.0)


def test_intervals_are_those_of_each_score() -> None:
    low, high = line(row("BTAI_BF", 8)).score(-1.0).interval
    assert (low, high) == pytest.approx((0.82563, 0.94477), abs=1e-5)  # Wilson's, of 90 successes in 100
    assert line(row("BTAI_3MF", 8)).score(-1.0) == (1.0, (1.0, 1.0))  # every start
    assert line(row("BTAI_3MF", 8)).sample_score(-1.0).interval == pytest.approx((low, high))


def test_speed_is_that_of_the_trials_run_one_at_a_time() -> None:
    factored = replace(line(row("BTAI_3MF", 8), seconds=0.5), random=line(row("BTAI_3MF", 8), seconds=0.004).random)
    assert factored.seconds == pytest.approx(0.004)
    assert factored.times_faster_than(0.31) == pytest.approx(77.5)
    assert factored.times_faster_than(None) is None


# --- interruptions ----------------------------------------------------------------------------------------------------


def test_interrupted_reproduction_goes_on(tmp_path: Path) -> None:
    heard: list[tuple[str, str, int]] = []

    def stop_in_the_second(row: Row, kind: str):  # type: ignore[no-untyped-def]
        def report(summary: Summary, _total: int) -> None:
            heard.append((row.agent, kind, summary.trials))
            if row.agent == "BTAI_3MF" and summary.trials == 5:
                raise KeyboardInterrupt

        return report

    with pytest.raises(KeyboardInterrupt):
        list(reproduce(tmp_path, quick=True, rows=FAST, progress_of=stop_in_the_second))
    assert heard[-1] == ("BTAI_3MF", "random-100", 5)
    heard.clear()
    lines = list(reproduce(tmp_path, quick=True, rows=FAST, progress_of=lambda r, k: count(heard, r, k)))
    assert heard[:2] == [("BTAI_BF", "random-100", 100), ("BTAI_3MF", "random-100", 5)]
    results = [run for line in lines for run in (line.random, line.all_starts) if run]
    assert sorted(tmp_path.iterdir()) == sorted(run.path for run in results if run.path)
    for run in results:
        assert run.path is not None
        with RunFile.open(run.path) as file:
            assert file.summary() == run.summary


def count(heard: list[tuple[str, str, int]], row: Row, kind: str):  # type: ignore[no-untyped-def]
    return lambda summary, _total: heard.append((row.agent, kind, summary.trials))


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFileError, match="cannot be made"):
        list(reproduce(tmp_path / "file" / "runs", quick=True))


# --- the paper's last table -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_line_of_the_last_table_solves_all_that_can_be_solved(tmp_path: Path) -> None:
    solvable = {8: 0.890625, 4: 0.9765625, 2: 0.99609375, 1: 1.0}
    lines = list(reproduce(tmp_path, quick=True, rows=[row for row in ROWS if row.table == 4]))
    for done in lines:
        expected = solvable[done.row.granularity] if done.row.ties == "cost" else 0.78125
        assert done.score(-1.0).p_solved == expected
        low, high = done.sample_score(-1.0).interval
        assert low <= expected <= high
