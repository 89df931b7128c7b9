"""Tables that the models of several environments are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["certain", "steps_to"]


def certain(values: ArrayLike, size: int) -> NDArray[np.float64]:
    """Distributions over `size` values, along axis 0, each certain of one of `values` [...]."""
    return np.asarray(np.arange(size).reshape(-1, *[1] * np.ndim(values)) == values, np.float64)


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
