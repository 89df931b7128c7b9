"""Flat arrays: their types, and how pieces are laid end to end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints", "Shorts", "floats", "ints", "shorts", "starts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.uint32]  # unsigned: Numba then need not look for negative indices


def ints(values: Iterable[int]) -> Ints:
    """These numbers, `[values]`."""
    return np.fromiter(values, dtype=np.int64)


def starts(lengths: Iterable[int]) -> Ints:
    """Where pieces of these lengths begin and the last one ends, `[pieces + 1]`."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(ints(lengths))])


def floats(pieces: Sequence[NDArray[Any]]) -> Floats:
    """The pieces, end to end."""
    return np.concatenate([np.zeros(0), *(piece.ravel() for piece in pieces)])


def shorts(pieces: Sequence[NDArray[Any]]) -> Shorts:
    """The pieces, end to end: numbers of nodes or of entries, which all have room in 32 bits."""
    return np.concatenate([np.zeros(0, np.uint32), *(piece.ravel().astype(np.uint32) for piece in pieces)])
