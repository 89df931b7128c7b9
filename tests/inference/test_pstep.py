"""The P-step equals the sums of its definition."""

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
from spec import Array, Factor, Spec
from strategies import ACTION, evidences, models

from btai.errors import PlanningError, TableError, VariableError
from btai.inference import i_step, p_step
from btai.model import TemporalSliceBuilder

thorough = settings(max_examples=80)
CLOSE = 1e-12


def assert_same(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    assert list(actual) == list(expected)
    for name in expected:
        assert_allclose(actual[name], expected[name], rtol=0, atol=CLOSE, err_msg=name)
        assert actual[name].dtype == np.float64


@st.composite
def specs_with_beliefs(draw: st.DrawFn, /, **options: Any) -> tuple[Spec, dict[str, Array]]:
    """A model and what the oracle believes of it after some evidence."""
    spec = draw(models(**options))
    return spec, oracle.posteriors(spec, draw(evidences(spec)))[0]


@thorough
@given(specs_with_beliefs())
def test_predictions_of_every_action_equal_the_definition(case: tuple[Spec, dict[str, Array]]) -> None:
    spec, beliefs = case
    ts = spec.build()
    for action in range(spec.n_actions):
        prediction, expected = p_step(ts, beliefs, action), oracle.predict(spec, beliefs, action)
        assert_same(prediction.states, expected.states)
        assert_same(prediction.observations, expected.observations)


@thorough
@given(st.data())
def test_two_actions_after_inference_equal_the_definition(data: st.DataObject) -> None:
    spec, beliefs = data.draw(specs_with_beliefs(max_states=4))
    ts = spec.build()
    actions = [data.draw(st.integers(0, spec.n_actions - 1)) for _ in range(2)]
    first = p_step(ts, beliefs, actions[0])
    second = p_step(ts, first.states, actions[1])
    expected = oracle.predict(spec, oracle.predict(spec, beliefs, actions[0]).states, actions[1])
    assert_same(second.states, expected.states)
    assert_same(second.observations, expected.observations)


def test_action_among_the_parents_is_found_by_its_name() -> None:
    # S_x is pushed by the wind S_w: with action 1 it stays, with action 0 it goes where the wind is.
    push = np.zeros((2, 2, 2, 2))  # [S_x, S_w, A_hold, S_x]
    push[:, :, 1, :] = np.eye(2)[:, None, :]
    push[:, :, 0, :] = np.eye(2)[:, :, None]
    ts = (
        TemporalSliceBuilder("A_hold", 2)
        .add_state("S_x", [0.5, 0.5])
        .add_state("S_w", [0.5, 0.5])
        .add_transition("S_x", push, ["S_w", "A_hold", "S_x"])
        .add_transition("S_w", [[0.9, 0.3], [0.1, 0.7]], ["S_w"])
        .add_observation("O_x", [[0.8, 0.0], [0.2, 1.0]], ["S_x"])
        .add_observation("O_differ", [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], ["S_w", "S_x"])
        .build()
    )
    beliefs = {"S_x": np.array([0.25, 0.75]), "S_w": np.array([0.6, 0.4])}
    held, pushed = p_step(ts, beliefs, 1), p_step(ts, beliefs, 0)
    assert_same(held.states, {"S_x": np.array([0.25, 0.75]), "S_w": np.array([0.66, 0.34])})
    assert_same(pushed.states, {"S_x": np.array([0.6, 0.4]), "S_w": np.array([0.66, 0.34])})
    # Observations follow from the states that were predicted, as if these were independent.
    assert_same(held.observations, {"O_x": np.array([0.2, 0.8]), "O_differ": np.array([0.42, 0.58])})
    assert_same(pushed.observations, {"O_x": np.array([0.48, 0.52]), "O_differ": np.array([0.532, 0.468])})


def test_predictions_stay_distributions_along_a_long_path() -> None:
    # Where a state follows from two others the rounding errors of their sums add up: unchecked, they would double
    # with every step, and after 200 nothing of the distribution would be left.
    rng = np.random.default_rng(0)
    builder = TemporalSliceBuilder("A_0", 1)
    for state in ("S_x", "S_y"):
        table = rng.uniform(0.1, 1.0, size=(3, 3, 3))
        builder.add_state(state, [0.2, 0.3, 0.5]).add_transition(state, table / table.sum(axis=0), ["S_x", "S_y"])
    ts = builder.build()
    beliefs = i_step(ts, {}).posteriors
    for _ in range(200):
        beliefs = p_step(ts, beliefs, 0).states
    for belief in beliefs.values():
        assert belief.sum() == pytest.approx(1, rel=1e-14)


def test_state_that_follows_from_nothing_is_predicted_by_its_table() -> None:
    ts = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0, 0.0]).add_transition("S_x", [0.25, 0.75], []).build()
    prediction = p_step(ts, {"S_x": np.array([1.0, 0.0])}, 0)
    assert_same(prediction.states, {"S_x": np.array([0.25, 0.75])})
    assert prediction.observations == {}


