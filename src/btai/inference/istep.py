"""The I-step: posterior beliefs over the present states (section "Inference step" of the paper)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import ImpossibleObservationError, PlanningError
from btai.inference.beliefs import Beliefs
from btai.inference.evidence import evidence_vectors, scaled
from btai.inference.factors import (
    Factor,
    ImpossibleEvidence,
    factor_name,
    likelihood_factors,
    normalise,
    prior_factors,
)
from btai.inference.junction import calibrate
from btai.inference.loopy import LoopyOptions, propagate_loopily
from btai.inference.pstep import expected_column
from btai.inference.trees import Messages, two_passes
from btai.model import MAX_CLIQUE_ENTRIES, TemporalSlice, is_forest
from btai.model.checks import is_whole
from btai.notebook import Html, panel, table

__all__ = ["Inference", "i_step"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Inference:
    """What an I-step found, and how far it can be trusted."""

    posteriors: Beliefs
    """P(S_t^s | O_t) of each state, `[n_S]`."""
    log_evidence: float
    """ln P(O_t); where `exact` is false Bethe's approximation of it or, of variational message passing, minus the free
    energy: a bound from below on ln P of everything since the trial began."""
    exact: bool
    reason: str
    """Why the result is exact, or why it is not."""
    residual: float = 0.0
    """The largest change of a message in the last sweep of loopy propagation; the last decrease of the free energy in
    variational message passing."""
    iterations: int = 0
    """The sweeps of loopy propagation, or of variational message passing."""
    messages: Messages = field(default_factory=dict)
    """The normalised messages by edge: `messages["S_x", "f_O_x"]` on trees and in loopy propagation, where the
    factor of variable `X` is called `f_X`; between cliques, `messages["{S_x, S_y}", "{S_y}"]`, in a junction tree."""
    cliques: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The variables of each clique of a junction tree, by its name, first the one that is eliminated there."""

    def __repr__(self) -> str:
        return "\n".join([*(f"{name}: {fact}" for name, fact in self._facts()), repr(self.posteriors)])

    def _repr_html_(self) -> Html:
        return panel("Inference", table(("", ""), self._facts()), self.posteriors.as_table())

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("exact", f"{'yes' if self.exact else 'no'}, {self.reason}"),
            ("log-evidence", f"{self.log_evidence:.4f}"),
        ]


def i_step(
    ts: TemporalSlice,
    evidence: Mapping[str, Any],
    prior: Mapping[str, Vector] | None = None,
    *,
    method: str = "exact",
    damping: float = 0.5,
    max_iterations: int = 1000,
    tolerance: float = 1e-10,
) -> Inference:
    """Posterior beliefs over the states of `ts`, given evidence and (empirical) priors.

    Args:
        ts: the slice.
        evidence: for each observation made, an index, a value's name, a one-hot or a likelihood vector `[n_O]`.
        prior: one vector `[n_S]` per state; the declared priors if absent.
        method: `"exact"` (two passes on a tree, junction tree otherwise) or `"loopy"` (damped loopy propagation
            where the graph has loops; the result then says that it is not exact).
        damping, max_iterations, tolerance: for loopy propagation, see `LoopyOptions`.
    """
    options = _checked_options(method, damping, max_iterations, tolerance)
    vectors, log_scale = scaled(evidence_vectors(ts, evidence))
    priors = prior_factors(ts, prior)
    try:
        result = _infer(ts, priors, vectors, options)
    except ImpossibleEvidence:
        culprit, earlier = _excluded(ts, priors, vectors, options)
        raise _impossible(evidence, culprit, earlier) from None
    return replace(result, log_evidence=result.log_evidence + log_scale)


def _checked_options(method: str, damping: float, max_iterations: int, tolerance: float) -> LoopyOptions | None:
    """The options of loopy propagation, or `None` for exact inference."""
    if method not in ("exact", "loopy"):
        raise PlanningError(f"method: {method!r} was given; it must be 'exact' or 'loopy'.")
    if not isinstance(damping, Real) or not 0 <= damping < 1:
        raise PlanningError(f"damping: {damping!r} was given; a number of at least 0 and below 1 is required.")
    if not is_whole(max_iterations) or not max_iterations >= 1:
        raise PlanningError(
            f"max_iterations: {max_iterations!r} was given; a whole number of sweeps, at least one, is required."
        )
    if not isinstance(tolerance, Real) or not tolerance >= 0:
        raise PlanningError(f"tolerance: {tolerance!r} was given; a number of at least 0 is required.")
    return LoopyOptions(damping, max_iterations, tolerance) if method == "loopy" else None


