"""What of a slice matters to a decision, and which parts of it go their own ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from btai.model import Observation, TemporalSlice

__all__ = ["Component", "Conditional", "Structure", "find_structure"]

Table = NDArray[np.float64]

ENTROPY_ROUNDING = 1e-13  # entropies that differ by less are equal up to the order of summation


@dataclass(frozen=True)
class Conditional:
    """A table `[n, *parents]` without the parents it does not really depend on."""

    table: Table
    parents: tuple[str, ...]


@dataclass(frozen=True)
class Component:
    """States that listen, in the end, only to each other and to the action.

    Two actions under which all its transitions are equal belong to one class: they are predicted once. A prediction is
    then a function of the history of classes alone, so nodes of the tree with the same history share it.
    """

    states: tuple[str, ...]
    class_of: tuple[int, ...]  # [A]: the class of each action
    representatives: tuple[int, ...]  # [classes]: an action of each class


@dataclass(frozen=True)
class Structure:
    """The parts of a slice, as a search sees them."""

    transitions: Mapping[str, tuple[Conditional, ...]]
    """`[A]` per state; the very same object for actions with equal tables."""
    likelihoods: Mapping[str, Conditional]
    ambiguities: Mapping[str, Conditional | float]
    """The entropies `[1, *parents]` of each observation, or the one number they all equal."""
    components: tuple[Component, ...]
    irrelevant: tuple[str, ...]


def find_structure(ts: TemporalSlice) -> Structure:
    """Drop false dependencies, find the states that can reach a cost, and split them into components."""
    transitions = {name: _by_action(ts, name) for name in ts.states}
    likelihoods = {name: _reduced(o.likelihood, o.parents) for name, o in ts.observations.items()}
    ambiguities = {name: _ambiguity(o) for name, o in ts.observations.items()}

    preferred = [name for p in ts.preferences for name in p.observations]
    wanted = {s for name in preferred for s in likelihoods[name].parents}
    wanted |= {s for a in ambiguities.values() if isinstance(a, Conditional) for s in a.parents}
    relevant = _closure(wanted, {s: {p for t in transitions[s] for p in t.parents} for s in ts.states})

    groups = _connected([s for s in ts.states if s in relevant], transitions)
    return Structure(
        transitions,
        likelihoods,
        ambiguities,
        tuple(_component(group, transitions, ts.action.size) for group in groups),
        tuple(s for s in ts.states if s not in relevant),
    )


def _by_action(ts: TemporalSlice, state: str) -> tuple[Conditional, ...]:
    """The state's transition under each action."""
    transition = ts.transitions[state]
    parents = tuple(p for p in transition.parents if p != ts.action.name)
    if parents == transition.parents:
        return (_reduced(transition.table, parents),) * ts.action.size
    axis = 1 + transition.parents.index(ts.action.name)
    distinct: dict[bytes, Conditional] = {}
    found = []
    for action in range(ts.action.size):
        table = np.ascontiguousarray(transition.table.take(action, axis=axis))
        found.append(distinct.setdefault(table.tobytes(), _reduced(table, parents)))
    return tuple(found)


def _reduced(table: Table, parents: Sequence[str]) -> Conditional:
    """Without the parents along whose axis the table is constant."""
    kept = list(parents)
    for axis in reversed(range(len(parents))):
        first = table.take([0], axis=1 + axis)
        if (table == first).all():
            table = first.squeeze(1 + axis)
            del kept[axis]
    return Conditional(np.ascontiguousarray(table), tuple(kept))


def _ambiguity(observation: Observation) -> Conditional | float:
    entropies = observation.entropies
    if entropies.max() - entropies.min() <= ENTROPY_ROUNDING:
        return float(entropies.mean())
    return _reduced(entropies[None], observation.parents)


def _closure(start: Iterable[str], parents: Mapping[str, set[str]]) -> set[str]:
    """`start` and everything it is predicted from, however indirectly."""
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        state = waiting.pop()
        if state not in reached:
            reached.add(state)
            waiting.extend(parents[state])
    return reached


def _connected(states: Sequence[str], transitions: Mapping[str, tuple[Conditional, ...]]) -> list[list[str]]:
    """The states in groups connected by transitions; groups and members in the order of declaration."""
    group = {s: {s} for s in states}
    for s in states:
        for parent in (p for t in transitions[s] for p in t.parents):
            if group[parent] is not group[s]:
                group[s] |= group[parent]
                for member in group[parent]:
                    group[member] = group[s]
    return [
        [s for s in states if s in group[first]]
        for first in states
        if first == next(s for s in states if s in group[first])
    ]


def _component(states: Sequence[str], transitions: Mapping[str, tuple[Conditional, ...]], n_actions: int) -> Component:
    classes: dict[tuple[int, ...], int] = {}
    class_of = []
    representatives = []
    for action in range(n_actions):
        key = tuple(id(transitions[s][action]) for s in states)  # equal tables are one object
        if key not in classes:
            classes[key] = len(classes)
            representatives.append(action)
        class_of.append(classes[key])
    return Component(tuple(states), tuple(class_of), tuple(representatives))
