"""Merging variables: several states, or several observations, become one whose values are all their combinations.

The merged model says the same as the one it comes from. What it costs is its size, and what it gains is a joint belief
over the merged states, where a factored agent keeps one marginal for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.errors import PreferenceError, TableError, VariableError
from btai.model.builder import TemporalSliceBuilder
from btai.model.checks import checked_names, group_name
from btai.model.cliques import MAX_CLIQUE_ENTRIES, check_cliques, plan_buckets
from btai.model.slice import Observation, Preference, State, TemporalSlice

__all__ = ["flatten"]

Table = NDArray[np.float64]
Axis = tuple[str, bool]  # a variable of the slice, and whether it is the one that the table gives the probability of

GIVEN, OWN = False, True


def flatten(
    ts: TemporalSlice,
    states: Sequence[str] | None = None,
    observations: Sequence[str] | None = None,
    *,
    max_entries: int = MAX_CLIQUE_ENTRIES,
) -> TemporalSlice:
    """A slice in which `states` are one state and `observations` one observation: their products, exactly.

    The last variable named varies fastest: of S_x `[3]` and S_y `[4]`, value 5 is (x 1, y 1), called "1, 1". The new
    variable is named after its parts, `S_x_y`, and stands in the place of the first of them. Preference groups that
    the merged observation brings together become one group, with the product of their tables.

    Args:
        ts: the slice.
        states, observations: the names to merge; all of them if absent, none if there are fewer than two.
        max_entries: no table, and no clique of exact inference, may have more entries than this; a product that would
            is refused before anything is allocated.
    """
    merging = _Merging(
        ts,
        checked_names("flatten", "state", list(ts.states) if states is None else states),
        checked_names("flatten", "observation", list(ts.observations) if observations is None else observations),
    )
    new = _Products(
        priors=[merging.prior(state) for state in merging.each_of(ts.states)],
        likelihoods=[merging.likelihood(name) for name in merging.each_of(ts.observations)],
        transitions=[merging.transition(state) for state in merging.each_of(ts.transitions)],
        preferences=[merging.preference(group) for group in _groups(ts, merging)],
    )
    _check_size(new, ts.inference == "exact", max_entries)
    builder = TemporalSliceBuilder(ts.action.name, ts.action.size, ts.action.values)
    for prior in new.priors:
        builder.add_state(prior.name, prior.table(), merging.labels(prior.name))
    for likelihood in new.likelihoods:
        name = likelihood.name
        builder.add_observation(name, likelihood.table(), likelihood.given, merging.labels(name))
    for transition in new.transitions:
        builder.add_transition(transition.name, transition.table(), transition.given)
    for preference in new.preferences:
        builder.add_preference(preference.own, preference.table())
    return builder.build(ts.inference, max_clique=max_entries)


class _Factor(NamedTuple):
    """A table of the slice and the variables of its axes."""

    table: Table
    axes: tuple[Axis, ...]


@dataclass(frozen=True)
class _Product:
    """A table to be made: the product of some factors, with an axis for each new variable."""

    what: str
    own: tuple[str, ...]  # the new variables that it gives the probability of
    given: tuple[str, ...]  # its new parents
    factors: tuple[_Factor, ...]
    axes: tuple[Axis, ...]  # of the slice's variables, in the order of the new ones that they are parts of
    sizes: tuple[int, ...]  # of the slice's variables
    shape: tuple[int, ...]  # by new variable

    @property
    def name(self) -> str:
        """The variable, or the group of them."""
        return group_name(self.own) if self.what == "preference" else self.own[0]

    @property
    def entries(self) -> int:
        """How many entries the table has."""
        return prod(self.shape)

    def table(self) -> Table:
        """The table itself."""
        aligned = (_aligned(factor, self.axes) for factor in self.factors)
        return np.broadcast_to(reduce(np.multiply, aligned), self.sizes).reshape(self.shape)


class _Products(NamedTuple):
    """All tables of the new slice, not made yet."""

    priors: Sequence[_Product]
    likelihoods: Sequence[_Product]
    transitions: Sequence[_Product]
    preferences: Sequence[_Product]


def _aligned(factor: _Factor, axes: Sequence[Axis]) -> Table:
    """The factor's table with its axes in the order of `axes`, and an axis of length 1 for each it does not have."""
    order = [factor.axes.index(axis) for axis in axes if axis in factor.axes]
    lengths = [factor.table.shape[factor.axes.index(axis)] if axis in factor.axes else 1 for axis in axes]
    return factor.table.transpose(order).reshape(lengths)


