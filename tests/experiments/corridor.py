"""A small environment and small agents to run experiments with; importable, so that worker processes find them."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from btai.agents import BTAI_3MF
from btai.experiments import RunResult, Trial
from btai.model import TemporalSlice, TemporalSliceBuilder

LENGTH = 7


class Corridor:
    """Cells 1 .. 7 in a row; leaving it on the right earns 1, on the left -1."""

    def __init__(self, length: int = LENGTH) -> None:
        self.length = length
        self.cell = 1

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        if state is None:
            state = [int(np.random.default_rng(seed).integers(1, self.length + 1))]
        (self.cell,) = state
        return {"O_cell": self.cell}

    def execute(self, action: int) -> dict[str, int]:
        self.cell += 1 if action == 1 else -1
        return {"O_cell": self.cell}

    def done(self) -> bool:
        return not 1 <= self.cell <= self.length

    def get_reward(self) -> float:
        return 0.0 if not self.done() else 1.0 if self.cell > 0 else -1.0

    @property
    def state(self) -> tuple[int]:
        return (self.cell,)

    def initial_states(self) -> list[tuple[int]]:
        return [(cell,) for cell in range(1, self.length + 1)]


class Swamp(Corridor):
    """Who starts in cell 1 sinks, slowly: all the others have left the corridor by then."""

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        obs = super().reset(seed, state)
        if self.cell == 1:
            time.sleep(1)
            raise RuntimeError("lost in the swamp")
        return obs


class Drunkard:
    """Walks at random; every step depends on the seed and on what was seen."""

    def __init__(self, bias: float = 0.6) -> None:
        self.bias = bias
        self.rng = np.random.default_rng(0)

    def seeded(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def reset(self, obs: Mapping[str, Any]) -> None:
        self.start = obs["O_cell"]

    def step(self) -> int:
        return int(self.rng.random() < self.bias)

    def update(self, action: int, obs: Mapping[str, Any]) -> None:
        pass


class Rightwards(Drunkard):
    """Always goes right."""

    def step(self) -> int:
        return 1


class Stumbling(Drunkard):
    """Falls where it starts in cell 3."""

    def step(self) -> int:
        if self.start == 3:
            raise ValueError("stumbled in cell 3")
        return 1


class Vanishing(Drunkard):
    """Takes its process with it where it starts in cell 3."""

    def step(self) -> int:
        if self.start == 3:
            sys.stdout.flush()
            os._exit(9)
        return 1


class Unsendable(Exception):
    """Cannot be made again from its arguments alone."""

    def __init__(self, what: str, where: int) -> None:
        super().__init__(f"{what} in {where}")


class Puzzling(Drunkard):
    """Fails with an error that cannot travel between processes."""

    def step(self) -> int:
        raise Unsendable("puzzled", 5)


def corridor_slice() -> TemporalSlice:
    """What an agent knows of the corridor: nearly where it is, nearly where a step leads, and that right is best."""
    n = LENGTH + 2
    cells = np.arange(n)
    moved = np.stack([np.clip(cells - 1, 0, n - 1), np.clip(cells + 1, 0, n - 1)], axis=1)  # [n, action]
    return (
        TemporalSliceBuilder("A_move", 2)
        .add_state("S_cell", np.full(n, 1 / n))
        .add_observation("O_cell", 0.9 * np.eye(n) + 0.1 / n, ["S_cell"])
        .add_transition("S_cell", 0.9 * np.moveaxis(np.eye(n)[moved], 2, 0) + 0.1 / n, ["S_cell", "A_move"])
        .add_preference(["O_cell"], np.exp(cells) / np.exp(cells).sum())
        .build()
    )


def planner(iterations: int = 12) -> BTAI_3MF:
    return BTAI_3MF(corridor_slice(), max_planning_steps=iterations, engine="numpy")  # small: not worth compiling


def compiled_planner(iterations: int = 12, **options: Any) -> BTAI_3MF:
    return BTAI_3MF(corridor_slice(), max_planning_steps=iterations, **options)


def without_clocks(trial: Trial) -> dict[str, Any]:
    """A trial without what differs from run to run."""
    return {name: value for name, value in vars(trial).items() if not name.endswith("_seconds")}


def contents(result: RunResult) -> list[dict[str, Any]]:
    """The trials of a run without their clocks."""
    return [without_clocks(trial) for trial in result.trials]


def rows_in(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table as other programs see it, the clocks left out."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found = {}
        for table in tables:
            columns = [c[1] for c in connection.execute(f"PRAGMA table_info({table})") if not c[1].endswith("_seconds")]
            key = ", ".join(columns[:3])
            found[table] = connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {key}").fetchall()
        return found
