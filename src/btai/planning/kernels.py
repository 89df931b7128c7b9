"""The kernels that an agent or a batch of agents calls: search, and inference and search for each of many agents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from btai.engine import Cliques, Model, Ops, Parts, VmpModel, Workspace, begin, infer, kernel, predict
from btai.planning import jit
from btai.planning.tree import Tree

__all__ = ["perceive_each", "plan_each", "search"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def search(tree: Tree, model: Model | VmpModel, iterations: int, exp_const: float) -> None:
    """`btai.planning.search.search`, compiled."""
    jit.search(tree, model, iterations, exp_const)


@kernel
def plan_each(
    tree: Tree,
    model: Model,
    beliefs: Floats,
    budgets: Ints,
    first: int,
    last: int,
    exp_const: float,
    by_visits: bool,
    by_cost: bool,
    actions: Ints,
) -> None:
    """Plan for the agents `first` to `last - 1` with a budget, one after the other in the same tree.

    `beliefs` `[B, sum of n_S]`, `budgets` and `actions` `[B]` are those of all agents.
    """
    for agent in range(first, last):
        if budgets[agent] > 0:
            jit.clear_tree(tree, 1, 0.0)
            begin(model.parts, beliefs[agent], model.work)
            jit.search(tree, model, budgets[agent], exp_const)
            actions[agent] = jit.best_action(tree, by_visits, by_cost)


@kernel
def perceive_each(
    program: tuple[Ops, Parts, Cliques],
    work: Workspace,
    beliefs: Floats,
    actions: Ints,
    evidence: Floats,
    first: int,
    last: int,
    prior: Floats,
    posterior: Floats,
    active: Flags,
) -> None:
    """For the active agents from `first` to `last - 1`: predict the prior where there is an action, and infer.

    `active` `[B]` comes back false where the evidence is impossible.
    """
    ops, parts, cliques = program
    for agent in range(first, last):
        if active[agent]:
            if actions[agent] >= 0:
                predict(ops, parts, beliefs[agent], actions[agent], prior[agent], work)
            active[agent] = infer(parts, cliques, prior[agent], evidence[agent], posterior[agent], work)
