"""The I-step equals the enumeration of the joint, and says truly whether it is exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Evidence, Factor, Spec
from strategies import evidences, models

from btai.errors import CliqueTooLargeError, PlanningError, TableError, VariableError
from btai.inference import Inference, i_step
from btai.model import TemporalSlice, TemporalSliceBuilder

thorough = settings(max_examples=80)
CLOSE = 1e-12


def assert_exact(result: Inference, expected: tuple[Mapping[str, Array], float]) -> None:
    """The result claims to be exact and equals what enumeration found."""
    posteriors, log_evidence = expected
    assert result.exact
    assert list(result.posteriors) == list(posteriors)
    for name, posterior in posteriors.items():
        assert_allclose(result.posteriors[name], posterior, rtol=0, atol=CLOSE, err_msg=name)
        assert result.posteriors[name].dtype == np.float64
    assert result.log_evidence == pytest.approx(log_evidence, rel=CLOSE, abs=CLOSE)


def observed_only(spec: Spec, evidence: Evidence) -> Spec:
    """The model without the observations that were not made."""
    likelihoods = {name: factor for name, factor in spec.likelihoods.items() if name in evidence}
    return replace(spec, likelihoods=likelihoods)


@pytest.mark.parametrize("loops", [False, True], ids=["trees", "loops"])
@thorough
@given(st.data())
def test_exact_inference_equals_enumeration(loops: bool, data: st.DataObject) -> None:
    spec = data.draw(models(loops=loops))
    evidence = data.draw(evidences(spec))
    result = i_step(spec.build(), evidence)
    assert_exact(result, oracle.posteriors(spec, evidence))
    assert result.reason.startswith("the factor graph has loops" if loops else "the factor graph has no loop")
    assert (result.residual, result.iterations) == (0, 0)


@thorough
@given(st.data())
def test_inference_from_an_empirical_prior_equals_enumeration(data: st.DataObject) -> None:
    spec = data.draw(models())
    beliefs, _ = oracle.posteriors(spec, data.draw(evidences(spec)))
    prior = oracle.predict(spec, beliefs, data.draw(st.integers(0, spec.n_actions - 1))).states
    evidence = data.draw(evidences(spec, prior=prior))
    assert_exact(i_step(spec.build(), evidence, prior), oracle.posteriors(spec, evidence, prior))


@thorough
@given(st.data())
def test_loopy_method_is_exact_where_what_was_observed_forms_no_loop(data: st.DataObject) -> None:
    spec = data.draw(models(loops=data.draw(st.booleans())))
    evidence = data.draw(evidences(spec))
    result = i_step(spec.build(), evidence, method="loopy")
    if not observed_only(spec, evidence).has_loops:
        assert_exact(result, oracle.posteriors(spec, evidence))
        assert "no loop" in result.reason
        assert (result.residual, result.iterations) == (0, 0)
    else:
        assert not result.exact
        assert "has loops and loopy propagation was asked for" in result.reason
        assert result.iterations >= 1


@thorough
@given(models())
def test_without_evidence_the_posterior_is_the_prior(spec: Spec) -> None:
    assert_exact(i_step(spec.build(), {}), (spec.priors, 0.0))


@thorough
@given(st.data())
def test_observations_that_say_the_same_of_every_state_leave_the_prior(data: st.DataObject) -> None:
    spec = data.draw(models(min_observations=1))
    flat = {name: Factor(np.full_like(f.table, 1 / len(f.table)), f.parents) for name, f in spec.likelihoods.items()}
    flat_spec = replace(spec, likelihoods=flat)
    evidence = data.draw(evidences(flat_spec, kinds=("index",)))
    log_evidence = -sum(float(np.log(spec.sizes[name])) for name in evidence)
    assert_exact(i_step(flat_spec.build(), evidence), (spec.priors, log_evidence))


# --- long products ------------------------------------------------------------------------------------


def seen_often(times: int, parents: list[str]) -> TemporalSlice:
    """Value 0 of each observation has likelihood 0.01, or 0.02 where the first parent is 1."""
    likelihood = np.empty((2, *(2 for _ in parents)))
    likelihood[0, 0], likelihood[0, 1] = 0.01, 0.02
    likelihood[1] = 1 - likelihood[0]
    builder = TemporalSliceBuilder("A_0", 1)
    for state in parents:
        builder.add_state(state, [0.5, 0.5]).add_transition(state, np.eye(2), [state])
    for i in range(times):
        builder.add_observation(f"O_{i}", likelihood, parents)
    return builder.build()


@pytest.mark.parametrize("parents", [["S_0"], ["S_0", "S_1"]], ids=["tree", "loops"])
@pytest.mark.parametrize("times", [40, 1000])
def test_many_unlikely_observations_do_not_underflow(times: int, parents: list[str]) -> None:
    ts = seen_often(times, parents)
    # The odds of S_0 = 1 double with each observation: 2^40 to 1 is still a number, and 2^1000 is certain.
    odds = 0.5**times
    evidence = dict.fromkeys(ts.observations, 0)
    log_evidence = times * np.log(0.02) + np.log1p(odds) - np.log(2)
    result = i_step(ts, evidence)
    assert_allclose(result.posteriors["S_0"], [odds / (1 + odds), 1 / (1 + odds)], rtol=1e-10)
    for state in parents[1:]:
        assert_allclose(result.posteriors[state], [0.5, 0.5], rtol=CLOSE)
    assert result.log_evidence == pytest.approx(log_evidence, rel=CLOSE)


def test_clique_too_large_for_a_slice_built_for_loopy_propagation_is_refused_before_anything_is_allocated() -> None:
    n = 9
    builder = TemporalSliceBuilder("A_0", 1)
    for i in range(n):
        builder.add_state(f"S_{i}", np.full(100, 0.01)).add_transition(f"S_{i}", np.eye(100), [f"S_{i}"])
    for i in range(n):
        for j in range(i):
            builder.add_observation(f"O_{j}_{i}", np.full((1, 100, 100), 1.0), [f"S_{j}", f"S_{i}"])
    ts = builder.build(inference="loopy")
    evidence = dict.fromkeys(ts.observations, 0)
    message = r"with 1,000,000,000,000,000,000 entries .*; the limit is 16,777,216\. .*pass method='loopy'\.$"
    with pytest.raises(CliqueTooLargeError, match=message):
        i_step(ts, evidence)
    assert not i_step(ts, evidence, method="loopy").exact
    assert i_step(ts, {"O_0_1": 0}).exact  # what was observed has no large clique


# --- the same, said otherwise -------------------------------------------------------------------------


@thorough
@given(st.data())
def test_values_declared_in_another_order_have_their_posteriors_in_that_order(data: st.DataObject) -> None:
    spec = data.draw(models(min_observations=1, max_states=4))
    evidence = data.draw(evidences(spec))
    state = data.draw(st.sampled_from(list(spec.priors)))
    order = data.draw(st.permutations(range(spec.sizes[state])))
    likelihoods = {}
    for name, factor in spec.likelihoods.items():
        axis = 1 + factor.parents.index(state) if state in factor.parents else None
        likelihoods[name] = factor if axis is None else replace(factor, table=factor.table.take(order, axis=axis))
    permuted = replace(spec, priors={**spec.priors, state: spec.priors[state][order]}, likelihoods=likelihoods)
    posteriors, log_evidence = oracle.posteriors(spec, evidence)
    expected = posteriors | {state: posteriors[state][order]}
    assert_exact(i_step(permuted.build(), evidence), (expected, log_evidence))


@thorough
@given(st.data())
def test_order_of_declaration_does_not_matter(data: st.DataObject) -> None:
    spec = data.draw(models(max_states=4))
    evidence = data.draw(evidences(spec))
    states = data.draw(st.permutations(list(spec.priors)))
    observations = data.draw(st.permutations(list(spec.likelihoods)))
    shuffled = replace(
        spec,
        priors={name: spec.priors[name] for name in states},
        likelihoods={name: spec.likelihoods[name] for name in observations},
    )
    posteriors, log_evidence = oracle.posteriors(spec, evidence)
    shuffled_evidence = {name: evidence[name] for name in reversed(observations) if name in evidence}
    result = i_step(shuffled.build(), shuffled_evidence)
    assert_exact(result, ({name: posteriors[name] for name in states}, log_evidence))


@thorough
@given(st.data())
def test_state_that_nothing_looks_at_changes_nothing(data: st.DataObject) -> None:
    spec = data.draw(models(max_states=4))
    evidence = data.draw(evidences(spec))
    idle = np.array([0.125, 0.875])
    larger = replace(
        spec,
        priors={"S_idle": idle} | dict(spec.priors),
        transitions={**spec.transitions, "S_idle": Factor(np.eye(2), ("S_idle",))},
    )
    posteriors, log_evidence = oracle.posteriors(spec, evidence)
    assert_exact(i_step(larger.build(), evidence), ({"S_idle": idle} | posteriors, log_evidence))


# --- manners ------------------------------------------------------------------------------------------


@thorough
@given(st.data())
def test_inference_repeats_to_the_bit_and_changes_nothing_it_was_given(data: st.DataObject) -> None:
    spec = data.draw(models(max_states=3))
    evidence = data.draw(evidences(spec))
    method = data.draw(st.sampled_from(["exact", "loopy"]))
    prior = {name: table.copy() for name, table in spec.priors.items()}
    kept = {name: np.array(value) for name, value in evidence.items()}
    ts = spec.build()
    first, second = (i_step(ts, evidence, prior, method=method) for _ in range(2))
    assert first.log_evidence == second.log_evidence
    for name in ts.states:
        assert_array_equal(first.posteriors[name], second.posteriors[name])
        assert_array_equal(prior[name], spec.priors[name])
    for name, value in evidence.items():
        assert_array_equal(value, kept[name])
    assert ts == spec.build()


def small() -> TemporalSlice:
    return (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_x", [0.5, 0.5])
        .add_state("S_y", [0.25, 0.25, 0.5])
        .add_transition("S_x", np.eye(2), ["S_x"])
        .add_transition("S_y", np.eye(3), ["S_y"])
        .add_observation("O_x", [[0.75, 0.25], [0.25, 0.75]], ["S_x"])
        .build()
    )


def test_prior_may_be_lists_or_float32_and_is_used_in_float64() -> None:
    prior: Any = {"S_x": [0.25, 0.75], "S_y": np.array([0.5, 0.25, 0.25], dtype=np.float32)}
    result = i_step(small(), {"O_x": 0}, prior)
    assert_allclose(result.posteriors["S_x"], [0.5, 0.5], rtol=CLOSE)
    assert_allclose(result.posteriors["S_y"], [0.5, 0.25, 0.25], rtol=CLOSE)
    assert all(posterior.dtype == np.float64 for posterior in result.posteriors.values())


def test_prior_that_leaves_out_a_state() -> None:
    with pytest.raises(VariableError, match=r"^S_y: no prior was given for it among S_x; give one vector for every"):
        i_step(small(), {}, {"S_x": np.array([0.5, 0.5])})
    with pytest.raises(VariableError, match=r"^S_x: no prior was given for it among none; "):
        i_step(small(), {}, {})


def test_prior_that_is_no_dictionary() -> None:
    with pytest.raises(VariableError, match=r"^prior: 5 was given; a dictionary by state is required"):
        i_step(small(), {}, 5)  # type: ignore[arg-type]


def test_prior_of_the_wrong_size() -> None:
    with pytest.raises(TableError, match=r"^S_x: a prior of 3 numbers was given; required are 2, one for each value"):
        i_step(small(), {}, {"S_x": np.array([0.5, 0.25, 0.25]), "S_y": np.array([0.5, 0.25, 0.25])})


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.25], r"^S_x: the prior's vector sums to 0\.75; .*must sum to 1"),
        ([0.0, 0.0], r"^S_x: the prior's vector sums to 0; .*must sum to 1"),
        ([1.5, -0.5], r"^S_x: the prior holds -0\.5 at index \(1,\), which is negative"),
        ([[0.5, 0.5]], r"^S_x: the prior was given with shape \(1, 2\)"),
    ],
    ids=["sum", "zeros", "negative", "rank"],
)
def test_prior_that_is_no_distribution(prior: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        i_step(small(), {}, {"S_x": np.array(prior), "S_y": np.array([0.5, 0.25, 0.25])})


def test_unknown_method() -> None:
    with pytest.raises(PlanningError, match=r"^method: 'fast' was given; it must be 'exact' or 'loopy'"):
        i_step(small(), {}, method="fast")


def test_results_are_compared_by_identity() -> None:
    one, other = i_step(small(), {"O_x": 0}), i_step(small(), {"O_x": 0})
    assert one == one  # and not an error about the truth of an array
    assert one != other
    assert len({one, other}) == 2
