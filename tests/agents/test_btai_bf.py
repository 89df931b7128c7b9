"""BTAI_BF: filters by Bayes' theorem, keeps its root's visits and cost, draws its actions."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import oracle
import pytest
from hand_made import BAD, GOOD, LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from spec import Spec
from strategies import evidences, models

from btai import BTAI_3MF, BTAI_BF
from btai.envs import dsprites_flat, dsprites_slice
from btai.envs.dsprites import flat_prior
from btai.errors import PlanningError
from btai.inference import expected_free_energy, p_step
from btai.model import TemporalSliceBuilder, flatten

some = settings(max_examples=40)


def agent_of(spec: Spec, iterations: int, **options: Any) -> BTAI_BF:
    return BTAI_BF(spec.build(), iterations, **{"rng": np.random.default_rng(0)} | options)


# --- the root -------------------------------------------------------------------------------------------------------


def test_new_root_keeps_the_visits_and_the_cost_of_the_child_and_drops_its_children() -> None:
    agent = agent_of(LEVER, 9)
    agent.reset({})
    assert (agent.tree.root.visits, agent.tree.root.cost) == (1, 0.0)
    action = agent.step()
    child = agent.tree.root.children[action]
    assert child.children
    agent.update(action, {"O_0": action})
    assert len(agent.tree) == 1
    assert (agent.tree.root.visits, agent.tree.root.cost) == (child.visits, child.cost)
    agent.plan(1)
    assert agent.tree.root.visits == child.visits + 1
    assert agent.tree.root.cost == pytest.approx(child.cost + GOOD, rel=1e-15)


def test_root_after_an_action_that_was_not_planned_for_is_fresh() -> None:
    agent = agent_of(LEVER, 9)
    agent.reset({})
    agent.update(0, {})
    assert (agent.tree.root.visits, agent.tree.root.cost) == (1, 0.0)


def test_trial_can_be_taken_up_in_the_middle_with_the_root_it_had() -> None:
    agent, other = agent_of(LEVER, 9), agent_of(LEVER, 9)
    agent.reset({})
    agent.update(agent.step(), {"O_0": 1})
    other.reset({"O_0": 1}, agent.prior, (agent.tree.root.visits, agent.tree.root.cost))
    agent.plan(9)
    other.plan(9)
    assert_array_equal(other.tree.visits, agent.tree.visits)
    assert_array_equal(other.tree.cost, agent.tree.cost)
    assert agent.tree.root.visits > 10


@pytest.mark.parametrize(
    ("root", "words"),
    [
        ((-1, 0.0), "root: visits: -1"),
        ((1, math.nan), "root: a cost of nan"),
        (3, "root: 3 was given; its visits and its cost are required"),
        ((1, 0.0, 0), r"root: \(1, 0.0, 0\) was given; its visits and its cost"),
    ],
)
def test_root_that_no_search_can_begin_with_is_refused(root: Any, words: str) -> None:
    with pytest.raises(PlanningError, match=words):
        agent_of(LEVER, 9).reset({}, None, root)


def test_root_may_be_fresh_in_every_cycle() -> None:
    agent = agent_of(LEVER, 9, root="fresh")
    agent.reset({})
    agent.update(agent.step(), {})
    assert (agent.tree.root.visits, agent.tree.root.cost) == (1, 0.0)


def test_new_trial_begins_with_a_fresh_root() -> None:
    agent = agent_of(LEVER, 9)
    agent.reset({})
    agent.update(agent.step(), {})
    agent.reset({})
    assert (agent.tree.root.visits, agent.tree.root.cost) == (1, 0.0)


@some
@given(models(max_states=1, min_observations=1, max_observations=1, preferences=True), st.data())
def test_searches_of_three_cycles_are_those_of_the_oracle(spec: Spec, data: st.DataObject) -> None:
    engine = data.draw(st.sampled_from(["compiled", "numpy"]), label="engine")
    agent = agent_of(spec, 8, engine=engine)
    evidence = data.draw(evidences(spec))
    agent.reset(evidence)
    beliefs, _ = oracle.posteriors(spec, evidence)
    visits, cost = 1, 0.0
    for _ in range(3):
        action = agent.step()
        expected = oracle.Search(spec, beliefs, 2.4)
        expected.root.visits, expected.root.cost = visits, cost
        for node in agent.tree.expanded:  # whichever the search expands: none may be worse than another
            child = expected.nodes[node]
            while child.parent is not None:
                rivals = child.parent.children
                assert max(expected.uct(rival) - expected.uct(child) for rival in rivals) < 1e-9
                child = child.parent
            expected.expand(expected.nodes[node])
        assert_array_equal(agent.tree.visits, expected.column("visits"))
        assert_allclose(agent.tree.cost, expected.column("cost"), rtol=0, atol=1e-10)
        visits, cost = expected.root.children[action].visits, expected.root.children[action].cost
        prior = oracle.predict(spec, beliefs, action).states
        evidence = data.draw(evidences(spec, prior=prior))
        agent.update(action, evidence)
        beliefs, _ = oracle.posteriors(spec, evidence, prior)
        for state, belief in beliefs.items():
            assert_allclose(agent.beliefs[state], belief, rtol=0, atol=1e-10)


def test_interrupted_search_goes_back_to_its_last_whole_iteration_from_a_kept_root() -> None:
    agent = agent_of(LEVER, 5, engine="numpy")
    agent.reset({})
    agent.update(agent.step(), {})
    agent.plan(3)
    before = agent.tree
    backend: Any = agent._backend
    score, calls = backend.score, iter(range(3))

    def interrupted(*arguments: Any) -> None:
        score(*arguments)
        if next(calls) == 2:
            raise KeyboardInterrupt

    backend.score = interrupted
    with pytest.raises(KeyboardInterrupt):
        agent.plan(9)
    del backend.score
    uninterrupted = agent_of(LEVER, 5)
    uninterrupted.reset({})
    uninterrupted.update(uninterrupted.step(), {})
    uninterrupted.plan(5)
    assert before.root.visits < agent.tree.root.visits
    assert_array_equal(agent.tree.visits, uninterrupted.tree.visits)
    assert_array_equal(agent.tree.cost, uninterrupted.tree.cost)


# --- the choice -----------------------------------------------------------------------------------------------------


def test_action_is_drawn_by_the_mean_costs_with_precision_a_hundred() -> None:
    agent = agent_of(LEVER, 1, precision=1 / (BAD - GOOD))  # odds of e
    counts: Counter[int] = Counter()
    draws = 1500
    for _ in range(draws):
        agent.reset({})
        counts[agent.step()] += 1
    p = math.e / (1 + math.e)
    assert abs(counts[1] - draws * p) < 4 * math.sqrt(draws * p * (1 - p))
    assert (agent_of(LEVER, 1).options.action_selection, agent_of(LEVER, 1).options.precision) == ("softmax", 100)


# --- dSprites -------------------------------------------------------------------------------------------------------


def test_first_beliefs_and_predictions_are_those_known_of_the_published_agent() -> None:
    ts = dsprites_flat(8, precision=2)
    agent = BTAI_BF(ts, 50, rng=np.random.default_rng(0))
    agent.reset({"O_sprite": 0}, {"S_sprite": flat_prior(8, 0)})
    beliefs = agent.beliefs
    assert beliefs["S_sprite"][0] == pytest.approx(0.9999809777, abs=5e-11)
    largest, costs = [], []
    for _ in range(4):
        prediction = p_step(ts, beliefs, 1)  # DOWN
        beliefs = prediction.states
        largest.append(beliefs["S_sprite"].max())
        costs.append(expected_free_energy(ts, prediction).total)
    assert_allclose(largest, [0.900, 0.810, 0.729, 0.665], rtol=0, atol=5e-4)
    assert costs[3] == pytest.approx(3.617, abs=5e-4)


# --- what is refused ------------------------------------------------------------------------------------------------


def test_slice_of_several_states_is_refused_by_an_error_that_names_flatten() -> None:
    with pytest.raises(PlanningError, match=r"5 states \(S_pos_x, .*\); .*btai\.model\.flatten\(ts\), or use BTAI_3MF"):
        BTAI_BF(dsprites_slice(8), rng=np.random.default_rng(0))


def test_slice_of_several_observations_or_none_is_refused_too() -> None:
    builder = TemporalSliceBuilder("A_0", 2).add_state("S_0", [0.5, 0.5]).add_transition("S_0", np.eye(2), ["S_0"])
    with pytest.raises(PlanningError, match=r"0 observations \(none\)"):
        BTAI_BF(builder.build())
    for name in ("O_a", "O_b"):
        builder.add_observation(name, np.eye(2), ["S_0"])
    with pytest.raises(PlanningError, match=r"2 observations \(O_a, O_b\)"):
        BTAI_BF(builder.build())
    assert BTAI_BF(flatten(builder.build()), rng=np.random.default_rng(0)).options.root == "kept"


def test_source_of_the_draws_must_be_given() -> None:
    with pytest.raises(PlanningError, match="rng: none was given"):
        BTAI_BF(LEVER.build())


def test_root_must_be_one_of_those_there_are() -> None:
    with pytest.raises(PlanningError, match="root: 'old' was given; it must be one of 'fresh', 'kept', 'unvisited'"):
        BTAI_3MF(LEVER.build(), root="old")
