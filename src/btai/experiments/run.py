"""A run: many trials of one agent in one environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from btai.errors import EnvError, PlanningError
from btai.experiments.batch import BatchRunner, batch_runner
from btai.experiments.configuration import code_version, describe, digest, warn_of_unknown
from btai.experiments.recording import recorded_model
from btai.experiments.runfile import RunFile
from btai.experiments.schema import RANDOM
from btai.experiments.summary import Summary, Tally, summarise
from btai.experiments.trial import Agent, Environment, Job, Trial, derived_seed
from btai.experiments.workers import Outcome, Runner, Setup, described, run_here, run_in_processes

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.vector import VectorEnv

    AnyEnvironment = Environment | Env[Any, Any] | VectorEnv[Any, Any, Any]

__all__ = ["Progress", "RunResult", "all_starts", "conditions", "jobs_of", "run"]

Progress = Callable[[Summary, int], None]


@dataclass(frozen=True, repr=False)
class RunResult:
    """What a run gave."""

    trials: tuple[Trial, ...]
    summary: Summary
    configuration: dict[str, Any]
    path: Path | None  # of the run file, if one was asked for

    def __repr__(self) -> str:
        from btai.experiments.report import run_as_text

        return run_as_text(self.summary, self.configuration["trials"])

    def _repr_html_(self) -> str:
        from btai.experiments.report import run_as_html

        return run_as_html(self.summary, self.configuration["trials"])


def run(
    agent: Agent | Callable[[], Agent],
    env: AnyEnvironment | Callable[[], AnyEnvironment],
    trials: int = 100,
    seed: int = 0,
    *,
    max_cycles: int = 1000,
    exhaustive: bool = False,
    starts: Sequence[Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    record: bool = False,
    workers: int = 1,
    batch: int | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Run trials of an agent in an environment.

    Trial `i` depends on the agent, the environment and `derived_seed(seed, i)` alone, so its result is the same
    alone, in any order, in any process and in any batch.

    Args:
        agent: what has `reset`, `step` and `update`, or a function that makes one. An agent that draws random numbers
            has `seeded(number)`, called before each trial with a number derived from the trial's seed.
        env: what has `reset`, `execute`, `done` and `get_reward`, see `Environment`, or an environment of Gymnasium
            with discrete spaces, see `FromGymnasium`; or a function that makes one, which is closed in the end.
        trials: how many, each from a start drawn by the environment.
        seed: from which the seeds of the trials are derived.
        max_cycles: a trial that is not over after so many cycles is stopped, with the reward it then has.
        exhaustive: instead of `trials` random ones, one trial from each of the environment's `initial_states()`.
        starts: the same from each of these states only.
        out: path of a run file. If it holds the beginning of this very run, the run goes on from there.
        record: keep every cycle in the run file, to be looked into afterwards.
        workers: how many processes share the trials; with more than one, agent and environment must be such that
            another process can be given them (functions or classes at the top of a module always are).
        batch: how many trials go on at once, planned together by a `BatchAgent` on all processors; the agent must then
            be a `BTAI_3MF`, and `env` a function that makes an environment, or a vector environment of Gymnasium with
            as many sub-environments and autoreset disabled (see `VectorSlots`).
        progress: called with the summary so far and the number of trials in all, at the start and after each trial.
    """
    _check(trials=trials, seed=seed, max_cycles=max_cycles, workers=workers, batch=1 if batch is None else batch)
    if record and out is None:
        raise PlanningError("record: True was given without `out`; recorded cycles need a run file to be kept in.")
    setup = Setup(agent, env, max_cycles, record)
    with ExitStack() as stack:
        runner = stack.enter_context(closing(_runner(setup, workers, batch)))
        if exhaustive and starts is None:
            starts = all_starts(runner.env)
        jobs = list(jobs_of(trials, seed, starts))
        configuration = {
            **described(runner.agent, runner.env),
            **conditions(trials, seed, starts, max_cycles, record=record),
        }
        if out is not None:
            warn_of_unknown(configuration)
        model = recorded_model(runner.agent) if record else None
        reading = {"exhaustive": starts is not None, "rewards": configuration["rewards"]}
        tally = Tally(**reading)
        file = stack.enter_context(RunFile.write(out, configuration)) if out is not None else None
        if file and model:
            file.run.keep_model(model)
        done = file.trials() if file else []
        known = {trial.index for trial in done}
        missing = [job for job in jobs if job.index not in known]
        outcomes = stack.enter_context(closing(_outcomes(setup, runner, missing, workers)))
        kept = _collect(done, outcomes, file, tally, len(jobs), progress)
    # Added up in order, not as they came: the sums are the same to the bit whoever ran the trials.
    summary = summarise(kept, **reading)
    return RunResult(kept, summary, configuration, file.path if file else None)


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        least = 0 if name == "seed" else 1
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise PlanningError(f"{name}: {number!r} was given; a whole number of at least {least} is required.")


def _runner(setup: Setup, workers: int, batch: int | None) -> Runner | BatchRunner:
    if batch is not None:
        if workers > 1:
            raise PlanningError(
                f"workers: {workers} was given with batch; a batch uses all processors by itself. Leave one out."
            )
        return batch_runner(setup, batch)
    return setup.runner()


def all_starts(env: Any) -> Sequence[Any]:
    """The starts that an environment lists."""
    if not hasattr(env, "initial_states"):
        raise EnvError(
            f"{type(env).__name__} has no initial_states(), so its starts cannot be tried exhaustively. "
            "Give it such a method, pass `starts`, or run random trials."
        )
    return list(env.initial_states())


def jobs_of(trials: int, seed: int, starts: Sequence[Any] | None) -> Iterator[Job]:
    """The trials of a run, in order."""
    if starts is not None and not len(starts):
        raise PlanningError("starts: none were given; at least one is required. Leave `starts` out for random trials.")
    chosen = [None] * trials if starts is None else starts
    return (Job(i, derived_seed(seed, i), start) for i, start in enumerate(chosen))


def conditions(
    trials: int, seed: int, starts: Sequence[Any] | None, max_cycles: int, *, record: bool
) -> dict[str, Any]:
    """What a run's configuration says beside its environment and its agent."""
    return {
        "seed": seed,
        "trials": trials if starts is None else len(starts),
        "starts": RANDOM if starts is None else digest(describe(list(starts))),
        "max_cycles": max_cycles,
        "record": record,
        "btai": code_version(),
    }


def _outcomes(setup: Setup, runner: Runner | BatchRunner, jobs: Sequence[Job], workers: int) -> Generator[Outcome]:
    """Start no more processes than there are trials."""
    if isinstance(runner, BatchRunner):
        return runner.outcomes(jobs)
    workers = min(workers, len(jobs))
    if workers > 1:
        return run_in_processes(setup, jobs, workers)
    return run_here(runner, jobs)


def _collect(
    done: Sequence[Trial],
    outcomes: Iterator[Outcome],
    file: RunFile | None,
    tally: Tally,
    total: int,
    progress: Progress | None,
) -> tuple[Trial, ...]:
    """Take the trials as they come: into the file, the tally and the progress report."""
    kept = list(done)
    for trial in done:
        tally.add(trial)
    if progress:
        progress(tally.summary(), total)
    for trial, cycles in outcomes:
        if file:
            file.append(trial, cycles)
        kept.append(trial)
        tally.add(trial)
        if progress:
            progress(tally.summary(), total)
    return tuple(sorted(kept, key=lambda trial: trial.index))
