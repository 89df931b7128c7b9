"""One trial: an agent acts in an environment until the environment says that it is done."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np

from btai.errors import EnvError
from btai.experiments.configuration import describe

__all__ = [
    "WON_OR_LOST",
    "Agent",
    "Environment",
    "Job",
    "Trial",
    "as_state",
    "derived_seed",
    "finite_reward",
    "in_trial",
    "reset_arguments",
    "run_trial",
    "trial_rewards",
]

WON_OR_LOST = (-1.0, 1.0)
"""What a failed trial earns, and a successful one, where an environment does not say otherwise: as in the paper."""

Observations = Mapping[str, Any]
P = ParamSpec("P")
T = TypeVar("T")


class Agent(Protocol):
    """What acts. One that draws random numbers also has `seeded(number)`, called before every trial."""

    def reset(self, obs: Any, /) -> Any:
        """Forget the last trial and take in the first observations."""

    def step(self) -> int:
        """Plan and choose an action."""

    def update(self, action: int, obs: Any, /) -> Any:
        """Take in the action executed and the observations that followed."""


class Environment(Protocol):
    """What is acted in.

    `reset` may take `seed` by name, from which to draw the start, and `state`, a start to take instead. One that can
    list its starts has `initial_states()`, one that can say where it stands has `state`, and one that gives up after
    some time has `truncated`: true if that is why the trial is over. One in which a failed trial does not earn -1, or a
    successful one not 1, has `trial_rewards`: what the two earn, or None if there is no failing and succeeding.
    """

    def reset(self) -> Observations:
        """Start anew; the first observations."""

    def execute(self, action: int, /) -> Observations:
        """Execute an action; the observations that follow."""

    def done(self) -> bool:
        """Whether the trial is over."""

    def get_reward(self) -> float:
        """The reward of the trial so far."""


@dataclass(frozen=True)
class Job:
    """What makes a trial: with the same agent and environment, the same job gives the same trial."""

    index: int
    seed: int
    start: Any = None  # None: the environment draws it from the seed


@dataclass(frozen=True)
class Trial:
    """What came of one trial.

    The seconds are wall-clock seconds by `time.perf_counter`: `agent.step` is planning, `agent.reset` and
    `agent.update` are inference, every call of the environment is environment. Of what a batch does for several trials
    at once, each of them is booked an equal share: the seconds of all trials add up to those that went by.
    """

    index: int
    seed: int
    initial_state: Any  # what the environment calls its `state`, in the terms of JSON; None if it does not tell
    reward: float
    cycles: int
    finished: bool  # False: it ended because time ran out, the run's `max_cycles` or the environment's own
    planning_seconds: float
    inference_seconds: float
    environment_seconds: float
    planning_iterations: int  # of the whole trial; 0 for an agent without a search tree
    actions: tuple[int, ...]  # [cycles]

    @property
    def seconds(self) -> float:
        """All the seconds of the trial."""
        return self.planning_seconds + self.inference_seconds + self.environment_seconds


class Witness(Protocol):
    """Sees every cycle of a trial: `decided` between choosing and acting, `ended` after the last update."""

    def decided(self, obs: Observations, action: int) -> None:
        """The agent has seen `obs` and chosen `action`."""

    def ended(self, obs: Observations) -> None:
        """The trial is over; `obs` came last."""


def derived_seed(seed: int, index: int) -> int:
    """The seed of part `index` of what `seed` stands for.

    53 bits, so that every reader of JSON, JavaScript included, gets the exact number.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(index,))
    return int(sequence.generate_state(1, np.uint64)[0]) >> 11


class Stopwatch:
    """Calls functions and adds up where the time goes."""

    def __init__(self) -> None:
        self.seconds = {"planning": 0.0, "inference": 0.0, "environment": 0.0}

    def time(self, what: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`function(*args, **kwargs)`, its seconds booked under `what`."""
        start = perf_counter()
        result = function(*args, **kwargs)
        self.seconds[what] += perf_counter() - start
        return result


@contextmanager
def in_trial(job: Job) -> Iterator[None]:
    """Note on an error raised inside in which trial that was."""
    try:
        yield
    except Exception as error:
        error.add_note(f"In trial {job.index} (seed {job.seed}, start {job.start}).")
        raise


def run_trial(agent: Agent, env: Environment, job: Job, max_cycles: int, witness: Witness | None = None) -> Trial:
    """Run one trial."""
    if hasattr(agent, "seeded"):
        agent.seeded(derived_seed(job.seed, 0))
    watch = Stopwatch()
    actions: list[int] = []
    iterations = 0
    obs = watch.time("environment", env.reset, **reset_arguments(env, job))
    initial_state = as_state(getattr(env, "state", job.start))
    watch.time("inference", agent.reset, obs)
    while not watch.time("environment", env.done) and len(actions) < max_cycles:
        action = watch.time("planning", agent.step)
        iterations += _iterations(agent)
        if witness:
            witness.decided(obs, action)
        obs = watch.time("environment", env.execute, action)
        watch.time("inference", agent.update, action, obs)
        actions.append(int(action))
    if witness:
        witness.ended(obs)
    return Trial(
        index=job.index,
        seed=job.seed,
        initial_state=initial_state,
        reward=finite_reward(env),
        cycles=len(actions),
        finished=bool(env.done() and not getattr(env, "truncated", False)),
        **{f"{what}_seconds": seconds for what, seconds in watch.seconds.items()},
        planning_iterations=iterations,
        actions=tuple(actions),
    )


def as_state(state: Any) -> Any:
    """A state in the terms of JSON, a sequence as a tuple."""
    described = describe(state)
    return tuple(described) if isinstance(described, list) else described


def reset_arguments(env: Environment, job: Job) -> dict[str, Any]:
    """The arguments of this job that the environment's `reset` takes."""
    parameters = inspect.signature(env.reset).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    offered = {"seed": job.seed}
    if job.start is not None:
        offered["state"] = job.start
        if "state" not in parameters and not takes_any:
            raise EnvError(
                f"{type(env).__name__}.reset takes no `state`, so the trial cannot start at {job.start}. "
                "Give reset a parameter `state`, or let the starts be drawn from the seed."
            )
    return {name: value for name, value in offered.items() if takes_any or name in parameters}


def trial_rewards(env: Any) -> tuple[float, float] | None:
    """What a trial earns in this environment that fails, and one that succeeds; None: nobody can say."""
    given = getattr(env, "trial_rewards", WON_OR_LOST)
    if given is None:
        return None
    try:
        worst, best = map(float, given)
    except (TypeError, ValueError):
        worst = best = math.nan
    if not -math.inf < worst < best < math.inf:
        raise EnvError(
            f"trial_rewards: {type(env).__name__} has {given!r}; two numbers are required, the reward of a trial that "
            "fails and the greater one of a trial that succeeds, or None."
        )
    return worst, best


def _iterations(agent: Agent) -> int:
    """The planning iterations of the decision just made."""
    tree = getattr(agent, "tree", None)
    return 0 if tree is None else len(tree.expanded)


def finite_reward(env: Environment) -> float:
    """The reward of the trial so far, if it is one."""
    reward = float(env.get_reward())
    if not math.isfinite(reward):
        raise EnvError(f"{type(env).__name__}.get_reward() gave {reward}; a reward must be a finite number.")
    return reward