def _infer(
    ts: TemporalSlice, priors: list[Factor], evidence: Mapping[str, Vector], loopy: LoopyOptions | None
) -> Inference:
    """Choose the algorithm by the shape of the factor graph; exact unless `loopy` says how not to be."""
    sizes = {name: state.size for name, state in ts.states.items()}
    # Observations that were not made send the constant message 1: on a tree they are kept, so that their messages
    # can be read as well; among loops they are left out, which may open the loop.
    everything = {name: np.ones(o.size) for name, o in ts.observations.items()} | dict(evidence)
    complete = priors + likelihood_factors(ts, everything)
    if _is_tree(complete, sizes):
        return _exact_on_tree(ts, complete, sizes, everything, "the factor graph has no loop")
    factors = priors + likelihood_factors(ts, evidence)
    if loopy is None:
        # What was built for exact inference was accepted there, perhaps under a limit of the modeller's own.
        max_clique = sys.maxsize if ts.inference == "exact" else MAX_CLIQUE_ENTRIES
        posteriors, log_evidence, messages, cliques = calibrate(factors, sizes, max_clique)
        reason = "the factor graph has loops; solved by junction tree"
        return Inference(Beliefs(ts, posteriors), log_evidence, True, reason, messages=messages, cliques=cliques)
    if _is_tree(factors, sizes):
        return _exact_on_tree(
            ts, factors, sizes, evidence, "the factors of the observations that were made form no loop"
        )
    posteriors, log_evidence, messages, residual, iterations = propagate_loopily(factors, sizes, loopy)
    settled = "settled" if residual <= loopy.tolerance else "did not settle"
    reason = f"the factor graph has loops and loopy propagation was asked for; it {settled} in {iterations} sweeps"
    messages |= _observation_messages(ts, messages, evidence)
    return Inference(Beliefs(ts, posteriors), log_evidence, False, reason, residual, iterations, messages)


def _is_tree(factors: Sequence[Factor], sizes: Mapping[str, int]) -> bool:
    index = {name: i for i, name in enumerate(sizes)}
    return is_forest(len(sizes), [[index[v] for v in factor.scope] for factor in factors])


def _exact_on_tree(
    ts: TemporalSlice,
    factors: Sequence[Factor],
    sizes: Mapping[str, int],
    evidence: Mapping[str, Vector],
    reason: str,
) -> Inference:
    posteriors, log_evidence, messages = two_passes(factors, sizes)
    messages |= _observation_messages(ts, messages, evidence)
    return Inference(Beliefs(ts, posteriors), log_evidence, True, reason, messages=messages)


def _observation_messages(ts: TemporalSlice, messages: Messages, evidence: Mapping[str, Vector]) -> Messages:
    """The messages between each observation and its likelihood: the evidence, and what the rest of the graph says."""
    found: Messages = {}
    for name, vector in evidence.items():
        observation, factor = ts.observations[name], factor_name(name)
        found[name, factor], _ = normalise(vector)
        found[factor, name] = expected_column(
            observation.likelihood, [messages[s, factor] for s in observation.parents]
        )
    return found


def _excluded(
    ts: TemporalSlice, priors: list[Factor], evidence: Mapping[str, Vector], loopy: LoopyOptions | None
) -> tuple[str, list[str]]:
    """The first observation (in the order of declaration) that is impossible given those before it, and those."""
    names = list(evidence)
    for i, name in enumerate(names[:-1]):
        try:
            _infer(ts, priors, {n: evidence[n] for n in names[: i + 1]}, loopy)
        except ImpossibleEvidence:
            return name, names[:i]
    return names[-1], names[:-1]


def _impossible(evidence: Mapping[str, Any], culprit: str, earlier: Sequence[str]) -> ImpossibleObservationError:
    given = f" together with {', '.join(f'{n}={_shown(evidence[n])}' for n in earlier)}" if earlier else ""
    return ImpossibleObservationError(
        f"{culprit}: the value {_shown(evidence[culprit])} was observed, which the model gives probability 0{given}"
        " under its present beliefs. Give the likelihood or the transitions a little noise, or correct the"
        " observation."
    )


def _shown(value: Any) -> str:
    """A one-hot vector as its index, anything else as it is."""
    if np.ndim(value) == 0:
        return str(value)
    vector = np.asarray(value)
    return str(int(vector.argmax())) if np.count_nonzero(vector) == 1 else str(vector)
