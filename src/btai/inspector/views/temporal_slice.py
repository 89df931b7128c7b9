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

__all__ = ["MOST_CELLS", "cells", "efe_parts", "node", "occupancy"]

MOST_CELLS = 100
RISK, AMBIGUITY = "risk", "ambiguity"


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
    found = _part(trace.ts, trace.tree(cursor)[cursor.node].expected_free_energy, part)
    values, names = found.values, [_value_names(trace.ts, name) for name in found.variables]
    order = np.argsort(-np.abs(values), axis=None, kind="stable")
    listed, rest = order[:most], order[most:]
    places = [tuple(int(i) for i in np.unravel_index(flat, values.shape)) for flat in listed]
    return {
        **_where(cursor),
        "part": part,
        "kind": found.kind,
        "variables": [*found.variables],
        "shape": [*values.shape],
        "total": float(values.sum()),
        "cells": [
            {
                "index": [*place],
                "labels": [labels[i] for labels, i in zip(names, place, strict=True)],
                "value": float(values[place]),
                **found.factors(place),
            }
            for place in places
        ],
        "rest": {"cells": len(rest), "value": float(values.ravel()[rest].sum())},
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


class _Part(NamedTuple):
    """A part of an expected free energy, cell by cell."""

    kind: str
    variables: tuple[str, ...]  # one axis each
    values: NDArray[np.float64]
    factors: Callable[[tuple[int, ...]], Json]  # what the value of a cell is made from


def _part(ts: TemporalSlice, efe: ExpectedFreeEnergy, part: str) -> _Part:
    kind, _, key = part.partition(":")
    groups = {str(i): preference.observations for i, preference in enumerate(ts.preferences)}
    if kind == RISK and key in groups:
        return _risk_part(ts, efe, groups[key])
    if kind == AMBIGUITY and key in ts.observations:
        return _ambiguity_part(ts, efe, key)
    there = [f"{RISK}:{i}" for i in groups] + [f"{AMBIGUITY}:{name}" for name in ts.observations]
    raise CursorError(f"part: {part!r} was asked for; there are {', '.join(there)}.")


def _risk_part(ts: TemporalSlice, efe: ExpectedFreeEnergy, group: tuple[str, ...]) -> _Part:
    preference = {p.observations: p.table for p in ts.preferences}[group]
    predicted = [efe.prediction.observations[name] for name in group]

    def factors(place: tuple[int, ...]) -> Json:
        marginals = [float(q[i]) for q, i in zip(predicted, place, strict=True)]
        return {"marginals": marginals, "preference": float(preference[place])}

    return _Part(RISK, group, efe.risk_cells(group), factors)


def _ambiguity_part(ts: TemporalSlice, efe: ExpectedFreeEnergy, observation: str) -> _Part:
    weights, entropies = efe.weights(observation), efe.entropies(observation)

    def factors(place: tuple[int, ...]) -> Json:
        return {"weight": float(weights[place]), "entropy": float(entropies[place])}

    parents = ts.observations[observation].parents
    return _Part(AMBIGUITY, parents, efe.ambiguity_cells(observation), factors)


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
