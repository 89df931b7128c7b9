"""Many trials at once: one `BatchAgent` acts in as many environments, and a trial that ends makes room for the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from btai.agents import BTAI_3MF, BatchAgent
from btai.errors import EnvError, PlanningError
from btai.experiments.slots import Flags, Separate, Slots
from btai.experiments.trial import Environment, Job, Trial, in_trial
from btai.experiments.workers import Outcome, Setup, adapted, is_factory, is_vector, made_agent, opened
from btai.model import TemporalSlice

__all__ = ["BatchRunner", "batch_runner"]

T = TypeVar("T")


@dataclass(frozen=True)
class BatchRunner:
    """Runs the trials of a run, as many at a time as there are slots."""

    agent: BTAI_3MF
    env: Any  # one environment, or the vector of them
    max_cycles: int
    agents: BatchAgent
    slots: Slots
    resources: ExitStack  # what was made for the run and is closed with it

    def close(self) -> None:
        """Close what was made for the run."""
        self.resources.close()

    def outcomes(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Run the trials; each outcome comes as soon as its trial has ended."""
        if not jobs:
            return
        _warm_up(self.agents)
        waiting = deque(jobs)
        batch = _Batch(self.agents, self.slots, self.max_cycles)
        while waiting or batch.underway:
            batch.begin(waiting)
            yield from batch.ended()  # An environment may say so at once.
            batch.act()
            yield from batch.ended()


def batch_runner(setup: Setup, n: int) -> BatchRunner:
    """What runs `n` trials at a time."""
    if setup.record:
        raise PlanningError(
            "record: True was given with batch; a batch keeps no search trees to record. Leave one of the two out."
        )
    agent = made_agent(setup.agent)
    agents = _batch_agent(agent, n)
    with ExitStack() as stack:
        env, slots = _slots(setup.env, n, agent.ts, stack)
        return BatchRunner(agent, env, setup.max_cycles, agents, slots, stack.pop_all())


def _slots(given: Any, n: int, ts: TemporalSlice, stack: ExitStack) -> tuple[Any, Slots]:
    """One environment, or the vector of them, and the slots they make."""
    env = opened(given, stack)
    if not is_vector(env):
        envs = [adapted(each, ts) for each in _environments(given, env, n, stack)]
        return envs[0], Separate(envs, ts)
    from btai.experiments.vector import VectorSlots  # imports Gymnasium, which not every environment needs

    slots = VectorSlots(env, n, ts)
    return slots, slots


def _batch_agent(agent: Any, n: int) -> BatchAgent:
    """`n` agents with the options of this one; `BatchAgent` itself refuses some more."""
    if type(agent) is not BTAI_3MF:
        raise PlanningError(
            f"agent: {type(agent).__name__} was given with batch; a batch runs many BTAI_3MF and nothing else. Give "
            "one, or leave out batch."
        )
    options = agent.options
    for name, required in (("time_limit", None), ("inference", "exact"), ("engine", "compiled")):
        given = getattr(options, name)
        if given != required:
            raise PlanningError(
                f"{name}: the agent has {given!r}; a batch requires {required!r}. Change it, or leave out batch."
            )
    return BatchAgent(
        agent.ts,
        n,
        options.iterations,
        options.exp_const,
        action_selection=options.action_selection,
        ties=options.ties,
    )


def _environments(given: Any, first: Environment, n: int, stack: ExitStack) -> list[Environment]:
    """`n` environments, of which the first is made already."""
    if n > 1 and not is_factory(given):
        raise EnvError(
            f"env: one {type(given).__name__} was given; batch={n} needs {n} of them. Give a function or class that "
            "makes one."
        )
    envs = [first, *(opened(given, stack) for _ in range(n - 1))]
    if len({id(env) for env in envs}) < n:
        raise EnvError(f"env: {given!r} gave the same object twice; batch={n} needs {n}. Let it make a new one.")
    return envs


