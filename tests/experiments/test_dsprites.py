from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from btai.agents import BTAI_3MF
from btai.errors import RunFileError
from btai.experiments import RunFile, Summary, run
from btai.experiments.dsprites import PAPER, Row, make_agent, make_env, reproduce

# P(solved) of whoever always reaches the goal it perceives, by the rewards alone: over every fourth x and y, and over
# all. At granularity g the goal's cell holds g columns, of which those passed on the way down earn less than 1.
EXACT = {8: (0.875, 0.890625), 4: (0.96875, 0.9765625), 2: (1.0, 0.99609375), 1: (1.0, 1.0)}
TIES_FIRST = 0.78125  # over all starts, with 100 iterations at granularity 1


def test_table_of_the_paper_is_there_in_full() -> None:
    assert [(row.granularity, row.planning, row.paper) for row in PAPER if row.ties == "cost"] == [
        (8, 50, 0.895),
        (4, 50, 0.977),
        (2, 50, 0.996),
        (1, 50, 0.72),
        (1, 100, 0.77),
        (1, 150, 1.0),
    ]


def test_every_line_solves_all_that_can_be_solved(tmp_path: Path) -> None:
    lines = list(reproduce(tmp_path, quick=True))
    assert [line.row for line in lines] == list(PAPER)
    for line in lines[:-1]:
        assert line.all_starts.summary.trials == 3 * 8 * 8
        assert line.random.summary.trials == 100
        assert line.all_starts.summary.p_solved == EXACT[line.row.granularity][0]
        low, high = line.random.summary.interval or (1, 0)
        assert low <= EXACT[line.row.granularity][1] <= high
    low, high = lines[-1].random.summary.interval or (1, 0)
    assert low <= TIES_FIRST <= high


@pytest.mark.parametrize(("granularity", "planning"), [(8, 50), (4, 50), (2, 50), (1, 25), (1, 50), (1, 100), (1, 150)])
def test_every_start_gives_the_exact_figure(granularity: int, planning: int) -> None:
    summary = from_every_start(granularity, planning)
    assert (summary.trials, summary.p_solved) == (3072, EXACT[granularity][1])
    if planning >= 100:
        assert summary.cycles_mean == 4.875  # no agent can be faster


def test_ties_that_go_to_the_first_action_solve_less() -> None:
    assert from_every_start(1, 100, ties="first").p_solved == TIES_FIRST


def from_every_start(granularity: int, planning: int, ties: str = "cost") -> Summary:
    agent, env = partial(make_agent, granularity, planning, ties=ties), partial(make_env, granularity)
    return run(agent, env, exhaustive=True, batch=512).summary


class Forgetful:
    """Infers from the initial prior in every cycle, whatever it has done before."""

    def __init__(self, agent: BTAI_3MF) -> None:
        self.agent = agent

    def reset(self, obs: dict[str, int]) -> None:
        self.agent.reset(obs)

    def step(self) -> int:
        return self.agent.step()

    def update(self, _action: int, obs: dict[str, int]) -> None:
        self.agent.reset(obs)


@pytest.mark.slow
def test_papers_figure_comes_about_where_every_cycle_infers_from_the_initial_prior() -> None:
    forgetful = run(Forgetful(make_agent(1, 50)), make_env(1), exhaustive=True).summary
    assert forgetful.p_solved == 0.71875


def test_interrupted_reproduction_goes_on(tmp_path: Path) -> None:
    rows = [Row(8, 2, 0.895), Row(4, 2, 0.977)]
    heard: list[tuple[int, str, int]] = []

    def stop_in_the_second(row: Row, kind: str):  # type: ignore[no-untyped-def]
        def report(summary: Summary, _total: int) -> None:
            heard.append((row.granularity, kind, summary.trials))
            if row.granularity == 4 and summary.trials == 5:
                raise KeyboardInterrupt

        return report

    with pytest.raises(KeyboardInterrupt):
        list(reproduce(tmp_path, quick=True, rows=rows, progress_of=stop_in_the_second))
    assert heard[-1] == (4, "quick", 5)
    lines = list(reproduce(tmp_path, quick=True, rows=rows))
    assert sorted(tmp_path.iterdir()) == sorted(
        result.path for line in lines for result in (line.all_starts, line.random) if result.path
    )
    for line in lines:
        assert line.all_starts.path is not None
        with RunFile.open(line.all_starts.path) as file:
            assert file.summary() == line.all_starts.summary


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFileError, match="cannot be made"):
        list(reproduce(tmp_path / "file" / "runs", quick=True))
