"""The expected free energy and each of its parts equal the sums of their definition, and add up."""

from __future__ import annotations

import math
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Factor, Spec
from strategies import evidences, models

from btai.inference import Beliefs, ExpectedFreeEnergy, Prediction, expected_free_energy, p_step

thorough = settings(max_examples=80)
CLOSE = 1e-12


@st.composite
def predicted(
    draw: st.DrawFn, *, max_states: int = 5, preferences: bool | None = None
) -> tuple[Spec, oracle.Prediction]:
    """A model and what the oracle predicts of it under some action after some evidence."""
    spec = draw(models(max_states=max_states, preferences=preferences))
    beliefs, _ = oracle.posteriors(spec, draw(evidences(spec)))
    return spec, oracle.predict(spec, beliefs, draw(st.integers(0, spec.n_actions - 1)))


def energy_of(spec: Spec, prediction: oracle.Prediction) -> ExpectedFreeEnergy:
    ts = spec.build()
    return expected_free_energy(ts, Prediction(Beliefs(ts, prediction.states), Beliefs(ts, prediction.observations)))


def approx(value: float) -> object:
    return pytest.approx(value, rel=CLOSE, abs=CLOSE)


def assert_equal(energy: ExpectedFreeEnergy, expected: oracle.Efe) -> None:
    assert list(energy.risk) == list(expected.risks)
    assert list(energy.ambiguity) == list(expected.ambiguities)
    assert energy.risk == {group: approx(risk) for group, risk in expected.risks.items()}
    assert energy.ambiguity == {name: approx(a) for name, a in expected.ambiguities.items()}
    assert energy.total == approx(expected.total)


@thorough
@given(predicted())
def test_every_part_equals_the_definition(case: tuple[Spec, oracle.Prediction]) -> None:
    spec, prediction = case
    assert_equal(energy_of(spec, prediction), oracle.efe(spec, prediction.states))


@thorough
@given(st.data())
def test_parts_of_the_packages_own_predictions_equal_the_definition(data: st.DataObject) -> None:
    spec = data.draw(models(max_states=4))
    beliefs, _ = oracle.posteriors(spec, data.draw(evidences(spec)))
    ts = spec.build()
    for action in range(spec.n_actions):
        energy = expected_free_energy(ts, p_step(ts, beliefs, action))
        assert_equal(energy, oracle.efe(spec, oracle.predict(spec, beliefs, action).states))


# --- adding up ----------------------------------------------------------------------------------------


@thorough
@given(predicted())
def test_total_is_the_sum_of_the_parts_to_the_bit(case: tuple[Spec, oracle.Prediction]) -> None:
    energy = energy_of(*case)
    total = 0.0
    for part in [*energy.risk.values(), *energy.ambiguity.values()]:
        total += part  # from left to right, without the compensation that newer Pythons' `sum` has
    assert energy.total == total


@thorough
@given(predicted(preferences=True))
def test_cells_of_a_risk_are_its_terms(case: tuple[Spec, oracle.Prediction]) -> None:
    spec, prediction = case
    energy = energy_of(spec, prediction)
    for group, preferred in spec.preferences.items():
        cells = energy.risk_cells(group)
        assert cells.shape == preferred.shape
        for values, q in oracle.configurations(prediction.observations, group):
            term = q * (math.log(q) - math.log(preferred[values])) if q > 0 else 0.0
            assert cells[values] == approx(term)
        assert math.fsum(cells.flat) == approx(energy.risk[group])


@thorough
@given(predicted())
def test_cells_of_an_ambiguity_are_weight_times_entropy(case: tuple[Spec, oracle.Prediction]) -> None:
    spec, prediction = case
    energy = energy_of(spec, prediction)
    for name, factor in spec.likelihoods.items():
        cells, weights, entropies = energy.ambiguity_cells(name), energy.weights(name), energy.entropies(name)
        assert cells.shape == weights.shape == entropies.shape == factor.table.shape[1:]
        for values, weight in oracle.configurations(prediction.states, factor.parents):
            entropy = oracle.entropy(factor.column(values))
            assert (weights[values], entropies[values]) == (approx(weight), approx(entropy))
            assert cells[values] == approx(weight * entropy)
        assert math.fsum(cells.flat) == approx(energy.ambiguity[name])


