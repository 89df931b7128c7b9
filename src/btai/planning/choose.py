"""The choice of an action after planning (eq:action_selection)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from btai.errors import PlanningError
from btai.planning.tree import ITERATIONS, ROOT, Tree

__all__ = ["SELECTIONS", "TIES", "best_action", "choose_action"]

SELECTIONS = ("most_visited", "lowest_cost", "softmax")
TIES = ("cost", "first")


def choose_action(
    tree: Tree,
    selection: str = "most_visited",
    ties: str = "cost",
    precision: float = 1.0,
    rng: Generator | None = None,
) -> int:
    """The action to take, from the children of the root.

    `"most_visited"` breaks ties by the lower mean cost and then by the lower index (`ties="cost"`), or by the lower
    index alone (`ties="first"`). `"lowest_cost"` takes the lowest mean cost. `"softmax"` draws from
    `softmax(-precision * mean cost)` with `rng`.
    """
    if tree.counts[ITERATIONS] == 0:
        raise PlanningError("no action can be chosen before any planning: call plan(n), or step(), which plans first.")
    if selection == "softmax":
        assert rng is not None
        children = slice(int(tree.first_child[ROOT]), int(tree.first_child[ROOT]) + tree.n_actions)
        mean_cost = tree.cost[children] / tree.visits[children]
        return int(rng.choice(tree.n_actions, p=_softmax(-precision * mean_cost)))
    return int(best_action(tree, selection == "most_visited", selection == "lowest_cost" or ties == "cost"))


def best_action(tree: Tree, by_visits: bool, by_cost: bool) -> int:
    """The action with the most visits, if they count, and the lowest mean cost, if that counts; the first of equals.

    In the subset of Python that Numba compiles, like the search.
    """
    first = tree.first_child[ROOT]
    best = first
    for child in range(first + 1, first + tree.n_actions):
        if by_visits and tree.visits[child] != tree.visits[best]:
            better = tree.visits[child] > tree.visits[best]
        else:
            better = by_cost and tree.cost[child] / tree.visits[child] < tree.cost[best] / tree.visits[best]
        if better:
            best = child
    return int(best - first)


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())
