"""Rebuilding a search from what it leaves behind: the node each iteration expanded, and each node's cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.planning.search import evaluate, expand, propagate
from btai.planning.tree import Tree, new_tree

__all__ = ["replay"]


def replay(
    n_actions: int,
    expanded: ArrayLike,
    efe: ArrayLike,
    visits: int = 1,
    cost: float = 0.0,
    iterations: int | None = None,
) -> Tree:
    """The tree after `iterations` (all, if absent) of a search.

    Args:
        n_actions: the number of actions A.
        expanded: the node that each iteration expanded, `[iterations]` or more.
        efe: the expected free energy of every node in order of creation, the root included,
            `[1 + iterations * A]` or more.
        visits, cost: what the root began with.
        iterations: how many iterations to replay.
    """
    nodes = np.asarray(expanded, dtype=np.int64)[:iterations]
    stored = _StoredCosts(np.asarray(efe, dtype=np.float64))
    tree = new_tree(n_actions, len(nodes), visits, cost)
    for node in nodes:
        first = expand(tree, node)
        evaluate(tree, stored, node, first)
        propagate(tree, node, first)
    return tree


class _StoredCosts(NamedTuple):
    """Scores children by the costs stored for them."""

    efe: NDArray[np.float64]  # [nodes]

    def score(self, node: int, first: int, efe: NDArray[np.float64]) -> None:
        efe[:] = self.efe[first : first + len(efe)]
