"""The options of an agent: what each does to the choice, and which values are refused."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from golden import own_figures
from hand_made import BAD, GOOD, LEVER

from btai import BTAI_3MF, BTAI_BF, BTAI_VMP, BatchAgent, TemporalSliceBuilder
from btai.errors import BtaiError, PlanningError

# In the golden model "ties" action 0 is the worst and all three actions end with the same number of visits.
TIES = own_figures("ties")


def planned(**options: Any) -> BTAI_3MF:
    agent = BTAI_3MF(TIES.spec.build(), TIES.iterations, TIES.exp_const, **options)
    agent.reset(TIES.evidence)
    agent.plan(TIES.iterations)
    assert [child.visits for child in agent.tree.root.children] == [2, 2, 2]
    return agent


def test_ties_of_visits_go_to_the_lower_mean_cost_then_the_lower_index() -> None:
    assert planned().choose() == 1


def test_ties_first_goes_to_the_lower_index_alone() -> None:
    assert planned(ties="first").choose() == 0


def test_lowest_cost_may_choose_an_action_that_was_visited_less() -> None:
    agent = BTAI_3MF(LEVER.build(), exp_const=0, action_selection="lowest_cost")
    agent.reset({})
    agent.plan(1)
    assert agent.choose() == 1
    assert planned(action_selection="lowest_cost").choose() == 1


def test_softmax_draws_by_the_mean_costs() -> None:
    agent = BTAI_3MF(LEVER.build(), 1, action_selection="softmax", precision=0.7, rng=np.random.default_rng(5))
    counts: Counter[int] = Counter()
    draws = 1500
    for _ in range(draws):
        agent.reset({})
        counts[agent.step()] += 1
    good, bad = math.exp(-0.7 * GOOD), math.exp(-0.7 * BAD)
    p = good / (good + bad)
    assert abs(counts[1] - draws * p) < 4 * math.sqrt(draws * p * (1 - p))


def softmax_agent(seed: int) -> BTAI_3MF:
    rng = np.random.default_rng(seed)
    agent = BTAI_3MF(LEVER.build(), 4, action_selection="softmax", precision=0.1, rng=rng)
    agent.reset({})
    return agent


def actions_of(agent: BTAI_3MF, explaining: bool = False) -> list[int]:
    actions = []
    for _ in range(12):
        actions.append(agent.step())
        if explaining:
            agent.explain()
            assert agent.choose() == agent.step() == agent.explain().chosen == actions[-1]
        agent.update(actions[-1], {})
    return actions


def test_softmax_is_the_same_for_the_same_seed() -> None:
    assert actions_of(softmax_agent(1)) == actions_of(softmax_agent(1))
    assert actions_of(softmax_agent(1)) != actions_of(softmax_agent(2))
    assert actions_of(softmax_agent(2).seeded(1)) == actions_of(softmax_agent(1))


def test_looking_at_a_drawn_action_draws_no_other() -> None:
    assert actions_of(softmax_agent(1), explaining=True) == actions_of(softmax_agent(1))


def test_more_planning_draws_anew() -> None:
    agent = softmax_agent(3)
    agent.step()
    drawn = set()
    for _ in range(30):
        agent.plan(1)
        drawn.add(agent.choose())
    assert drawn == {0, 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_planning_steps": 0}, "max_planning_steps: 0 was given; a whole number of at least 1 is required"),
        ({"max_planning_steps": -5}, "max_planning_steps: -5 was given"),
        ({"max_planning_steps": 1.5}, "max_planning_steps: 1.5 was given"),
        ({"max_planning_steps": True}, "max_planning_steps: True was given"),
        ({"max_planning_steps": "10"}, "max_planning_steps: '10' was given"),
        ({"exp_const": -0.1}, "exp_const: -0.1 was given; a finite number of at least 0 is required"),
        ({"exp_const": math.inf}, "exp_const: inf was given"),
        ({"exp_const": "2.4"}, "exp_const: '2.4' was given"),
        ({"exp_const": None}, "exp_const: None was given"),
        ({"precision": -1}, "precision: -1 was given; a finite number of at least 0 is required"),
        ({"precision": math.nan}, "precision: nan was given"),
        ({"time_limit": 0}, "time_limit: 0 was given; a finite number of seconds above 0 is required"),
        ({"time_limit": -1.0}, "time_limit: -1.0 was given"),
        ({"time_limit": math.inf}, "time_limit: inf was given"),
        ({"time_limit": math.nan}, "time_limit: nan was given"),
        ({"time_limit": "1s"}, "time_limit: '1s' was given"),
        ({"ties": "last"}, "ties: 'last' was given; it must be one of 'cost', 'first'"),
        (
            {"action_selection": "argmax"},
            "action_selection: 'argmax' was given; it must be one of 'most_visited', 'lowest_cost', 'softmax'",
        ),
        ({"inference": "fast"}, "inference: 'fast' was given; it must be one of 'exact', 'loopy'"),
        ({"inference": ""}, "inference: '' was given"),
        ({"engine": "numba"}, "engine: 'numba' was given; it must be one of 'compiled', 'numpy'"),
        (
            {"action_selection": "softmax"},
            "rng: none was given, but action_selection='softmax' draws at random; pass rng=numpy.random.default_rng",
        ),
        (
            {"action_selection": "softmax", "rng": 3},
            "rng: 3 was given; a numpy.random.Generator is required: pass rng=numpy.random.default_rng(seed)",
        ),
    ],
)
def test_option_of_a_wrong_value_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanningError) as caught:
        BTAI_3MF(LEVER.build(), **options)
    assert message in str(caught.value)
    assert isinstance(caught.value, BtaiError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("options", [{"exp_const": 0}, {"precision": 0}, {"time_limit": np.float64(0.1)}])
def test_bounds_of_the_options_are_allowed(options: dict[str, Any]) -> None:
    BTAI_3MF(LEVER.build(), **options)


@pytest.mark.parametrize("agent", [BTAI_3MF, BTAI_BF, BTAI_VMP, BatchAgent])
def test_builder_that_was_not_built_is_refused(agent: Any) -> None:
    message = r"^ts: a TemporalSliceBuilder was given; a TemporalSlice is required, which the build\(\) of .* gives\.$"
    with pytest.raises(PlanningError, match=message):
        agent(TemporalSliceBuilder("A_move", 2), 3)
