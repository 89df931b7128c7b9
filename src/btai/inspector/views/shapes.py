"""How values are written in JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.model import TemporalSlice

__all__ = ["Json", "action_name", "names_of", "number", "packed", "vectors"]

Json = dict[str, Any]


def number(value: float) -> float | None:
    """A number; JSON has no NaN."""
    return None if math.isnan(value) else float(value)


def vectors(values: Mapping[str, NDArray[np.float64]]) -> dict[str, list[float]]:
    """Vectors by name."""
    return {name: vector.tolist() for name, vector in values.items()}


def packed(array: NDArray[Any]) -> Json:
    """A long array as the base64 of its little-endian bytes: text of numbers would be slow to write and to read."""
    kind = "f8" if array.dtype.kind == "f" else "i4"
    return {"dtype": kind, "data": base64.b64encode(array.astype(f"<{kind}").tobytes()).decode()}


def names_of(values: tuple[str, ...] | None, size: int) -> list[str]:
    """A name for each value of a variable: as declared, or counted."""
    return [*values] if values else [str(value) for value in range(size)]


def action_name(ts: TemporalSlice, action: int | None) -> str | None:
    """An action in words."""
    return None if action is None else names_of(ts.action.values, ts.action.size)[action]
