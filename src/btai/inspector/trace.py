"""What there is to look at: trials, their cycles, and the search behind each decision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from btai.agents.options import ROOTS, Options
from btai.experiments import Cycle
from btai.inspector.cursor import Cursor, CursorError
from btai.inspector.history import SearchHistory
from btai.inspector.png import area_of
from btai.inspector.recipes import Recipe
from btai.model import TemporalSlice
from btai.planning import TreeView

__all__ = ["Moment", "Trace", "TrialRow"]

KEPT_HISTORIES = 16  # of 10,000 planning iterations, some 10 MB each


@dataclass(frozen=True)
class TrialRow:
    """A trial in the table of trials; what is not known is None."""

    trial: int
    seed: int | None
    initial_state: Any
    reward: float | None
    cycles: int
    finished: bool  # the environment ended it, not a limit of steps
    over: bool
    seconds: float | None
    planning_iterations: int
    actions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Moment:
    """A cycle, and how the environment looked and what it gave when the cycle began."""

    cycle: Cycle
    reward: float | None
    image: bytes | None  # PNG


class Trace(ABC):
    """Trials to look at. Live, they grow at the end; replayed, a run file holds them."""

    mode: str  # "live" or "replay"
    title: str
    agent_class: str
    ts: TemporalSlice
    options: Options
    recipe: Recipe

    def __init__(self, env: Any) -> None:
        self._env = env
        self._histories: dict[tuple[int, int], SearchHistory] = {}
        self._trees: dict[tuple[int, int, int], TreeView] = {}

    @abstractmethod
    def trials(self) -> Sequence[TrialRow]:
        """Every trial, in order."""

    @abstractmethod
    def moments(self, trial: int) -> Sequence[Moment]:
        """Every cycle of a trial, in order."""

    @abstractmethod
    def is_over(self, trial: int) -> bool:
        """Whether nothing more will happen in a trial."""

    @property
    def count(self) -> int:
        """How many trials there are by now."""
        return len(self.trials())

    @property
    def expected(self) -> int | None:
        """How many trials there will be, where that is known."""
        return None

    def summary(self) -> dict[str, Any] | None:
        """The figures of all trials, where it is a run."""
        return None

    @abstractmethod
    def start(self) -> Cursor | None:
        """Where to look first; None where there is nothing yet."""

    def area(self, x: str, y: str) -> tuple[float, ...] | None:
        """The part of the environment's picture that two states are about, where the environment tells."""
        return area_of(self._env, x, y)

    def close(self) -> None:
        """Give back what is held open."""
        return

    def moment(self, cursor: Cursor) -> Moment:
        """The cycle the cursor points at."""
        moments = self.moments(cursor.trial)
        if not 0 <= cursor.cycle < len(moments):
            raise CursorError(
                f"cycle {cursor.cycle} was asked for; trial {cursor.trial} has the cycles 0 to {len(moments) - 1}."
            )
        return moments[cursor.cycle]

    def history(self, cursor: Cursor) -> SearchHistory:
        """The search of the cycle the cursor points at."""
        cycle = self.moment(cursor).cycle
        key = cursor.trial, cursor.cycle
        history = self._histories.pop(key, None)
        if history is None:
            history = SearchHistory(self.ts.action.size, self.options, *self._root(cursor))
        if history.iterations < len(cycle.expanded):
            history.extend(cycle.expanded, cycle.efe)
        _keep(self._histories, key, history, KEPT_HISTORIES)
        return history

    def _root(self, cursor: Cursor) -> tuple[int, float]:
        """The visits and the cost that the root of a cycle's tree began with."""
        if self.options.root == "kept" and cursor.cycle > 0:
            before = Cursor(cursor.trial, cursor.cycle - 1)
            action, written = self.moment(before).cycle.action, self.history(before).written
            if action is not None and len(written.best):
                return int(written.root_visits[-1, action]), float(written.root_costs[-1, action])
        return ROOTS[self.options.root]

    def iteration(self, cursor: Cursor) -> int:
        """The planning iterations done at the cursor."""
        planned = len(self.moment(cursor).cycle.expanded)
        if cursor.iteration is None:
            return planned
        if not 0 <= cursor.iteration <= planned:
            raise CursorError(
                f"iteration {cursor.iteration} was asked for; cycle {cursor.cycle} of trial {cursor.trial} has"
                f" {planned}, so 0 to {planned} is required."
            )
        return cursor.iteration

    def tree(self, cursor: Cursor) -> TreeView:
        """The search tree at the cursor."""
        iteration = self.iteration(cursor)
        key = cursor.trial, cursor.cycle, iteration
        tree = self._trees.pop(key, None)
        if tree is None:
            beliefs, history = self.moment(cursor).cycle.posterior, self.history(cursor)
            exp_const, slices = self.options.exp_const, history.slices
            tree = TreeView(self.ts, history.tree(iteration), beliefs, exp_const, slices=slices)
        _keep(self._trees, key, tree, KEPT_HISTORIES)
        return tree

    def chosen(self, cursor: Cursor) -> int | None:
        """The action that the planning up to the cursor speaks for: at its end, the one performed, if any was."""
        cycle, iteration = self.moment(cursor).cycle, self.iteration(cursor)
        if cycle.action is not None and iteration == len(cycle.expanded):
            return cycle.action
        return self.history(cursor).best_at(iteration)


def _keep(kept: dict[Any, Any], key: Any, value: Any, most: int) -> None:
    """Put `value` last and drop the first, which was not asked for the longest."""
    kept[key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]
