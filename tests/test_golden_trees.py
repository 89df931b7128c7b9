"""The package computes the stored figures of our own small models (`golden/*.json`), from posterior to action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from golden import OwnFigures, computed, own_figures, own_names
from numpy.testing import assert_allclose, assert_array_equal

from btai import BTAI_3MF
from btai.inference import expected_free_energy, i_step, p_step

CLOSE = 1e-10  # the figures are stored with 12 decimals


@pytest.fixture(params=own_names())
def figures(request: pytest.FixtureRequest) -> OwnFigures:
    return own_figures(request.param)


def assert_same(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert actual.keys() == expected.keys()
    for name in expected:
        assert_allclose(actual[name], expected[name], rtol=0, atol=CLOSE, err_msg=name)


def informed(figures: OwnFigures, **options: Any) -> BTAI_3MF:
    """An agent that has seen the evidence and not planned."""
    ts = figures.spec.build()
    agent = BTAI_3MF(ts, max_planning_steps=figures.iterations, exp_const=figures.exp_const, **options)
    agent.reset(figures.evidence)
    return agent


def planned(figures: OwnFigures, **options: Any) -> BTAI_3MF:
    """An agent that has seen the evidence and planned all its iterations."""
    agent = informed(figures, **options)
    agent.plan(figures.iterations)
    return agent


def numbers(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def test_there_are_models_for_every_case() -> None:
    cases = {"tree", "loop", "zeros", "ties", "absorbing", "multi_parent", "soft_evidence", "no_preferences"}
    assert cases <= set(own_names())


def test_stored_figures_are_what_the_oracle_computes(figures: OwnFigures) -> None:
    now, stored = computed(figures), figures.expected
    assert_same(now["posteriors"], stored["posteriors"])
    assert_same(now["next_posteriors"], stored["next_posteriors"])
    assert now["log_evidence"] == pytest.approx(stored["log_evidence"], rel=0, abs=CLOSE)
    for action, entry in enumerate(stored["actions"]):
        assert_same(now["actions"][action]["states"], entry["states"])
        assert_same(now["actions"][action]["observations"], entry["observations"])
        assert_same(now["actions"][action]["ambiguity"], entry["ambiguity"])
        assert_allclose(now["actions"][action]["risk"], entry["risk"], rtol=0, atol=CLOSE)
        assert now["actions"][action]["efe"] == pytest.approx(entry["efe"], rel=0, abs=CLOSE)
    for column, values in stored["tree"].items():
        assert_allclose(now["tree"][column], numbers(values), rtol=0, atol=CLOSE, err_msg=column)
    assert now["chosen_action"] == stored["chosen_action"]
    assert now["chosen_action_ties_first"] == stored["chosen_action_ties_first"]


def test_inference_gives_the_stored_posteriors(figures: OwnFigures) -> None:
    result = i_step(figures.spec.build(), figures.evidence)
    assert result.exact
    assert_same(result.posteriors, figures.expected["posteriors"])
    assert result.log_evidence == pytest.approx(figures.expected["log_evidence"], rel=0, abs=CLOSE)


def test_predictions_and_expected_free_energies_are_the_stored_ones(figures: OwnFigures) -> None:
    ts = figures.spec.build()
    beliefs = i_step(ts, figures.evidence).posteriors
    for action, expected in enumerate(figures.expected["actions"]):
        prediction = p_step(ts, beliefs, action)
        assert_same(prediction.states, expected["states"])
        assert_same(prediction.observations, expected["observations"])
        energy = expected_free_energy(ts, prediction)
        risks = [energy.risk[group] for group in figures.spec.preferences]
        assert_allclose(risks, expected["risk"], rtol=0, atol=CLOSE)
        assert_same(energy.ambiguity, expected["ambiguity"])
        assert energy.total == pytest.approx(expected["efe"], rel=0, abs=CLOSE)


def test_search_grows_the_stored_tree(figures: OwnFigures) -> None:
    tree, expected = planned(figures).tree, figures.expected["tree"]
    assert_array_equal(tree.expanded, expected["expanded"])
    assert_array_equal(tree.parent, expected["parent"])
    assert_array_equal(tree.action, expected["action"])
    assert_array_equal(tree.visits, expected["visits"])
    assert_allclose(tree.cost, expected["cost"], rtol=0, atol=CLOSE)
    assert_allclose(tree.efe, numbers(expected["efe"]), rtol=0, atol=CLOSE)


def test_planning_in_two_parts_grows_the_same_tree(figures: OwnFigures) -> None:
    agent = informed(figures)
    agent.plan(figures.iterations // 2)
    agent.plan(figures.iterations - figures.iterations // 2)
    assert_array_equal(agent.tree.expanded, figures.expected["tree"]["expanded"])
    assert_array_equal(agent.tree.visits, figures.expected["tree"]["visits"])


@pytest.mark.parametrize("ties", ["cost", "first"])
def test_choice_is_the_stored_action(figures: OwnFigures, ties: str) -> None:
    stored = {"cost": "chosen_action", "first": "chosen_action_ties_first"}[ties]
    assert planned(figures, ties=ties).choose() == figures.expected[stored]


def test_step_plans_the_whole_budget_and_chooses(figures: OwnFigures) -> None:
    agent = informed(figures)
    assert agent.step() == figures.expected["chosen_action"]
    assert_array_equal(agent.tree.expanded, figures.expected["tree"]["expanded"])


def test_executed_action_gives_the_prior_of_the_next_cycle(figures: OwnFigures) -> None:
    agent = planned(figures)
    agent.update(figures.expected["chosen_action"], figures.next_evidence)
    assert_same(agent.beliefs, figures.expected["next_posteriors"])
