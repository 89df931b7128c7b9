"""The readable path: beliefs of every node in NumPy, by the functions of `btai.inference`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from btai.inference import expected_free_energy, i_step, p_step
from btai.model import TemporalSlice
from btai.planning.replay import replay
from btai.planning.search import search
from btai.planning.tree import ITERATIONS, ROOT, Tree, copy_tree

__all__ = ["MEMORY_LIMIT", "Backend", "NumpyBackend", "ReadableSearch", "Searcher"]

Vector = NDArray[np.float64]


MEMORY_LIMIT = 2**32  # bytes that one search may take


class Searcher(Protocol):
    """How an agent searches. Beliefs are flat, `[sum of n_S]` as laid out by `ts.state_layout`."""

    most_iterations: int
    """Of one search: what MEMORY_LIMIT has room for."""

    def start(self, beliefs: Vector) -> None:
        """Begin a new search from these beliefs."""

    def search(self, tree: Tree, iterations: int, exp_const: float) -> None:
        """So many iterations more, of the search begun last."""


class Backend(Searcher, Protocol):
    """How an agent infers, predicts and searches; evidence is flat as laid out by `ts.observation_layout`."""

    def infer(self, prior: Vector, evidence: Vector, observed: Sequence[str]) -> Vector:
        """The posterior, given the evidence of the observations that were made."""

    def predict(self, beliefs: Vector, action: int) -> Vector:
        """What the beliefs become under `action`."""


class ReadableSearch:
    """The search in plain Python, by the `score` of a subclass; an interrupted search keeps its whole iterations."""

    _root: tuple[int, float]  # the visits and the cost with which the root of the present tree began

    def search(self, tree: Tree, iterations: int, exp_const: float) -> None:
        """So many iterations more."""
        before = int(tree.counts[ITERATIONS])
        if before == 0:
            self._root = int(tree.visits[ROOT]), float(tree.cost[ROOT])
        done = 0
        try:
            for done in range(iterations):  # noqa: B007 - read when interrupted
                search(tree, self, 1, exp_const)
        except BaseException:  # an interrupt in the middle of an iteration: go back to the last whole one
            whole = replay(tree.n_actions, tree.expanded, tree.efe, *self._root, iterations=before + done)
            copy_tree(whole, tree)
            raise


class NumpyBackend(ReadableSearch):
    """The paper's equations, one prediction and one expected free energy at a time."""

    def __init__(self, ts: TemporalSlice, method: str = "exact") -> None:
        self._ts = ts
        self._method = method
        self._beliefs: list[dict[str, Vector]] = []  # of each node, in the order of creation
        # A node is some 40 bytes of tree, a dictionary and, for each state, an array with its head.
        node = 40 + 64 + 200 * len(ts.states) + 8 * ts.state_layout.size
        self.most_iterations = MEMORY_LIMIT // (node * ts.action.size)

    def infer(self, prior: Vector, evidence: Vector, observed: Sequence[str]) -> Vector:
        """The I-step."""
        vectors = self._ts.observation_layout.views(evidence)
        layout = self._ts.state_layout
        result = i_step(self._ts, {name: vectors[name] for name in observed}, layout.views(prior), method=self._method)
        return layout.flat(result.posteriors)

    def predict(self, beliefs: Vector, action: int) -> Vector:
        """The P-step."""
        layout = self._ts.state_layout
        return layout.flat(p_step(self._ts, layout.views(beliefs), action).states)

    def start(self, beliefs: Vector) -> None:
        """Forget the nodes of the search before."""
        self._beliefs = [self._ts.state_layout.views(beliefs)]

    def score(self, node: int, first: int, efe: Vector) -> None:
        """Predict the children of `node` and write their expected free energies into `efe` `[A]`."""
        del self._beliefs[first:]  # an interrupted iteration may have left some behind
        for action in range(self._ts.action.size):
            prediction = p_step(self._ts, self._beliefs[node], action)
            self._beliefs.append(dict(prediction.states))
            efe[action] = expected_free_energy(self._ts, prediction).total
