"""Copy as Python: the lines run as they stand, and give what the page shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspector.copied import value_of
from inspector.models import SevenStatesEnv, seven_states
from inspector.recorded import Recorded, seven_states_agent

from btai import BTAI_3MF
from btai.inspector import LiveTrace, RunTrace, views
from btai.inspector.cursor import Cursor
from btai.inspector.recipes import VIEWS
from btai.inspector.trace import Trace


def python(trace: Trace, cursor: Cursor, view: str, **words: Any) -> str:
    """What the page copies: the recipe of a cycle and the line of a view, with the words in braces replaced."""
    text: str = views.cycle(trace, cursor)["python"] + "\n" + views.info(trace)["python"][view]
    for name, value in {"iteration": trace.iteration(cursor), "node": cursor.node, **words}.items():
        text = text.replace(f"{{{name}}}", json.dumps(value) if isinstance(value, str) else str(value))
    return text


def test_every_view_of_a_run_file_can_be_had_from_python(recorded: Recorded, trace: RunTrace, tmp_path: Path) -> None:
    ts = None if recorded.is_known else seven_states()
    here = Cursor(1, 1, 12, 5)
    node = trace.tree(here)[5]
    state, observation = next(iter(trace.ts.states)), next(iter(trace.ts.observations))
    group = trace.ts.preferences[0].observations
    message = views.node(trace, Cursor(1, 1))["inference"]["messages"][0]

    def copied(view: str, **words: Any) -> Any:
        return value_of(python(trace, here, view, **words), tmp_path, ts)

    assert copied("tree")[0].tolist() == node.tree.visits.tolist()
    assert copied("beliefs", state=state).tolist() == node.beliefs[state].tolist()
    assert node.parent
    assert copied("before", state=state).tolist() == node.parent.beliefs[state].tolist()
    assert copied("facts")[:3] == (node.visits, node.cost, node.mean_cost)
    assert set(copied("evidence")) == set(views.cycle(trace, here)["observed"])
    words = {"source": message["source"], "target": message["target"]}
    assert copied("message", **words).ravel().tolist() == message["values"]
    assert copied("efe")[0] == node.expected_free_energy.total
    assert copied("risk", group=group).shape == trace.ts.preferences[0].table.shape
    assert copied("ambiguity", observation=observation).sum() == pytest.approx(node.ambiguity[observation])
    chosen = trace.chosen(here)
    assert chosen is not None
    other = (chosen + 1) % trace.ts.action.size
    differences = copied("why", chosen=chosen, action=other)
    (row,) = (r for r in views.why(trace, here)["against"] if r["action"] == other)
    assert [*differences.values()] == row["terms"]
    x, y = views.info(trace)["occupancy"][0]
    np.testing.assert_allclose(copied("occupancy", x=x, y=y).sum(axis=0), node.beliefs[x])


def test_a_live_trial_can_be_done_again(tmp_path: Path) -> None:
    trace = LiveTrace(SevenStatesEnv(), seven_states_agent())
    for _ in range(3):
        [*trace.command("finish", {})]
        [*trace.command("act", {})]
    [*trace.command("plan", {"iterations": 8})]
    for cycle, iteration in ((0, 0), (0, 20), (2, 25), (3, 8)):
        here = Cursor(0, cycle, iteration)
        visits, costs, *_ = value_of(python(trace, here, "tree"), tmp_path, seven_states())
        assert visits.tolist() == trace.tree(here).visits.tolist()
        assert costs.tolist() == trace.tree(here).cost.tolist()


def test_a_trial_that_began_before_the_inspector_is_taken_up_where_it_was(tmp_path: Path) -> None:
    env, agent = SevenStatesEnv(), seven_states_agent()
    agent.reset(env.reset())
    agent.update(1, env.execute(1))
    trace = LiveTrace(env, agent)
    [*trace.command("plan", {"iterations": 8})]
    [*trace.command("act", {"action": 2})]
    [*trace.command("plan", {"iterations": 5})]
    for here in (Cursor(0, 0, 8), Cursor(0, 1, 5)):
        _, costs, *_ = value_of(python(trace, here, "tree"), tmp_path, seven_states())
        assert costs.tolist() == trace.tree(here).cost.tolist()


def test_trees_that_keep_their_root_can_be_had_from_python(tmp_path: Path) -> None:
    trace = LiveTrace(SevenStatesEnv(), BTAI_3MF(seven_states(), 15, 1.0, root="kept"))
    for _ in range(2):
        [*trace.command("finish", {})]
        [*trace.command("act", {})]
    [*trace.command("finish", {})]
    visits, costs, *_ = value_of(python(trace, Cursor(0, 2, 9), "tree"), tmp_path, seven_states())
    assert visits[0] > 10
    assert visits.tolist() == trace.tree(Cursor(0, 2, 9)).visits.tolist()
    assert costs.tolist() == trace.tree(Cursor(0, 2, 9)).cost.tolist()


def test_no_name_is_put_between_quotes() -> None:
    """A name may hold a quote itself; the page quotes it as a whole."""
    for text in VIEWS.values():
        assert not re.search(r"""["']\{(state|source|target|observation|x|y)\}|\{\w+\}["']""", text)


def test_only_known_words_stand_in_braces(seven: Recorded) -> None:
    words = {"iteration", "node", "state", "source", "target", "observation", "group", "action", "chosen", "x", "y"}
    words |= {"changes", "options", "iterations"}
    trace = seven.trace()
    for text in views.info(trace)["python"].values():
        assert set(re.findall(r"\{(\w+)\}", text)) <= words
    trace.close()
