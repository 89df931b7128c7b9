"""A temporal slice: beliefs, messages, and the expected free energy in parts and cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.inference import ExpectedFreeEnergy, Inference, i_step
from btai.inspector.cursor import Cursor, CursorError
from btai.inspector.evidence import observed
from btai.inspector.trace import Trace
from btai.inspector.views.shapes import Json, action_name, names_of, packed, vectors
from btai.model import TemporalSlice

__all__ = ["MOST_CELLS", "Largest", "cells", "efe_parts", "node", "occupancy", "part_names", "part_of"]

MOST_CELLS = 100
RISK, AMBIGUITY = "risk", "ambiguity"

Table = NDArray[np.float64]


def node(trace: Trace, cursor: Cursor) -> Json:
    """Everything about a node but what the search counted there."""
    found = trace.tree(cursor)[cursor.node]
    cycle = trace.moment(cursor).cycle
    is_root = found.parent is None
    before = cycle.prior if found.parent is None else found.parent.beliefs
    return {
        **_where(cursor),
        "parent": None if found.parent is None else found.parent.index,
        "action": None if is_root else found.action,
        "action_name": None if is_root else action_name(trace.ts, found.action),
        "depth": len(found.path),
        "path": [*found.path],
        "path_names": [action_name(trace.ts, action) for action in found.path],
        "beliefs": vectors(found.beliefs),
        "before": {"what": "prior" if is_root else "parent", "beliefs": vectors(before)},
        "observations": None if is_root else vectors(found.predicted_observations),
        "inference": _inference(trace, cursor) if is_root else None,
        "efe": None if is_root else efe_parts(found.expected_free_energy),
    }


def cells(trace: Trace, cursor: Cursor, part: str, most: int = MOST_CELLS) -> Json:
    """The cells that make up one part of a node's expected free energy: the largest one by one, the rest together."""
    found = part_of(trace.ts, trace.tree(cursor)[cursor.node].expected_free_energy, part)
    largest = found.largest(most)
    places = largest.places.tolist()
    names = [_value_names(trace.ts, name) for name in found.variables]
    columns = {"value": largest.value.tolist()} | {name: column.tolist() for name, column in largest.factors.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        **_where(cursor),
        "part": part,
        "kind": found.kind,
        "variables": [*found.variables],
        "shape": [*found.values.shape],
        "total": largest.total,
        "cells": [
            {"index": place, "labels": [labels[i] for labels, i in zip(names, place, strict=True)]} | row
            for place, row in zip(places, rows, strict=True)
        ],
        "rest": {"cells": found.values.size - len(places), "value": largest.rest},
    }


def occupancy(trace: Trace, cursor: Cursor, x: str, y: str) -> Json:
    """Where a node's beliefs say that something is: the joint of two states, rows by `y` and columns by `x`."""
    for name in (x, y):
        if name not in trace.ts.states:
            raise CursorError(f"{name}: no such state is declared; there are {', '.join(trace.ts.states)}.")
    beliefs = trace.tree(cursor)[cursor.node].beliefs
    joint = np.multiply.outer(beliefs[y], beliefs[x])  # mean field
    rows, columns = joint.shape
    shape: Json = {"x": x, "y": y, "columns": columns, "rows": rows, "area": trace.area(x, y)}
    return _where(cursor) | shape | {"values": packed(joint)}


def efe_parts(efe: ExpectedFreeEnergy) -> Json:
    """An expected free energy in its parts."""
    return {
        "total": efe.total,
        "risk_total": sum(efe.risk.values()),
        "ambiguity_total": sum(efe.ambiguity.values()),
        "risk": [
            {"part": f"{RISK}:{i}", "observations": [*group], "value": value}
            for i, (group, value) in enumerate(efe.risk.items())
        ],
        "ambiguity": [
            {"part": f"{AMBIGUITY}:{name}", "observation": name, "value": value}
            for name, value in efe.ambiguity.items()
        ],
    }


Places = tuple[NDArray[np.intp], ...]  # of `n` cells, `[n]` along each axis


class Largest(NamedTuple):
    """The `n` largest cells of a part, and what the others add to its total."""

    places: NDArray[np.intp]  # [n, axes]
    value: Table  # [n]
    factors: dict[str, Table]  # what the value of a cell is made from, `[n]` or `[n, axes]` each
    total: float
    rest: float


