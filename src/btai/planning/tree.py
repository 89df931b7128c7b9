"""The search tree as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ITERATIONS", "NODES", "NO_NODE", "ROOT", "Tree", "clear_tree", "copy_tree", "grown_tree", "new_tree"]

ROOT = 0
NO_NODE = -1  # the parent of the root, the first child of a leaf, the action of the root
NODES, ITERATIONS = 0, 1  # the places in `Tree.counts`


class Tree(NamedTuple):
    """A search tree with room for `capacity` nodes.

    Nodes are numbered in order of expansion: iteration `i` creates the children `1 + i*A .. (i + 1)*A` of node
    `expanded[i]`, one per action in order. So `expanded` and `efe` alone replay every state the search went through.
    """

    n_actions: int
    counts: NDArray[np.int64]  # [2]: nodes and iterations so far
    parent: NDArray[np.int32]  # [capacity]
    action: NDArray[np.int32]  # [capacity]: the action that leads to the node
    first_child: NDArray[np.int32]  # [capacity]: the first of its A children, which are in a row; NO_NODE for a leaf
    visits: NDArray[np.int32]  # [capacity]
    cost: NDArray[np.float64]  # [capacity]: aggregated, see propagate
    efe: NDArray[np.float64]  # [capacity]: each node's own expected free energy; nan for the root
    expanded: NDArray[np.int32]  # [(capacity - 1) / A]: the node that each iteration expanded


def new_tree(n_actions: int, iterations: int, visits: int = 1, cost: float = 0.0) -> Tree:
    """A tree of one root, with room for so many planning iterations."""
    capacity = 1 + iterations * n_actions
    tree = Tree(
        n_actions=n_actions,
        counts=np.empty(2, np.int64),
        parent=np.empty(capacity, np.int32),
        action=np.empty(capacity, np.int32),
        first_child=np.empty(capacity, np.int32),
        visits=np.empty(capacity, np.int32),
        cost=np.empty(capacity),
        efe=np.empty(capacity),
        expanded=np.empty(iterations, np.int32),
    )
    clear_tree(tree, visits, cost)
    return tree


def clear_tree(tree: Tree, visits: int, cost: float) -> None:
    """Leave nothing but the root. In the subset of Python that Numba compiles, like the search."""
    tree.counts[NODES], tree.counts[ITERATIONS] = 1, 0
    tree.parent[ROOT] = NO_NODE
    tree.action[ROOT] = NO_NODE
    tree.first_child[ROOT] = NO_NODE
    tree.visits[ROOT] = visits
    tree.cost[ROOT] = cost
    tree.efe[ROOT] = np.nan


def grown_tree(tree: Tree, iterations: int) -> Tree:
    """`tree`, or a copy of it if it has no room for so many iterations more; the room at least doubles."""
    needed = int(tree.counts[ITERATIONS]) + iterations
    if needed <= len(tree.expanded):
        return tree
    larger = new_tree(tree.n_actions, max(needed, 2 * len(tree.expanded)))
    copy_tree(tree, larger)
    return larger


def copy_tree(source: Tree, target: Tree) -> None:
    """Write the arrays of `source` over the beginning of those of `target`, which has at least its room."""
    for name in Tree._fields[1:]:
        values = getattr(source, name)
        getattr(target, name)[: len(values)] = values