# --- by hand ------------------------------------------------------------------------------------------

# Two switches and a lamp that is on exactly when they differ; the first switch is also seen dimly.
SWITCHES = Spec(
    action="A_0",
    n_actions=1,
    priors={"S_a": np.array([0.5, 0.5]), "S_b": np.array([0.5, 0.5])},
    likelihoods={
        "O_lamp": Factor(np.array([[[1.0, 0], [0, 1]], [[0, 1], [1, 0]]]), ("S_b", "S_a")),
        "O_dim": Factor(np.array([[0.8, 0.3], [0.2, 0.7]]), ("S_a",)),
    },
    transitions={"S_a": Factor(np.eye(2), ("S_a",)), "S_b": Factor(np.eye(2), ("S_b",))},
    preferences={("O_dim", "O_lamp"): np.array([[0.1, 0.2], [0.3, 0.4]])},
)
ON = oracle.Prediction(
    states={"S_a": np.array([0.0, 1.0]), "S_b": np.array([0.5, 0.5])},
    observations={"O_lamp": np.array([0.5, 0.5]), "O_dim": np.array([0.3, 0.7])},
)


def test_expected_free_energy_by_hand() -> None:
    energy = energy_of(SWITCHES, ON)
    cells = [
        [0.15 * math.log(0.15 / 0.1), 0.15 * math.log(0.15 / 0.2)],
        [0.35 * math.log(0.35 / 0.3), 0.35 * math.log(0.35 / 0.4)],
    ]
    entropy = -0.3 * math.log(0.3) - 0.7 * math.log(0.7)
    assert_allclose(energy.risk_cells(("O_dim", "O_lamp")), cells, rtol=1e-13)
    assert energy.risk == {("O_dim", "O_lamp"): approx(sum(map(sum, cells)))}
    assert energy.ambiguity == {"O_lamp": 0.0, "O_dim": approx(entropy)}
    assert energy.total == approx(sum(map(sum, cells)) + entropy)
    assert_array_equal(energy.weights("O_lamp"), [[0.0, 0.5], [0.0, 0.5]])  # axes S_b, S_a
    assert_array_equal(energy.entropies("O_lamp"), np.zeros((2, 2)))
    assert_allclose(energy.ambiguity_cells("O_dim"), [0.0, entropy], rtol=1e-14)


def test_certain_outcome_costs_minus_the_logarithm_of_its_preference() -> None:
    certain = oracle.Prediction(ON.states, {"O_lamp": np.array([0.0, 1.0]), "O_dim": np.array([1.0, 0.0])})
    energy = energy_of(SWITCHES, certain)
    assert energy.risk == {("O_dim", "O_lamp"): approx(-math.log(0.2))}
    assert_allclose(energy.risk_cells(("O_dim", "O_lamp")), [[0.0, -math.log(0.2)], [0.0, 0.0]], rtol=1e-15)


# --- identities ---------------------------------------------------------------------------------------


@thorough
@given(predicted(preferences=False))
def test_without_preferences_there_is_no_risk_at_all(case: tuple[Spec, oracle.Prediction]) -> None:
    energy = energy_of(*case)
    assert energy.risk == {}
    total = 0.0
    for part in energy.ambiguity.values():
        total += part
    assert energy.total == total


@thorough
@given(predicted(preferences=True))
def test_risk_is_never_negative_and_nothing_where_the_preference_is_foretold(
    case: tuple[Spec, oracle.Prediction],
) -> None:
    spec, prediction = case
    assert all(risk > -CLOSE for risk in energy_of(spec, prediction).risk.values())
    positive = {name: np.full(spec.sizes[name], 1 / spec.sizes[name]) for name in spec.likelihoods}
    uniform = {group: np.full_like(table, 1 / table.size) for group, table in spec.preferences.items()}
    energy = energy_of(replace(spec, preferences=uniform), oracle.Prediction(prediction.states, positive))
    assert all(abs(risk) < CLOSE for risk in energy.risk.values())


