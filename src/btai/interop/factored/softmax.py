"""Rewards as preferences and preferences as rewards, to the bit.

`log` and `exp` in float64 do not undo each other. The logarithms written here have enough digits, and are read with
enough digits, that a preference that is written and read again is the same table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from btai.interop.factored.network import Table

__all__ = ["DIGITS", "logarithms", "softmax"]

_DIGITS_WRITTEN = 34
DIGITS = 40
_SMALLEST = Decimal(-745)  # exp of anything lower is 0 in float64


def softmax(levels: Sequence[Decimal], table: NDArray[np.int64], precision: float) -> Table | None:
    """softmax(precision * levels[table]) over the whole table; None if an entry would vanish.

    Where the exponentials already sum to 1 up to rounding, they are the probabilities, undivided.
    """
    counts = Counter(table.ravel().tolist())
    with localcontext() as context:
        context.prec = DIGITS
        scores = {i: Decimal(precision) * levels[i] for i in counts}
        highest = max(scores.values())
        if min(scores.values()) - highest < _SMALLEST:
            return None
        total = sum(n * (scores[i] - highest).exp() for i, n in counts.items())
        log_total = highest + Decimal(total).ln()
        if abs(log_total) <= 8 * float(np.finfo(np.float64).eps) * table.size:
            log_total = Decimal(0)
        weights = np.zeros(len(levels))
        for i, score in scores.items():
            weights[i] = float((score - log_total).exp())
    return weights[table] if all(weights[i] > 0 for i in counts) else None


def logarithms(table: Table) -> dict[float, Decimal]:
    """The logarithm of each probability in `table`, with as many digits as it takes to find the way back."""
    with localcontext() as context:
        context.prec = _DIGITS_WRITTEN
        return {p: Decimal(p).ln() for p in np.unique(table).tolist()}
