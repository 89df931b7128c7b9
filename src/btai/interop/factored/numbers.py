"""Numbers as the formats write them, and the cells of a table that a statement writes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.interop.factored.source import Position, Source

__all__ = ["NUMBER", "Cell", "Levels", "number", "probability", "write_cells"]

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_LONGEST = 400  # digits; a float has at most 17, the logarithms that btai writes 34

Cell = int | Literal["*", "-"]  # one value; all values alike; a number for each value


def number(word: str) -> float | None:
    """The finite number that `word` is, or None."""
    if len(word) > _LONGEST or not NUMBER.fullmatch(word):
        return None
    value = float(word)
    return value if math.isfinite(value) else None


def probability(word: str) -> float | None:
    """The probability that `word` is, or None."""
    value = number(word)
    return value if value is not None and 0 <= value <= 1 else None


class Levels:
    """The different numbers of a reward, with all their digits; its table holds indices into them."""

    def __init__(self, sign: int = 1) -> None:
        self._sign = sign
        self._index = {Decimal(0): 0}

    @property
    def all(self) -> tuple[Decimal, ...]:
        """Every level, 0 first."""
        return tuple(self._index)

    def index(self, word: str) -> int | None:
        """The index of the number that `word` is, or None."""
        if number(word) is None:
            return None
        value = Decimal(word)
        return self._index.setdefault(value if self._sign > 0 else value.copy_negate(), len(self._index))


def write_cells(table: NDArray[Any], cells: Sequence[Cell], values: ArrayLike, source: Source, at: Position) -> None:
    """Write `values`, in row-major order over the axes marked "-", into the cells of `table`."""
    index = tuple(cell if isinstance(cell, int) else slice(None) for cell in cells)
    target = table[(*index, ...)]
    source.allow_writes(at, target.size)
    free = [cell for cell in cells if not isinstance(cell, int)]
    target[...] = np.reshape(values, [n if cell == "-" else 1 for cell, n in zip(free, target.shape, strict=True)])
