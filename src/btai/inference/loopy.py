"""Damped loopy belief propagation: approximate, and only when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.inference.factors import Factor, normalise, product, summed_out
from btai.inference.trees import Messages

__all__ = ["LoopyOptions", "propagate_loopily"]

Table = NDArray[np.float64]


class LoopyOptions(NamedTuple):
    """`damping` is the share of the old message that is kept; iteration stops when no message moves by `tolerance`."""

    damping: float = 0.5
    max_iterations: int = 1000
    tolerance: float = 1e-10


def propagate_loopily(
    factors: Sequence[Factor], sizes: Mapping[str, int], options: LoopyOptions
) -> tuple[dict[str, Table], float, Messages, float, int]:
    """Posteriors, Bethe's log-evidence, messages, residual (largest change in the last sweep) and sweeps done."""
    around = {v: [f.name for f in factors if v in f.scope] for v in sizes}
    messages: Messages = {}
    for factor in factors:
        for v in factor.scope:
            messages[factor.name, v] = messages[v, factor.name] = np.full(sizes[v], 1 / sizes[v])

    residual, iterations = np.inf, 0
    while residual > options.tolerance and iterations < options.max_iterations:
        residual = _sweep(factors, sizes, around, messages, options.damping)
        iterations += 1

    posteriors = {v: product([messages[f, v] for f in around[v]], sizes[v])[0] for v in sizes}
    return posteriors, _bethe(factors, sizes, around, messages), messages, residual, iterations


def _sweep(
    factors: Sequence[Factor],
    sizes: Mapping[str, int],
    around: Mapping[str, Sequence[str]],
    messages: Messages,
    damping: float,
) -> float:
    """Send every message once, all from the messages of the sweep before; the largest change."""
    for v, names in around.items():
        for name in names:
            messages[v, name], _ = product([messages[other, v] for other in names if other != name], sizes[v])
    residual = 0.0
    for factor in factors:
        incoming = {v: messages[v, factor.name] for v in factor.scope}
        for v in factor.scope:
            fresh, _ = normalise(summed_out(factor, incoming, v))
            old = messages[factor.name, v]
            residual = max(residual, float(np.abs(fresh - old).max()))
            # What is excluded is excluded for certain: damping must not keep a chance of it alive.
            damped = np.where(fresh > 0, (1 - damping) * fresh + damping * old, 0.0)
            messages[factor.name, v], _ = normalise(damped)
    return residual


def _bethe(
    factors: Sequence[Factor],
    sizes: Mapping[str, int],
    around: Mapping[str, Sequence[str]],
    messages: Messages,
) -> float:
    """Bethe's approximation of the log-probability of the evidence (exact on trees)."""
    total = sum(product([messages[f, v] for f in names], sizes[v])[1] for v, names in around.items())
    for factor in factors:
        incoming = {v: messages[v, factor.name] for v in factor.scope}
        first = factor.scope[0]
        total += float(np.log(summed_out(factor, incoming, first) @ incoming[first]))
        total -= sum(float(np.log(messages[v, factor.name] @ messages[factor.name, v])) for v in factor.scope)
    return total
