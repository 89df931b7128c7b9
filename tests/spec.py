"""A model as plain data: what the tests hand to the package and to the oracles alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from btai.model import TemporalSlice

Array = NDArray[np.float64]
Beliefs = Mapping[str, Array]
Evidence = Mapping[str, Any]
Group = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """A conditional table: axis 0 is the variable's own value, then one axis per parent in this order."""

    table: Array  # [n, *parents]
    parents: tuple[str, ...]

    def column(self, values: Iterable[int]) -> Array:
        """The distribution [n] of the variable when its parents have these values."""
        cell: tuple[Any, ...] = (slice(None), *values)
        return np.asarray(self.table[cell], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Spec:
    """A temporal slice that has not been declared yet. Every mapping is in the order of declaration."""

    action: str
    n_actions: int
    priors: Mapping[str, Array]  # state -> [n_S]
    likelihoods: Mapping[str, Factor]  # observation -> [n_O, *parents]
    transitions: Mapping[str, Factor]  # state -> [n_S, *parents], the action among the parents or not
    preferences: Mapping[Group, Array]  # group -> [n_O1, n_O2, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """The number of values of every variable: the action, the states, the observations."""
        states = {name: len(prior) for name, prior in self.priors.items()}
        observations = {name: len(factor.table) for name, factor in self.likelihoods.items()}
        return {self.action: self.n_actions} | states | observations

    @property
    def has_loops(self) -> bool:
        """Whether the factor graph of one slice, states joined by their common observations, has a loop."""
        component = {name: name for name in self.priors}
        for factor in self.likelihoods.values():
            joined = {component[parent] for parent in factor.parents}
            if len(joined) < len(factor.parents):
                return True
            merged = factor.parents[0]
            component = {name: merged if c in joined else c for name, c in component.items()}
        return False

    def transition(self, state: str, action: int) -> Factor:
        """The transition of `state` once `action` is known, its parents being states only."""
        factor = self.transitions[state]
        if self.action not in factor.parents:
            return factor
        axis = factor.parents.index(self.action)
        parents = factor.parents[:axis] + factor.parents[axis + 1 :]
        return Factor(np.take(factor.table, action, axis=1 + axis), parents)

    def twins(self, one: int, other: int) -> bool:
        """Whether two actions change every state by the same table, so that nothing can tell them apart."""
        pairs = ((self.transition(state, one), self.transition(state, other)) for state in self.priors)
        return all(np.array_equal(a.table, b.table) for a, b in pairs)

    def build(self, **options: Any) -> TemporalSlice:
        """Declare the model to the package; `options` go to `TemporalSliceBuilder.build`."""
        from btai.model import TemporalSliceBuilder

        builder = TemporalSliceBuilder(self.action, self.n_actions)
        for name, prior in self.priors.items():
            builder.add_state(name, prior)
        for name, factor in self.likelihoods.items():
            builder.add_observation(name, factor.table, list(factor.parents))
        for name, factor in self.transitions.items():
            builder.add_transition(name, factor.table, list(factor.parents))
        for group, table in self.preferences.items():
            builder.add_preference(list(group), table)
        return builder.build(**options)
