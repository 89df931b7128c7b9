"""Merged variables say exactly what the separate ones said, jointly; what would be too large or unclear is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Evidence, Spec
from strategies import evidences, models

from btai.envs.dsprites import dsprites_slice
from btai.errors import CliqueTooLargeError, PreferenceError, TableError, VariableError
from btai.inference import expected_free_energy, i_step, p_step
from btai.model import TemporalSlice, TemporalSliceBuilder, flatten

CLOSE = 1e-12

thorough = settings(max_examples=150)


def some(draw: st.DrawFn, names: Sequence[str]) -> list[str]:
    """Any of the names in any order."""
    return list(draw(st.permutations(names)))[: draw(st.integers(0, len(names)))]


@st.composite
def merged_models(draw: st.DrawFn, *, loops: bool | None) -> tuple[Spec, list[str], list[str]]:
    """A model, and the states and observations of it to merge."""
    spec = draw(models(loops=loops, max_states=4, max_observations=4, max_size=4))
    states, observations = some(draw, list(spec.priors)), some(draw, list(spec.likelihoods))
    preferred = {name for group in spec.preferences for name in group}
    if preferred & set(observations):
        observations = [name for name in observations if name in preferred]
    return spec, states, observations


def name_of(parts: Sequence[str]) -> str:
    return parts[0] + "".join(f"_{part[2:]}" for part in parts[1:])


def merged_evidence(spec: Spec, evidence: Evidence, parts: Sequence[str]) -> dict[str, Array]:
    """The same evidence for the merged model, as vectors: of independent observations it is the outer product."""
    vectors = {name: oracle.evidence_vector(evidence.get(name), spec.sizes[name]) for name in spec.likelihoods}
    if len(parts) < 2:
        return vectors
    cells = itertools.product(*(vectors[part] for part in parts))
    separate = {name: vector for name, vector in vectors.items() if name not in parts}
    return separate | {name_of(parts): np.array([math.prod(cell) for cell in cells])}


def marginal(spec: Spec, posteriors: dict[str, Array], state: str, parts: Sequence[str]) -> Array:
    if state not in parts or len(parts) < 2:
        return posteriors[state]
    table = posteriors[name_of(parts)].reshape([spec.sizes[part] for part in parts])
    return np.asarray(table.sum(axis=tuple(i for i, part in enumerate(parts) if part != state)))


def check_posteriors(spec: Spec, states: list[str], observations: list[str], evidence: Evidence) -> None:
    flat = flatten(spec.build(), states, observations)
    inference = i_step(flat, merged_evidence(spec, evidence, observations))
    expected, log_evidence = oracle.posteriors(spec, evidence)
    for state, posterior in expected.items():
        found = marginal(spec, dict(inference.posteriors), state, states)
        assert_allclose(found, posterior, rtol=0, atol=CLOSE, err_msg=state)
    assert inference.log_evidence == pytest.approx(log_evidence, rel=1e-10, abs=CLOSE)


@thorough
@given(merged_models(loops=False), st.data())
def test_posteriors_on_trees_are_those_of_the_factored_model(
    model: tuple[Spec, list[str], list[str]], data: st.DataObject
) -> None:
    check_posteriors(*model, data.draw(evidences(model[0])))


@thorough
@given(merged_models(loops=True), st.data())
def test_posteriors_with_loops_are_those_of_the_factored_model(
    model: tuple[Spec, list[str], list[str]], data: st.DataObject
) -> None:
    check_posteriors(*model, data.draw(evidences(model[0])))


# --- everything merged: the joint itself ----------------------------------------------------------------------------


def joint_prediction(spec: Spec, joint: Array, action: int) -> tuple[Array, Array]:
    """The joint distributions of the next states and of the next observations, by enumeration, flat."""
    names = list(spec.priors)
    cells = list(itertools.product(*(range(n) for n in joint.shape)))

    def probability(name: str, value: int, values: dict[str, int], *, seen: bool) -> float:
        factor = spec.likelihoods[name] if seen else spec.transition(name, action)
        return float(factor.column(values[parent] for parent in factor.parents)[value])

    after = np.zeros(len(cells))
    for cell in cells:
        before = dict(zip(names, cell, strict=True))
        for i, new in enumerate(cells):
            chances = (probability(n, v, before, seen=False) for n, v in zip(names, new, strict=True))
            after[i] += joint[cell] * math.prod(chances)
    outcomes = list(itertools.product(*(range(spec.sizes[name]) for name in spec.likelihoods)))
    seen = np.zeros(len(outcomes))
    for i, new in enumerate(cells):
        values = dict(zip(names, new, strict=True))
        for j, outcome in enumerate(outcomes):
            chances = (probability(n, v, values, seen=True) for n, v in zip(spec.likelihoods, outcome, strict=True))
            seen[j] += after[i] * math.prod(chances)
    return after, seen


@settings(thorough, max_examples=60)
@given(models(max_states=3, min_observations=1, max_observations=2, max_size=3, preferences=False), st.data())
def test_joint_posterior_and_joint_predictions_are_exact(spec: Spec, data: st.DataObject) -> None:
    evidence = data.draw(evidences(spec))
    flat = flatten(spec.build())
    (state,), (observation,) = flat.states, flat.observations
    posterior = i_step(flat, merged_evidence(spec, evidence, list(spec.likelihoods))).posteriors
    joint = oracle.joint(spec, evidence)
    joint /= joint.sum()
    assert_allclose(posterior[state], joint.ravel(), rtol=0, atol=CLOSE)
    for action in range(spec.n_actions):
        prediction = p_step(flat, posterior, action)
        after, seen = joint_prediction(spec, joint, action)
        assert_allclose(prediction.states[state], after, rtol=0, atol=CLOSE)
        assert_allclose(prediction.observations[observation], seen, rtol=0, atol=CLOSE)


@settings(thorough, max_examples=60)
@given(models(max_states=3, max_observations=3, max_size=3), st.data())
def test_merged_preferences_are_the_product_of_the_groups(spec: Spec, data: st.DataObject) -> None:
    preferred = [name for group in spec.preferences for name in group]
    merged = list(data.draw(st.permutations(preferred)))[: data.draw(st.integers(0, len(preferred)))]
    flat = flatten(spec.build(), [], merged)
    total: dict[frozenset[tuple[str, int]], float] = {}
    for p in flat.preferences:
        parts = [part for name in p.observations for part in (merged if name == name_of(merged or ["-"]) else [name])]
        table = p.table.reshape([spec.sizes[part] for part in parts])
        for cell in np.ndindex(table.shape):
            total[frozenset(zip(parts, cell, strict=True))] = float(table[cell])
    for group in spec.preferences:
        assert any(set(group) <= {name for name, _ in outcomes} for outcomes in total)
    for outcomes, value in total.items():
        values = dict(outcomes)
        factors = [spec.preferences[g][tuple(values[n] for n in g)] for g in spec.preferences if set(g) <= set(values)]
        assert value == pytest.approx(math.prod(factors), rel=1e-12)


# --- dSprites -------------------------------------------------------------------------------------------------------


def test_flat_dsprites_costs_what_the_factored_one_costs() -> None:
    # From a certain state every prediction is a product, so the mean field loses nothing.
    ts = dsprites_slice(8)
    flat = flatten(ts, ["S_shape", "S_pos_x", "S_pos_y"], ["O_shape", "O_pos_x", "O_pos_y"])
    assert list(flat.states) == ["S_shape_pos_x_pos_y", "S_scale", "S_orientation"]
    assert flat.states["S_shape_pos_x_pos_y"].size == 3 * 4 * 5
    assert flat.states["S_shape_pos_x_pos_y"].values is not None
    assert flat.states["S_shape_pos_x_pos_y"].values[2 * 20 + 3 * 5 + 4] == "heart, 3, 4"
    certain = {name: np.eye(s.size)[0] for name, s in ts.states.items()}
    merged = {name: np.eye(s.size)[0] for name, s in flat.states.items()}
    for action in range(4):
        factored = expected_free_energy(ts, p_step(ts, certain, action))
        joint = expected_free_energy(flat, p_step(flat, merged, action))
        assert joint.total == pytest.approx(factored.total, rel=1e-12)


def test_merging_nothing_changes_nothing() -> None:
    ts = dsprites_slice(8)
    assert flatten(ts, [], []) == ts
    assert flatten(ts, ["S_shape"], ["O_shape"]) == ts


# --- names, labels, places ------------------------------------------------------------------------------------------


def declared() -> TemporalSliceBuilder:
    return (
        TemporalSliceBuilder("A_go", 2, ["stay", "go"])
        .add_state("S_a", [0.25, 0.75], ["off", "on"])
        .add_state("S_b", [0.5, 0.25, 0.25])
        .add_state("S_c", [0.5, 0.5])
        .add_observation("O_a", np.eye(2), ["S_a"])
        .add_observation("O_bc", np.full((2, 3, 2), 0.5), ["S_b", "S_c"])
        .add_transition("S_a", np.full((2, 2, 2), 0.5), ["S_c", "A_go"])
        .add_transition("S_b", np.eye(3), ["S_b"])
        .add_transition("S_c", np.full((2, 3, 2), 0.5), ["S_b", "S_a"])
        .add_preference(["O_bc"], [0.2, 0.8])
    )


def test_merged_variable_stands_where_the_first_of_its_parts_stood() -> None:
    flat = flatten(declared().build(), ["S_c", "S_a"], [])
    assert list(flat.states) == ["S_c_a", "S_b"]
    assert flat.states["S_c_a"].values == ("0, off", "0, on", "1, off", "1, on")
    assert_array_equal(flat.states["S_c_a"].prior, [0.125, 0.375, 0.125, 0.375])
    assert flat.observations["O_bc"].parents == ("S_b", "S_c_a")
    assert flat.transitions["S_c_a"].parents == ("S_b", "S_c_a", "A_go")
    assert flat.transitions["S_b"].parents == ("S_b",)
    assert flat.action == declared().build().action


def test_two_merges_of_different_states_follow_each_other() -> None:
    flat = flatten(flatten(declared().build(), ["S_a", "S_b"], []), ["S_a_b", "S_c"], [])
    whole = flatten(declared().build(), observations=[])
    assert list(flat.states) == ["S_a_b_c"]
    assert flat == whole


# --- what is refused ------------------------------------------------------------------------------------------------


def test_product_over_the_limit_is_refused_with_its_number_before_it_is_made() -> None:
    with pytest.raises(TableError, match=r"S_pos_x_pos_y_shape_scale_orientation: .*2,312,346,009,600 entries"):
        flatten(dsprites_slice(1), observations=[])
    with pytest.raises(TableError, match=r"S_pos_x_pos_y: the transition .* 4,460,544 entries \(34 MiB\); .*1,000"):
        flatten(dsprites_slice(1), ["S_pos_x", "S_pos_y"], [], max_entries=1000)
    with pytest.raises(TableError, match=r"\(O_a_b, O_c, O_d\): the preference .* 10,000 entries .* 1,000"):
        flatten(two_preferences(), [], ["O_a", "O_b"], max_entries=1000)


def two_preferences() -> TemporalSlice:
    builder = TemporalSliceBuilder("A_0", 1).add_state("S_0", [1.0]).add_transition("S_0", [[1.0]], ["S_0"])
    for name in ("O_a", "O_b", "O_c", "O_d"):
        builder.add_observation(name, np.full((10, 1), 0.1), ["S_0"])
    for group in (["O_a", "O_c"], ["O_b", "O_d"]):
        builder.add_preference(group, np.full((10, 10), 0.01))
    return builder.build()


def test_clique_over_the_limit_is_refused() -> None:
    # No table has more than 100 entries, but the loop O_1, O_2, O_3 needs one over three states.
    builder = TemporalSliceBuilder("A_0", 1)
    for name in ("S_a", "S_b", "S_c", "S_d"):
        builder.add_state(name, np.full(5, 0.2)).add_transition(name, np.full(5, 0.2), [])
    for i, parents in enumerate([["S_a", "S_b"], ["S_b", "S_c"], ["S_c", "S_a"]]):
        builder.add_observation(f"O_{i}", np.full((2, 5, 5), 0.5), parents)
    ts = builder.build()
    assert len(flatten(ts, ["S_c", "S_d"], [], max_entries=1000).states) == 3
    with pytest.raises(CliqueTooLargeError, match=r"625 entries .* limit is 600. Merge fewer variables"):
        flatten(ts, ["S_c", "S_d"], [], max_entries=600)
    loopy = flatten(builder.build("loopy"), ["S_c", "S_d"], [], max_entries=600)  # it makes no cliques
    assert (loopy.inference, len(loopy.states)) == ("loopy", 3)


def test_preferred_and_unpreferred_observations_are_not_merged() -> None:
    with pytest.raises(PreferenceError, match=r"O_a: it has no preference, but \(O_bc\).* uniform preference"):
        flatten(declared().build())


def test_names_must_be_declared_once_and_the_product_needs_a_name_of_its_own() -> None:
    ts = declared().build()
    with pytest.raises(VariableError, match=r"S_x: this state was to be merged, but it is not declared. .* S_a, S_b"):
        flatten(ts, ["S_a", "S_x"])
    with pytest.raises(VariableError, match=r"O_x: this observation"):
        flatten(ts, [], ["O_x"])
    with pytest.raises(VariableError, match="'S_a' was given twice"):
        flatten(ts, ["S_a", "S_a"])
    with pytest.raises(VariableError, match="text 'S_a'"):
        flatten(ts, "S_a")
    builder = declared().add_state("S_a_b", [1.0]).add_transition("S_a_b", [1.0], [])
    with pytest.raises(VariableError, match=r"S_a_b: the product of S_a, S_b would be called so"):
        flatten(builder.build(), ["S_a", "S_b"], [])
