"""The factors of a slice at the present time: priors and likelihoods, by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.errors import TableError, VariableError
from btai.model import State, TemporalSlice
from btai.model.checks import conditional

__all__ = [
    "Factor",
    "ImpossibleEvidence",
    "factor_name",
    "likelihood_factors",
    "normalise",
    "prior_factors",
    "product",
    "summed_out",
]

Table = NDArray[np.float64]


class ImpossibleEvidence(Exception):
    """The factors multiply to zero everywhere; the I-step turns this into an error that names the observation."""


class Factor(NamedTuple):
    """A table over named variables, one axis each."""

    name: str
    scope: tuple[str, ...]
    table: Table


def factor_name(variable: str) -> str:
    """The name of the factor that belongs to a variable: its prior or its likelihood."""
    return "f_" + variable


def prior_factors(ts: TemporalSlice, prior: Mapping[str, Table] | None) -> list[Factor]:
    """P(S_t^s), one factor per state: the declared priors, or the empirical ones."""
    if not isinstance(prior, Mapping | None):
        raise VariableError(f"prior: {prior!r} was given; a dictionary by state is required, a vector for each.")
    return [
        Factor(factor_name(name), (name,), state.prior if prior is None else _given(state, prior))
        for name, state in ts.states.items()
    ]


def _given(state: State, prior: Mapping[str, Table]) -> Table:
    """The checked empirical prior of a state, `[n_S]`."""
    if state.name not in prior:
        raise VariableError(
            f"{state.name}: no prior was given for it among {', '.join(prior) or 'none'}; give one vector for every"
            " state, or no prior at all for the declared ones."
        )
    table = conditional(state.name, "prior", prior[state.name])
    if len(table) != state.size:
        raise TableError(
            f"{state.name}: a prior of {len(table)} numbers was given; required are {state.size}, one for each value."
        )
    return table


def likelihood_factors(ts: TemporalSlice, evidence: Mapping[str, Table]) -> list[Factor]:
    """What each observation that was made says of its parents: sum_o e(o) P(O=o | parents), over the parents."""
    return [
        Factor(factor_name(name), o.parents, np.tensordot(evidence[name], o.likelihood, 1))
        for name, o in ts.observations.items()
        if name in evidence
    ]


def normalise(table: Table) -> tuple[Table, float]:
    """`table` scaled to sum 1, and the logarithm of the sum."""
    total = float(table.sum())
    if total <= 0:
        raise ImpossibleEvidence
    return table / total, float(np.log(total))


def product(tables: Sequence[Table], shape: int | Sequence[int]) -> tuple[Table, float]:
    """The normalised product of tables that broadcast to `shape`, and the logarithm of its scale.

    Mantissas and exponents are multiplied apart: what many tables find unlikely does not vanish before the others have
    had their say, which may find everything else less likely still.
    """
    mantissa, exponent = np.frexp(np.ones(shape))
    for table in tables:
        factor, power = np.frexp(table)
        mantissa, carried = np.frexp(mantissa * factor)
        exponent += power + carried
    if not mantissa.any():
        raise ImpossibleEvidence
    largest = int(exponent[mantissa > 0].max())
    result, log_scale = normalise(np.ldexp(mantissa, exponent - largest))
    return result, log_scale + largest * math.log(2)


def summed_out(factor: Factor, messages: Mapping[str, Table], keep: str) -> Table:
    """sum over all variables but `keep` of the factor times the message of each of them (the paper's m_{f->x})."""
    table = factor.table
    for axis in reversed(range(len(factor.scope))):
        if factor.scope[axis] != keep:
            table = np.tensordot(table, messages[factor.scope[axis]], (axis, 0))
    return table
