"""Evidence as it stands in a cycle: one vector per observation, all ones where it was not made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.model import TemporalSlice

__all__ = ["labels", "observed", "shortest"]

Vector = NDArray[np.float64]


def observed(evidence: Mapping[str, Vector]) -> dict[str, Vector]:
    """The vectors `[n_O]` of the observations that were made."""
    return {name: vector for name, vector in evidence.items() if not (vector == 1).all()}


def shortest(vector: Vector) -> Any:
    """The index that a one-hot vector stands for, any other vector as a list."""
    index = int(vector.argmax())
    return index if vector[index] == 1 and np.count_nonzero(vector) == 1 else vector.tolist()


def labels(ts: TemporalSlice, evidence: Mapping[str, Vector]) -> dict[str, str]:
    """What was observed, in words: the value's name, or `"soft"`."""
    found = {}
    for name, vector in observed(evidence).items():
        value = shortest(vector)
        names = ts.observations[name].values
        found[name] = "soft" if isinstance(value, list) else names[value] if names else str(value)
    return found
