"""Grids as they are written down: what comes of them, and what is said of those that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from experiments.sweeps import AGENTS, ENVIRONMENTS

from btai.agents import BTAI_3MF
from btai.envs.dsprites import dSpritesPreProcessingWrapper
from btai.errors import SweepError
from btai.experiments.sweeps import Cell, grid, read_grid

GRID = """
seed = [1, 2]
trials = 5
max_cycles = 20

[environment]
name = "dsprites"
granularity = [8, 4]

[[agent]]
name = "BTAI_3MF"
max_planning_steps = [10, 20]
ties = ["cost", "first"]

[[agent]]
name = ["BTAI_BF", "BTAI_VMP"]
precision = 2.0
"""


def read(tmp_path: Path, text: str) -> list[Cell]:
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    return read_grid(path)


def test_lists_make_the_grid_the_last_varying_fastest(tmp_path: Path) -> None:
    cells = read(tmp_path, GRID)
    assert len(cells) == 2 * (2 * 2 + 2) * 2
    named = {"name": "dsprites", "granularity": 8}
    agents = [
        {"name": "BTAI_3MF", "max_planning_steps": 10, "ties": "cost"},
        {"name": "BTAI_3MF", "max_planning_steps": 10, "ties": "first"},
        {"name": "BTAI_3MF", "max_planning_steps": 20, "ties": "cost"},
        {"name": "BTAI_3MF", "max_planning_steps": 20, "ties": "first"},
        {"name": "BTAI_BF", "precision": 2.0},
        {"name": "BTAI_VMP", "precision": 2.0},
    ]
    expected = [{"environment": named, "agent": agent, "seed": seed} for agent in agents for seed in (1, 2)]
    assert [cell.chosen for cell in cells[:12]] == expected
    assert cells[12].chosen["environment"]["granularity"] == 4


def test_cell_makes_what_it_says(tmp_path: Path) -> None:
    cell = read(tmp_path, GRID)[5]
    runner = cell.setup.runner()
    assert isinstance(runner.env, dSpritesPreProcessingWrapper)
    assert isinstance(runner.agent, BTAI_3MF)
    assert (runner.env.task.granularity, runner.agent.max_planning_steps, runner.agent.options.ties) == (8, 20, "cost")
    assert (cell.seed, cell.setup.max_cycles, len(list(cell.jobs()))) == (2, 20, 5)


def test_same_makings_are_equal_though_the_seeds_differ(tmp_path: Path) -> None:
    one, two, three = read(tmp_path, GRID)[:3]
    assert one.setup == two.setup != three.setup
    assert hash(one.setup) == hash(two.setup)


def test_defaults_are_those_of_run() -> None:
    (cell,) = grid({"environment": {"name": "tiger"}, "agent": {"name": "BTAI_3MF"}})
    assert (cell.seed, cell.trials, cell.starts, cell.setup.max_cycles, cell.setup.record) == (
        0,
        100,
        None,
        1000,
        False,
    )


def test_exhaustive_takes_every_start() -> None:
    document = {
        "environment": {"name": "corridor", "length": [3, 5]},
        "agent": {"name": "drunkard"},
        "exhaustive": True,
    }
    cells = grid(document, ENVIRONMENTS, AGENTS)
    assert [cell.trials for cell in cells] == [3, 5]
    assert [job.start for job in cells[0].jobs()] == [(1,), (2,), (3,)]
    assert cells[0].configuration()["starts"].startswith("sha256:")


TIGER: dict[str, Any] = {"environment": {"name": "tiger"}, "agent": {"name": "BTAI_3MF"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"planning": 3}, "planning: a sweep has no such key; it has environment, agent, seed, trials, exhaustive"),
        ({"environment": None}, r"environment: nothing was given; a section \[environment\] with a name"),
        ({"agent": "BTAI_3MF"}, r"agent: 'BTAI_3MF' was given; a section \[agent\]"),
        ({"agent": []}, r"agent: \[\] was given; a section \[agent\]"),
        ({"agent": {}}, "agent.name: nothing was given; one of BTAI_3MF, BTAI_BF, BTAI_VMP is required"),
        ({"environment": {"name": "chess"}}, "environment.name: 'chess' was given; environment is one of dsprites, "),
        ({"agent": {"name": ["BTAI_3MF", 5]}}, "agent.name: 5 was given; agent is one of BTAI_3MF, "),
        ({"agent": {"name": "BTAI_3MF", "rng": 3}}, "agent.rng: BTAI_3MF has no such key; it has max_planning_steps, "),
        (
            {"agent": [{"name": "BTAI_3MF"}, {"name": "BTAI_BF", "inference": "exact"}]},
            r"agent\[1\].inference: BTAI_BF has no such key; it has max_planning_steps, ",
        ),
        (
            {"agent": {"name": "BTAI_3MF", "max_planning_steps": [10, "many"]}},
            "agent: max_planning_steps: 'many' was given; a whole number of at least 1 is required",
        ),
        (
            {"agent": {"name": "BTAI_VMP", "ties": "last"}},
            "agent: ties: 'last' was given; it must be one of 'cost', 'first'",
        ),
        (
            {"agent": {"name": "BTAI_3MF", "engine": "steam"}},
            "agent: engine: 'steam' was given; it must be one of 'compiled', 'numpy'",
        ),
        ({"agent": {"name": "BTAI_3MF", "exp_const": []}}, "agent.exp_const: an empty list was given; at least one"),
        ({"agent": {"name": "BTAI_3MF", "exp_const": [[1.0]]}}, r"agent.exp_const: \[1.0\] was given; text, a number"),
        ({"agent": {"name": "BTAI_3MF", "exp_const": [1, 1.0]}}, "agent.exp_const: 1.0 was given twice"),
        (
            {"agent": [{"name": "BTAI_3MF", "exp_const": [2, 1]}, {"name": "BTAI_3MF", "exp_const": 1.0}]},
            r"agent\[1\]: .* is in agent\[0\] already",
        ),
        (
            {"environment": {"name": "dsprites", "granularity": 3}},
            "environment: granularity is 3: it must be 1, 2, 4 or 8",
        ),
        ({"seed": [0, -1]}, "seed: -1 was given; a whole number of at least 0 is required"),
        ({"seed": True}, "seed: True was given; a whole number"),
        ({"trials": [1, 2]}, r"trials: \[1, 2\] was given; a whole number of at least 1 is required"),
        ({"max_cycles": 0}, "max_cycles: 0 was given"),
        ({"record": 1}, "record: 1 was given; true or false is required"),
        ({"exhaustive": True, "trials": 3}, "trials: given with exhaustive = true"),
        (
            {"environment": {"name": "frozenlake"}, "exhaustive": True},
            r"environment: .* has no initial_states\(\)",
        ),
        ({"seed": list(range(100_001))}, "the grid has 100,001 cells or more; 100,000 are allowed"),
        (
            {"agent": {"name": "BTAI_3MF", "exp_const": list(range(400)), "max_planning_steps": list(range(400))}},
            "the grid has 160,000 cells or more",
        ),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SweepError, match=f"^here: {message}"):
        grid(TIGER | changes, where="here: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"seed = [", "sweep.toml: this is no TOML file: "),
        (b"\xff", "sweep.toml: this is no TOML file: .*utf-8"),
        (b"seed = " + b"[" * 100_000, "sweep.toml: this is no TOML file: "),
        (b"#" * (2**20 + 1), "sweep.toml: more than 1,048,576 bytes were given"),
        (b"agents = 1", "sweep.toml: agents: a sweep has no such key"),
    ],
)
def test_file_that_describes_no_sweep_is_refused_by_its_name(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "sweep.toml"
    path.write_bytes(content)
    with pytest.raises(SweepError, match=message):
        read_grid(path)


def test_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match=r"nothing\.toml: cannot be read \(No such file"):
        read_grid(tmp_path / "nothing.toml")
