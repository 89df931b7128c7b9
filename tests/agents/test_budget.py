"""How much the agent plans: iterations in any portions, or for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from golden import own_figures
from hand_made import LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from spec import Spec
from strategies import evidences, models

from btai import BTAI_3MF
from btai.agents import tree_agent
from btai.errors import PlanningError
from btai.planning import TreeView

some = settings(max_examples=40)


def lever_agent(**options: Any) -> BTAI_3MF:
    agent = BTAI_3MF(LEVER.build(), **options)
    agent.reset({})
    return agent


def assert_equal_trees(tree: TreeView, other: TreeView) -> None:
    for name in ("expanded", "parent", "action", "first_child", "visits", "cost", "efe"):
        assert_array_equal(getattr(tree, name), getattr(other, name), err_msg=name)


@some
@given(
    models(max_states=2, max_observations=3, max_size=3), st.lists(st.integers(1, 6), min_size=2, max_size=4), st.data()
)
def test_planning_in_portions_equals_planning_at_once(spec: Spec, portions: list[int], data: st.DataObject) -> None:
    evidence = data.draw(evidences(spec))
    in_portions, at_once = BTAI_3MF(spec.build()), BTAI_3MF(spec.build())
    in_portions.reset(evidence)
    at_once.reset(evidence)
    for portion in portions:
        in_portions.plan(portion)
    at_once.plan(sum(portions))
    assert_equal_trees(in_portions.tree, at_once.tree)


def test_step_plans_the_whole_budget() -> None:
    agent = lever_agent(max_planning_steps=7)
    agent.step()
    assert len(agent.tree.expanded) == 7
    assert agent.tree.root.visits == 8


def test_step_plans_only_the_rest_of_the_budget() -> None:
    agent = lever_agent(max_planning_steps=7)
    agent.plan(4)
    assert len(agent.tree.expanded) == 4
    agent.step()
    assert len(agent.tree.expanded) == 7


@pytest.mark.parametrize("planned", [7, 9])
def test_step_plans_nothing_where_the_budget_is_used_up(planned: int) -> None:
    agent = lever_agent(max_planning_steps=7)
    agent.plan(planned)
    agent.step()
    agent.step()
    assert len(agent.tree.expanded) == planned


def test_every_cycle_has_the_whole_budget_again() -> None:
    agent = lever_agent(max_planning_steps=7)
    for _ in range(3):
        agent.update(agent.step(), {})
        agent.step()
        assert len(agent.tree.expanded) == 7


def test_budget_is_150_iterations_where_none_is_given() -> None:
    agent = lever_agent()
    agent.step()
    assert len(agent.tree.expanded) == agent.max_planning_steps == 150


def test_choose_plans_nothing() -> None:
    agent = lever_agent()
    agent.plan(2)
    agent.choose()
    assert len(agent.tree.expanded) == 2
    agent.reset({})
    with pytest.raises(PlanningError, match="no action can be chosen before any planning"):
        agent.choose()


@pytest.mark.parametrize("iterations", [0, -1, 2.0, True, "3", None])
def test_planning_no_whole_number_of_iterations_is_refused(iterations: Any) -> None:
    agent = lever_agent()
    with pytest.raises(
        PlanningError, match=f"planning iterations: {iterations!r} was given; a whole number of at least 1"
    ):
        agent.plan(iterations)
    assert len(agent.tree) == 1


def test_tree_grows_beyond_its_first_room(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = own_figures("absorbing")
    roomy = BTAI_3MF(figures.spec.build(), exp_const=figures.exp_const)
    roomy.reset(figures.evidence)
    roomy.plan(60)
    monkeypatch.setattr(tree_agent, "FIRST_ROOM", 2)
    agent = BTAI_3MF(figures.spec.build(), exp_const=figures.exp_const)
    agent.reset(figures.evidence)
    for portion in (1, 1, 1, 20, 37):
        agent.plan(portion)
    assert_equal_trees(agent.tree, roomy.tree)


def test_more_can_be_planned_than_the_budget_of_a_step() -> None:
    small, large = lever_agent(max_planning_steps=1), lever_agent()
    small.plan(40)
    large.plan(40)
    assert_equal_trees(small.tree, large.tree)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_tree_too_large_for_memory_is_refused_before_it_is_allocated(engine: str) -> None:
    agent = lever_agent(engine=engine)
    agent.plan(2)
    with pytest.raises(PlanningError, match=r"plan: 1,000,000,000,002 iterations in all were asked for; .* GiB"):
        agent.plan(10**12)
    assert len(agent.tree.expanded) == 2
    assert agent.step() == 1


# --- time ----------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


class Timed(BTAI_3MF):
    """An agent for whom so many seconds pass with each planning iteration, by its clock."""

    clock: Clock
    pace: Callable[[int], float]  # seconds of an iteration, by its number

    def plan(self, iterations: int) -> None:
        done = len(self.tree.expanded)
        super().plan(iterations)
        self.clock.now += sum(self.pace(i) for i in range(done, done + iterations))


def timed(monkeypatch: pytest.MonkeyPatch, pace: Callable[[int], float], **options: Any) -> Timed:
    agent = Timed(LEVER.build(), **options)
    agent.clock, agent.pace = Clock(), pace
    monkeypatch.setattr(tree_agent, "time", agent.clock)
    agent.reset({})
    return agent


def test_time_limit_is_used_up_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = timed(monkeypatch, lambda i: 0.001, time_limit=0.2)
    agent.step()
    assert 0.2 <= agent.clock.now - 100 < 0.2011  # at most one iteration too long
    assert len(agent.tree.expanded) in (200, 201)


def test_time_limit_is_kept_when_planning_becomes_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = timed(monkeypatch, lambda i: 0.0001 * (1 + i // 100), time_limit=0.2)
    agent.step()
    assert 0.2 <= agent.clock.now - 100 < 0.21


def test_time_limit_shorter_than_one_iteration_still_gives_an_action(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = timed(monkeypatch, lambda i: 5.0, time_limit=1e-9)
    assert agent.step() in (0, 1)
    assert len(agent.tree.expanded) == 1


def test_time_limit_stops_at_the_given_number_of_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = timed(monkeypatch, lambda i: 0.001, time_limit=10, max_planning_steps=25)
    agent.step()
    assert len(agent.tree.expanded) == 25
    assert agent.clock.now - 100 == pytest.approx(0.025)


def test_clock_without_resolution_does_not_stop_the_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = timed(monkeypatch, lambda i: 0.0 if i < 40 else 0.01, time_limit=0.1)
    agent.step()
    assert agent.clock.now - 100 >= 0.1


def test_time_limit_holds_by_the_real_clock() -> None:
    agent = lever_agent(time_limit=0.05)
    agent.step()  # the first step of a process loads the engine
    agent.reset({})
    start = time.perf_counter()
    agent.step()
    assert 0.05 <= time.perf_counter() - start < 1.0  # much more than an iteration takes, for a busy machine
    assert len(agent.tree.expanded) > 1


def test_planning_under_a_time_limit_is_marked_as_not_reproducible() -> None:
    limited, counted = lever_agent(time_limit=0.01), lever_agent(max_planning_steps=3)
    assert not limited.reproducible
    assert counted.reproducible
    limited.step()
    counted.step()
    assert not limited.explain().reproducible
    assert "Planned under a time limit: another run may come out differently." in repr(limited.explain())
    assert "time limit" not in repr(counted.explain())
