"""The action-perception cycle: what was believed and done becomes the prior of what is seen next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import oracle
import pytest
from golden import N_AUTHORS_MODELS, authors_figures, own_figures, own_names
from hand_made import LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from spec import Spec
from strategies import evidences, models

from btai import BTAI_3MF
from btai.errors import BtaiError, PlanningError

some = settings(max_examples=40)


def assert_same(actual: Mapping[str, Any], expected: Mapping[str, Any], tolerance: float = 1e-12) -> None:
    assert actual.keys() == expected.keys()
    for name in expected:
        assert_allclose(actual[name], expected[name], rtol=0, atol=tolerance, err_msg=name)


@some
@given(models(max_states=3, max_observations=4, max_size=3), st.data())
def test_prior_is_the_predictive_posterior_of_the_executed_action(spec: Spec, data: st.DataObject) -> None:
    engine = data.draw(st.sampled_from(["compiled", "numpy"]), label="engine")
    agent = BTAI_3MF(spec.build(), max_planning_steps=3, engine=engine)
    evidence = data.draw(evidences(spec))
    agent.reset(evidence)
    beliefs, _ = oracle.posteriors(spec, evidence)
    for _ in range(3):
        planned = agent.step() if data.draw(st.booleans(), label="plan") else 0
        executed = data.draw(st.sampled_from([planned, *range(spec.n_actions)]), label="executed")
        prior = oracle.predict(spec, beliefs, executed).states
        evidence = data.draw(evidences(spec, prior=prior))
        agent.update(executed, evidence)
        beliefs, log_evidence = oracle.posteriors(spec, evidence, prior)
        assert_same(agent.prior, prior, 1e-10)
        assert_same(agent.beliefs, beliefs, 1e-10)
        assert agent.inference.log_evidence == pytest.approx(log_evidence, abs=1e-9)


@pytest.mark.parametrize("index", range(N_AUTHORS_MODELS))
def test_second_cycle_has_the_empirical_prior_of_the_paper(index: int) -> None:
    authors = authors_figures(index)
    agent = BTAI_3MF(authors.spec.build(), authors.meta["n_planning"], authors.meta["exp_const"], ties="first")
    agent.reset(authors.under("obs1/"))
    assert_same(agent.beliefs, authors.under("exact/istep1/"), 1e-10)
    action = agent.step()
    assert action == authors.arrays["plan1/selected_action"]
    agent.update(action, authors.under("obs2/"))
    assert_same(agent.beliefs, authors.under("exact/istep2_empirical_prior/"), 1e-10)


def test_prior_after_another_action_than_the_planned_one_is_that_of_the_executed_one() -> None:
    agent = BTAI_3MF(LEVER.build(), max_planning_steps=10)
    agent.reset({})
    assert agent.step() == 1
    agent.update(0, {})
    assert_same(agent.prior, {"S_0": [1, 0]})


def test_prior_is_predicted_with_no_planning_done() -> None:
    agent = BTAI_3MF(LEVER.build())
    agent.reset({})
    agent.update(1, {})
    assert_same(agent.prior, {"S_0": [0, 1]})
    agent.update(0, {"O_0": 0})
    assert_same(agent.beliefs, {"S_0": [1, 0]})


def test_empirical_prior_carries_over_more_than_one_cycle_without_observations() -> None:
    spec = own_figures("tree").spec
    agent = BTAI_3MF(spec.build())
    agent.reset({})
    beliefs: Mapping[str, Any] = spec.priors
    for action in (0, 1, 1, 0):
        agent.update(action, {})
        beliefs = oracle.predict(spec, beliefs, action).states
        assert_same(agent.beliefs, beliefs)


@pytest.mark.parametrize("name", own_names())
def test_reset_restores_the_declared_prior(name: str) -> None:
    figures = own_figures(name)
    agent = BTAI_3MF(figures.spec.build(), max_planning_steps=3)
    agent.reset(figures.evidence)
    agent.update(agent.step(), figures.next_evidence)
    agent.reset(figures.evidence)
    assert_same(agent.prior, figures.spec.priors)
    assert_same(agent.beliefs, figures.expected["posteriors"], 1e-10)
    assert len(agent.tree) == 1


def test_update_begins_a_new_tree() -> None:
    agent = BTAI_3MF(LEVER.build(), max_planning_steps=10)
    agent.reset({})
    agent.update(agent.step(), {"O_0": 1})
    tree = agent.tree
    assert (len(tree), tree.root.visits, tree.root.cost) == (1, 1, 0.0)
    assert_same(tree.root.beliefs, {"S_0": [0, 1]})


def test_action_may_be_a_numpy_number_and_the_chosen_one_is_a_python_number() -> None:
    agent = BTAI_3MF(LEVER.build(), max_planning_steps=np.int64(3))  # type: ignore[arg-type]
    agent.reset({"O_0": np.int64(0)})
    agent.update(np.int32(1), {"O_0": np.array([0, 1])})  # type: ignore[arg-type]
    assert type(agent.step()) is int
    assert type(agent.max_planning_steps) is int


def test_evidence_may_be_an_index_a_vector_or_missing() -> None:
    spec = own_figures("tree").spec
    (name, factor), *_ = spec.likelihoods.items()
    index = BTAI_3MF(spec.build())
    index.reset({name: 1})
    one_hot = BTAI_3MF(spec.build())
    one_hot.reset({name: np.eye(len(factor.table))[1]})
    expected, _ = oracle.posteriors(spec, {name: 1})
    assert_same(index.beliefs, expected)
    assert_same(one_hot.beliefs, expected)
    soft = BTAI_3MF(spec.build())
    soft.reset({name: np.full(len(factor.table), 0.3)})  # says nothing
    assert_same(soft.beliefs, spec.priors)


# --- what the agent says of its inference ---------------------------------------------------------------------


def test_inference_of_a_tree_is_exact_and_says_why() -> None:
    figures = own_figures("tree")
    agent = BTAI_3MF(figures.spec.build())
    agent.reset(figures.evidence)
    assert agent.inference.exact
    assert "no loop" in agent.inference.reason
    assert agent.inference.log_evidence == pytest.approx(figures.expected["log_evidence"], abs=1e-10)
    assert_same(agent.inference.posteriors, agent.beliefs)


def test_inference_among_loops_is_exact_by_junction_tree() -> None:
    figures = own_figures("loop")
    agent = BTAI_3MF(figures.spec.build())
    agent.reset(figures.evidence)
    assert agent.inference.exact
    assert "junction tree" in agent.inference.reason
    assert_same(agent.beliefs, figures.expected["posteriors"], 1e-10)


@pytest.mark.parametrize("asked_for", ["by the slice", "by the agent"])
def test_loopy_inference_on_a_loopy_model_says_that_it_is_not_exact(asked_for: str) -> None:
    figures = own_figures("loop")
    if asked_for == "by the slice":
        agent = BTAI_3MF(figures.spec.build(inference="loopy"))
    else:
        agent = BTAI_3MF(figures.spec.build(), inference="loopy")
    agent.reset(figures.evidence)
    result = agent.inference
    assert not result.exact
    assert "loopy propagation was asked for" in result.reason
    assert result.iterations > 1
    assert 0 <= result.residual < 1e-9
    assert_same(result.posteriors, agent.beliefs)


def test_agent_may_ask_for_exact_inference_of_a_slice_built_for_the_loopy_one() -> None:
    figures = own_figures("loop")
    agent = BTAI_3MF(figures.spec.build(inference="loopy"), inference="exact")
    agent.reset(figures.evidence)
    assert agent.inference.exact
    assert_same(agent.beliefs, figures.expected["posteriors"], 1e-10)


# --- before anything was observed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["step", "choose", "explain"])
def test_nothing_can_be_asked_for_before_reset(method: str) -> None:
    with pytest.raises(PlanningError, match=r"the agent has observed nothing yet; call reset\(obs\) first"):
        getattr(BTAI_3MF(LEVER.build()), method)()


@pytest.mark.parametrize("name", ["beliefs", "prior", "tree", "inference"])
def test_nothing_can_be_looked_at_before_reset(name: str) -> None:
    with pytest.raises(PlanningError, match=rf"{name}: the agent has observed nothing yet"):
        getattr(BTAI_3MF(LEVER.build()), name)


def test_plan_and_update_need_reset_first() -> None:
    agent = BTAI_3MF(LEVER.build())
    with pytest.raises(PlanningError, match="plan: the agent has observed nothing yet"):
        agent.plan(3)
    with pytest.raises(PlanningError, match="update: the agent has observed nothing yet"):
        agent.update(0, {})


def test_agent_can_be_read() -> None:
    ts = own_figures("absorbing").spec.build()
    assert repr(BTAI_3MF(ts)) == "BTAI_3MF(S_x, S_y; 150 planning iterations, exp_const=2.4)"
    assert repr(BTAI_3MF(ts, time_limit=0.5)) == "BTAI_3MF(S_x, S_y; 0.5 s of planning, exp_const=2.4)"
    assert BTAI_3MF(ts, exp_const=1.5).exp_const == 1.5


# --- what a trial begins with, and what was seen --------------------------------------------------------------------


@some
@given(models(max_states=3, max_observations=4, max_size=3), st.data())
def test_trial_may_begin_from_a_given_prior(spec: Spec, data: st.DataObject) -> None:
    engine = data.draw(st.sampled_from(["compiled", "numpy"]), label="engine")
    agent = BTAI_3MF(spec.build(), max_planning_steps=3, engine=engine)
    prior = {name: np.full(len(p), 1 / len(p)) for name, p in spec.priors.items()}
    evidence = data.draw(evidences(spec, prior=prior))
    agent.reset(evidence, prior)
    assert_same(agent.prior, prior, 0)
    assert_same(agent.beliefs, oracle.posteriors(spec, evidence, prior)[0], 1e-10)
    agent.reset({})
    assert_same(agent.prior, spec.priors)


def test_given_prior_must_be_one_for_every_state() -> None:
    agent = BTAI_3MF(LEVER.build())
    with pytest.raises(BtaiError, match="S_0: no prior was given"):
        agent.reset({}, {})
    with pytest.raises(BtaiError, match="S_0: a prior of 3 numbers"):
        agent.reset({}, {"S_0": np.full(3, 1 / 3)})
    with pytest.raises(PlanningError, match="reset"):  # none of them began a trial
        agent.step()


def test_evidence_tells_what_was_observed_last() -> None:
    agent = BTAI_3MF(LEVER.build())
    with pytest.raises(PlanningError, match="evidence: the agent has observed nothing yet"):
        _ = agent.evidence
    agent.reset({"O_0": 1})
    assert_same(agent.evidence, {"O_0": [0.0, 1.0]})
    assert not agent.evidence["O_0"].flags.writeable
    agent.update(0, {})
    assert agent.evidence == {}
