"""Who runs the trials: this process, or several others; the trials are the same either way."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from btai.errors import BtaiError, PlanningError
from btai.experiments.recording import Cycle, Recorder
from btai.experiments.trial import Agent, Environment, Job, Trial, in_trial, run_trial

__all__ = ["Outcome", "Runner", "Setup", "is_factory", "made", "run_here", "run_in_processes"]


class Outcome(NamedTuple):
    """A trial and, if it was recorded, its cycles."""

    trial: Trial
    cycles: Sequence[Cycle]


@dataclass(frozen=True)
class Runner:
    """Runs any trial of a run."""

    agent: Agent
    env: Environment
    max_cycles: int
    record: bool

    def warm_up(self) -> None:
        """Let an agent that has a model load its compiled code now, not within the seconds of its first trial."""
        if hasattr(self.agent, "ts"):
            self.agent.reset({})  # Nothing observed: it needs no environment, and every trial resets it again.
            self.agent.update(self.agent.step(), {})

    def run(self, job: Job) -> Outcome:
        """Run one trial."""
        recorder = Recorder(self.agent, job.index) if self.record else None
        with in_trial(job):
            trial = run_trial(self.agent, self.env, job, self.max_cycles, recorder)
        return Outcome(trial, recorder.cycles if recorder else ())


@dataclass(frozen=True)
class Setup:
    """What makes a `Runner`, in this process or another: agent and environment may be functions that make them."""

    agent: Agent | Callable[[], Agent]
    env: Any  # as for `run`; in a batch it may be a vector of them
    max_cycles: int
    record: bool

    def runner(self) -> Runner:
        """Make the agent and the environment."""
        return Runner(made(self.agent), made(self.env), self.max_cycles, self.record)


def run_here(runner: Runner, jobs: Sequence[Job]) -> Generator[Outcome]:
    """Run the trials in this process."""
    if jobs:
        runner.warm_up()
    for job in jobs:
        yield runner.run(job)


def run_in_processes(setup: Setup, jobs: Sequence[Job], workers: int) -> Generator[Outcome]:
    """Run the trials in so many processes, each with an agent and an environment of its own."""
    _check_sendable(setup)
    context = multiprocessing.get_context("spawn")
    team = [_Worker(context, setup) for _ in range(workers)]
    try:
        yield from _as_they_end(team, jobs)
    finally:
        for worker in team:
            worker.stop()


def _as_they_end(team: Sequence[_Worker], jobs: Sequence[Job]) -> Iterator[Outcome]:
    """The outcomes, each as soon as it is there: a run that is killed then loses only what was under way."""
    waiting = deque(jobs)
    busy: dict[Any, tuple[_Worker, Job]] = {}  # by connection
    idle = list(team)
    failure: Exception | None = None
    while busy or (waiting and failure is None):
        while idle and waiting and failure is None:
            worker, job = idle.pop(), waiting.popleft()
            worker.send(job)
            busy[worker.connection] = worker, job
        for connection in wait(list(busy)):
            worker, job = busy.pop(connection)
            outcome = worker.receive(job)
            idle.append(worker)
            if isinstance(outcome, Exception):
                failure = failure or outcome  # raised in the end: the trials under way are not lost
            else:
                yield outcome
    if failure is not None:
        raise failure


class _Worker:
    """One process that runs a trial at a time."""

    def __init__(self, context: Any, setup: Setup) -> None:
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs, setup), daemon=True)
        self._process.start()
        # Only the worker holds its end now: each of the two sees at once when the other has died.
        theirs.close()

    def send(self, job: Job) -> None:
        """Give the worker its next trial."""
        with suppress(BrokenPipeError):  # It has died; `receive` says so.
            self.connection.send(job)

    def receive(self, job: Job) -> Outcome | Exception:
        """The outcome of the job sent, or what its trial raised."""
        try:
            answer: Outcome | Exception = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            return BtaiError(
                f"a worker process ended (exit code {self._process.exitcode}) before trial {job.index} was done. "
                "Its own message, if it left one, stands above. A script that uses workers must start its work under "
                '`if __name__ == "__main__":`, since every worker imports it.'
            )
        return answer

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.connection.close()
        self._process.terminate()
        self._process.join()


def _serve(connection: Connection, setup: Setup) -> None:
    """The life of a worker: run what is sent until nobody is there to send."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the driver stops the workers.
    try:
        runner = setup.runner()
        runner.warm_up()
        while True:
            job = connection.recv()
            connection.send(_outcome(runner, job))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _outcome(runner: Runner, job: Job) -> Outcome | Exception:
    try:
        return runner.run(job)
    except Exception as error:
        return _sendable(error)


def _sendable(error: Exception) -> Exception:
    """`error` with its traceback as a note; its text alone where it does not survive the way."""
    text = "".join(traceback.format_exception(error))
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return BtaiError(f"a trial failed:\n{text}")
    error.add_note(text)
    return error


def is_factory(thing: Any) -> bool:
    """Whether this makes an agent or an environment, and is none itself."""
    return isinstance(thing, type) or not hasattr(thing, "reset")


def made(thing: Any) -> Any:
    """An agent or an environment as it is; anything else makes one."""
    return thing() if is_factory(thing) else thing


def _check_sendable(setup: Setup) -> None:
    for name, thing in (("agent", setup.agent), ("env", setup.env)):
        try:
            ForkingPickler.dumps(thing)
        except Exception as error:
            raise PlanningError(
                f"{name}: {thing!r} cannot be sent to another process ({error}). With workers > 1 give a function "
                f"or class defined at the top of a module that makes the {name}, or run with workers=1."
            ) from error
