"""A declared model as a Gymnasium environment that behaves as the model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from btai.errors import EnvError
from btai.model import TemporalSlice

__all__ = ["AsGymnasium"]

Outcomes = dict[str, Any]  # of int, by name; Gymnasium's Dict space promises no more

MOST_STARTS = 100_000  # that are listed


class AsGymnasium(gymnasium.Env[Outcomes, np.int64]):
    """Draws states and observations from a slice: from its priors at first, then from its transitions.

    An observation is an index for each of the slice's observations, by name, in the order of declaration; the true
    states, which an agent should not see, are in `info["states"]` and in `state`.

    The reward of a step is the log preference of what was observed, ln C summed over the preference groups, so that
    its expectation is the part of minus the expected free energy that preferences account for. Without preferences it
    is 0. A trial never terminates; it is truncated after `max_steps` steps, if that is given. A task that is more than
    its model is a subclass with an `ended` and a `reward` of its own.

    `reset` draws the start from its seed, or takes it from `options={"state": {...}}`, a value for each state by name.
    """

    action_space: spaces.Discrete
    observation_space: spaces.Dict

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - not a ClassVar in gymnasium.Env

    def __init__(self, ts: TemporalSlice, max_steps: int | None = None) -> None:
        if max_steps is not None and max_steps < 1:
            raise EnvError(f"max_steps: {max_steps} was given; at least 1 is required, or None for no limit.")
        self.ts = ts
        self.max_steps = max_steps
        self.action_space = spaces.Discrete(ts.action.size)
        # Pairs: the keys of a mapping would be sorted.
        self.observation_space = spaces.Dict([(o.name, spaces.Discrete(o.size)) for o in ts.observations.values()])
        self._log_preferences = [(p.observations, np.log(p.table)) for p in ts.preferences]
        self._states: dict[str, int] | None = None
        self._steps = 0
        self._over = False

    @property
    def state(self) -> dict[str, int]:
        """The true states, by name."""
        if self._states is None:
            raise EnvError("no trial has started: call reset() first.")
        return dict(self._states)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Outcomes, dict[str, Any]]:
        """Draw the states from their priors, or take them from `options={"state": ...}`; draw observations."""
        given = self._given(options or {})
        super().reset(seed=seed)
        # Drawn in any case, so that a given state does not shift the later draws of a seeded environment.
        drawn = {s.name: self._drawn(s.prior) for s in self.ts.states.values()}
        self._states = drawn if given is None else given
        self._steps = 0
        self._over = False
        return self._observed(), {"states": self.state}

    def step(self, action: np.int64 | int) -> tuple[Outcomes, float, bool, bool, dict[str, Any]]:
        """Draw what follows from the states and the action."""
        if not self.action_space.contains(action):
            raise EnvError(
                f"{self.ts.action.name}: {action!r} was given; required is a whole number from 0 to"
                f" {self.ts.action.size - 1}."
            )
        before = self.state
        if self._over:
            raise EnvError("the trial is over: call reset() before the next step().")
        values = before | {self.ts.action.name: int(action)}
        self._states = {
            t.state: self._drawn(_column(t.table, [values[name] for name in t.parents]))
            for t in self.ts.transitions.values()
        }
        self._steps += 1
        obs = self._observed()
        self._over = self.ended()
        truncated = not self._over and self.max_steps is not None and self._steps >= self.max_steps
        return obs, self.reward(before, obs, truncated), self._over, truncated, {"states": self.state}

    def initial_states(self) -> list[dict[str, int]]:
        """Every start that the priors allow, for `reset(options={"state": ...})`; the last state varies fastest."""
        allowed = {s.name: np.flatnonzero(s.prior).tolist() for s in self.ts.states.values()}
        number = prod(len(values) for values in allowed.values())
        if number > MOST_STARTS:
            raise EnvError(
                f"the priors allow {number:,} starts; at most {MOST_STARTS:,} are listed. Draw them at random."
            )
        return [dict(zip(allowed, values, strict=True)) for values in product(*allowed.values())]

    def ended(self) -> bool:
        """Whether the trial is over in the present states."""
        return False

    def reward(self, before: Mapping[str, int], obs: Outcomes, truncated: bool) -> float:
        """What the step from the states `before` to the present ones, and to `obs`, earns."""
        return float(sum(table[tuple(obs[name] for name in group)] for group, table in self._log_preferences))

    def _observed(self) -> Outcomes:
        states = self.state
        return {
            o.name: self._drawn(_column(o.likelihood, [states[name] for name in o.parents]))
            for o in self.ts.observations.values()
        }

    def _given(self, options: Mapping[str, Any]) -> dict[str, int] | None:
        """The states that the options of `reset` ask for, if any."""
        for unknown in options.keys() - {"state"}:
            raise EnvError(f"options has the key {unknown!r}: the only option of reset is 'state'.")
        if "state" not in options:
            return None
        sizes = {s.name: s.size for s in self.ts.states.values()}
        given = options["state"]
        if not isinstance(given, Mapping) or given.keys() != sizes.keys():
            raise EnvError(f"state: {given!r} was given; a value for each of {', '.join(sizes)} is required, by name.")
        for name, size in sizes.items():
            if not spaces.Discrete(size).contains(given[name]):
                raise EnvError(f"{name}: {given[name]!r} was given; required is a whole number from 0 to {size - 1}.")
        return {name: int(given[name]) for name in sizes}

    def _drawn(self, probabilities: NDArray[np.float64]) -> int:
        return int(self.np_random.choice(len(probabilities), p=probabilities))


def _column(table: NDArray[np.float64], values: Sequence[int]) -> NDArray[np.float64]:
    """The distribution when the parents have these values, [n]."""
    cell: tuple[Any, ...] = (slice(None), *values)
    return np.asarray(table[cell])
