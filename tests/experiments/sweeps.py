"""A grid of small runs, and agents to break it; importable, so that worker processes find them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.corridor import Corridor, Drunkard, Stumbling, corridor_slice

from btai.agents import BTAI_3MF
from btai.envs import Registered
from btai.errors import PlanningError
from btai.experiments.grid import Cell, grid
from btai.experiments.processes import Processes
from btai.experiments.team import Executor
from btai.model import TemporalSlice

TRIALS = 8


class Slowly(Corridor):
    """Every trial takes a while: who is killed is killed in the midst of one."""

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        time.sleep(0.005)
        return super().reset(seed, state)


class Busily(Corridor):
    """Every trial takes a while of computing."""

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        start = time.process_time()
        while time.process_time() - start < 0.05:
            pass
        return super().reset(seed, state)


class Killed(Drunkard):
    """Is killed where it starts in cell 3."""

    def step(self) -> int:
        if self.start == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step()


class Repaired(Stumbling):
    """Falls where it starts in cell 3, as long as the file REPAIRED names is not there."""

    def step(self) -> int:
        if Path(os.environ["REPAIRED"]).exists():
            return 1
        return super().step()


def drunkard(ts: TemporalSlice, bias: float = 0.6) -> Drunkard:
    """An agent that needs no model, made as those that do."""
    return Drunkard(checked(bias))


def stumbling(ts: TemporalSlice, bias: float = 0.6) -> Drunkard:
    return Stumbling(checked(bias))


def killed(ts: TemporalSlice, bias: float = 0.6) -> Drunkard:
    return Killed(checked(bias))


def repaired(ts: TemporalSlice, bias: float = 0.6) -> Drunkard:
    return Repaired(checked(bias))


def too_large(ts: TemporalSlice, bias: float = 0.6) -> Drunkard:
    """Cannot be made with one of its biases."""
    if bias == 0.5 and "S_cell" in ts.states:
        raise MemoryError("too large")
    return Drunkard(bias)


def planning(ts: TemporalSlice, max_planning_steps: int = 12) -> BTAI_3MF:
    return BTAI_3MF(ts, max_planning_steps, engine="numpy")  # small: not worth compiling


def checked(bias: float) -> float:
    if not 0 <= bias <= 1:
        raise PlanningError(f"bias: {bias} was given; a number from 0 to 1 is required.")
    return bias


KINDS = {"corridor": Corridor, "slowly": Slowly, "busily": Busily}
ENVIRONMENTS = {name: Registered(name, kind, corridor_slice) for name, kind in KINDS.items()}
AGENTS = {maker.__name__: maker for maker in (drunkard, stumbling, killed, repaired, too_large, planning)}


def cells(environment: str = "corridor", agent: str = "drunkard", **changes: Any) -> list[Cell]:
    """A grid of twelve cells, unless sections are changed."""
    document: dict[str, Any] = {
        "environment": {"name": environment, "length": [4, 7, 9]},
        "agent": {"name": agent, "bias": [0.5, 0.7]},
        "seed": [3, 4],
        "trials": TRIALS,
    }
    return grid(document | changes, ENVIRONMENTS, AGENTS)


def cells_of(**document: Any) -> list[Cell]:
    """Any other grid."""
    return grid(document, ENVIRONMENTS, AGENTS)


def processes(workers: int) -> Executor:
    """So many processes of this machine."""
    return partial(Processes, workers=workers)
