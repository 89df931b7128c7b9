"""The builder: declares a temporal slice variable by variable and checks every word of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from numbers import Real
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from btai.errors import ModelError, PreferenceError, TableError, VariableError
from btai.model.checks import (
    checked_labels,
    checked_name,
    checked_names,
    checked_preference,
    conditional,
    group_name,
    is_whole,
    to_array,
)
from btai.model.cliques import MAX_CLIQUE_ENTRIES, check_cliques, plan_buckets
from btai.model.slice import Action, Observation, Preference, State, TemporalSlice, Transition

__all__ = ["TemporalSliceBuilder"]

T = TypeVar("T")

MAX_ACTIONS = 2**20  # each iteration of planning makes a node for every action: with so many, 32 MiB of them


class TemporalSliceBuilder:
    """Declares a model: `add_state`, `add_observation`, `add_transition`, `add_preference`, then `build`.

    Names start with `S_`, `O_` and `A_`. Tables are anything that `numpy.asarray` takes and are copied. A parent may
    be declared after the variable that names it; what concerns several variables is checked by `build`.
    """

    def __init__(self, action_name: str, n_actions: int, values: Sequence[str] | None = None) -> None:
        checked_name(action_name, "A_", ())
        if not is_whole(n_actions) or n_actions < 1:
            raise ModelError(
                f"{action_name}: {n_actions!r} actions were given; a whole number of at least 1 is required."
            )
        if n_actions > MAX_ACTIONS:
            raise ModelError(
                f"{action_name}: {n_actions:,} actions were given; at most {MAX_ACTIONS:,} are taken, as planning tries"
                " each of them. Declare fewer."
            )
        self._action = Action(action_name, int(n_actions), checked_labels(action_name, values, int(n_actions)))
        self._states: dict[str, State] = {}
        self._observations: dict[str, Observation] = {}
        self._transitions: dict[str, Transition] = {}
        self._preferences: list[Preference] = []

    def add_state(self, name: str, prior: ArrayLike, values: Sequence[str] | None = None) -> TemporalSliceBuilder:
        """Declare a latent state with its prior `[n_S]` and, if wanted, the names of its values."""
        checked_name(name, "S_", self._states)
        table = conditional(name, "prior", prior, labels=values)
        self._states[name] = State(name, table, checked_labels(name, values, len(table)))
        return self

    def add_observation(
        self, name: str, likelihood: ArrayLike, parents: Sequence[str], values: Sequence[str] | None = None
    ) -> TemporalSliceBuilder:
        """Declare an observation with its likelihood `[n_O, *parents]`, the states in the order named."""
        checked_name(name, "O_", self._observations)
        states = checked_names(name, "parent", parents)
        if not states:
            raise VariableError(
                f"{name}: no parents were given; an observation depends on at least one state. Name it."
            )
        table = conditional(name, "likelihood", likelihood, states, values)
        self._observations[name] = Observation(name, table, states, checked_labels(name, values, len(table)))
        return self

    def add_transition(self, state: str, table: ArrayLike, parents: Sequence[str]) -> TemporalSliceBuilder:
        """Declare how a state follows from the slice before: `[n_S, *parents]`, the action at any place or absent."""
        if state in self._transitions:
            raise VariableError(f"{state}: a second transition was given; each state has one. Remove one of them.")
        names = checked_names(state, "parent", parents)
        self._transitions[state] = Transition(state, conditional(state, "transition", table, names), names)
        return self

    def add_preference(
        self,
        observations: Sequence[str],
        table: ArrayLike | None = None,
        *,
        scores: ArrayLike | None = None,
        precision: float = 1.0,
    ) -> TemporalSliceBuilder:
        """Declare the preferred joint distribution of some observations, axes in the order named.

        Either as a `table` of probabilities or as `scores`, any real numbers, for `softmax(precision * scores)`.
        """
        group = checked_names("preference", "observation", observations)
        if not group:
            raise PreferenceError("preference: no observations were given; name at least one.")
        if (table is None) == (scores is None):
            given = "neither" if table is None else "both"
            raise PreferenceError(
                f"{group_name(group)}: {given} of table and scores were given; give exactly one of them."
            )
        if scores is None and precision != 1:
            raise PreferenceError(
                f"{group_name(group)}: a precision of {precision} was given with a table, which holds probabilities"
                " already; a precision multiplies scores. Pass scores=, or leave it out."
            )
        for other in self._preferences:
            for name in set(group) & set(other.observations):
                raise PreferenceError(
                    f"{name}: it stands in the preference over {group_name(group)} and already in the one over"
                    f" {group_name(other.observations)}; groups must not overlap. Declare one joint preference over"
                    " all of them."
                )
        values = table if scores is None else _softmax(group_name(group), scores, precision)
        assert values is not None
        checked = checked_preference(group, values, from_scores=table is None)
        self._preferences.append(Preference(group, checked))
        return self

    def build(self, inference: str = "exact", max_clique: int = MAX_CLIQUE_ENTRIES) -> TemporalSlice:
        """The checked, immutable slice.

        `inference="exact"` refuses a model whose junction tree needs a table of more than `max_clique` entries;
        `inference="loopy"` lets agents of this slice use damped loopy propagation, which says that it is not exact.
        """
        if inference not in ("exact", "loopy"):
            raise ModelError(f"inference: {inference!r} was given; it must be 'exact' or 'loopy'.")
        if not self._states:
            raise VariableError("the model has no state; declare at least one with add_state('S_...', prior).")
        self._check_observations()
        self._check_transitions()
        self._check_preferences()
        if inference == "exact":
            self._check_cliques(max_clique)
        return TemporalSlice(
            action=self._action,
            states=_frozen(self._states),
            observations=_frozen(self._observations),
            transitions=_frozen({name: self._transitions[name] for name in self._states}),
            preferences=tuple(self._preferences),
            inference=inference,
        )

    def _check_observations(self) -> None:
        sizes = {name: state.size for name, state in self._states.items()}
        for name, observation in self._observations.items():
            self._check_parents(name, observation.parents, sizes, "An observation depends on states alone")
            _check_axes(name, "likelihood", observation.likelihood.shape, observation.size, observation.parents, sizes)

    def _check_transitions(self) -> None:
        sizes = {name: state.size for name, state in self._states.items()} | {self._action.name: self._action.size}
        for name, transition in self._transitions.items():
            if name not in self._states:
                raise VariableError(
                    f"{name}: a transition was given for it, but no such state is declared. Declared are"
                    f" {_listed(self._states)}."
                )
            self._check_parents(name, transition.parents, sizes, "A state follows from states and the action alone")
            _check_axes(name, "transition", transition.table.shape, sizes[name], transition.parents, sizes)
        for name in self._states:
            if name not in self._transitions:
                raise VariableError(
                    f"{name}: no transition was given; each state needs one. For a state that never changes, write"
                    f" add_transition({name!r}, numpy.eye({sizes[name]}), [{name!r}])."
                )

    def _check_parents(self, name: str, parents: Sequence[str], allowed: Mapping[str, int], rule: str) -> None:
        """Every parent is declared, and of a kind that may be one."""
        for parent in parents:
            if parent in allowed:
                continue
            if parent == self._action.name or parent in self._observations:
                fix = "Let a state keep it: one whose transition has the action as its only parent."
                if parent in self._observations:
                    fix = f"Name the states that {parent} depends on."
                raise VariableError(f"{name}: {parent!r} was given as its parent. {rule}. {fix}")
            raise VariableError(f"{name}: its parent {parent!r} is not declared. Declared are {_listed(allowed)}.")

    def _check_preferences(self) -> None:
        sizes = {name: observation.size for name, observation in self._observations.items()}
        for preference in self._preferences:
            for name in preference.observations:
                if name not in sizes:
                    raise VariableError(
                        f"{name}: a preference was given over it, but no such observation is declared."
                        f" Declared are {_listed(sizes)}."
                    )
            required = tuple(sizes[name] for name in preference.observations)
            if preference.table.shape != required:
                raise PreferenceError(
                    f"{group_name(preference.observations)}: the preference was given with shape"
                    f" {preference.table.shape}; required is {required}, the sizes of the observations in the order"
                    " named. Transpose it, or reorder the names."
                )

    def _check_cliques(self, max_clique: int) -> None:
        index = {name: i for i, name in enumerate(self._states)}
        scopes = [[index[parent] for parent in o.parents] for o in self._observations.values()]
        tree = plan_buckets([state.size for state in self._states.values()], scopes)
        fix = (
            "Use build(inference='loopy') for damped loopy propagation, which is approximate and says so, or raise"
            " max_clique."
        )
        check_cliques(tree, list(self._states), max_clique, fix)

    def __repr__(self) -> str:
        groups = ", ".join(group_name(preference.observations) for preference in self._preferences)
        return (
            f"TemporalSliceBuilder: {self._action.name} of {self._action.size} values; states: {_listed(self._states)};"
            f" observations: {_listed(self._observations)}; transitions of: {_listed(self._transitions)};"
            f" preferences over: {groups or 'none'}"
        )


def _check_axes(
    name: str,
    what: str,
    shape: tuple[int, ...],
    size: int,
    parents: Sequence[str],
    sizes: Mapping[str, int],
) -> None:
    """Every axis has its variable's size; the first is that of `name` itself."""
    required = (size, *(sizes[parent] for parent in parents))
    if shape != required:
        raise TableError(
            f"{name}: the {what} was given with shape {shape}; required is {required} for the axes"
            f" [{', '.join([name, *parents])}]. Axis 0 is {name} itself, then its parents in the order named:"
            " transpose the table or reorder the parents."
        )


def _softmax(name: str, scores: ArrayLike, precision: float) -> ArrayLike:
    raw = to_array(name, "table of scores", scores, PreferenceError)
    if not isinstance(precision, Real) or not 0 <= precision < np.inf:
        raise PreferenceError(
            f"{name}: a precision of {precision!r} was given; a finite number of at least 0 is required."
        )
    if not np.isfinite(raw).all() or not prod(raw.shape):
        raise PreferenceError(f"{name}: the scores must be finite numbers, at least one; given were {raw}.")
    weights = np.exp(precision * (raw - raw.max()))
    return np.asarray(weights / weights.sum())


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(names) if names else "none"


def _frozen(mapping: Mapping[str, T]) -> Mapping[str, T]:
    return MappingProxyType(dict(mapping))
