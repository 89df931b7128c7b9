"""Who runs the trials: this process, or several others; the trials are the same either way."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple
from weakref import finalize

from btai.errors import BtaiError, EnvError, PlanningError
from btai.experiments.configuration import describe
from btai.experiments.processes import Processes
from btai.experiments.recording import Cycle, Recorder
from btai.experiments.team import Died, done_by
from btai.experiments.trial import Agent, Environment, Job, Trial, in_trial, run_trial, trial_rewards
from btai.model import TemporalSlice

__all__ = [
    "Outcome",
    "Runner",
    "Setup",
    "adapted",
    "check_sendable",
    "described",
    "is_factory",
    "is_vector",
    "made_agent",
    "opened",
    "run_here",
    "run_in_processes",
]


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
    resources: ExitStack  # what was made for the run and is closed with it

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

    def close(self) -> None:
        """Close what was made for the run."""
        self.resources.close()


@dataclass(frozen=True)
class Setup:
    """What makes a `Runner`, in this process or another: agent and environment may be functions that make them."""

    agent: Agent | Callable[[], Agent]
    env: Any  # as for `run`; in a batch it may be a vector of them
    max_cycles: int
    record: bool

    def runner(self) -> Runner:
        """Make the agent and the environment, which is closed with the runner, or with its process."""
        agent = made_agent(self.agent)
        with ExitStack() as stack:
            env = adapted(opened(self.env, stack), getattr(agent, "ts", None))
            if is_vector(env):
                raise EnvError(
                    "env: a vector environment was given without batch; pass the number of its sub-environments."
                )
            runner = Runner(agent, env, self.max_cycles, self.record, stack.pop_all())
        finalize(runner, runner.resources.close)  # In a worker nobody knows which trial is the last.
        return runner


def described(agent: Any, env: Any) -> dict[str, Any]:
    """What a run's configuration says of its agent and its environment."""
    return {"environment": describe(env), "agent": describe(agent), "rewards": describe(trial_rewards(env))}


def run_here(runner: Runner, jobs: Sequence[Job]) -> Generator[Outcome]:
    """Run the trials in this process."""
    if jobs:
        runner.warm_up()
    for job in jobs:
        yield runner.run(job)


def run_in_processes(setup: Setup, jobs: Sequence[Job], workers: int) -> Generator[Outcome]:
    """Run the trials in so many processes, each with an agent and an environment of its own."""
    check_sendable(setup, otherwise=", or run with workers=1")
    failure: Exception | None = None

    def wanted() -> Iterator[Job]:
        yield from takewhile(lambda _job: failure is None, jobs)

    with closing(done_by(partial(Processes, workers=workers), _Trials(setup), wanted())) as outcomes:
        for job, outcome in outcomes:
            if isinstance(outcome, Died):
                failure = failure or _died(job, outcome)
            elif isinstance(outcome, Exception):
                failure = failure or outcome  # raised in the end: the trials under way are not lost
            else:
                yield outcome
    if failure is not None:
        raise failure


class _Trials:
    """What a worker does: it makes agent and environment once, and runs trial after trial."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._runner: Runner | None = None

    def __call__(self, job: Job) -> Outcome | Exception:
        try:
            if self._runner is None:
                self._runner = self._setup.runner()
                self._runner.warm_up()
            return self._runner.run(job)
        except Exception as error:
            return _sendable(error)


def _died(job: Job, death: Died) -> BtaiError:
    return BtaiError(
        f"a worker process ended ({death.how}) before trial {job.index} was done. "
        "Its own message, if it left one, stands above. A script that uses workers must start its work under "
        '`if __name__ == "__main__":`, since every worker imports it.'
    )


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


def made_agent(agent: Any) -> Any:
    """An agent as it is; anything else makes one."""
    found = _made(agent)
    _check_methods("agent", found, ("reset", "step", "update"), PlanningError)
    return found


def opened(env: Any, stack: ExitStack) -> Any:
    """An environment as it is; anything else makes one, which is closed with the stack."""
    found = _made(env)
    if is_factory(env) and hasattr(found, "close"):
        stack.callback(found.close)
    return found


def _made(thing: Any) -> Any:
    return thing() if is_factory(thing) and callable(thing) else thing


def _check_methods(role: str, found: Any, methods: Sequence[str], error: type[BtaiError]) -> None:
    missing = [name for name in methods if not hasattr(found, name)]
    if missing:
        fix = " Make an agent of the slice: BTAI_3MF(ts)." if isinstance(found, TemporalSlice) else ""
        raise error(
            f"{role}: {type(found).__name__} was given, which has no {', '.join(missing)}; required is what has"
            f" {', '.join(methods)}, or a function that makes it.{fix}"
        )


def adapted(env: Any, ts: TemporalSlice | None = None) -> Any:
    """An environment of Gymnasium's as agents want one, its observations by the names of their model."""
    is_gymnasium = hasattr(env, "action_space") and hasattr(env, "step") and not hasattr(env, "execute")
    if not is_gymnasium or is_vector(env):
        if not is_vector(env):
            _check_methods("env", env, ("reset", "execute", "done", "get_reward"), EnvError)
        return env
    from btai.interop.gymnasium import FromGymnasium  # imports Gymnasium, which not every environment needs

    return FromGymnasium(env, ts)


def is_vector(env: Any) -> bool:
    """Whether this is a vector environment of Gymnasium."""
    return hasattr(env, "num_envs")


def check_sendable(setup: Setup, otherwise: str = "") -> None:
    """Refuse what no other process could be given; `otherwise` there is another way."""
    for name, thing in (("agent", setup.agent), ("env", setup.env)):
        try:
            ForkingPickler.dumps(thing)
        except Exception as error:
            raise PlanningError(
                f"{name}: {thing!r} cannot be sent to another process ({error}). Give functions or classes defined at "
                f"the top of a module, which make the {name}{otherwise}."
            ) from error
