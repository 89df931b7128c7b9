"""The check that every column of a conditional table that was read sums to 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from btai.errors import FormatError
from btai.interop.factored.network import Table
from btai.interop.loss import Loss

__all__ = ["with_sums_of_one"]

# Files are written with few digits (0.333 three times); a slice wants sums of 1 to 1e-6.
_AS_WRITTEN = 1e-3
_AS_DECLARED = 1e-6


def with_sums_of_one(
    table: Table, what: str, wrong: Callable[[tuple[int, ...], float], FormatError]
) -> tuple[Table, list[Loss]]:
    """`table` with columns (over axis 0) that miss 1 by a little divided by their sums, and what to report of it.

    `wrong` makes the error for the column at an index that misses 1 by more.
    """
    totals = table.sum(axis=0)
    off = np.abs(totals - 1)
    if (off > _AS_WRITTEN).any():
        index = tuple(int(i) for i in np.argwhere(off > _AS_WRITTEN)[0])
        raise wrong(index, float(totals[index]))
    rough = off > _AS_DECLARED
    if not rough.any():
        return table, []
    found = f"{np.count_nonzero(rough)} of {rough.size} distributions sum to 1 only within {_AS_WRITTEN}"
    return table / np.where(rough, totals, 1.0), [Loss(what, f"{found}; they were divided by their sums")]
