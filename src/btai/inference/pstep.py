"""The P-step: what a slice's beliefs become under an action (section "Prediction step" of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from btai.errors import TableError, VariableError
from btai.inference.beliefs import Beliefs
from btai.model import TemporalSlice
from btai.notebook import Html, panel

__all__ = ["Prediction", "expected_column", "p_step"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """P(S_J^s | O_t) `[n_S]` for each state and P(O_J^o | O_t) `[n_O]` for each observation."""

    states: Beliefs
    observations: Beliefs

    def __repr__(self) -> str:
        return f"{self.states}\n{self.observations}"

    def _repr_html_(self) -> Html:
        return panel("Prediction", self.states.as_table(), self.observations.as_table())


def p_step(ts: TemporalSlice, beliefs: Mapping[str, Vector], action: int | str) -> Prediction:
    """Predict every state under `action`, given by number or name, then every observation from the predicted states."""
    executed = ts.action.index(action)
    _check_beliefs(ts, beliefs)
    states = {}
    for name, transition in ts.transitions.items():
        table = transition.table
        if ts.action.name in transition.parents:
            table = np.take(table, executed, axis=1 + transition.parents.index(ts.action.name))
        parents = [parent for parent in transition.parents if parent != ts.action.name]
        predicted = expected_column(table, [beliefs[parent] for parent in parents])
        # The rounding errors of several parents' sums add up, so along a path they would grow exponentially.
        states[name] = predicted / predicted.sum() if len(parents) > 1 else predicted
    observations = {
        name: expected_column(o.likelihood, [states[parent] for parent in o.parents])
        for name, o in ts.observations.items()
    }
    return Prediction(Beliefs(ts, states), Beliefs(ts, observations))


def _check_beliefs(ts: TemporalSlice, beliefs: Mapping[str, Vector]) -> None:
    if not isinstance(beliefs, Mapping):
        raise VariableError(f"beliefs: {beliefs!r} was given; a dictionary by state is required, a vector for each.")
    for name, state in ts.states.items():
        if name not in beliefs:
            raise VariableError(f"{name}: no beliefs were given for it among {', '.join(beliefs) or 'none'}.")
        if np.shape(beliefs[name]) != (state.size,):
            raise TableError(
                f"{name}: beliefs of shape {np.shape(beliefs[name])} were given; a vector of {state.size} numbers is"
                " required, one for each value."
            )


def expected_column(table: Vector, parents: Sequence[Vector]) -> Vector:
    """sum over the parents' configurations of P(X | parents) prod_i P(parent_i), `[n_X]` (the mean field)."""
    for parent in reversed(parents):
        # In two dimensions, where NumPy multiplies a matrix at once; in more it takes row by row.
        table = table.reshape(-1, len(parent)).dot(parent).reshape(table.shape[:-1])
    return table
