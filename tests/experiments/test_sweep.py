"""Sweeps on processes of this machine; those that are killed at random are in test_sweep_crash.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from experiments.corridor import Corridor, Drunkard, contents, corridor_slice, rows_in, without_clocks
from experiments.sweeps import (
    AGENTS,
    TRIALS,
    Here,
    cells,
    cells_of,
    failures,
    first_start_in_cell_3,
    processes,
    three_cells,
)

import btai
from btai.envs import Registered
from btai.errors import BtaiError, PlanningError, RunFileError, SweepError
from btai.experiments import RunFile, run
from btai.experiments.sweeps import Shard, SweepProgress, grid, merge, sweep


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sweep done by one worker without a break."""
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    sweep(cells(), path, processes(1))
    return path


def test_each_cell_is_a_run_of_its_own(whole: Path) -> None:
    with RunFile.open(whole) as file:
        assert len(file.runs) == 12
        for kept in file.runs:
            cell = kept.config["cell"]
            agent, env = Drunkard(cell["agent"]["bias"]), Corridor(cell["environment"]["length"])
            alone = run(agent, env, trials=TRIALS, seed=cell["seed"])
            assert [without_clocks(trial) for trial in kept.trials()] == contents(alone)
            assert alone.configuration.items() <= kept.config.items()


def test_number_of_workers_makes_no_difference(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "sweep.sqlite"
    sweep(cells(), path, processes(3))
    assert rows_in(path) == rows_in(whole)
    assert list(tmp_path.iterdir()) == [path]


def test_cycles_are_recorded_if_asked_for(tmp_path: Path) -> None:
    asked = cells_of(environment={"name": "corridor"}, agent={"name": "planning"}, trials=4, record=True)
    sweep(asked, tmp_path / "sweep.sqlite", processes(2))
    with RunFile.open(tmp_path / "sweep.sqlite") as file:
        for kept in file.runs:
            for trial in kept.trials():
                assert tuple(c.action for c in kept.cycles(trial.index)) == (*trial.actions, None)


def test_progress_is_that_of_the_whole_grid(tmp_path: Path) -> None:
    heard: list[SweepProgress] = []
    sweep(cells(agent="stumbling"), tmp_path / "sweep.sqlite", processes(2), progress=heard.append)
    assert heard[0] == SweepProgress(0, 12 * TRIALS, 0, 12, 0)
    with RunFile.open(tmp_path / "sweep.sqlite") as file:
        kept = sum(len(r.done()) for r in file.runs)
        failed = sum(r.failure is not None for r in file.runs)
    assert 0 < failed < 12
    assert heard[-1] == SweepProgress(kept, 12 * TRIALS, 12, 12, failed)


# --- breaking off and going on ----------------------------------------------------------------------------------------


def test_sweep_goes_on_where_it_was_broken_off(whole: Path, tmp_path: Path) -> None:
    def stop(progress: SweepProgress) -> None:
        if progress.trials == 30:
            raise KeyboardInterrupt

    path = tmp_path / "sweep.sqlite"
    with pytest.raises(KeyboardInterrupt):
        sweep(cells(), path, processes(2), progress=stop)
    heard: list[SweepProgress] = []
    sweep(cells(), path, processes(2), progress=heard.append)
    assert (heard[0].trials, heard[-1].trials) == (30, 12 * TRIALS)
    assert rows_in(path) == rows_in(whole)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": [3, 5]}, r"cell\.seed of run 1 is 4 there and 5 now"),
        ({"seed": 3}, "another sweep: of 12 runs, and 6 now"),
        ({"trials": 7}, "trials of run 0 is 8 there and 7 now"),
    ],
)
def test_another_sweep_is_not_mixed_into_a_file(whole: Path, changes: dict[str, Any], message: str) -> None:
    before = whole.read_bytes()
    with pytest.raises(RunFileError, match=message):
        sweep(cells(**changes), whole, processes(1))
    assert whole.read_bytes() == before


def test_workers_with_another_btai_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("btai.experiments.sweeps.driver.code_version", lambda: "0.0.1")
    message = rf"btai of run 0 is '{btai.__version__}' there and '0\.0\.1' now\. Use the same versions of all programs"
    with pytest.raises(RunFileError, match=message):
        sweep(cells(), tmp_path / "sweep.sqlite", Here)


# --- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["stumbling", "killed"])
def test_cell_that_fails_is_kept_with_its_reason_and_the_others_go_on(tmp_path: Path, agent: str) -> None:
    some = three_cells(agent)
    paths = [tmp_path / f"{workers}.sqlite" for workers in (1, 2)]
    for workers, path in enumerate(paths, 1):
        sweep(some, path, processes(workers))
    expected = [first_start_in_cell_3(7, seed) for seed in (3, 4, 5)]
    found = failures(paths[0])
    assert found
    assert [found[run][0] if run in found else None for run in range(3)] == expected
    with RunFile.open(paths[0]) as file:
        kept = [sorted(r.done()) for r in file.runs]
    assert kept == [list(range(TRIALS if trial is None else trial)) for trial in expected]
    for trial, reason in found.values():
        if agent == "killed":
            assert reason == "3 workers ended before it was done (killed by SIGKILL)."
        else:
            assert reason.startswith("Traceback (most recent call last):\n")
            assert "ValueError: stumbled in cell 3\n" in reason
            assert f"In trial {trial} (seed " in reason
    assert rows_in(paths[0]) == rows_in(paths[1])


