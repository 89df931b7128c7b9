"""What the page shows is what the Python objects say, at any cursor.

The objects are those of an agent that lives through the recorded trial again, iteration by iteration: it shares
nothing with the trace.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspector.odd_names import STATES, odd_run
from inspector.recorded import Recorded, unpacked

from btai import BTAI_3MF
from btai.agents import Explanation
from btai.inspector import RunTrace, views
from btai.inspector.cursor import Cursor, CursorError
from btai.planning import Node

ITERATIONS = (1, 2, 7, 20)


def exact(values: Any) -> Any:
    """As the JSON that the page gets, read back: numbers survive to the bit."""
    return json.loads(json.dumps(values, allow_nan=False))


def close(one: Any, other: Any) -> None:
    """The same up to rounding: what is believed comes from one inference there and another here."""
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.fixture
def decided(recorded: Recorded, trace: RunTrace) -> Iterator[tuple[Cursor, BTAI_3MF]]:
    """Moments of the planning, each with an agent that is there too."""

    def moments() -> Iterator[tuple[Cursor, BTAI_3MF]]:
        row = trace.trials()[1]
        for cycle, agent in enumerate(recorded.agents(row.seed or 0, row.actions)):
            if cycle < len(row.actions):
                for iteration in ITERATIONS:
                    agent.plan(iteration - len(agent.tree.expanded))
                    yield Cursor(1, cycle, iteration), agent

    return moments()


def test_info_says_what_the_model_is(recorded: Recorded, trace: RunTrace) -> None:
    ts, shown = recorded.make_agent().ts, exact(views.info(trace))
    assert shown["mode"] == "replay"
    assert shown["title"] == recorded.path.name
    model = shown["model"]
    assert model["action"]["size"] == ts.action.size
    assert model["action"]["values"] == list(ts.action.values or ())
    assert [s["name"] for s in model["states"]] == list(ts.states)
    assert [o["name"] for o in model["observations"]] == list(ts.observations)
    for state in model["states"]:
        transition = ts.transitions[state["name"]]
        assert state["size"] == len(state["values"]) == ts.states[state["name"]].size
        assert state["parents"] == list(transition.parents)
        assert state["moved"] == (ts.action.name in transition.parents)
    for observation in model["observations"]:
        assert observation["parents"] == list(ts.observations[observation["name"]].parents)
    assert [p["observations"] for p in model["preferences"]] == [list(p.observations) for p in ts.preferences]
    assert [p["shape"] for p in model["preferences"]] == [list(p.table.shape) for p in ts.preferences]
    assert {f["name"] for f in model["factors"]} == {f"f_{name}" for name in (*ts.states, *ts.observations)}


def test_info_says_what_the_agent_is(recorded: Recorded, trace: RunTrace) -> None:
    agent, shown = recorded.make_agent(), exact(views.info(trace))["agent"]
    assert shown["class"] == "BTAI_3MF"
    assert shown["max_planning_steps"] == agent.max_planning_steps
    assert shown["exp_const"] == agent.exp_const
    assert shown["action_selection"] == "most_visited"


def test_states_that_are_moved_and_counted_are_taken_for_positions(recorded: Recorded, trace: RunTrace) -> None:
    pairs = exact(views.info(trace))["occupancy"]
    expected = ["S_pos_x", "S_pos_y"] if recorded.is_known else ["S_column", "S_row"]
    assert pairs[0] == expected


def test_the_trials_are_those_of_the_run_file(trace: RunTrace) -> None:
    shown = exact(views.trials(trace))
    assert shown["expected"] == len(shown["trials"]) == 2
    assert shown["summary"]["trials"] == 2
    for number, row in enumerate(shown["trials"]):
        assert row["trial"] == number
        assert row["cycles"] == len(row["actions"])
        assert row["over"]
        assert row["recorded"]


def test_a_trial_lists_its_cycles(recorded: Recorded, trace: RunTrace) -> None:
    row = trace.trials()[0]
    shown = exact(views.trial(trace, Cursor(0)))
    env = recorded.make_env()
    seen, rewards = [env.reset(seed=row.seed)], [None]
    for action in row.actions:
        seen.append(env.execute(action))
        rewards.append(env.get_reward())
    names = {name: o.values for name, o in trace.ts.observations.items()}
    assert shown["over"]
    assert [c["cycle"] for c in shown["cycles"]] == list(range(len(row.actions) + 1))
    assert [c["action"] for c in shown["cycles"]] == [*row.actions, None]
    assert [c["reward"] for c in shown["cycles"]] == rewards
    assert [c["observed"] for c in shown["cycles"]] == [
        {name: (names[name] or range(99))[value] if names[name] else str(value) for name, value in obs.items()}
        for obs in seen
    ]
    assert all(c["image"] == f"api/image?trial=0&cycle={c['cycle']}" for c in shown["cycles"])


def test_the_worst_cycle_is_that_of_the_highest_mean_cost(recorded: Recorded, trace: RunTrace) -> None:
    row = trace.trials()[0]
    costs = []
    for agent, action in zip(recorded.agents(row.seed or 0, row.actions), row.actions, strict=False):
        agent.step()
        costs.append(agent.tree.root.children[action].mean_cost)
    assert exact(views.worst(trace, Cursor(0))) == {"trial": 0, "cycle": int(np.argmax(costs)), "mean_cost": max(costs)}


def test_a_cycle_shows_evidence_prior_and_posterior(recorded: Recorded, trace: RunTrace) -> None:
    row = trace.trials()[1]
    for number, agent in enumerate(recorded.agents(row.seed or 0, row.actions)):
        shown = exact(views.cycle(trace, Cursor(1, number)))
        assert shown["prior"] == {name: vector.tolist() for name, vector in agent.prior.items()}
        assert shown["posterior"] == {name: vector.tolist() for name, vector in agent.beliefs.items()}
        assert set(shown["evidence"]) == set(agent.ts.observations)
        for name, vector in shown["evidence"].items():
            assert (vector is None) == (name not in shown["observed"])
            assert vector is None or sorted(vector) == [0.0] * (len(vector) - 1) + [1.0]


def test_an_observation_that_was_not_made_has_no_evidence(seven: Recorded) -> None:
    trace = seven.trace()
    assert exact(views.cycle(trace, Cursor(0, 1)))["evidence"]["O_sky"] is None
    assert exact(views.cycle(trace, Cursor(0, 2)))["evidence"]["O_sky"] is not None
    trace.close()


def test_a_cycle_holds_its_search(recorded: Recorded, trace: RunTrace) -> None:
    row = trace.trials()[0]
    agent = next(recorded.agents(row.seed or 0, row.actions))
    agent.step()
    shown = exact(views.cycle(trace, Cursor(0, 0)))
    assert shown["iterations"] == shown["budget"] == agent.max_planning_steps
    assert unpacked(shown["search"]["expanded"]).tolist() == agent.tree.expanded.tolist()
    assert unpacked(shown["search"]["efe"]).tolist() == agent.tree.efe[1:].tolist()
    assert unpacked(shown["search"]["best"])[-1] == agent.choose()


def test_a_cycle_may_be_asked_for_what_is_new(trace: RunTrace) -> None:
    whole, rest = (exact(views.cycle(trace, Cursor(0, 0), since)) for since in (0, 9))
    actions = trace.ts.action.size
    for name, begin in (("expanded", 9), ("best", 9), ("efe", 9 * actions)):
        assert unpacked(rest["search"][name]).tolist() == unpacked(whole["search"][name]).tolist()[begin:]
    begin = len(unpacked(whole["search"]["path_cost"])) - len(unpacked(rest["search"]["path_cost"]))
    assert unpacked(rest["search"]["path_cost"]).tolist() == unpacked(whole["search"]["path_cost"]).tolist()[begin:]
    depths = [len(trace.tree(Cursor(0, 0))[node].path) for node in unpacked(whole["search"]["expanded"])[:9]]
    assert begin == sum(depths) + 9


def test_facts_are_those_of_the_search(trace: RunTrace, decided: Iterator[tuple[Cursor, BTAI_3MF]]) -> None:
    for cursor, agent in decided:
        tree = agent.tree
        for node in tree:
            shown = exact(views.facts(trace, Cursor(cursor.trial, cursor.cycle, cursor.iteration, node.index)))
            assert_facts(shown["facts"], node)
            assert [child["node"] for child in shown["children"]] == [child.index for child in node.children]
            for child, fact in zip(node.children, shown["children"], strict=True):
                assert_facts(fact, child)
            assert (shown["parent"] is None) == (node.parent is None)
            assert shown["selected"] == tree.expanded[-1]
            assert shown["best"] == agent.choose()
            assert shown["exp_const"] == agent.exp_const
            assert tuple(tree[n].action for n in shown["plan"][1:]) == tree.plan
            assert tree[shown["plan"][-1]].path == tree.plan


def assert_facts(shown: Any, node: Node) -> None:
    assert (shown["node"], shown["visits"], shown["cost"]) == (node.index, node.visits, node.cost)
    assert shown["mean_cost"] == node.mean_cost
    if node.parent is None:
        assert {shown[name] for name in ("action", "action_name", "efe", "exploration", "uct")} == {None}
        return
    assert (shown["action"], shown["efe"]) == (node.action, node.efe)
    assert shown["action_name"] == (node.tree.ts.action.values or ())[node.action]
    assert (shown["exploration"], shown["uct"]) == (node.exploration, node.uct)
    by_hand = -shown["cost"] / shown["visits"] + node.tree.exp_const * math.sqrt(
        math.log(shown["parent_visits"]) / shown["visits"]
    )
    assert shown["uct"] == pytest.approx(by_hand, abs=1e-12)


def test_before_any_planning_there_is_a_root_and_nothing_else(trace: RunTrace) -> None:
    shown = exact(views.facts(trace, Cursor(0, 0, 0)))
    assert (shown["facts"]["visits"], shown["facts"]["cost"]) == (1, 0.0)
    assert (shown["children"], shown["selected"], shown["best"], shown["plan"]) == ([], None, None, [0])


def test_a_slice_shows_what_its_node_believes(trace: RunTrace, decided: Iterator[tuple[Cursor, BTAI_3MF]]) -> None:
    for cursor, agent in decided:
        if cursor.iteration != ITERATIONS[-1]:
            continue
        for node in agent.tree:
            shown = exact(views.node(trace, Cursor(cursor.trial, cursor.cycle, node=node.index)))
            assert (shown["depth"], shown["path"]) == (len(node.path), list(node.path))
            assert_vectors(shown["beliefs"], node.beliefs)
            if node.parent is None:
                assert (shown["parent"], shown["action"], shown["observations"], shown["efe"]) == (None,) * 4
                assert shown["before"]["what"] == "prior"
                assert_vectors(shown["before"]["beliefs"], agent.prior)
                continue
            assert shown["inference"] is None
            assert (shown["parent"], shown["action"]) == (node.parent.index, node.action)
            assert shown["before"]["what"] == "parent"
            assert_vectors(shown["before"]["beliefs"], node.parent.beliefs)
            assert_vectors(shown["observations"], node.predicted_observations)
            assert_efe(shown["efe"], node)


def assert_vectors(shown: Any, expected: Any) -> None:
    assert list(shown) == list(expected)
    for name, vector in shown.items():
        close(vector, expected[name])


def assert_efe(shown: Any, node: Node) -> None:
    efe = node.expected_free_energy
    close(shown["total"], node.efe)
    close([part["value"] for part in shown["risk"]], [*efe.risk.values()])
    close([part["value"] for part in shown["ambiguity"]], [*efe.ambiguity.values()])
    assert [tuple(part["observations"]) for part in shown["risk"]] == [*efe.risk]
    assert [part["observation"] for part in shown["ambiguity"]] == [*efe.ambiguity]
    close(shown["risk_total"] + shown["ambiguity_total"], shown["total"])


def test_the_root_shows_every_message_in_both_directions(
    trace: RunTrace, decided: Iterator[tuple[Cursor, BTAI_3MF]]
) -> None:
    for cursor, agent in decided:
        inference = agent.inference
        shown = exact(views.node(trace, Cursor(cursor.trial, cursor.cycle)))["inference"]
        assert (shown["exact"], shown["reason"]) == (inference.exact, inference.reason)
        close(shown["log_evidence"], inference.log_evidence)
        assert {(m["source"], m["target"]) for m in shown["messages"]} == set(inference.messages)
        assert {(m["target"], m["source"]) for m in shown["messages"]} == set(inference.messages)
        for message in shown["messages"]:
            expected = inference.messages[message["source"], message["target"]]
            assert message["shape"] == list(expected.shape)
            close(message["values"], expected.ravel())


def test_a_message_says_which_variables_it_is_about(recorded: Recorded, trace: RunTrace) -> None:
    sizes = trace.ts.sizes
    shown = exact(views.node(trace, Cursor(0, 0)))["inference"]
    assert shown["graph"] == ("factors" if recorded.is_known else "cliques")
    for message in shown["messages"]:
        assert message["shape"] == [sizes[name] for name in message["variables"]]
        ends = f"{message['source']} {message['target']}"
        assert all(name in ends for name in message["variables"])
    if not recorded.is_known:
        about = {(m["source"], m["target"]): m["variables"] for m in shown["messages"]}
        triple, pair = "{S_column, S_row, S_gate}", "{S_row, S_gate}"
        assert about[triple, pair] == about[pair, triple] == ["S_row", "S_gate"]


def test_a_message_between_cliques_is_about_whole_names(tmp_path: Path) -> None:
    trace = RunTrace(odd_run(tmp_path))
    shown = exact(views.node(trace, Cursor(0, 0)))["inference"]
    trace.close()
    assert sorted(shown["cliques"].values(), key=len) == [[STATES[2]], [*STATES[1:]], [*STATES]]
    about = sorted((m["variables"] for m in shown["messages"]), key=len)
    assert about == [[STATES[2]], [STATES[2]], [*STATES[1:]], [*STATES[1:]]]


def test_the_cells_of_a_part_add_up_to_it(trace: RunTrace) -> None:
    tree = trace.tree(Cursor(1, 0))
    for index in (1, 5, len(tree) - 1):
        efe = tree[index].expected_free_energy
        shown = exact(views.node(trace, Cursor(1, 0, node=index)))["efe"]
        for part in (*shown["risk"], *shown["ambiguity"]):
            cells = exact(views.cells(trace, Cursor(1, 0, node=index), part["part"]))
            close(sum(cell["value"] for cell in cells["cells"]) + cells["rest"]["value"], part["value"])
            assert cells["total"] == part["value"]
            assert len(cells["cells"]) + cells["rest"]["cells"] == math.prod(cells["shape"])
            sizes = [abs(cell["value"]) for cell in cells["cells"]]
            assert sizes == sorted(sizes, reverse=True)
            by_object = (
                efe.risk_cells(tuple(part["observations"]))
                if cells["kind"] == "risk"
                else efe.ambiguity_cells(part["observation"])
            )
            for cell in cells["cells"]:
                assert cell["value"] == by_object[tuple(cell["index"])]
                assert_cell(cells["kind"], cell)


def assert_cell(kind: str, cell: Any) -> None:
    """The numbers beside a cell's value make it."""
    if kind == "ambiguity":
        assert cell["value"] == cell["weight"] * cell["entropy"]
        return
    q = math.prod(cell["marginals"])
    expected = q * (math.log(q) - math.log(cell["preference"])) if q else 0.0
    close(cell["value"], expected)