def _warm_up(agents: BatchAgent) -> None:
    """Let the compiled code be loaded now, not within the seconds of the first trials."""
    first = np.arange(len(agents)) == 0
    agents.reset({}, first)  # Nothing observed: it needs no environment, and every trial resets its agent again.
    agents.update(agents.step(), {})
    agents.finish(first)


@dataclass
class _Underway:
    """A trial that has begun."""

    job: Job
    initial_state: Any = None
    actions: list[int] = field(default_factory=list)


class _Batch:
    """The trials under way, by slot."""

    def __init__(self, agents: BatchAgent, slots: Slots, max_cycles: int) -> None:
        self.underway: dict[int, _Underway] = {}
        self._agents = agents
        self._slots = slots
        self._max_cycles = max_cycles
        self._seconds = {what: np.zeros(len(agents)) for what in ("planning", "inference", "environment")}

    def begin(self, waiting: deque[Job]) -> None:
        """Give each free slot the next trial, while there are any."""
        free = [slot for slot in range(len(self._agents)) if slot not in self.underway][: len(waiting)]
        if not free:
            return
        jobs = {slot: waiting.popleft() for slot in free}
        self.underway |= {slot: _Underway(job) for slot, job in jobs.items()}
        which = self._mask(free)
        for seconds in self._seconds.values():
            seconds[which] = 0.0
        states = self._timed("environment", which, lambda: self._slots.reset(jobs))
        for slot in free:
            self.underway[slot].initial_state = states[slot]
        self._timed("inference", which, lambda: self._agents.reset(self._slots.seen(which), which))

    def act(self) -> None:
        """One cycle of every trial under way."""
        if not self.underway:
            return
        which = self._mask(self.underway)
        actions = self._timed("planning", which, self._agents.step)
        self._timed("environment", which, lambda: self._slots.execute(actions))
        self._timed("inference", which, lambda: self._agents.update(actions, self._slots.seen(which)))
        for slot, trial in self.underway.items():
            trial.actions.append(int(actions[slot]))

    def ended(self) -> Iterator[Outcome]:
        """The trials that are over; their slots are free again."""
        if not self.underway:
            return
        which = self._mask(self.underway)
        over = self._timed("environment", which, lambda: [slot for slot in self.underway if self._is_over(slot)])
        self._agents.finish(self._mask(over))
        for slot in over:
            yield Outcome(self._trial(slot, self.underway.pop(slot)), ())

    def _is_over(self, slot: int) -> bool:
        return self._slots.over(slot) or len(self.underway[slot].actions) >= self._max_cycles

    def _trial(self, slot: int, trial: _Underway) -> Trial:
        cycles = len(trial.actions)
        with in_trial(trial.job):
            return Trial(
                index=trial.job.index,
                seed=trial.job.seed,
                initial_state=trial.initial_state,
                reward=self._slots.reward(slot),
                cycles=cycles,
                finished=bool(self._slots.over(slot) and not self._slots.truncated(slot)),
                **{f"{what}_seconds": float(seconds[slot]) for what, seconds in self._seconds.items()},
                planning_iterations=cycles * self._agents.options.iterations,
                actions=tuple(trial.actions),
            )

    def _timed(self, what: str, which: Flags, function: Callable[[], T]) -> T:
        """`function()`, its seconds booked under `what` in equal shares for the trials of `which` `[N]`."""
        start = perf_counter()
        try:
            result = function()
        except Exception as error:
            if not hasattr(error, "__notes__"):  # It came from all at once, and names an agent at best.
                trials = ", ".join(f"{slot} in {trial.job.index}" for slot, trial in self.underway.items())
                error.add_note(f"Agents by number, in trial: {trials}.")
            raise
        self._seconds[what][which] += (perf_counter() - start) / np.count_nonzero(which)
        return result

    def _mask(self, slots: Iterable[int]) -> Flags:
        mask = np.zeros(len(self._agents), bool)
        mask[list(slots)] = True
        return mask
