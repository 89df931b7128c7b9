"""Lets kernels call the functions of the search as they stand: there is no second search."""

from __future__ import annotations

from numba.extending import overload, register_jitable

from btai.engine import VmpModel, score_branches
from btai.engine import score as score_predictions
from btai.engine.jit import OPTIONS
from btai.planning.choose import best_action
from btai.planning.search import evaluate, expand, propagate, score, search, select
from btai.planning.tree import clear_tree

__all__ = ["best_action", "clear_tree", "search"]

for _function in (select, expand, evaluate, propagate, search, clear_tree, best_action):
    register_jitable(**OPTIONS)(_function)


# Without annotations: Numba wants the two signatures to be equal, and a lambda's has none.
@overload(score, jit_options=OPTIONS)
def _score_compiled(model, node, first, efe):  # pragma: no cover - Numba asks only where it compiles
    """In compiled code the engine scores; `model` is one of its models."""
    if model.instance_class is VmpModel:
        return lambda model, node, first, efe: score_branches(model, node, first, efe)
    return lambda model, node, first, efe: score_predictions(model, node, first, efe)
