"""The search: select, expand, evaluate, propagate (section "Planning: the MCTS algorithm" of the paper).

Plain Python over flat arrays, in the subset that Numba compiles: the engine compiles these very functions, so there is
one search. What a node costs is asked of the model, see `score`.
"""

from __future__ import annotations

import math
from typing import Any

from btai.planning.tree import ITERATIONS, NO_NODE, NODES, ROOT, Tree

__all__ = ["evaluate", "expand", "propagate", "score", "search", "select"]


def search(tree: Tree, model: Any, iterations: int, exp_const: float) -> None:
    """So many planning iterations."""
    for _ in range(iterations):
        node = select(tree, exp_const)
        first = expand(tree, node)
        evaluate(tree, model, node, first)
        propagate(tree, node, first)


def select(tree: Tree, exp_const: float) -> int:
    """Walk from the root to a leaf by the highest UCT (eq:UCT); the first of equals."""
    node = ROOT
    while tree.first_child[node] != NO_NODE:
        first = tree.first_child[node]
        log_visits = math.log(tree.visits[node])
        best = -math.inf
        for child in range(first, first + tree.n_actions):
            visits = tree.visits[child]
            uct = -tree.cost[child] / visits + exp_const * math.sqrt(log_visits / visits)
            if uct > best:
                best = uct
                node = child
    return node


def expand(tree: Tree, node: int) -> int:
    """Give the leaf `node` one child per action; the number of the first."""
    first: int = tree.counts[NODES]
    for action in range(tree.n_actions):
        child = first + action
        tree.parent[child] = node
        tree.action[child] = action
        tree.first_child[child] = NO_NODE
    tree.first_child[node] = first
    tree.expanded[tree.counts[ITERATIONS]] = node
    tree.counts[NODES] += tree.n_actions
    tree.counts[ITERATIONS] += 1
    return first


def evaluate(tree: Tree, model: Any, node: int, first: int) -> None:
    """The cost of each new child is its expected free energy (eq:efe); it counts as visited once."""
    score(model, node, first, tree.efe[first : first + tree.n_actions])
    for child in range(first, first + tree.n_actions):
        tree.cost[child] = tree.efe[child]
        tree.visits[child] = 1


def score(model: Any, node: int, first: int, efe: Any) -> None:
    """Let `model` write the expected free energies of the children of `node`, numbered from `first`, into `efe` `[A]`.

    In compiled code the engine's kernels take the place of this function.
    """
    model.score(node, first, efe)


def propagate(tree: Tree, node: int, first: int) -> None:
    """Add the best child's expected free energy to `node` and all its ancestors (eq:backprop, eq:backprop_n)."""
    best = tree.efe[first]
    for child in range(first + 1, first + tree.n_actions):
        best = min(best, tree.efe[child])
    while node != NO_NODE:
        tree.cost[node] += best
        tree.visits[node] += 1
        node = tree.parent[node]
