"""Loopy propagation: reaches a fixed point of the messages, says how well, and never claims to be exact."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Evidence, Factor, Spec
from strategies import evidences, models

from btai.errors import PlanningError
from btai.inference import Inference, i_step

thorough = settings(max_examples=30)
SETTLED = 1e-8

Factors = dict[str, tuple[tuple[str, ...], Array]]  # the scope and the table of each

# Two switches seen together twice: whether they differ, and a dim view of how many are on.
SWITCHES = Spec(
    action="A_0",
    n_actions=1,
    priors={"S_a": np.array([0.6, 0.4]), "S_b": np.array([0.7, 0.3])},
    likelihoods={
        "O_differ": Factor(np.array([[[0.9, 0.2], [0.2, 0.9]], [[0.1, 0.8], [0.8, 0.1]]]), ("S_a", "S_b")),
        "O_more": Factor(np.array([[[0.9, 0.5], [0.5, 0.1]], [[0.1, 0.5], [0.5, 0.9]]]), ("S_b", "S_a")),
    },
    transitions={"S_a": Factor(np.eye(2), ("S_a",)), "S_b": Factor(np.eye(2), ("S_b",))},
    preferences={},
)
SEEN = {"O_differ": 1, "O_more": 0}


def loopy(spec: Spec, evidence: Evidence, **options: Any) -> Inference:
    return i_step(spec.build(), evidence, method="loopy", **options)


def factors_of(spec: Spec, evidence: Evidence) -> Factors:
    """The scope and table of each prior and of each likelihood that was observed, by its name."""
    found: dict[str, tuple[tuple[str, ...], Array]] = {"f_" + s: ((s,), prior) for s, prior in spec.priors.items()}
    for name, factor in spec.likelihoods.items():
        if name in evidence:
            weights = oracle.evidence_vector(evidence[name], len(factor.table))
            found["f_" + name] = factor.parents, np.einsum("o,o...->...", weights, factor.table)
    return found


def normalised(table: Array) -> Array:
    return np.asarray(table / table.sum())


@st.composite
def settled(draw: st.DrawFn) -> tuple[Spec, Factors, Inference]:
    """A model with loops, its factors in the light of some evidence, and where propagation has come to rest on them."""
    spec = draw(models(loops=True, max_states=3, max_size=3, max_observations=4, zeros=False))
    evidence = draw(evidences(spec, kinds=("index", "soft")))
    result = loopy(spec, evidence, max_iterations=300)
    assume(result.residual <= 1e-10)
    return spec, factors_of(spec, evidence), result


# --- the fixed point ----------------------------------------------------------------------------------


@thorough
@given(st.data())
def test_settled_messages_are_a_fixed_point_of_the_papers_equations(data: st.DataObject) -> None:
    spec, factors, result = data.draw(settled())
    m = result.messages
    for state, prior in spec.priors.items():
        flat = np.ones(len(prior))
        around = [name for name, (scope, _) in factors.items() if state in scope]
        for name in around:
            product = normalised(np.prod([flat, *(m[other, state] for other in around if other != name)], axis=0))
            assert_allclose(m[state, name], product, rtol=0, atol=SETTLED)
        belief = normalised(np.prod([m[name, state] for name in around], axis=0))
        assert_allclose(result.posteriors[state], belief, rtol=0, atol=SETTLED)
    for name, (scope, table) in factors.items():
        for axis, state in enumerate(scope):
            message = np.zeros(len(spec.priors[state]))
            for cell in np.ndindex(*table.shape):
                others = [m[v, name][cell[i]] for i, v in enumerate(scope) if i != axis]
                message[cell[axis]] += table[cell] * math.prod(others)
            assert_allclose(m[name, state], normalised(message), rtol=0, atol=SETTLED)


@thorough
@given(st.data())
def test_log_evidence_is_minus_the_bethe_free_energy_of_the_beliefs(data: st.DataObject) -> None:
    _, factors, result = data.draw(settled())
    energy = 0.0
    for name, (scope, table) in factors.items():
        belief = table.copy()
        for cell in np.ndindex(*table.shape):
            belief[cell] *= math.prod(result.messages[v, name][cell[i]] for i, v in enumerate(scope))
        belief = normalised(belief)
        energy += sum(b * (math.log(b) - math.log(f)) for b, f in zip(belief.flat, table.flat, strict=True) if b > 0)
    for state, belief in result.posteriors.items():
        degree = sum(state in scope for scope, _ in factors.values())
        energy += (degree - 1) * oracle.entropy(belief)
    assert result.log_evidence == pytest.approx(-energy, rel=SETTLED, abs=SETTLED)


def test_observations_can_be_foretold_from_the_messages() -> None:
    result = loopy(SWITCHES, SEEN)
    likelihood, (a, b) = (
        SWITCHES.likelihoods["O_differ"].table,
        (result.messages[s, "f_O_differ"] for s in ("S_a", "S_b")),
    )
    expected = sum(likelihood[:, i, j] * a[i] * b[j] for i in range(2) for j in range(2))
    assert_allclose(result.messages["f_O_differ", "O_differ"], expected, rtol=0, atol=1e-12)
    assert_allclose(result.messages["O_differ", "f_O_differ"], [0, 1])


# --- what it says of itself ---------------------------------------------------------------------------


def test_what_is_found_among_loops_is_near_but_not_claimed_to_be_exact() -> None:
    result = loopy(SWITCHES, SEEN)
    exact, log_evidence = oracle.posteriors(SWITCHES, SEEN)
    off = max(float(np.abs(result.posteriors[s] - exact[s]).max()) for s in exact)
    assert 1e-3 < off < 0.1
    assert 1e-3 < abs(result.log_evidence - log_evidence) < 0.2
    assert not result.exact
    assert result.residual <= 1e-10
    assert 1 < result.iterations < 1000
    assert result.reason == (
        f"the factor graph has loops and loopy propagation was asked for; it settled in {result.iterations} sweeps"
    )


def test_propagation_that_runs_out_of_sweeps_says_so() -> None:
    result = loopy(SWITCHES, SEEN, max_iterations=3)
    assert not result.exact
    assert result.iterations == 3
    assert result.residual > 1e-10
    assert "it did not settle in 3 sweeps" in result.reason


def test_propagation_stops_at_the_tolerance() -> None:
    coarse, fine = loopy(SWITCHES, SEEN, tolerance=1e-3), loopy(SWITCHES, SEEN, tolerance=1e-6)
    assert 1e-6 < coarse.residual <= 1e-3
    assert fine.residual <= 1e-6
    assert coarse.iterations < fine.iterations
    assert "settled" in coarse.reason


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.75])
def test_damping_keeps_that_share_of_the_old_message(damping: float) -> None:
    result = loopy(SWITCHES, SEEN, damping=damping, max_iterations=1)
    # Every message was uniform before; from uniform messages the lamp says (0.45, 0.45) of each switch.
    kept = damping * 0.5
    assert_allclose(result.messages["f_S_a", "S_a"], [0.6 - 0.6 * damping + kept, 0.4 - 0.4 * damping + kept])
    assert_allclose(result.messages["f_S_b", "S_b"], [0.7 - 0.7 * damping + kept, 0.3 - 0.3 * damping + kept])
    assert_allclose(result.messages["f_O_more", "S_a"], [0.7 - 0.7 * damping + kept, 0.3 - 0.3 * damping + kept])
    assert_allclose(result.messages["f_O_differ", "S_b"], [0.5, 0.5])
    assert result.residual == pytest.approx(0.2)  # before damping


def test_damping_keeps_nothing_that_is_excluded() -> None:
    certain = replace(SWITCHES, priors={"S_a": np.array([0.0, 1.0]), "S_b": np.array([0.7, 0.3])})
    result = loopy(certain, SEEN, damping=0.9, max_iterations=1)
    assert_array_equal(result.messages["f_S_a", "S_a"], [0.0, 1.0])
    assert_array_equal(result.posteriors["S_a"], [0.0, 1.0])


def test_damping_changes_the_way_and_not_the_end() -> None:
    slow, fast = loopy(SWITCHES, SEEN, damping=0.9), loopy(SWITCHES, SEEN, damping=0.0)
    assert slow.iterations > fast.iterations
    for state in SWITCHES.priors:
        assert_allclose(slow.posteriors[state], fast.posteriors[state], rtol=0, atol=SETTLED)


@pytest.mark.parametrize("damping", [-0.1, 1.0, math.nan, "x"])
def test_damping_that_would_never_settle(damping: Any) -> None:
    with pytest.raises(PlanningError, match=rf"^damping: {damping!r} was given; a number of at least 0 and below 1"):
        loopy(SWITCHES, SEEN, damping=damping)


@pytest.mark.parametrize("sweeps", [0, -1, 1.5])
def test_propagation_without_a_sweep(sweeps: Any) -> None:
    message = rf"^max_iterations: {sweeps} was given; a whole number of sweeps, at least one, is required"
    with pytest.raises(PlanningError, match=message):
        loopy(SWITCHES, SEEN, max_iterations=sweeps)


@pytest.mark.parametrize("tolerance", [-1e-9, math.nan, None])
def test_tolerance_that_is_none(tolerance: Any) -> None:
    with pytest.raises(PlanningError, match=rf"^tolerance: {tolerance} was given; a number of at least 0"):
        loopy(SWITCHES, SEEN, tolerance=tolerance)


def test_tolerance_of_zero_uses_every_sweep_it_needs() -> None:
    assert loopy(SWITCHES, SEEN, tolerance=0.0, max_iterations=20).iterations == 20
