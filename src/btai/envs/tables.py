"""Tables that the models of several environments are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["certain", "nearly", "steps_to"]


def certain(values: ArrayLike, size: int) -> NDArray[np.float64]:
    """Distributions over `size` values, along axis 0, each certain of one of `values` [...]."""
    return np.asarray(np.arange(size).reshape(-1, *[1] * np.ndim(values)) == values, np.float64)


def nearly(values: ArrayLike, size: int, noise: float) -> NDArray[np.float64]:
    """The same, each nearly certain: all values but the one share the noise evenly."""
    return np.where(certain(values, size) > 0, 1 - noise, noise / (size - 1))


def steps_to(goals: Sequence[int], move: NDArray[np.float64]) -> NDArray[np.float64]:
    """The fewest steps from each state to any of `goals`, with `move` [next, present, action]: [n].

    Where no step is possible any more the answer is n.
    """
    leads: NDArray[np.bool_] = np.any(move, axis=2)  # [next, present]
    reached = np.isin(np.arange(len(move)), goals).astype(bool)
    steps = np.where(reached, 0.0, len(move))
    for distance in range(1, len(move)):
        reached |= leads[reached].any(axis=0)
        steps[reached & (steps > distance)] = distance
    return steps
