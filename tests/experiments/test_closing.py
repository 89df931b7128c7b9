"""What a run makes it closes, whatever happens, in every process; what it is given stays open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from experiments.corridor import Corridor, Rightwards, Stumbling, compiled_planner, corridor_slice
from experiments.sweeps import Here

from btai.envs import Registered
from btai.errors import BtaiError
from btai.experiments import run
from btai.experiments.sweeps import Processes, grid, sweep
from btai.experiments.team import Executor


class Door(Corridor):
    """Notes in a file that it is opened and closed."""

    def __init__(self, log: str, length: int = 7) -> None:
        super().__init__(length)
        self._log = Path(log)
        self._note("opened")

    def close(self) -> None:
        self._note("closed")

    def _note(self, what: str) -> None:
        with self._log.open("a") as file:
            file.write(f"{what}\n")


class Locked(Door):
    """Cannot be begun."""

    def reset(self, seed: int | None = None, state: Any = None) -> dict[str, int]:
        raise ValueError("locked")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def doors(log: Path) -> tuple[int, int]:
    """How many were opened and closed."""
    notes = log.read_text().split()
    return notes.count("opened"), notes.count("closed")


@pytest.mark.parametrize(
    ("agent", "options", "number"),
    [
        (Rightwards, {}, 1),
        (Rightwards, {"exhaustive": True}, 1),
        (compiled_planner, {"batch": 3}, 3),
        (Rightwards, {"workers": 2}, 3),
    ],
)
def test_environments_that_a_run_makes_are_closed(
    log: Path, agent: Callable[[], Any], options: dict[str, Any], number: int
) -> None:
    run(agent, partial(Door, str(log)), 4, **options)
    assert doors(log) == (number, number)


def cannot_begin(log: Path) -> None:
    run(Rightwards, partial(Locked, str(log)), 4)


def cannot_begin_in_a_batch(log: Path) -> None:
    run(compiled_planner, partial(Locked, str(log)), 4, batch=2)


def stumbles_in_another_process(log: Path) -> None:
    run(Stumbling, partial(Door, str(log)), exhaustive=True, workers=2)


def is_not_the_run_of_the_file(log: Path) -> None:
    out = log.with_name("run.sqlite")
    run(Rightwards, Corridor, 4, out=out)
    run(Rightwards, partial(Door, str(log)), 4, out=out)


@pytest.mark.parametrize(
    "fails",
    [
        cannot_begin,
        cannot_begin_in_a_batch,
        stumbles_in_another_process,
        is_not_the_run_of_the_file,
    ],
)
def test_environments_are_closed_when_the_run_fails(log: Path, fails: Callable[[Path], None]) -> None:
    with pytest.raises((BtaiError, ValueError)):
        fails(log)
    opened, closed = doors(log)
    assert opened == closed > 0


def test_batch_that_is_given_one_environment_twice_closes_it(log: Path) -> None:
    door = Door(str(log))
    with pytest.raises(BtaiError, match="gave the same object twice"):
        run(compiled_planner, lambda: door, 4, batch=2)
    assert "closed" in log.read_text()


def test_environment_that_was_given_stays_open(log: Path) -> None:
    door = Door(str(log))
    run(Rightwards, door, 2)
    run(compiled_planner, door, 2, batch=1)
    assert doors(log) == (1, 0)


@pytest.mark.parametrize("executor", [Here, partial(Processes, workers=2)])
def test_sweep_closes_the_environments_of_its_cells(log: Path, executor: Executor) -> None:
    cells = grid(
        {
            "environment": {"name": "door", "log": str(log), "length": [4, 5, 6]},
            "agent": {"name": "right"},
            "trials": 2,
        },
        {"door": Registered("door", Door, corridor_slice)},
        {"right": rightwards},
    )
    assert doors(log) == (3, 3)  # each was made once to see whether it can be
    sweep(cells, log.with_name("sweep.sqlite"), executor)
    opened, closed = doors(log)
    assert opened > 3
    assert closed == opened - (executor is Here)  # which lives on, with the last


def rightwards(ts: Any) -> Rightwards:
    return Rightwards()
