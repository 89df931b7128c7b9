"""The options of an agent, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from numpy.random import Generator

from btai.errors import PlanningError
from btai.model import TemporalSlice
from btai.model.checks import is_whole
from btai.planning import MEMORY_LIMIT
from btai.planning.choose import SELECTIONS, TIES

__all__ = [
    "DEFAULT_ITERATIONS",
    "MOST_ITERATIONS",
    "ROOTS",
    "Options",
    "check_positive",
    "check_room",
    "check_slice",
    "checked_root",
    "checked_whole",
]

DEFAULT_ITERATIONS = 150
MOST_ITERATIONS = 1_000_000  # under a time limit alone: what a tree of a few hundred megabytes holds
ROOTS = {"fresh": (1, 0.0), "kept": (1, 0.0), "unvisited": (0, 0.0)}
"""The visits and the cost of the root of a trial's first tree; one that is "kept" carries its own into later ones."""
_HOW_TO_DRAW = "pass rng=numpy.random.default_rng(seed)"


@dataclass(frozen=True)
class Options:
    """How an agent plans and chooses; see `BTAI_3MF` for the meaning of each."""

    max_planning_steps: int | None
    exp_const: float
    time_limit: float | None
    action_selection: str
    ties: str
    precision: float
    rng: Generator | None
    inference: str
    engine: str
    root: str = "fresh"

    def __post_init__(self) -> None:
        if self.max_planning_steps is not None:
            checked_whole("max_planning_steps", self.max_planning_steps, least=1)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit, "number of seconds")
        for name in ("exp_const", "precision"):
            value = getattr(self, name)
            if not (_is_finite(value) and value >= 0):
                raise PlanningError(f"{name}: {value!r} was given; a finite number of at least 0 is required.")
        for name, choices in (
            ("action_selection", SELECTIONS),
            ("ties", TIES),
            ("inference", ("exact", "loopy")),
            ("engine", ("compiled", "numpy")),
            ("root", tuple(ROOTS)),
        ):
            if getattr(self, name) not in choices:
                raise PlanningError(
                    f"{name}: {getattr(self, name)!r} was given; it must be one of {', '.join(map(repr, choices))}."
                )
        if self.rng is None and self.action_selection == "softmax":
            raise PlanningError(f"rng: none was given, but action_selection='softmax' draws at random; {_HOW_TO_DRAW}.")
        if not isinstance(self.rng, Generator | None):
            raise PlanningError(f"rng: {self.rng!r} was given; a numpy.random.Generator is required: {_HOW_TO_DRAW}.")

    @property
    def iterations(self) -> int:
        """Planning iterations per action at most."""
        if self.max_planning_steps is not None:
            return int(self.max_planning_steps)
        return DEFAULT_ITERATIONS if self.time_limit is None else MOST_ITERATIONS

    @property
    def budget(self) -> str:
        """The budget in words."""
        if self.time_limit is not None:
            return f"{self.time_limit} s of planning"
        return f"{self.iterations} planning iterations"

    def with_rng(self, rng: Generator) -> Options:
        """The same options with another source of random numbers."""
        return replace(self, rng=rng)


def check_slice(ts: object) -> None:
    """Refuse what is no slice: most often a builder whose `build()` was forgotten."""
    if not isinstance(ts, TemporalSlice):
        raise PlanningError(
            f"ts: a {type(ts).__name__} was given; a TemporalSlice is required, which the build() of a"
            " TemporalSliceBuilder gives."
        )


def checked_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """`value` as an `int`, if it is a whole number in the range; `True` and `1.0` are not."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        required = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise PlanningError(f"{name}: {value!r} was given; a whole number {required} is required.")
    return int(value)


def check_positive(name: str, value: Any, what: str = "number") -> None:
    """Refuse what is no finite number above 0."""
    if not (_is_finite(value) and value > 0):
        raise PlanningError(f"{name}: {value!r} was given; a finite {what} above 0 is required.")


def checked_root(root: tuple[int, float]) -> tuple[int, float]:
    """The visits and the cost of a root."""
    if not isinstance(root, tuple | list) or len(root) != 2:
        raise PlanningError(f"root: {root!r} was given; its visits and its cost are required, as (visits, cost).")
    visits, cost = root
    if not _is_finite(cost):
        raise PlanningError(f"root: a cost of {cost!r} was given; a finite number is required.")
    return checked_whole("root: visits", visits, least=0), float(cost)


def check_room(iterations: int, most: int) -> None:
    """Refuse a tree that would not fit into memory, before it is allocated."""
    if iterations > most:
        raise PlanningError(
            f"plan: {iterations:,} iterations in all were asked for; this model's tree may have {most:,} in"
            f" {MEMORY_LIMIT / 2**30:.0f} GiB of memory. Ask for fewer."
        )


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and math.isfinite(value)