class Part(NamedTuple):
    """A part of an expected free energy, cell by cell."""

    kind: str
    variables: tuple[str, ...]  # one axis each
    values: Table
    factors: Callable[[Places], dict[str, Table]]

    def largest(self, most: int) -> Largest:
        """The cells that say most."""
        values = self.values.ravel()
        order = np.argsort(-np.abs(values), kind="stable")
        listed, rest = order[:most], order[most:]
        places = np.unravel_index(listed, self.values.shape)
        total, others = float(values.sum()), float(values[rest].sum())
        return Largest(np.stack(places, axis=-1), values[listed], self.factors(places), total, others)


def part_of(ts: TemporalSlice, efe: ExpectedFreeEnergy, part: str) -> Part:
    """One part of an expected free energy, by its name."""
    kind, _, key = part.partition(":")
    groups = {str(i): preference.observations for i, preference in enumerate(ts.preferences)}
    if kind == RISK and key in groups:
        return _risk_part(ts, efe, groups[key])
    if kind == AMBIGUITY and key in ts.observations:
        return _ambiguity_part(ts, efe, key)
    there = part_names(ts)
    raise CursorError(f"part: {part!r} was asked for; there are {', '.join(there)}.")


def part_names(ts: TemporalSlice) -> list[str]:
    """The parts of an expected free energy, by their names."""
    return [f"{RISK}:{i}" for i in range(len(ts.preferences))] + [f"{AMBIGUITY}:{name}" for name in ts.observations]


def _risk_part(ts: TemporalSlice, efe: ExpectedFreeEnergy, group: tuple[str, ...]) -> Part:
    preference = {p.observations: p.table for p in ts.preferences}[group]
    predicted = [efe.prediction.observations[name] for name in group]

    def factors(places: Places) -> dict[str, Table]:
        marginals = [q[i] for q, i in zip(predicted, places, strict=True)]
        return {"marginals": np.stack(marginals, axis=-1), "preference": preference[places]}

    return Part(RISK, group, efe.risk_cells(group), factors)


def _ambiguity_part(ts: TemporalSlice, efe: ExpectedFreeEnergy, observation: str) -> Part:
    weights, entropies = efe.weights(observation), efe.entropies(observation)

    def factors(places: Places) -> dict[str, Table]:
        return {"weight": weights[places], "entropy": entropies[places]}

    parents = ts.observations[observation].parents
    return Part(AMBIGUITY, parents, weights * entropies, factors)


def _inference(trace: Trace, cursor: Cursor) -> Json:
    """The I-step of the present slice."""
    cycle = trace.moment(cursor).cycle
    result = i_step(trace.ts, observed(cycle.evidence), cycle.prior, method=trace.options.inference)
    return {
        "exact": result.exact,
        "reason": result.reason,
        "residual": result.residual,
        "iterations": result.iterations,
        "log_evidence": result.log_evidence,
        "graph": "cliques" if result.cliques else "factors",
        "cliques": {name: [*scope] for name, scope in result.cliques.items()},
        "messages": _messages(trace.ts, result),
    }


def _messages(ts: TemporalSlice, inference: Inference) -> list[Json]:
    return [
        {
            "source": source,
            "target": target,
            "variables": _variables_of(ts, inference, source, target),
            "shape": [*message.shape],
            "values": message.ravel().tolist(),
        }
        for (source, target), message in inference.messages.items()
    ]


def _variables_of(ts: TemporalSlice, inference: Inference, source: str, target: str) -> list[str]:
    """The variables a message is about: an edge's variable, or what two cliques share."""
    if not inference.cliques:
        return [source if source in ts.sizes else target]
    one, other = inference.cliques[source], inference.cliques[target]
    child = other if other[0] not in one else one  # the parent knows all but the variable that is eliminated there
    return [*child[1:]]


def _value_names(ts: TemporalSlice, name: str) -> list[str]:
    variables: Any = {**ts.states, **ts.observations}
    return names_of(variables[name].values, variables[name].size)


def _where(cursor: Cursor) -> Json:
    return {"trial": cursor.trial, "cycle": cursor.cycle, "node": cursor.node}
