"""Models and trees small enough that every figure can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from spec import Factor, Spec

from btai.planning import ROOT, Tree, expand, new_tree

LN_2 = math.log(2)

# Whatever was before, action 0 leads to value 0 and action 1 to value 1, which is seen and preferred 3 to 1:
# the expected free energies are ln 4 and ln 4/3 at every node, all of it risk.
LEVER = Spec(
    action="A_pull",
    n_actions=2,
    priors={"S_0": np.array([0.5, 0.5])},
    likelihoods={"O_0": Factor(np.eye(2), ("S_0",))},
    transitions={"S_0": Factor(np.eye(2), ("A_pull",))},
    preferences={("O_0",): np.array([0.25, 0.75])},
)
BAD, GOOD = math.log(4), math.log(4 / 3)

# Both actions cost exactly ln 2, for different reasons: action 0 leads to a clear outcome that is preferred by half
# (risk), action 1 to a coin toss, just what is preferred (ambiguity).
EVEN = Spec(
    action="A_toss",
    n_actions=2,
    priors={"S_0": np.array([0.5, 0.5])},
    likelihoods={"O_0": Factor(np.array([[1.0, 0.5], [0.0, 0.5]]), ("S_0",))},
    transitions={"S_0": Factor(np.eye(2), ("A_toss",))},
    preferences={("O_0",): np.array([0.5, 0.5])},
)


def planned_root(visits: Sequence[int], costs: Sequence[float]) -> Tree:
    """A tree whose root has these children and nothing below them."""
    tree = new_tree(len(visits), iterations=1)
    expand(tree, ROOT)
    tree.visits[1:], tree.cost[1:] = visits, costs
    return tree
