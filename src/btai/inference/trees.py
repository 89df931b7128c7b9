"""Sum-product on a factor graph without loops: two passes, every message kept by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from btai.inference.factors import Factor, normalise, product, summed_out

__all__ = ["Messages", "two_passes"]

Table = NDArray[np.float64]
Messages = dict[tuple[str, str], Table]


def two_passes(factors: Sequence[Factor], sizes: Mapping[str, int]) -> tuple[dict[str, Table], float, Messages]:
    """Posterior of every variable, the log-probability of the evidence, and the normalised messages by edge.

    Messages first run from the leaves to one root per connected part, then back. The scales of the first pass,
    together with that of each root's product, multiply to the probability of the evidence.
    """
    by_name = {factor.name: factor for factor in factors}
    neighbours: dict[str, list[str]] = defaultdict(list)
    for factor in factors:
        for variable in factor.scope:
            neighbours[factor.name].append(variable)
            neighbours[variable].append(factor.name)

    messages: Messages = {}

    def send(source: str, target: str) -> float:
        incoming = {n: messages[n, source] for n in neighbours[source] if n != target}
        if source in by_name:
            message, log_scale = normalise(summed_out(by_name[source], incoming, target))
        else:
            message, log_scale = product(list(incoming.values()), sizes[source])
        messages[source, target] = message
        return log_scale

    order, parents = _rooted(list(sizes), neighbours)
    log_evidence = sum(send(node, parents[node]) for node in reversed(order) if node in parents)
    for node in order:
        if node in parents:
            send(parents[node], node)

    posteriors = {}
    for variable, size in sizes.items():
        incoming = [messages[factor, variable] for factor in neighbours[variable]]
        posteriors[variable], log_scale = product(incoming, size)
        if variable not in parents:  # a root: nothing counted its product yet
            log_evidence += log_scale
    return posteriors, log_evidence, messages


def _rooted(variables: Sequence[str], neighbours: Mapping[str, Sequence[str]]) -> tuple[list[str], dict[str, str]]:
    """All nodes, each after its parent, and the parent of each node that is not a root."""
    order: list[str] = []
    parents: dict[str, str] = {}
    seen: set[str] = set()
    for root in variables:
        waiting = [] if root in seen else [root]
        seen.add(root)
        while waiting:
            node = waiting.pop()
            order.append(node)
            for neighbour in neighbours[node]:
                if neighbour not in seen:
                    seen.add(neighbour)
                    parents[neighbour] = node
                    waiting.append(neighbour)
    return order, parents
