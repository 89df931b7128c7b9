"""The temporal slice: an immutable declaration of a factored generative model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.errors import PlanningError
from btai.model.checks import is_whole
from btai.model.layout import Layout

__all__ = ["Action", "Observation", "Preference", "State", "TemporalSlice", "Transition"]

Table = NDArray[np.float64]
Labels = tuple[str, ...] | None


def _same(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray):
        return isinstance(right, np.ndarray) and np.array_equal(left, right)
    return left == right


@dataclass(frozen=True, eq=False)
class _Part:
    """Equality field by field, for dataclasses that hold arrays."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        values = (getattr(self, f.name) for f in fields(self))
        return hash(tuple(v.shape if isinstance(v, np.ndarray) else v for v in values))


@dataclass(frozen=True, eq=False)
class Action(_Part):
    """The action variable."""

    name: str
    size: int
    values: Labels = None

    def index(self, action: object) -> int:
        """The number of an action, which may be given by its name."""
        if isinstance(action, str) and self.values and action in self.values:
            return self.values.index(action)
        if is_whole(action) and 0 <= action < self.size:
            return int(action)
        names = f", or one of the names {', '.join(self.values)}," if self.values else ""
        raise PlanningError(
            f"{self.name}: action {action!r} was given; a whole number from 0 to {self.size - 1}{names} is required."
        )


@dataclass(frozen=True, eq=False)
class State(_Part):
    """A latent state and its prior D, `[n_S]`."""

    name: str
    prior: Table
    values: Labels = None

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.prior)


@dataclass(frozen=True, eq=False)
class Observation(_Part):
    """An observation and its likelihood A, `[n_O, *parents]`."""

    name: str
    likelihood: Table
    parents: tuple[str, ...]
    values: Labels = None

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.likelihood)

    @cached_property
    def entropies(self) -> Table:
        """H[P(O | parents)] of each configuration of the parents, `[*parents]`; 0 log 0 = 0."""
        terms = self.likelihood * np.log(np.where(self.likelihood > 0, self.likelihood, 1))
        return 0.0 - np.asarray(terms.sum(axis=0))  # subtracted, so that a certain outcome has entropy +0.0


@dataclass(frozen=True, eq=False)
class Transition(_Part):
    """How a state follows from the slice before: B, `[n_S, *parents]`; the action may stand among the parents."""

    state: str
    table: Table
    parents: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Preference(_Part):
    """The preferred joint distribution C of a group of observations, `[n_O1, n_O2, ...]` in the group's order."""

    observations: tuple[str, ...]
    table: Table


@dataclass(frozen=True, eq=False)
class TemporalSlice(_Part):
    """States, observations, transitions and preferences of one time step, as declared.

    Made by `TemporalSliceBuilder`, which checks everything; every table is a read-only float64 array and every
    mapping keeps the order of declaration.
    """

    action: Action
    states: Mapping[str, State]
    observations: Mapping[str, Observation]
    transitions: Mapping[str, Transition]
    preferences: tuple[Preference, ...]
    inference: str = "exact"

    def __eq__(self, other: object) -> bool:
        # A mapping compares equal whatever its order, but the order of declaration belongs to the model.
        if not isinstance(other, TemporalSlice):
            return NotImplemented
        return self._names == other._names and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.action, self._names, self.inference))

    @property
    def _names(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.states), tuple(self.observations), tuple(self.transitions)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of values of every variable, the action included."""
        variables: Iterable[Any] = (*self.states.values(), *self.observations.values(), self.action)
        return {v.name: v.size for v in variables}

    def labels(self, name: str) -> tuple[str, ...]:
        """What the values of a variable are called; their numbers, if they have no names."""
        variable = self.action if name == self.action.name else self.states.get(name) or self.observations[name]
        return variable.values or tuple(map(str, range(variable.size)))

    @cached_property
    def state_layout(self) -> Layout:
        """Where each state's vector lies in a flat belief."""
        return Layout({s.name: s.size for s in self.states.values()})

    @cached_property
    def observation_layout(self) -> Layout:
        """Where each observation's vector lies in a flat piece of evidence."""
        return Layout({o.name: o.size for o in self.observations.values()})

    def replace(
        self,
        name: str | Sequence[str],
        *,
        prior: ArrayLike | None = None,
        transition: ArrayLike | None = None,
        likelihood: ArrayLike | None = None,
        preference: ArrayLike | None = None,
    ) -> TemporalSlice:
        """A copy, checked again, with the given tables of one variable (or one group of observations) changed."""
        from btai.model.replace import replaced

        given = {"prior": prior, "transition": transition, "likelihood": likelihood, "preference": preference}
        return replaced(self, name, {kind: table for kind, table in given.items() if table is not None})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ends in `.json` or `.safetensors`, for `btai.load`."""
        from btai.model.files import save

        save(self, path)

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be sent to another process, or copied; a dictionary can.
        mappings = dict(self.states), dict(self.observations), dict(self.transitions)
        return _received, (self.action, *mappings, self.preferences, self.inference)

    def __repr__(self) -> str:
        from btai.model.show import slice_as_text

        return slice_as_text(self)

    def _repr_html_(self) -> str:
        from btai.model.show import slice_as_html

        return slice_as_html(self)


def _received(
    action: Action,
    states: dict[str, State],
    observations: dict[str, Observation],
    transitions: dict[str, Transition],
    preferences: tuple[Preference, ...],
    inference: str,
) -> TemporalSlice:
    """A slice from its parts, every mapping and table read-only again."""
    tables = [
        *(s.prior for s in states.values()),
        *(o.likelihood for o in observations.values()),
        *(t.table for t in transitions.values()),
        *(p.table for p in preferences),
    ]
    for table in tables:
        table.flags.writeable = False
    mappings = MappingProxyType(states), MappingProxyType(observations), MappingProxyType(transitions)
    return TemporalSlice(action, *mappings, preferences, inference)
