"""Exact inference on a factor graph with loops: calibration of a junction tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from btai.inference.factors import Factor, normalise, product
from btai.inference.trees import Messages
from btai.model import check_cliques, plan_buckets

__all__ = ["calibrate"]

Table = NDArray[np.float64]
ROOT = -1


def calibrate(
    factors: Sequence[Factor], sizes: Mapping[str, int], max_clique: int
) -> tuple[dict[str, Table], float, Messages, dict[str, tuple[str, ...]]]:
    """Posterior of every variable, the log-probability of the evidence, the messages between cliques, and their scopes.

    One bucket per variable (`btai.model.plan_buckets`): going up, each sums its variable out and hands the rest to its
    parent; going down, the parent's marginal replaces that message, so each bucket ends as a joint posterior.
    """
    names = list(sizes)
    index = {name: i for i, name in enumerate(names)}
    plan = plan_buckets(list(sizes.values()), [[index[v] for v in factor.scope] for factor in factors])
    check_cliques(plan, names, max_clique, "The slice was built for loopy propagation: pass method='loopy'.")
    scopes = [tuple(names[v] for v in scope) for scope in plan.scopes]
    contents: list[list[Table]] = [[] for _ in scopes]

    def put(bucket: int, table: Table, scope: Sequence[str]) -> None:
        contents[bucket].append(_spread(table, scope, scopes[bucket]))

    for factor in factors:
        put(plan.home([index[v] for v in factor.scope]), factor.table, factor.scope)

    log_evidence = 0.0
    messages: Messages = {}
    tables: list[Table] = []
    upward: list[Table] = []
    for i, parent in enumerate(plan.parents):
        table, log_scale = product(contents[i], [sizes[v] for v in scopes[i]])
        log_evidence += log_scale
        tables.append(table)
        upward.append(table.sum(axis=0))
        if parent != ROOT:
            put(parent, upward[i], scopes[i][1:])
            messages[_clique(scopes[i]), _clique(scopes[parent])] = upward[i]

    for i in reversed(range(len(scopes))):
        parent = plan.parents[i]
        if parent != ROOT:
            downward = _marginal(tables[parent], scopes[parent], scopes[i][1:])
            messages[_clique(scopes[parent]), _clique(scopes[i])] = downward
            ratio = np.divide(downward, upward[i], out=np.zeros_like(downward), where=upward[i] > 0)
            tables[i], _ = normalise(tables[i] * ratio)

    marginals = {scope[0]: _marginal(table, scope, scope[:1]) for scope, table in zip(scopes, tables, strict=True)}
    cliques = {_clique(scope): scope for scope in scopes}
    return {name: marginals[name] for name in names}, log_evidence, messages, cliques


def _clique(scope: Sequence[str]) -> str:
    return "{" + ", ".join(scope) + "}"


def _spread(table: Table, scope: Sequence[str], onto: Sequence[str]) -> Table:
    """`table` over `scope` with its axes arranged to multiply a table over `onto`."""
    order = sorted(range(len(scope)), key=lambda axis: onto.index(scope[axis]))
    shape = [table.shape[scope.index(v)] if v in scope else 1 for v in onto]
    return table.transpose(order).reshape(shape)


def _marginal(table: Table, scope: Sequence[str], keep: Sequence[str]) -> Table:
    """`table` over `scope` summed down to the variables `keep`, which stand in the same order in `scope`."""
    return np.asarray(table.sum(axis=tuple(axis for axis, v in enumerate(scope) if v not in keep)))