def test_cells_are_named_by_their_values(trace: RunTrace) -> None:
    ts = trace.ts
    for part in ("risk:0", f"ambiguity:{list(ts.observations)[-1]}"):
        shown = exact(views.cells(trace, Cursor(0, 0, node=1), part))
        for cell in shown["cells"][:9]:
            variables: list[Any] = [{**ts.states, **ts.observations}[name] for name in shown["variables"]]
            assert cell["labels"] == [
                (v.values[i] if v.values else str(i)) for v, i in zip(variables, cell["index"], strict=True)
            ]


def test_occupancy_is_the_joint_of_two_states(trace: RunTrace) -> None:
    x, y = exact(views.info(trace))["occupancy"][0]
    for index in (0, 1, 6):
        beliefs = trace.tree(Cursor(0, 1))[index].beliefs
        shown = exact(views.occupancy(trace, Cursor(0, 1, node=index), x, y))
        assert (shown["rows"], shown["columns"]) == (len(beliefs[y]), len(beliefs[x]))
        joint = unpacked(shown["values"]).reshape(shown["rows"], shown["columns"])
        close(joint.sum(axis=0), beliefs[x])
        close(joint.sum(axis=1), beliefs[y])
        for row, column in ((0, 0), (1, 2), (shown["rows"] - 1, shown["columns"] - 1)):
            close(joint[row, column], beliefs[y][row] * beliefs[x][column])


