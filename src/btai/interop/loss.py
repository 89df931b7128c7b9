"""What a translation could not carry over as it was: reported, never dropped silently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from btai.model import TemporalSlice

__all__ = ["Imported", "Loss", "LossReport"]


@dataclass(frozen=True)
class Loss:
    """One thing that was lost or changed.

    Attributes:
        what: the thing, by the name it has where it came from, for instance `"discount 0.95"`.
        why: why it could not be carried, and what stands in its place.
    """

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True, repr=False)
class LossReport:
    """All that a translation lost or changed, in the order it was met; false if there was nothing."""

    entries: tuple[Loss, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Loss]:
        return iter(self.entries)

    def __repr__(self) -> str:
        if not self.entries:
            return "LossReport: nothing was lost"
        return "\n".join([f"LossReport: {len(self.entries)} lost or changed", *(f"  {loss}" for loss in self.entries)])


class Imported(NamedTuple):
    """A model from elsewhere and what the translation lost: `ts, losses = read_pomdpx(path)`."""

    ts: TemporalSlice
    losses: LossReport