@pytest.mark.parametrize("n", [1, 2, 5])
def test_what_is_seen_without_noise_has_no_ambiguity(n: int) -> None:
    rng = np.random.default_rng(n)
    spec = replace(
        SWITCHES,
        priors={"S_a": np.full(n, 1 / n), "S_b": np.array([0.5, 0.5])},
        likelihoods={"O_a": Factor(np.eye(n), ("S_a",)), "O_b": Factor(np.eye(2)[[1, 0]], ("S_b",))},
        transitions={"S_a": Factor(np.eye(n), ("S_a",)), "S_b": Factor(np.eye(2), ("S_b",))},
        preferences={},
    )
    beliefs = rng.dirichlet(np.ones(n))
    seen = oracle.Prediction({"S_a": beliefs, "S_b": np.array([0.3, 0.7])}, {})
    energy = energy_of(spec, seen)
    assert energy.ambiguity == {"O_a": 0.0, "O_b": 0.0}
    assert all(math.copysign(1, a) == 1 for a in energy.ambiguity.values())  # +0.0, as it will be shown
    assert energy.total == 0.0
    assert_array_equal(energy.entropies("O_a"), np.zeros(n))


@thorough
@given(st.data())
def test_values_of_an_observation_in_another_order_change_no_part(data: st.DataObject) -> None:
    spec, prediction = data.draw(predicted(max_states=4, preferences=True))
    name = data.draw(st.sampled_from(list(spec.likelihoods)))
    order = data.draw(st.permutations(range(spec.sizes[name])))
    factor = spec.likelihoods[name]
    preferences: dict[tuple[str, ...], Array] = {
        group: table.take(order, axis=group.index(name)) if name in group else table
        for group, table in spec.preferences.items()
    }
    permuted = replace(
        spec,
        likelihoods={**spec.likelihoods, name: replace(factor, table=factor.table[order])},
        preferences=preferences,
    )
    observations = {**prediction.observations, name: prediction.observations[name][order]}
    energy = energy_of(permuted, oracle.Prediction(prediction.states, observations))
    assert_equal(energy, oracle.efe(spec, prediction.states))


@thorough
@given(st.data())
def test_groups_and_their_axes_in_another_order_change_no_part(data: st.DataObject) -> None:
    spec, prediction = data.draw(predicted(max_states=4, preferences=True))
    expected = oracle.efe(spec, prediction.states)
    preferences, risks = {}, {}
    for group in data.draw(st.permutations(list(spec.preferences))):
        order = data.draw(st.permutations(range(len(group))))
        turned = tuple(group[i] for i in order)
        preferences[turned] = spec.preferences[group].transpose(order)
        risks[turned] = expected.risks[group]
    energy = energy_of(replace(spec, preferences=preferences), prediction)
    assert_equal(energy, oracle.Efe(risks, expected.ambiguities))


# --- manners ------------------------------------------------------------------------------------------


def test_nothing_in_the_prediction_is_changed() -> None:
    before = {name: table.copy() for name, table in (ON.states | ON.observations).items()}
    assert energy_of(SWITCHES, ON).total == energy_of(SWITCHES, ON).total
    for name, table in before.items():
        assert_array_equal((ON.states | ON.observations)[name], table)


def test_group_or_observation_that_is_not_there() -> None:
    energy = energy_of(SWITCHES, ON)
    with pytest.raises(KeyError, match="O_lamp"):
        energy.risk_cells(("O_lamp",))
    with pytest.raises(KeyError, match="O_other"):
        energy.ambiguity_cells("O_other")


def test_energies_are_compared_by_identity() -> None:
    one, other = energy_of(SWITCHES, ON), energy_of(SWITCHES, ON)
    assert one != other
    assert len({one, other, one}) == 2
    assert one.prediction != other.prediction