def test_same_command_tries_again_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, mended = tmp_path / "sweep.sqlite", tmp_path / "mended"
    monkeypatch.setenv("REPAIRED", str(mended))
    sweep(cells(agent="repaired"), path, processes(2))
    first = failures(path)
    assert first
    sweep(cells(agent="repaired"), path, processes(2))
    assert failures(path) == first
    mended.touch()
    sweep(cells(agent="repaired"), path, processes(2))
    assert failures(path) == {}
    never = tmp_path / "never.sqlite"
    sweep(cells(agent="repaired"), never, processes(2))
    assert rows_in(path) == rows_in(never)


def test_agent_that_cannot_be_made_fails_in_its_cells_only(tmp_path: Path) -> None:
    some = cells(agent="too_large", seed=3, trials=2)
    sweep(some, tmp_path / "sweep.sqlite", processes(2))
    found = failures(tmp_path / "sweep.sqlite")
    assert list(found) == [i for i, cell in enumerate(some) if cell.chosen["agent"]["bias"] == 0.5]
    assert all(trial == 0 and reason.endswith("MemoryError: too large\n") for trial, reason in found.values())


def test_workers_that_cannot_even_begin_end_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text("import os\nos._exit(7)\n")
    with pytest.raises(BtaiError, match=r"3 worker processes ended .* before they could begin \(exit code 7\)"):
        sweep(cells(), tmp_path / "sweep.sqlite", processes(2))


# --- shards -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("shards")
    paths = [folder / f"{i}.sqlite" for i in (1, 2, 3)]
    for i, path in enumerate(paths, 1):
        sweep(cells(), path, processes(1), shard=Shard(i, 3))
    return paths


def test_shards_share_the_cells_without_overlap(shards: list[Path]) -> None:
    for i, path in enumerate(shards):
        with RunFile.open(path) as file:
            assert [r.number for r in file.runs if r.done()] == list(range(i, 12, 3))


def test_merged_shards_are_the_whole(whole: Path, shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "merged.sqlite"
    merge(out, shards[2:])
    merge(out, [shards[0], out, shards[1], shards[2]])  # what is there stays, once
    assert rows_in(out) == rows_in(whole)
    assert list(tmp_path.iterdir()) == [out]


def test_merged_file_can_be_completed(whole: Path, shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "merged.sqlite"
    merge(out, shards[:2])
    heard: list[SweepProgress] = []
    sweep(cells(), out, processes(1), progress=heard.append)
    assert heard[0].cells == 8
    assert rows_in(out) == rows_in(whole)


def test_merge_refuses_shards_of_another_grid_and_writes_nothing(shards: list[Path], tmp_path: Path) -> None:
    other, fewer = tmp_path / "other.sqlite", tmp_path / "fewer.sqlite"
    sweep(cells(seed=[3, 5]), other, processes(1), shard=Shard(12, 12))
    sweep(cells(seed=3), fewer, processes(1), shard=Shard(6, 6))
    with pytest.raises(
        RunFileError, match=r"other\.sqlite is of another sweep than .*: cell\.seed of run 1 is 5, not 4"
    ):
        merge(tmp_path / "merged.sqlite", [*shards, other])
    with pytest.raises(RunFileError, match="it has 6 cells, not 12"):
        merge(tmp_path / "merged.sqlite", [*shards, fewer])
    assert not (tmp_path / "merged.sqlite").exists()


def test_merge_needs_a_shard(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="no other file was given"):
        merge(tmp_path / "merged.sqlite", [tmp_path / "merged.sqlite"])


def test_failure_is_merged_unless_another_shard_has_got_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPAIRED", str(tmp_path / "mended"))
    failing, mended = tmp_path / "failing.sqlite", tmp_path / "mended.sqlite"
    sweep(cells(agent="repaired"), failing, processes(1))
    (tmp_path / "mended").touch()
    sweep(cells(agent="repaired"), mended, processes(1), shard=Shard(1, 2))
    merge(tmp_path / "one.sqlite", [failing, mended])
    merge(tmp_path / "two.sqlite", [mended, failing])
    expected = {run: failure for run, failure in failures(failing).items() if run % 2 == 1}
    assert expected
    assert failures(tmp_path / "one.sqlite") == failures(tmp_path / "two.sqlite") == expected
    assert rows_in(tmp_path / "one.sqlite") == rows_in(tmp_path / "two.sqlite")


@pytest.mark.parametrize(("index", "count"), [(0, 2), (3, 2), (1, 0)])
def test_shard_that_cannot_be_is_refused(index: int, count: int) -> None:
    with pytest.raises(SweepError, match=rf"shard: {index}/{count} was given; i/n with i from 1 to n is required"):
        Shard(index, count)


def test_sweep_that_other_processes_cannot_be_given_is_refused_by_name(tmp_path: Path) -> None:
    registered = Registered("e", lambda: Corridor(), corridor_slice)  # which cannot be sent
    some = grid({"environment": {"name": "e"}, "agent": {"name": "drunkard"}}, {"e": registered}, AGENTS)
    with pytest.raises(PlanningError, match=r"agent: .* cannot be sent to another process .*top of a module"):
        sweep(some, tmp_path / "sweep.sqlite")
    assert list(tmp_path.iterdir()) == []
    sweep(some, tmp_path / "sweep.sqlite", Here)  # which sends nothing
