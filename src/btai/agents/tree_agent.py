"""What the agents have in common: planning by tree search, choosing an action, showing the tree and explaining it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from btai.agents.explain import Explanation
from btai.agents.options import ROOTS, Options, check_room, checked_root, checked_whole
from btai.errors import PlanningError
from btai.inference import Beliefs, Prediction, p_step
from btai.model import TemporalSlice
from btai.planning import NO_NODE, ROOT, Searcher, Tree, TreeView, choose_action, grown_tree, new_tree
from btai.planning.tree import ITERATIONS

__all__ = ["TreeAgent", "read_only"]

Vector = NDArray[np.float64]

FIRST_ROOM = 1024  # planning iterations a new tree has room for at most; it grows as needed


class TreeAgent(ABC):
    """An agent that plans over a tree from its beliefs over the present slice.

    How it comes to these beliefs is its own: `reset` and `update` infer, and then call `_begin`.
    """

    def __init__(self, ts: TemporalSlice, options: Options, searcher: Searcher) -> None:
        self.ts = ts
        self.options = options
        self._searcher = searcher
        self._ready = False
        self._posterior: Vector
        self._tree: Tree
        self._chosen: int | None  # so that `explain` and a second `choose` draw no other action than the first

    @abstractmethod
    def reset(self, obs: Mapping[str, Any]) -> None:
        """Begin a trial with the first observations."""

    @abstractmethod
    def update(self, action: int | str, obs: Mapping[str, Any]) -> None:
        """Take in that `action`, given by its number or its name, was executed and what was observed then."""

    def step(self) -> int:
        """Plan as much as the budget still allows, and choose an action."""
        self._require_reset("step")
        if self.options.time_limit is not None:
            self._plan_for(self.options.time_limit)
        else:
            remaining = self.options.iterations - int(self._tree.counts[ITERATIONS])
            if remaining > 0:
                self.plan(remaining)
        return self.choose()

    def plan(self, iterations: int) -> None:
        """So many planning iterations more."""
        self._require_reset("plan")
        planned = checked_whole("planning iterations", iterations, least=1)
        check_room(int(self._tree.counts[ITERATIONS]) + planned, self._searcher.most_iterations)
        self._chosen = None
        self._tree = grown_tree(self._tree, planned)
        self._searcher.search(self._tree, planned, self.options.exp_const)

    def choose(self) -> int:
        """The action that the planning so far speaks for: one choice, however often it is asked for."""
        self._require_reset("choose")
        if self._chosen is None:
            o = self.options
            self._chosen = choose_action(self._tree, o.action_selection, o.ties, o.precision, o.rng)
        return self._chosen

    @property
    def max_planning_steps(self) -> int:
        """Planning iterations per action at most."""
        return self.options.iterations

    @property
    def exp_const(self) -> float:
        """The exploration constant."""
        return self.options.exp_const

    @property
    def reproducible(self) -> bool:
        """Whether the same model, options and observations give the same actions: not under a time limit."""
        return self.options.time_limit is None

    @property
    def beliefs(self) -> Beliefs:
        """The posterior beliefs over the present states, `[n_S]` each."""
        self._require_reset("beliefs")
        return Beliefs(self.ts, self.ts.state_layout.views(read_only(self._posterior)))

    @property
    def tree(self) -> TreeView:
        """The search tree as it is now."""
        self._require_reset("tree")
        return TreeView(self.ts, self._tree, self.beliefs, self.options.exp_const, self._predict)

    def explain(self) -> Explanation:
        """Why the action that `choose()` gives, against each other one."""
        return Explanation.of(self.tree, self.choose(), self.reproducible)

    def __repr__(self) -> str:
        states = ", ".join(self.ts.states)
        return f"{type(self).__name__}({states}; {self.options.budget}, exp_const={self.options.exp_const})"

    def _begin(self, posterior: Vector, tree: Tree) -> None:
        """Plan from these beliefs from now on."""
        self._ready = False  # where an interrupt falls between, the agent asks for a reset: it is half of each
        self._searcher.start(posterior)
        self._posterior, self._tree, self._chosen, self._ready = posterior, tree, None, True

    def _predict(self, beliefs: Mapping[str, Vector], action: int) -> Prediction:
        """What the search expects to follow `action`; for those who look at the tree."""
        return p_step(self.ts, beliefs, action)

    def _new_tree(self, executed: int | None = None, root: tuple[int, float] | None = None) -> Tree:
        """A tree of one root, `root` or as the options have it; a kept one begins as the child it was before."""
        visits, cost = ROOTS[self.options.root] if root is None else checked_root(root)
        if self.options.root == "kept" and executed is not None and self._tree.first_child[ROOT] != NO_NODE:
            child = int(self._tree.first_child[ROOT]) + executed
            visits, cost = int(self._tree.visits[child]), float(self._tree.cost[child])
        return new_tree(self.ts.action.size, min(self.options.iterations, FIRST_ROOM), visits, cost)

    def _plan_for(self, seconds: float) -> None:
        """Plan in small portions until the time is over."""
        end = time.perf_counter() + seconds
        portion = 1
        most = min(self.options.iterations, self._searcher.most_iterations)
        while (room := most - int(self._tree.counts[ITERATIONS])) > 0:
            before = time.perf_counter()
            self.plan(min(portion, room))
            now = time.perf_counter()
            if now >= end:
                return
            # As many as fit into a tenth of what is left, judged by the pace of the portion before.
            portion = max(1, min(2 * portion, int(portion * 0.1 * (end - now) / max(now - before, 1e-9))))

    def _require_reset(self, what: str) -> None:
        if not self._ready:
            raise PlanningError(f"{what}: the agent has observed nothing yet; call reset(obs) first.")

    def seeded(self, seed: int) -> Self:
        """This agent, its random choices (of `action_selection="softmax"`) begun anew from `seed`."""
        self.options = self.options.with_rng(np.random.default_rng(seed))
        return self


def read_only(vector: Vector) -> Vector:
    """A view of `vector` that cannot be written to."""
    view = vector.view()
    view.flags.writeable = False
    return view
