"""Where each variable's vector lies in one flat array."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Layout"]

Vector = NDArray[np.float64]


class Layout:
    """Vectors by name, end to end in one array `[size]`: variable `name` occupies `spans[name]`."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        ends = list(accumulate(sizes.values(), initial=0))
        self.spans = {name: slice(*span) for name, span in zip(sizes, pairwise(ends), strict=True)}
        self.size = ends[-1]

    def views(self, flat: Vector) -> dict[str, Vector]:
        """The vector of each variable, as a view into `flat` `[size]`."""
        return {name: flat[span] for name, span in self.spans.items()}

    def flat(self, vectors: Mapping[str, Vector]) -> Vector:
        """One new array `[size]` that holds every variable's vector."""
        flat = np.empty(self.size)
        for name, span in self.spans.items():
            flat[span] = vectors[name]
        return flat
