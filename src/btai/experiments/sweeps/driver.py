"""Running a sweep: one driver, any number of workers, one run file."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from btai.experiments.configuration import code_version
from btai.experiments.processes import Processes
from btai.experiments.recording import recorded_model
from btai.experiments.runfile import RunFile
from btai.experiments.storedrun import Failure
from btai.experiments.sweeps.cells import Cell
from btai.experiments.sweeps.shards import WHOLE, Shard
from btai.experiments.team import Died, Executor, done_by
from btai.experiments.trial import Job
from btai.experiments.workers import Outcome, Runner, Setup, check_sendable, described
from btai.model import TemporalSlice

__all__ = ["SweepProgress", "sweep"]

ATTEMPTS = 3  # workers that a trial may cost before its cell is given up


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep, or this shard of it, has come."""

    trials: int
    all_trials: int
    cells: int  # finished, one way or the other
    all_cells: int
    failed: int


def sweep(
    cells: Sequence[Cell],
    out: str | os.PathLike[str],
    executor: Executor = Processes,
    *,
    shard: Shard = WHOLE,
    progress: Callable[[SweepProgress], None] | None = None,
) -> None:
    """Run every cell of a grid, each trial as a job of its own, into one run file.

    If the file holds the beginning of this very sweep, it goes on from there, and tries again what failed. A trial
    depends on its cell and its number alone, so the finished file is the same, clocks aside, whoever did the work, in
    whatever order, and however often it was broken off. A cell one of whose trials raises, or costs the lives of three
    workers, is given up there: it keeps the trials before that one and the reason, and all others go on.

    Args:
        cells: the grid, from `grid` or `read_grid`.
        out: path of the run file. It names all cells of the grid, also where a shard runs only some of them.
        executor: who does the work: `Processes`, `RayCluster`, or one of them with its options, such as
            `partial(Processes, workers=2)`.
        shard: which of the cells to run.
        progress: called at the start and after each trial.
    """
    if getattr(executor, "func", executor) is Processes:  # Ray can send more.
        _check_sendable(cells)
    with RunFile.write(out, *(cell.configuration() for cell in cells)) as file:
        driver = _Driver(cells, file, shard.runs(len(cells)))
        with closing(done_by(executor, attempt, driver.tasks(), attempts=ATTEMPTS)) as results:
            if progress:
                progress(driver.progress())
            for task, result in results:
                driver.take(task, result)
                if progress:
                    progress(driver.progress())


def _check_sendable(cells: Sequence[Cell]) -> None:
    """Of each environment and agent, whatever their options: those are plain values."""
    names = {tuple(cell.chosen[key]["name"] for key in ("environment", "agent")): cell for cell in cells}
    for cell in names.values():
        check_sendable(cell.setup)


@dataclass(frozen=True)
class Task:
    """A trial of a cell."""

    run: int
    setup: Setup
    job: Job


@dataclass(frozen=True)
class Done:
    """What came of it."""

    found: Mapping[str, Any]  # for the run's configuration
    model: TemporalSlice | None  # where cycles are recorded
    outcome: Outcome


def attempt(task: Task) -> Done | str:
    """Run one trial: what came of it, or the traceback of what it raised."""
    try:
        runner, found, model = _made(task.setup)
        return Done(found, model, runner.run(task.job))
    except Exception:
        return traceback.format_exc()


@lru_cache(maxsize=1)  # Trials come cell by cell.
def _made(setup: Setup) -> tuple[Runner, dict[str, Any], TemporalSlice | None]:
    """What runs the trials of a cell, and what is known of the cell then."""
    runner = setup.runner()
    found = {"btai": code_version(), **described(runner.agent, runner.env)}
    model = recorded_model(runner.agent) if setup.record else None
    runner.warm_up()
    return runner, found, model


class _Driver:
    """Says what is to be done, and writes down what came of it. It alone writes."""

    def __init__(self, cells: Sequence[Cell], file: RunFile, runs: Sequence[int]) -> None:
        self._cells = {number: cells[number] for number in runs}
        self._runs = {number: file.runs[number] for number in runs}
        self._done = {number: run.done() for number, run in self._runs.items()}
        self._failed: dict[int, int] = {}  # run -> the trial at which it was given up
        self._trials = sum(map(len, self._done.values()))
        self._all_trials = sum(cell.trials for cell in self._cells.values())
        self._complete = sum(len(self._done[number]) == cell.trials for number, cell in self._cells.items())
        for run in self._runs.values():
            if run.failure is not None:
                run.forgive()

    def tasks(self) -> Iterator[Task]:
        """The trials to be run, cell by cell, in order; none of a cell that has been given up in the meantime."""
        for number, cell in self._cells.items():
            for job in cell.jobs() if len(self._done[number]) < cell.trials else ():
                if number in self._failed:
                    break
                if job.index not in self._done[number]:
                    yield Task(number, cell.setup, job)

    def take(self, task: Task, result: Done | str | Died) -> None:
        """Write down what came of a trial; nothing where its cell has been given up at an earlier one."""
        index = task.job.index
        if index > self._failed.get(task.run, index):
            return
        if isinstance(result, Done):
            self._keep(task.run, index, result)
        elif isinstance(result, Died):
            self._give_up(task.run, index, f"{ATTEMPTS} workers ended before it was done ({result.how}).")
        else:
            self._give_up(task.run, index, result)

    def progress(self) -> SweepProgress:
        """How far it has come."""
        return SweepProgress(
            self._trials, self._all_trials, self._complete + len(self._failed), len(self._cells), len(self._failed)
        )

    def _keep(self, run: int, index: int, result: Done) -> None:
        self._runs[run].complete(result.found)
        if result.model is not None:
            self._runs[run].keep_model(result.model)
        self._runs[run].append(*result.outcome)
        self._done[run].add(index)
        self._trials += 1
        self._complete += len(self._done[run]) == self._cells[run].trials

    def _give_up(self, run: int, index: int, reason: str) -> None:
        """Whether somebody was quicker with later trials must not show: they are not kept."""
        self._runs[run].fail(Failure(index, reason))
        self._failed[run] = index
        kept = {trial for trial in self._done[run] if trial < index}
        self._trials -= len(self._done[run]) - len(kept)
        self._done[run] = kept
