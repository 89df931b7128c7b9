"""The expected free energy of a predicted slice, as an object that adds up (eq:efe of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from btai.inference.pstep import Prediction
from btai.model import TemporalSlice
from btai.notebook import Html, bar, panel, table

__all__ = ["ExpectedFreeEnergy", "expected_free_energy"]

Table = NDArray[np.float64]
Group = tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedFreeEnergy:
    """G of a predicted slice: the risk of each preference group plus the ambiguity of each observation."""

    ts: TemporalSlice
    prediction: Prediction

    @cached_property
    def risk(self) -> Mapping[Group, float]:
        """D_KL[P(X_i | O_t) || V(X_i)] of each group of observations; observations in no group have none."""
        return {p.observations: float(self.risk_cells(p.observations).sum()) for p in self.ts.preferences}

    @cached_property
    def ambiguity(self) -> Mapping[str, float]:
        """E_{P(parents | O_t)} H[P(O | parents)] of each observation."""
        return {name: float(self.ambiguity_cells(name).sum()) for name in self.ts.observations}

    @cached_property
    def total(self) -> float:
        """The sum of the parts, risks first, in the order of declaration."""
        # Not `sum`, which compensates for rounding since Python 3.12: the same bits everywhere.
        return reduce(add, (*self.risk.values(), *self.ambiguity.values()), 0.0)

    @cached_property
    def terms(self) -> Mapping[str, float]:
        """The parts in words, in the same order: "risk of O_x, O_y", "ambiguity of O_x"."""
        risks = {f"risk of {', '.join(group)}": value for group, value in self.risk.items()}
        return risks | {f"ambiguity of {name}": value for name, value in self.ambiguity.items()}

    def risk_cells(self, group: Group) -> Table:
        """The term q (ln q - ln C) of each joint outcome of the group, shaped like its preference."""
        preference = {p.observations: p.table for p in self.ts.preferences}[group]
        q = _outer([self.prediction.observations[name] for name in group])
        return np.asarray(q * (np.log(np.where(q > 0, q, 1)) - np.log(preference)))

    def ambiguity_cells(self, observation: str) -> Table:
        """Weight times entropy of each configuration of the observation's parents, `[*parents]`."""
        return self.weights(observation) * self.entropies(observation)

    def entropies(self, observation: str) -> Table:
        """H[P(O | parents)] of each configuration of the parents, `[*parents]`."""
        return self.ts.observations[observation].entropies

    def weights(self, observation: str) -> Table:
        """The predicted probability of each configuration of the parents, `[*parents]`."""
        return _outer([self.prediction.states[parent] for parent in self.ts.observations[observation].parents])

    def __repr__(self) -> str:
        terms = " + ".join(f"{value:.4f} ({term})" for term, value in self.terms.items())
        return f"ExpectedFreeEnergy: {self.total:.4f}" + (f" = {terms}" if terms else "")

    def _repr_html_(self) -> Html:
        most = max(self.terms.values(), default=0.0)
        rows = ((term, bar(value / most if most > 0 else 0.0), f"{value:.4f}") for term, value in self.terms.items())
        return panel(f"Expected free energy: {self.total:.4f}", table(("", "", ""), rows, numbers=[2]))


def expected_free_energy(ts: TemporalSlice, prediction: Prediction) -> ExpectedFreeEnergy:
    """G of a predicted slice (eq:efe)."""
    return ExpectedFreeEnergy(ts, prediction)


def _outer(vectors: list[Table]) -> Table:
    return reduce(np.multiply.outer, vectors)
