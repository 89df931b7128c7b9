"""Whatever goes wrong, the agent stays exactly as it was: same beliefs, same tree, same actions to come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden import own_figures
from hand_made import LEVER

from btai import BTAI_3MF
from btai.errors import EvidenceError, ImpossibleObservationError, PlanningError
from btai.inference import Prediction, p_step
from btai.model import TemporalSlice
from btai.planning import reference

ENGINES = ("compiled", "numpy")
ZEROS = own_figures("zeros")  # a corridor of four places; the prior excludes the last one
CERTAIN = replace(LEVER, priors={"S_0": np.array([1.0, 0.0])})


def in_corridor(engine: str) -> BTAI_3MF:
    """An agent in a corridor of four places, at the second or third, in the middle of its planning."""
    agent = BTAI_3MF(ZEROS.spec.build(), max_planning_steps=10, engine=engine)
    agent.reset(ZEROS.evidence)
    agent.plan(6)
    return agent


def snapshot(agent: BTAI_3MF) -> dict[str, Any]:
    """All there is to see of an agent, independent of it."""
    tree = agent.tree
    arrays = ("expanded", "parent", "action", "first_child", "visits", "cost", "efe")
    return deepcopy(
        {
            "beliefs": {name: belief.tolist() for name, belief in agent.beliefs.items()},
            "prior": {name: prior.tolist() for name, prior in agent.prior.items()},
            "log_evidence": agent.inference.log_evidence,
            "explanation": repr(agent.explain()),
            **{name: [repr(value) for value in getattr(tree, name).tolist()] for name in arrays},  # nan equals nan
        }
    )


def assert_unharmed_by(harm: Callable[[BTAI_3MF], None], engines: Sequence[str] = ENGINES) -> None:
    """After `harm` the agent is as it was, and goes on as one that was spared."""
    for engine in engines:
        harmed, spared = in_corridor(engine), in_corridor(engine)
        before = snapshot(harmed)
        harm(harmed)
        assert snapshot(harmed) == before
        for observed in ({"O_x": 3}, {"O_wall": 0}, {}):
            action = spared.step()
            assert harmed.step() == action
            assert snapshot(harmed) == snapshot(spared)
            harmed.update(action, observed)
            spared.update(action, observed)
        assert harmed.step() == spared.step()


def refused(error: type[Exception], message: str, act: Callable[[BTAI_3MF], Any]) -> Callable[[BTAI_3MF], None]:
    def harm(agent: BTAI_3MF) -> None:
        with pytest.raises(error, match=message):
            act(agent)

    return harm


def test_impossible_observation_after_an_action_leaves_the_agent_as_it_was() -> None:
    harm = refused(
        ImpossibleObservationError, r"O_x: the value 0 was observed", lambda agent: agent.update(1, {"O_x": 0})
    )
    assert_unharmed_by(harm)


def test_impossible_observation_at_reset_leaves_an_agent_in_a_trial_as_it_was() -> None:
    harm = refused(ImpossibleObservationError, r"O_x: the value 3 was observed", lambda agent: agent.reset({"O_x": 3}))
    assert_unharmed_by(harm)


def test_observations_impossible_only_together_leave_the_agent_as_it_was() -> None:
    def act(agent: BTAI_3MF) -> None:
        agent.update(1, {"O_x": 3, "O_wall": 1})  # at the last place the wall is always seen

    assert_unharmed_by(
        refused(ImpossibleObservationError, "O_wall: the value 1 was observed.* together with O_x=3", act)
    )


def test_agent_whose_first_observation_is_impossible_still_waits_for_its_first() -> None:
    agent = BTAI_3MF(CERTAIN.build(), max_planning_steps=3)
    with pytest.raises(ImpossibleObservationError, match="O_0: the value 1 was observed"):
        agent.reset({"O_0": 1})
    with pytest.raises(PlanningError, match="observed nothing yet"):
        agent.step()
    agent.reset({"O_0": 0})
    assert agent.step() == 1


@pytest.mark.parametrize("cycle", ["reset", "update"])
@pytest.mark.parametrize(
    ("obs", "message"),
    [
        ({"O_y": 0}, "O_y: no such observation is declared. Declared are O_x, O_wall"),
        ({"O_x": 4}, "O_x: index 4 was given"),
        ({"O_x": -1}, "O_x: index -1 was given"),
        ({"O_wall": 1, "O_x": [0, 1]}, "O_x: evidence of shape"),
        ({"O_x": [0, 0, 0, 0]}, "not all 0"),
        ({"O_x": [0, 1, np.nan, 0]}, "must be finite"),
        ({"O_x": "somewhere"}, "O_x: 'somewhere' was given"),
        ({"O_x": None}, "O_x: "),
        ({"O_x": object()}, "O_x: .* was given"),
    ],
)
def test_malformed_evidence_leaves_the_agent_as_it_was(cycle: str, obs: Mapping[str, Any], message: str) -> None:
    def act(agent: BTAI_3MF) -> None:
        agent.reset(obs) if cycle == "reset" else agent.update(1, obs)

    assert_unharmed_by(refused(EvidenceError, message, act))


@pytest.mark.parametrize("action", [2, -1, 1.0, True, None, "right", [0]])
def test_action_that_is_none_is_refused_and_leaves_the_agent_as_it_was(action: Any) -> None:
    def act(agent: BTAI_3MF) -> None:
        agent.update(action, {"O_x": 3})

    assert_unharmed_by(refused(PlanningError, "A_step: .* was given; a whole number from 0 to 1 is required", act))


def test_refused_planning_leaves_the_agent_as_it_was() -> None:
    assert_unharmed_by(refused(PlanningError, "planning iterations: 0 was given", lambda agent: agent.plan(0)))


def test_interrupted_planning_keeps_its_whole_iterations_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    spared = in_corridor("numpy")
    spared.plan(2)
    calls = 0

    def interrupted(ts: TemporalSlice, beliefs: Any, action: int) -> Prediction:
        nonlocal calls
        calls += 1
        if calls == 6:  # the second action of the third iteration
            raise KeyboardInterrupt
        return p_step(ts, beliefs, action)

    agent = in_corridor("numpy")
    monkeypatch.setattr(reference, "p_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        agent.step()
    assert snapshot(agent) == snapshot(spared)
    assert agent.step() == spared.step()
    assert snapshot(agent) == snapshot(spared)


@pytest.mark.parametrize("engine", ENGINES)
def test_interrupt_between_one_search_and_the_next_asks_for_a_reset(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, spared = in_corridor(engine), in_corridor(engine)
    start = agent._backend.start

    def interrupted(beliefs: Any) -> None:
        start(beliefs)
        raise KeyboardInterrupt

    monkeypatch.setattr(agent._backend, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        agent.update(1, {"O_x": 3})
    monkeypatch.undo()
    with pytest.raises(PlanningError, match=r"call reset\(obs\) first"):
        agent.plan(3)  # which would grow the tree of one slice by the beliefs of another
    agent.reset(ZEROS.evidence)
    agent.plan(6)
    assert snapshot(agent) == snapshot(spared)


def test_interrupted_perception_leaves_the_agent_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def harm(agent: BTAI_3MF) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(reference, "i_step", interrupted)
            with pytest.raises(KeyboardInterrupt):
                agent.update(1, {"O_x": 3})

    assert_unharmed_by(harm, engines=["numpy"])