def test_a_heat_map_lies_where_the_environment_says(trace: RunTrace, recorded: Recorded) -> None:
    x, y = exact(views.info(trace))["occupancy"][0]
    tell = getattr(recorded.make_env(), "picture_area", None)
    expected = tell(x, y) if tell else None
    assert exact(views.occupancy(trace, Cursor(), x, y))["area"] == (expected and [*expected])


def test_why_is_what_the_agent_explains(trace: RunTrace, decided: Iterator[tuple[Cursor, BTAI_3MF]]) -> None:
    for cursor, agent in decided:
        expected = Explanation.of(agent.tree, agent.choose())
        shown = exact(views.why(trace, cursor))
        assert shown["chosen"] == expected.chosen
        assert shown["text"] == repr(expected)
        for row, summary in zip(shown["actions"], expected.actions, strict=True):
            for name in ("action", "name", "visits", "mean_cost", "exploration", "uct", "efe"):
                assert row[name] == getattr(summary, name), name
            assert row["then"] == [*summary.then]
            close(row["terms"], [*summary.terms.values()])
            close(sum(row["terms"]), row["mean_cost"])
        assert {row["action"] for row in shown["against"]} == set(range(agent.ts.action.size)) - {expected.chosen}
        for row in shown["against"]:
            close(row["terms"], [*expected.differences(row["action"]).values()])
            assert row["tied"] is expected.is_tied(row["action"])
            assert row["deciding"] == expected.deciding_term(row["action"])
            chosen = expected.actions[expected.chosen]
            close(row["difference"], expected.actions[row["action"]].mean_cost - chosen.mean_cost)


