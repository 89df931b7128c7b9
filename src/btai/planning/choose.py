"""The choice of an action after planning (eq:action_selection)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from btai.errors import PlanningError
from btai.planning.tree import ITERATIONS, ROOT, Tree

__all__ = ["SELECTIONS", "TIES", "choose_action"]

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
    children = slice(int(tree.first_child[ROOT]), int(tree.first_child[ROOT]) + tree.n_actions)
    visits = tree.visits[children].tolist()
    mean_cost = (tree.cost[children] / tree.visits[children]).tolist()
    actions = range(tree.n_actions)
    if selection == "softmax":
        assert rng is not None
        return int(rng.choice(tree.n_actions, p=_softmax(-precision * np.array(mean_cost))))
    if selection == "lowest_cost":
        return min(actions, key=lambda a: mean_cost[a])
    if ties == "first":
        return max(actions, key=lambda a: visits[a])
    return min(actions, key=lambda a: (-visits[a], mean_cost[a]))


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())
