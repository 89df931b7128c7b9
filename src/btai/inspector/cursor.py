"""Where in a trace one looks."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from btai.errors import PlanningError
from btai.planning import ROOT

__all__ = ["Cursor", "CursorError"]


class CursorError(PlanningError):
    """A cursor points at something that is not in the trace."""


@dataclass(frozen=True)
class Cursor:
    """A trial, one of its cycles, a moment of the planning in it (iterations done) and a node of the tree."""

    trial: int = 0
    cycle: int = 0
    iteration: int | None = None  # None: after all of them
    node: int = ROOT

    @property
    def fragment(self) -> str:
        """The part of a link that leads here; what is the default is left out."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return "#" + "&".join(f"{name}={value}" for name, value in given.items())
