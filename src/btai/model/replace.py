"""Copies of a slice with some tables changed, checked as if declared anew."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from btai.errors import VariableError
from btai.model.builder import TemporalSliceBuilder
from btai.model.slice import TemporalSlice

__all__ = ["replaced"]


def replaced(ts: TemporalSlice, name: str | Sequence[str], tables: Mapping[str, ArrayLike]) -> TemporalSlice:
    """A copy of `ts` in which `tables` (by kind: prior, transition, ...) take the place of `name`'s."""
    _check_target(ts, name, tables)
    key = name if isinstance(name, str) else tuple(name)
    builder = TemporalSliceBuilder(ts.action.name, ts.action.size, ts.action.values)
    for state in ts.states.values():
        builder.add_state(
            state.name, tables.get("prior", state.prior) if state.name == key else state.prior, state.values
        )
    for o in ts.observations.values():
        likelihood = tables.get("likelihood", o.likelihood) if o.name == key else o.likelihood
        builder.add_observation(o.name, likelihood, o.parents, o.values)
    for t in ts.transitions.values():
        builder.add_transition(t.state, tables.get("transition", t.table) if t.state == key else t.table, t.parents)
    group = (key,) if isinstance(key, str) else key
    for p in ts.preferences:
        builder.add_preference(
            p.observations, tables.get("preference", p.table) if p.observations == group else p.table
        )
    return builder.build(ts.inference, max_clique=sys.maxsize)  # the structure was accepted before


def _check_target(ts: TemporalSlice, name: str | Sequence[str], tables: Mapping[str, ArrayLike]) -> None:
    """What is to be replaced exists."""
    if not isinstance(name, Sequence):
        raise VariableError(f"{name!r} was given; the name of a variable, or those of a preference, is required.")
    groups = [p.observations for p in ts.preferences]
    key = (name,) if isinstance(name, str) else tuple(name)
    holders = {"prior": ts.states, "transition": ts.states, "likelihood": ts.observations}
    for kind in tables:
        known = key in groups if kind == "preference" else isinstance(name, str) and name in holders[kind]
        if not known:
            choices = groups if kind == "preference" else [*holders[kind]]
            raise VariableError(f"{name!r}: it has no {kind} to replace. Choose one of {choices}.")
    if not tables:
        raise VariableError(
            f"{name!r}: nothing was given to replace; pass prior=, transition=, likelihood= or preference=."
        )
