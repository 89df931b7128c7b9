"""What if: what would have come of it, beside what did; the original is not touched."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from inspector.models import SevenStatesEnv, seven_states
from inspector.recorded import Recorded, seven_states_agent

from btai import BTAI_3MF
from btai.errors import BtaiError, ImpossibleObservationError
from btai.inference import expected_free_energy
from btai.inspector import LiveTrace, RunTrace, views, whatif
from btai.inspector.cursor import Cursor
from btai.inspector.evidence import observed
from btai.inspector.live import PORTION
from btai.inspector.trace import Trace
from btai.inspector.whatif import Change, what_if
from btai.planning import view

HERE = Cursor(0, 1)


def outcomes(trace: Trace, cursor: Cursor = HERE, evidence: Any = None, **change: Any) -> tuple[Any, Any]:
    *_, answer = what_if(trace, cursor, Change(evidence or {}, **change))
    both = json.loads(json.dumps(answer, allow_nan=False))
    return both["original"], both["altered"]


def planned_anew(trace: RunTrace, evidence: dict[str, Any], iterations: int, exp_const: float) -> BTAI_3MF:
    """By hand, with a model whose declared prior is that of the cycle."""
    cycle = trace.moment(HERE).cycle
    ts = trace.ts
    for name, prior in cycle.prior.items():
        ts = ts.replace(name, prior=prior)
    agent = BTAI_3MF(ts, max_planning_steps=iterations, exp_const=exp_const)
    agent.reset(evidence)
    agent.step()
    return agent


def test_without_a_change_both_are_the_same(trace: RunTrace) -> None:
    original, altered = outcomes(trace)
    assert original == altered


def test_the_original_is_what_was_recorded(trace: RunTrace) -> None:
    original, _ = outcomes(trace, iterations=3)
    why = views.why(trace, HERE)
    assert original["chosen"] == trace.moment(HERE).cycle.action
    for row in why["actions"]:
        del row["terms"]  # they would have to be worked out from the whole search, and no page asks for them
    assert original["actions"] == why["actions"]
    assert original["posterior"] == views.cycle(trace, HERE)["posterior"]
    assert original["after"]["efe"] == views.node(trace, Cursor(0, 1, node=1 + original["chosen"]))["efe"]


def test_only_the_slices_that_are_shown_are_predicted(trace: RunTrace, monkeypatch: pytest.MonkeyPatch) -> None:
    predicted = []

    def counted(*arguments: Any) -> Any:
        predicted.append(arguments)
        return expected_free_energy(*arguments)

    monkeypatch.setattr(view, "expected_free_energy", counted)
    outcomes(trace, iterations=100)
    assert len(predicted) == 2  # after the chosen action, as it was and what if


def test_another_observation(trace: RunTrace) -> None:
    first = next(iter(trace.ts.observations))
    made = observed(trace.moment(HERE).cycle.evidence)
    other = (int(made[first].argmax()) + 1) % len(made[first])
    _, altered = outcomes(trace, evidence={first: other})
    agent = planned_anew(trace, made | {first: other}, altered["iterations"], trace.options.exp_const)
    assert_outcome(altered, agent)
    assert altered["evidence"][first][other] == 1.0


def test_an_observation_that_was_not_made(trace: RunTrace) -> None:
    last = list(trace.ts.observations)[-1]
    made = observed(trace.moment(HERE).cycle.evidence)
    _, altered = outcomes(trace, evidence={last: None})
    made.pop(last)
    assert_outcome(altered, planned_anew(trace, made, altered["iterations"], trace.options.exp_const))
    assert altered["evidence"][last] is None
    assert last not in altered["observed"]


def test_an_observation_that_was_less_sure(trace: RunTrace) -> None:
    first = next(iter(trace.ts.observations))
    made = observed(trace.moment(HERE).cycle.evidence)
    _, altered = outcomes(trace, evidence={first: {"soften": 0.25}})
    softer = [1.0 if entry else 0.25 for entry in made[first]]
    assert altered["evidence"][first] == softer
    assert altered["observed"][first] == "soft"
    agent = planned_anew(trace, made | {first: softer}, altered["iterations"], trace.options.exp_const)
    assert_outcome(altered, agent)


def test_softened_to_the_end_it_was_not_observed(trace: RunTrace) -> None:
    first = next(iter(trace.ts.observations))
    _, softened = outcomes(trace, evidence={first: {"soften": 1}})
    _, cleared = outcomes(trace, evidence={first: None})
    for name, vector in cleared["posterior"].items():
        np.testing.assert_allclose(softened["posterior"][name], vector, rtol=1e-12)


def test_another_budget_and_exploration_constant(trace: RunTrace) -> None:
    made = observed(trace.moment(HERE).cycle.evidence)
    _, altered = outcomes(trace, iterations=57, exp_const=0.3)
    assert (altered["iterations"], altered["exp_const"]) == (57, 0.3)
    assert_outcome(altered, planned_anew(trace, made, 57, 0.3))


def test_a_forced_action(trace: RunTrace) -> None:
    action = 1 if trace.moment(HERE).cycle.action != 1 else 2
    original, altered = outcomes(trace, action=action)
    assert (original["forced"], altered["forced"]) == (False, True)
    assert altered["chosen"] == action
    assert altered["actions"] == original["actions"]
    assert altered["after"]["action"] == action
    assert altered["after"]["efe"] == views.node(trace, Cursor(0, 1, node=1 + action))["efe"]


def assert_outcome(shown: Any, agent: BTAI_3MF) -> None:
    tree = agent.tree
    assert shown["chosen"] == agent.choose()
    assert shown["plan"] == list(tree.plan)
    assert [row["visits"] for row in shown["actions"]] == [child.visits for child in tree.root.children]
    assert [row["mean_cost"] for row in shown["actions"]] == [child.mean_cost for child in tree.root.children]
    np.testing.assert_allclose(shown["log_evidence"], agent.inference.log_evidence, rtol=1e-9)
    for name, vector in agent.beliefs.items():
        np.testing.assert_allclose(shown["posterior"][name], vector, rtol=1e-9, atol=1e-15)
    for name, vector in tree.root.children[shown["chosen"]].beliefs.items():
        np.testing.assert_allclose(shown["after"]["beliefs"][name], vector, rtol=1e-9, atol=1e-15)


def test_nothing_is_touched() -> None:
    env, agent = SevenStatesEnv(), seven_states_agent()
    trace = LiveTrace(env, agent)
    [*trace.command("finish", {})]
    beliefs, visits, state = deepcopy(dict(agent.beliefs)), agent.tree.visits, deepcopy(vars(env))
    before = deepcopy(trace.moments(0)[0].cycle)
    outcomes(trace, Cursor(0, 0), {"O_column": 3}, iterations=11, exp_const=9.0, action=2)
    assert agent.tree.visits.tolist() == visits.tolist()
    assert {name: v.tolist() for name, v in agent.beliefs.items()} == {n: v.tolist() for n, v in beliefs.items()}
    assert str(vars(env)["_state"]) == str(state["_state"])
    now = trace.moments(0)[0].cycle
    assert now.efe.tolist()[1:] == before.efe.tolist()[1:]
    assert now.posterior["S_column"].tolist() == before.posterior["S_column"].tolist()


def test_a_cycle_in_which_nothing_was_planned_is_planned_within_what_a_page_may_ask_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(whatif, "MOST_ITERATIONS", 1000)
    trace = LiveTrace(SevenStatesEnv(), BTAI_3MF(seven_states(), time_limit=60.0))
    *portions, answer = what_if(trace, Cursor(0, 0), Change({}))
    assert len(portions) == 1000 / PORTION
    assert answer["altered"]["iterations"] == 1000


def test_a_cycle_in_which_nothing_was_planned_has_no_outcome_but_its_beliefs() -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    original, altered = outcomes(trace, Cursor(0, 0), {"O_column": 3})
    assert (original["chosen"], original["actions"], original["after"], original["plan"]) == (None, [], None, [])
    assert original["posterior"]["S_column"] != altered["posterior"]["S_column"]
    assert altered["iterations"] == trace.options.iterations


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"evidence": {"O_nothing": 1}}, "O_nothing"),
        ({"evidence": {"O_column": 99}}, "O_column"),
        ({"evidence": {"O_column": "nowhere"}}, "O_column"),
        ({"evidence": {"O_column": [1, 2]}}, "O_column"),
        ({"evidence": {"O_column": [[]]}}, "O_column"),
        ({"evidence": {"O_column": True}}, "O_column"),
        ({"evidence": {"O_column": {"soften": 2}}}, "soften 2"),
        ({"evidence": {"O_column": {}}}, "soften None"),
        ({"evidence": {"O_sky": {"soften": 0.1}}}, "not observed"),
        ({"evidence": {}, "iterations": 0}, "iterations"),
        ({"evidence": {}, "iterations": 10**6}, "iterations"),
        ({"evidence": {}, "exp_const": -1}, "exp_const"),
        ({"evidence": {}, "exp_const": "much"}, "exp_const"),
        ({"evidence": {}, "action": 3}, "A_drive"),
    ],
)
def test_a_change_that_cannot_be_is_refused_by_name(seven: Recorded, change: Any, words: str) -> None:
    trace = seven.trace()
    with pytest.raises(BtaiError, match=words):
        [*what_if(trace, HERE, Change(**change))]
    trace.close()


def test_impossible_evidence_is_refused_in_the_agents_words() -> None:
    ts = seven_states_agent().ts.replace("O_column", likelihood=np.eye(5)).replace("S_column", prior=[1, 0, 0, 0, 0])

    class Fixed(SevenStatesEnv):
        def reset(self, seed: int | None = None) -> dict[str, int]:
            return super().reset(seed) | {"O_column": 0}

    trace = LiveTrace(Fixed(), BTAI_3MF(ts))
    with pytest.raises(ImpossibleObservationError, match="O_column"):
        outcomes(trace, Cursor(0, 0), {"O_column": 3})
