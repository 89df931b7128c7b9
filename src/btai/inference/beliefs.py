"""Beliefs: a distribution over the values of each variable, to be computed with and to be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from btai.model import TemporalSlice
from btai.notebook import Html, histogram, likeliest, panel, table

__all__ = ["Beliefs"]

Vector = NDArray[np.float64]


class Beliefs(Mapping[str, Vector]):
    """The probabilities `[n_X]` of each variable of a slice, by its name; printed, they say what is most probable."""

    __slots__ = ("_ts", "_vectors")

    def __init__(self, ts: TemporalSlice, vectors: Mapping[str, Vector]) -> None:
        self._ts = ts
        self._vectors = vectors

    def __getitem__(self, name: str) -> Vector:
        return self._vectors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._vectors)

    def __len__(self) -> int:
        return len(self._vectors)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {likeliest(v, self._label(name))}" for name, v in self.items())

    def _repr_html_(self) -> Html:
        return panel("Beliefs", self.as_table())

    def as_table(self) -> Html:
        """A row for each variable, for notebooks."""
        rows = (
            (name, histogram(v, self._ts.labels(name)), likeliest(v, self._label(name))) for name, v in self.items()
        )
        return table(("", "", ""), rows)

    def _label(self, name: str) -> Callable[[int], str]:
        return self._ts.labels(name).__getitem__