def test_curves_follow_the_search(trace: RunTrace, decided: Iterator[tuple[Cursor, BTAI_3MF]]) -> None:
    for cursor, agent in decided:
        assert cursor.iteration is not None
        shown = exact(views.curves(trace, cursor))
        actions = shown["n_actions"]
        row = slice((cursor.iteration - 1) * actions, cursor.iteration * actions)
        children = agent.tree.root.children
        assert unpacked(shown["visits"])[row].tolist() == [child.visits for child in children]
        assert unpacked(shown["mean_cost"])[row].tolist() == [child.mean_cost for child in children]


def test_curves_say_where_the_chosen_action_parted_from_the_others(trace: RunTrace) -> None:
    for cycle in range(len(trace.trials()[0].actions)):
        shown = exact(views.curves(trace, Cursor(0, cycle)))
        visits = unpacked(shown["visits"]).reshape(-1, shown["n_actions"])
        chosen = shown["chosen"]
        assert chosen == trace.trials()[0].actions[cycle]
        for action, parted in enumerate(shown["parted"]):
            ahead = [bool(v[chosen] > v[action]) for v in visits]
            since = next((i + 1 for i in range(len(ahead)) if all(ahead[i:])), None)
            assert parted == since


@pytest.mark.parametrize(
    ("view", "cursor", "words"),
    [
        (views.trial, Cursor(2), "trial 2"),
        (views.cycle, Cursor(0, 99), "cycle 99"),
        (views.facts, Cursor(0, 0, 999), "iteration 999"),
        (views.why, Cursor(0, 0, 0), "nothing was planned"),
    ],
)
def test_a_cursor_that_points_nowhere_is_refused(trace: RunTrace, view: Any, cursor: Cursor, words: str) -> None:
    with pytest.raises(CursorError, match=words):
        view(trace, cursor)


@pytest.mark.parametrize("part", ["risk:9", "risk", "ambiguity:O_none", "", "cost:0"])
def test_a_part_that_is_none_is_refused_by_name(trace: RunTrace, part: str) -> None:
    with pytest.raises(CursorError, match="part: "):
        views.cells(trace, Cursor(0, 0, node=1), part)


def test_a_state_that_is_none_is_refused_by_name(trace: RunTrace) -> None:
    with pytest.raises(CursorError, match="S_nowhere"):
        views.occupancy(trace, Cursor(), "S_nowhere", "S_nowhere")
