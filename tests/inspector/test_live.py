"""An agent under the hands of a page: every command does what it says, and what has been is not touched again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from inspector.models import CYCLES, SevenStatesEnv
from inspector.recorded import dsprites_agent, dsprites_env, seven_states_agent

from btai import BTAI_3MF
from btai.errors import EnvError, PlanningError
from btai.inspector import LiveTrace
from btai.inspector.cursor import Cursor, CursorError
from btai.inspector.live import PORTION, ConflictError


def do(trace: LiveTrace, command: str, **given: Any) -> Cursor:
    return [*trace.command(command, given)][-1].cursor


@pytest.fixture(params=["dsprites", "seven"])
def made(request: pytest.FixtureRequest) -> tuple[Callable[[], BTAI_3MF], Callable[[], Any]]:
    return {"dsprites": (dsprites_agent, dsprites_env), "seven": (seven_states_agent, SevenStatesEnv)}[request.param]


def test_it_begins_with_what_the_environment_shows(made: tuple[Callable[[], BTAI_3MF], Callable[[], Any]]) -> None:
    make_agent, make_env = made
    env, agent = make_env(), make_agent()
    trace = LiveTrace(env, agent)
    (moment,) = trace.moments(0)
    assert trace.start() == Cursor(0, 0, 0)
    assert moment.image is not None
    assert moment.cycle.posterior.keys() == agent.ts.states.keys()
    assert all(np.array_equal(moment.cycle.posterior[name], agent.beliefs[name]) for name in agent.ts.states)


def test_a_trial_by_hand_is_that_of_an_agent_alone() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    env, alone = SevenStatesEnv(), seven_states_agent()
    alone.reset(env.reset())
    while not trace.is_over(0):
        do(trace, "plan", iterations=3)
        do(trace, "finish")
        action = alone.step()
        cycle = trace.moments(0)[-1].cycle
        assert cycle.expanded.tolist() == alone.tree.expanded.tolist()
        assert cycle.efe.tolist()[1:] == alone.tree.efe.tolist()[1:]
        do(trace, "act")
        alone.update(action, env.execute(action))
        assert trace.moments(0)[-2].cycle.action == action
        assert trace.moments(0)[-1].reward == env.get_reward()
        for name, vector in alone.beliefs.items():
            assert trace.moments(0)[-1].cycle.posterior[name].tolist() == vector.tolist()
    assert len(trace.moments(0)) == CYCLES + 1


def test_trees_that_keep_their_root_are_shown_with_it() -> None:
    def keeping() -> BTAI_3MF:
        return BTAI_3MF(seven_states_agent().ts, 20, 1.0, root="kept")

    trace, alone, env = LiveTrace(SevenStatesEnv(), keeping()), keeping(), SevenStatesEnv()
    alone.reset(env.reset())
    for cycle in range(3):
        do(trace, "finish")
        action = alone.step()
        for iteration in (0, 5, 20):
            shown = trace.tree(Cursor(0, cycle, iteration))
            assert shown.visits[0] == alone.tree.visits[0] - 20 + iteration
        assert trace.tree(Cursor(0, cycle)).cost.tolist() == alone.tree.cost.tolist()
        do(trace, "act")
        alone.update(action, env.execute(action))
    assert trace.tree(Cursor(0, 2, 0)).visits[0] > 1


def test_an_agent_that_has_observed_something_is_taken_as_it_is() -> None:
    env, agent = SevenStatesEnv(), seven_states_agent()
    agent.reset(env.reset())
    agent.update(1, env.execute(1))
    agent.plan(7)
    beliefs = {name: vector.tolist() for name, vector in agent.beliefs.items()}
    trace = LiveTrace(env, agent)
    cycle = trace.moments(0)[0].cycle
    assert trace.start() == Cursor(0, 0, 7)
    assert {name: vector.tolist() for name, vector in cycle.posterior.items()} == beliefs
    assert {name: vector.tolist() for name, vector in cycle.prior.items()} != {
        name: state.prior.tolist() for name, state in agent.ts.states.items()
    }
    assert cycle.evidence["O_sky"].tolist() == [1.0, 1.0, 1.0]
    assert sum(cycle.evidence["O_column"]) == 1.0


def test_planning_iteration_by_iteration_leaves_every_state_of_the_search_behind() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    for iteration in range(1, 6):
        assert do(trace, "plan", iterations=1) == Cursor(0, 0, iteration)
        assert len(trace.tree(Cursor(0, 0, iteration)).expanded) == iteration
    assert len(trace.tree(Cursor(0, 0, 2)).expanded) == 2


def test_long_planning_is_told_in_portions_and_may_be_left() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent(planning=3 * PORTION))
    steps = trace.command("finish", {})
    assert next(steps).cursor.iteration == PORTION
    assert next(steps).cursor.iteration == 2 * PORTION
    steps.close()  # type: ignore[attr-defined]
    assert trace.start().iteration == 2 * PORTION
    assert do(trace, "finish").iteration == 3 * PORTION
    assert do(trace, "finish").iteration == 3 * PORTION


def test_an_agent_with_a_time_limit_plans_until_it_is_over() -> None:
    agent = BTAI_3MF(seven_states_agent().ts, time_limit=0.02)
    trace = LiveTrace(SevenStatesEnv(), agent)
    assert (do(trace, "finish").iteration or 0) > 0


def test_any_action_can_be_performed_planned_or_not() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    assert do(trace, "act", action=2) == Cursor(0, 1, 0)
    assert [m.cycle.action for m in trace.moments(0)] == [2, None]


def test_without_planning_there_is_no_best_action() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    with pytest.raises(ConflictError, match="Plan first"):
        do(trace, "act")
    assert trace.start() == Cursor(0, 0, 0)


@pytest.mark.parametrize("action", [-1, 3, "1", 1.0, True])
def test_an_action_that_is_none_is_refused(action: Any) -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    with pytest.raises(PlanningError, match="A_drive"):
        do(trace, "act", action=action)
    assert trace.start() == Cursor(0, 0, 0)


@pytest.mark.parametrize("iterations", [0, 100_001, "3"])
def test_planning_more_or_less_than_is_allowed_is_refused(iterations: Any) -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    with pytest.raises(PlanningError, match="iterations"):
        do(trace, "plan", iterations=iterations)


def test_after_the_end_of_a_trial_only_reset_goes_on() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    for _ in range(CYCLES):
        do(trace, "act", action=0)
    assert trace.is_over(0)
    for command in ("plan", "finish", "act"):
        with pytest.raises(ConflictError, match="reset"):
            do(trace, command)
    assert do(trace, "reset") == Cursor(1, 0, 0)
    assert not trace.is_over(1)


def test_a_reset_begins_another_trial_and_keeps_the_last_one() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    do(trace, "plan", iterations=4)
    do(trace, "act", action=1)
    before = trace.moments(0)
    do(trace, "reset")
    assert trace.moments(0) == before
    assert trace.is_over(0)
    assert [(row.trial, row.cycles, row.planning_iterations, row.actions) for row in trace.trials()] == [
        (0, 1, 4, (1,)),
        (1, 0, 0, ()),
    ]


class Broken(SevenStatesEnv):
    """Fails when it is acted in."""

    def execute(self, action: int) -> dict[str, int]:
        raise ZeroDivisionError("the rover is stuck")


class Lying(SevenStatesEnv):
    """Shows what does not exist."""

    def execute(self, action: int) -> dict[str, int]:
        return super().execute(action) | {"O_battery": 99}


@pytest.mark.parametrize(("env", "words"), [(Broken(), "the rover is stuck"), (Lying(), "O_battery")])
def test_an_environment_that_fails_is_reported_and_reset_goes_on(env: SevenStatesEnv, words: str) -> None:
    trace = LiveTrace(env, seven_states_agent())
    do(trace, "plan", iterations=2)
    with pytest.raises(ConflictError, match=words):
        do(trace, "act", action=1)
    assert trace.start() == Cursor(0, 0, 2)
    with pytest.raises(ConflictError, match="reset"):
        do(trace, "plan")
    assert do(trace, "reset") == Cursor(1, 0, 0)


def test_an_environment_that_cannot_even_begin_is_reported() -> None:
    class Unborn(SevenStatesEnv):
        def reset(self, seed: int | None = None) -> dict[str, int]:
            raise RuntimeError("no field")

    with pytest.raises(EnvError, match=r"Unborn\.reset failed: RuntimeError: no field"):
        LiveTrace(Unborn(), seven_states_agent())


def test_an_environment_without_a_picture_has_none() -> None:
    class Dark(SevenStatesEnv):
        render = None  # type: ignore[assignment]

    assert LiveTrace(Dark(), seven_states_agent()).moments(0)[0].image is None


def test_what_the_environment_itself_refuses_is_said_in_its_words() -> None:
    env = dsprites_env()
    trace = LiveTrace(env, dsprites_agent())
    while not env.done():
        env.execute(0)  # behind the inspector's back
    with pytest.raises(ConflictError, match="the trial is over: call reset"):
        do(trace, "act", action=0)


def test_a_trial_that_is_none_is_refused() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    for trial in (-1, 1):
        with pytest.raises(CursorError, match=f"trial {trial}"):
            trace.moments(trial)