@thorough
@given(st.data())
def test_actions_in_another_order_give_the_predictions_in_that_order(data: st.DataObject) -> None:
    spec, beliefs = data.draw(specs_with_beliefs(max_states=4))
    order = data.draw(st.permutations(range(spec.n_actions)))
    transitions = {}
    for state, factor in spec.transitions.items():
        axis = 1 + factor.parents.index(ACTION) if ACTION in factor.parents else None
        transitions[state] = factor if axis is None else replace(factor, table=factor.table.take(order, axis=axis))
    ts = replace(spec, transitions=transitions).build()
    for position, action in enumerate(order):
        assert_same(p_step(ts, beliefs, position).states, oracle.predict(spec, beliefs, action).states)


@thorough
@given(specs_with_beliefs(max_states=4))
def test_state_that_nothing_listens_to_changes_nothing(case: tuple[Spec, dict[str, Array]]) -> None:
    spec, beliefs = case
    idle = np.array([0.125, 0.875])
    larger = replace(
        spec,
        priors={"S_idle": idle, **spec.priors},
        transitions={**spec.transitions, "S_idle": Factor(np.eye(2), ("S_idle",))},
    )
    expected = oracle.predict(spec, beliefs, 0)
    prediction = p_step(larger.build(), {"S_idle": idle, **beliefs}, 0)
    assert_same(prediction.states, {"S_idle": idle, **expected.states})
    assert_same(prediction.observations, expected.observations)


@thorough
@given(specs_with_beliefs(max_states=3))
def test_prediction_repeats_to_the_bit_and_changes_nothing_it_was_given(case: tuple[Spec, dict[str, Array]]) -> None:
    spec, beliefs = case
    before = {name: belief.copy() for name, belief in beliefs.items()}
    ts = spec.build()
    first, second = p_step(ts, beliefs, 0), p_step(ts, beliefs, 0)
    for name, belief in beliefs.items():
        assert_array_equal(belief, before[name])
        assert_array_equal(first.states[name], second.states[name])
    assert ts == spec.build()


TWO_PLACES = (
    TemporalSliceBuilder("A_move", 2)
    .add_state("S_x", [0.5, 0.5])
    .add_transition("S_x", np.full((2, 2, 2), 0.5), ["S_x", "A_move"])
    .build()
)


@pytest.mark.parametrize("action", [-1, 2, "x", 0.5, 1.0, True, None])
def test_action_that_is_not_there(action: Any) -> None:
    message = rf"^A_move: action {action!r} was given; a whole number from 0 to 1 is required\.$"
    with pytest.raises(PlanningError, match=message):
        p_step(TWO_PLACES, i_step(TWO_PLACES, {}).posteriors, action)


def test_beliefs_that_leave_out_a_state() -> None:
    with pytest.raises(VariableError, match=r"^S_x: no beliefs were given for it among S_y\.$"):
        p_step(TWO_PLACES, {"S_y": np.ones(1)}, 0)


def test_beliefs_that_are_no_dictionary() -> None:
    with pytest.raises(VariableError, match=r"^beliefs: 5 was given; a dictionary by state is required"):
        p_step(TWO_PLACES, 5, 0)  # type: ignore[arg-type]


def test_beliefs_of_the_wrong_size() -> None:
    message = r"^S_x: beliefs of shape \(3,\) were given; a vector of 2 numbers is required, one for each value\.$"
    with pytest.raises(TableError, match=message):
        p_step(TWO_PLACES, {"S_x": np.full(3, 1 / 3)}, 0)