class _Merging:
    """Which variable of the new slice stands for which of the old one."""

    def __init__(self, ts: TemporalSlice, states: Sequence[str], observations: Sequence[str]) -> None:
        self.ts = ts
        self.parts: dict[str, tuple[str, ...]] = {}  # new variable -> the old ones, in the order in which they vary
        _check_known(states, "state", ts.states)
        _check_known(observations, "observation", ts.observations)
        merged = {name: group for group in (states, observations) if len(group) > 1 for name in group}
        for name in ts.sizes:
            parts = tuple(merged.get(name, (name,)))
            self.parts[_checked_new_name(ts, parts)] = parts
        self._new = {part: new for new, parts in self.parts.items() for part in parts}
        self.merged = tuple(observations) if len(observations) > 1 else ()

    def each_of(self, names: Iterable[str]) -> list[str]:
        """The variables that `names` have become part of, each once."""
        return list(dict.fromkeys(self._new[name] for name in names))

    def labels(self, name: str) -> tuple[str, ...] | None:
        """What the values of a new variable are called; numbers stand in for the labels of parts that have none."""
        variables: dict[str, State | Observation] = {**self.ts.states, **self.ts.observations}
        parts = [variables[part] for part in self.parts[name]]
        if len(parts) == 1:
            return parts[0].values
        return tuple(map(", ".join, product(*(self.ts.labels(part.name) for part in parts))))

    def prior(self, state: str) -> _Product:
        """The prior of a new state."""
        factors = [_Factor(self.ts.states[part].prior, ((part, OWN),)) for part in self.parts[state]]
        return self._product("prior", [state], (), factors)

    def likelihood(self, observation: str) -> _Product:
        """The likelihood of a new observation."""
        old = [self.ts.observations[part] for part in self.parts[observation]]
        parents = [parent for o in old for parent in o.parents]
        factors = [_conditional(o.likelihood, o.name, o.parents) for o in old]
        return self._product("likelihood", [observation], parents, factors)

    def transition(self, state: str) -> _Product:
        """The transition of a new state."""
        old = [self.ts.transitions[part] for part in self.parts[state]]
        parents = [parent for t in old for parent in t.parents]
        factors = [_conditional(t.table, t.state, t.parents) for t in old]
        return self._product("transition", [state], parents, factors)

    def preference(self, group: Sequence[Preference]) -> _Product:
        """The preference over the observations of some groups."""
        names = self.each_of(name for p in group for name in p.observations)
        factors = [_Factor(p.table, tuple((name, OWN) for name in p.observations)) for p in group]
        return self._product("preference", names, (), factors)

    def _product(
        self, what: str, own: Sequence[str], old_parents: Iterable[str], factors: Sequence[_Factor]
    ) -> _Product:
        given = self.each_of(old_parents)
        axes = [(part, role) for role, names in ((OWN, own), (GIVEN, given)) for n in names for part in self.parts[n]]
        sizes = tuple(self.ts.sizes[part] for part, _ in axes)
        shape = tuple(prod(self.ts.sizes[part] for part in self.parts[name]) for name in [*own, *given])
        return _Product(what, tuple(own), tuple(given), tuple(factors), tuple(axes), sizes, shape)


def _conditional(table: Table, name: str, parents: Sequence[str]) -> _Factor:
    return _Factor(table, ((name, OWN), *((parent, GIVEN) for parent in parents)))


def _checked_new_name(ts: TemporalSlice, parts: Sequence[str]) -> str:
    """S_x and S_y together are S_x_y, if no other variable is called so."""
    first, *others = parts
    name = "_".join([first, *(part[2:] for part in others)])
    if others and name in ts.sizes:
        raise VariableError(
            f"{name}: the product of {', '.join(parts)} would be called so, but another variable is already. Merge them"
            " in another order, or rename that one."
        )
    return name


def _groups(ts: TemporalSlice, merging: _Merging) -> Iterator[tuple[Preference, ...]]:
    """The preferences that make each new one: those over merged observations become one, where the first stood."""
    met = tuple(p for p in ts.preferences if set(p.observations) & set(merging.merged))
    preferred = {name for p in met for name in p.observations}
    for name in merging.merged:
        if met and name not in preferred:
            raise PreferenceError(
                f"{name}: it has no preference, but {group_name(met[0].observations)}, with which it is to be merged"
                " in part, has one; a preference over the product would be one over it too. Declare a uniform"
                " preference over it if that is meant, or do not merge it."
            )
    for p in ts.preferences:
        if p not in met:
            yield (p,)
        elif p is met[0]:
            yield met


def _check_known(names: Sequence[str], role: str, declared: Mapping[str, Any]) -> None:
    for name in names:
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise VariableError(f"{name}: this {role} was to be merged, but it is not declared. Declared are {known}.")


def _check_size(new: _Products, exact: bool, limit: int) -> None:
    """No table and, for exact inference, no clique is larger than the limit; nothing is allocated to find out."""
    fix = "Merge fewer variables, or raise max_entries."
    largest = max((table for tables in new for table in tables), key=lambda table: table.entries)
    if largest.entries > limit:
        raise TableError(
            f"{largest.name}: the {largest.what} of the product would have {largest.entries:,} entries"
            f" ({8 * largest.entries // 2**20:,} MiB); the limit is {limit:,}. {fix}"
        )
    if exact:
        states = [prior.name for prior in new.priors]
        scopes = [[states.index(parent) for parent in likelihood.given] for likelihood in new.likelihoods]
        check_cliques(plan_buckets([prior.entries for prior in new.priors], scopes), states, limit, fix)
