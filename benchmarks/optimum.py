"""The most that any agent can earn, for tasks that are small enough: exact dynamic programming over beliefs.

Nothing here plans or infers with btai: of a slice only its tables are taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

from btai.model import TemporalSlice

__all__ = ["Belief", "Named", "Outcome", "Solver", "Task"]

State = tuple[int, ...]  # a value for each state, in the order of declaration
Outcome = tuple[int, ...]  # the same for observations
Belief = tuple[tuple[State, float], ...]
Named = Mapping[str, int]

DIGITS = 12  # beliefs that agree to so many are one


class Task(NamedTuple):
    """A world that a slice describes, and what is earned in it."""

    ts: TemporalSlice
    reward: Callable[[Named, Named], float]  # of each step, by the states before and after
    ended: Callable[[Named], bool]
    steps: int  # the most
    late: float = 0.0  # earned by who has not ended after so many


class Solver:
    """Solves a task backwards: every belief that can be held after so many steps, from the last to the first.

    Attributes:
        optimum: the most that can be earned in the mean.
        policy: for each step, the best action at each belief.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._actions = range(task.ts.action.size)
        self._following = cache(lambda state, action: list(self._follow(state, action)))
        self._seen = cache(lambda state: list(self._see(state)))
        values: dict[Belief, float] = {}
        self.policy: list[dict[Belief, int]] = []
        for layer in reversed(self._layers()):
            earned = {belief: [self._earned(belief, action, values) for action in self._actions] for belief in layer}
            values = {belief: max(amounts) for belief, amounts in earned.items()}
            self.policy.insert(0, {belief: amounts.index(values[belief]) for belief, amounts in earned.items()})
        self.optimum = sum(weight * values[belief] for belief, weight in self.first().values())

    def first(self) -> dict[Outcome, tuple[Belief, float]]:
        """The belief after each first observation, and how probable that is."""
        priors = [_possible(state.prior) for state in self.task.ts.states.values()]
        return self._after(dict(_joint(priors)))

    def updated(self, belief: Belief, action: int, outcome: Outcome) -> Belief:
        """The belief once an action has been taken and its outcome seen."""
        return self._after(self._step(belief, action)[1])[outcome][0]

    def _layers(self) -> list[Iterable[Belief]]:
        """The beliefs that can be held after no step, after one, and so on."""
        layers: list[Iterable[Belief]] = [{belief for belief, _ in self.first().values()}]
        for _ in range(1, self.task.steps):
            steps = (self._step(belief, action)[1] for belief in layers[-1] for action in self._actions)
            layers.append({belief for weights in steps for belief, _ in self._after(weights).values()})
        return layers

    def _earned(self, belief: Belief, action: int, values: Mapping[Belief, float]) -> float:
        """What an action and the best ones after it earn, if `values` are those of the next step; none: it is over."""
        gain, weights = self._step(belief, action)
        if not values:
            return gain + self.task.late * sum(weights.values())
        return gain + sum(weight * values[after] for after, weight in self._after(weights).values())

    def _step(self, belief: Belief, action: int) -> tuple[float, dict[State, float]]:
        """What the action earns at once, and the weights of the states from which it goes on."""
        gain, weights = 0.0, defaultdict[State, float](float)
        for state, weight in belief:
            for following, probability, reward, over in self._following(state, action):
                gain += weight * probability * reward
                if not over:
                    weights[following] += weight * probability
        return gain, weights

    def _after(self, weights: Mapping[State, float]) -> dict[Outcome, tuple[Belief, float]]:
        """The belief after each outcome that these states may show, and the weight of that."""
        joint: dict[Outcome, dict[State, float]] = defaultdict(dict)
        for state, weight in weights.items():
            for outcome, probability in self._seen(state):
                joint[outcome][state] = weight * probability
        beliefs = {}
        for outcome, parts in joint.items():
            total = sum(parts.values())
            belief = tuple((state, round(part / total, DIGITS)) for state, part in sorted(parts.items()))
            beliefs[outcome] = belief, total
        return beliefs

    def _follow(self, state: State, action: int) -> Iterator[tuple[State, float, float, bool]]:
        """The states that may follow: each with its probability, its reward, and whether it is the end."""
        ts = self.task.ts
        now = dict(zip(ts.states, state, strict=True)) | {ts.action.name: action}
        for following, probability in _joint([_column(t.table, t.parents, now) for t in ts.transitions.values()]):
            after = dict(zip(ts.states, following, strict=True))
            yield following, probability, self.task.reward(now, after), self.task.ended(after)

    def _see(self, state: State) -> Iterator[tuple[Outcome, float]]:
        ts = self.task.ts
        now = dict(zip(ts.states, state, strict=True))
        return _joint([_column(o.likelihood, o.parents, now) for o in ts.observations.values()])


def _column(table: Any, parents: Iterable[str], now: Named) -> dict[int, float]:
    return _possible(table[(slice(None), *(now[name] for name in parents))])


def _possible(probabilities: Any) -> dict[int, float]:
    """The values that are possible, with their probabilities."""
    return {i: p for i, p in enumerate(probabilities.tolist()) if p}


def _joint(columns: list[dict[int, float]]) -> Iterator[tuple[tuple[int, ...], float]]:
    for values in product(*columns):
        yield values, prod(column[i] for column, i in zip(columns, values, strict=True))
