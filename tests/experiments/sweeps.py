"""A grid of small runs, and agents to break it; importable, so that worker processes find them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.corridor import Corridor, Drunkard, Stumbling, corridor_slice

from btai.agents import BTAI_3MF
from btai.envs import Registered
from btai.errors import PlanningError
from btai.experiments import RunFile, run
from btai.experiments.sweeps import Cell, Processes, RayCluster, grid, sweep
from btai.experiments.team import Executor
from btai.model import TemporalSlice

TRIALS = 8


class Watched(Corridor):
    """Leaves a note in the folder that WATCHED names of every trial that begins, and stays while a file holds it up."""

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        folder = Path(os.environ["WATCHED"])
        with (folder / "begun").open("a") as begun:
            begun.write(f"{os.getpid()}\n")
        time.sleep(0.005)
        while (folder / "held up").exists():
            time.sleep(0.001)
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


KINDS = {"corridor": Corridor, "watched": Watched}
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


class Here:
    """A team of one: this very process."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._jobs: list[Any] = []

    def has_room(self) -> bool:
        return not self._jobs

    def give(self, job: Any) -> None:
        self._jobs.append(job)

    def results(self) -> list[tuple[Any, Any]]:
        jobs, self._jobs = self._jobs, []
        return [(job, self._work(job)) for job in jobs]

    def close(self) -> None:
        pass


EXECUTORS = {"processes": processes(2), "ray": RayCluster}


def watched_cells() -> list[Cell]:
    """The grid that the crash tests watch."""
    return cells("watched", trials=40)


def three_cells(agent: str) -> list[Cell]:
    """A grid for agents that break in cell 3; a trial of the last of its cells starts there."""
    return cells_of(environment={"name": "corridor"}, agent={"name": agent}, seed=[3, 4, 5], trials=TRIALS)


def drive(some: list[Cell], out: str, executor: str) -> None:
    """Run a sweep, and print a line for each trial: what the crash tests' processes do."""
    sweep(some, out, EXECUTORS[executor], progress=partial(print, flush=True))


def failures(path: Path) -> dict[int, tuple[int, str]]:
    """The trial at which a run was given up, and why, by run."""
    with RunFile.open(path) as file:
        return {r.number: (r.failure.trial, r.failure.reason) for r in file.runs if r.failure is not None}


def first_start_in_cell_3(length: int, seed: int) -> int | None:
    """The first trial that begins there: where an agent falls that falls there."""
    trials = run(Drunkard(), Corridor(length), trials=TRIALS, seed=seed).trials
    return next((trial.index for trial in trials if trial.initial_state == (3,)), None)
