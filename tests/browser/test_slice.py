"""The temporal slice: the paper's six widgets, at the present and in the future."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from browser.seen import Seen, action_names, agent_at, close, column, same
from inspector.recorded import Recorded
from playwright.sync_api import expect

ITERATIONS = 25


@pytest.fixture
def agent(recorded: Recorded) -> Any:
    return agent_at(recorded, 1, ITERATIONS)


def open_slice(seen: Seen, replay: str, node: int, **place: Any) -> None:
    seen.open(replay, view="slice", trial=0, cycle=1, iteration=ITERATIONS, node=node, **place)
    expect(seen.page.locator(".slice")).to_have_attribute("data-node", str(node))


def test_the_likelihood_graph_has_every_variable_and_factor_and_tells_full_names(
    seen: Seen, replay: str, agent: Any
) -> None:
    open_slice(seen, replay, 0)
    graph = seen.figure("likelihood").locator("svg")
    for number, name in enumerate(agent.ts.states, 1):
        circle = graph.locator(f'[data-variable="{name}"]')
        expect(circle.locator(".short")).to_have_text(f"S{number}")
        assert seen.tip(circle).startswith(name)
    for number, name in enumerate(agent.ts.observations, 1):
        expect(graph.locator(f'[data-variable="{name}"] .short')).to_have_text(f"O{number}")
    edges = sum(1 + len(o.parents) for o in agent.ts.observations.values()) + len(agent.ts.states)
    expect(graph.locator(".edge")).to_have_count(edges)
    rows = {row[1]: row[2] for row in seen.numbers("likelihood")}
    assert rows == {o.name: ", ".join(o.parents) for o in agent.ts.observations.values()} | dict.fromkeys(
        agent.ts.states, "(prior)"
    )


def test_the_transition_graph_tells_what_depends_on_the_action(seen: Seen, replay: str, agent: Any) -> None:
    open_slice(seen, replay, 0)
    moved = {name for name, t in agent.ts.transitions.items() if agent.ts.action.name in t.parents}
    graph = seen.figure("transition").locator("svg")
    assert {g.get_attribute("data-variable") for g in graph.locator(".variable.moved").all()} == moved
    expect(graph.locator(".edge.from-action")).to_have_count(len(moved))
    rows = seen.numbers("transition")
    assert {row[0]: row[2] for row in rows} == {name: "yes" if name in moved else "no" for name in agent.ts.transitions}
    assert {row[0]: row[1] for row in rows} == {name: ", ".join(t.parents) for name, t in agent.ts.transitions.items()}


def test_the_preferences_show_their_groups_and_what_is_in_none(seen: Seen, replay: str, agent: Any) -> None:
    open_slice(seen, replay, 0)
    expect(seen.figure("preferences").locator("svg .factor")).to_have_count(len(agent.ts.preferences))
    rows = seen.numbers("preferences")
    assert [row[1] for row in rows if row[0] != "none"] == [", ".join(p.observations) for p in agent.ts.preferences]
    grouped = {name for p in agent.ts.preferences for name in p.observations}
    assert [row[1] for row in rows if row[0] == "none"] == [n for n in agent.ts.observations if n not in grouped]


def test_the_posterior_of_every_state_with_its_prior_as_a_ghost(seen: Seen, replay: str, agent: Any) -> None:
    open_slice(seen, replay, 0)
    for name, belief in agent.beliefs.items():
        seen.choose("Variable whose beliefs are shown", name)
        rows = seen.numbers("beliefs")
        same(column(rows, 1), belief)
        same(column(rows, 2), agent.prior[name])
        seen.expect_place(state=name)


def test_a_click_on_a_node_of_a_graph_shows_its_beliefs(seen: Seen, replay: str, agent: Any) -> None:
    child = agent.tree[1]
    open_slice(seen, replay, 1)
    for name in list(agent.ts.states)[-2:]:
        seen.figure("likelihood").locator(f'[data-variable="{name}"]').click()
        expect(seen.page.get_by_label("Variable whose beliefs are shown")).to_have_value(name)
        rows = seen.numbers("beliefs")
        same(column(rows, 1), child.beliefs[name])
        same(column(rows, 2), agent.beliefs[name])
    name = list(agent.ts.observations)[-1]
    seen.figure("preferences").locator(f'[data-variable="{name}"]').press("Enter")
    same(column(seen.numbers("beliefs"), 1), child.predicted_observations[name])


def test_evidence_can_be_seen_and_so_can_its_absence(seen: Seen, replay: str, agent: Any) -> None:
    open_slice(seen, replay, 0)
    for name in agent.ts.observations:
        seen.choose("Variable whose beliefs are shown", name)
        figure = seen.figure("beliefs")
        if "was not observed" in figure.inner_text():
            assert name == "O_sky"  # what the rover does not see in cycle 1
            continue
        shown = column(seen.numbers("beliefs"), 1)
        assert sorted(shown) == [0] * (len(shown) - 1) + [1]
        figure.get_by_role("button", name="numbers as a table").click()


@pytest.mark.parametrize("index", [0, 2, 3, -1])
def test_the_tree_search_facts_of_a_node_with_the_criterion_filled_in(
    seen: Seen, replay: str, agent: Any, index: int
) -> None:
    node = agent.tree[index % len(agent.tree)]
    open_slice(seen, replay, node.index)
    for name in ("visits", "cost", "mean_cost"):
        close(seen.number(name), getattr(node, name))
    if node.index == 0:
        assert seen.number("uct") is None
        return
    for name in ("efe", "exploration", "uct"):
        close(seen.number(name), getattr(node, name))
    formula = seen.page.locator(".formula").inner_text()
    assert str(node.parent.visits) in formula
    assert str(node.visits) in formula
    assert f"{node.uct:.4g}".replace("-", "\N{MINUS SIGN}") in formula


def test_every_message_in_either_direction(seen: Seen, replay: str, agent: Any) -> None:
    messages = agent.inference.messages
    open_slice(seen, replay, 0)
    choice = seen.page.get_by_label("Message that is shown")
    offered = choice.locator("option").evaluate_all("options => options.map(option => option.value)")
    assert len(offered) == len(messages)
    for (source, target), message in list(messages.items())[:6]:
        choice.select_option(f"{source}>{target}")
        same(column(seen.numbers("message"), 1), np.ravel(message))
    source, _, target = choice.input_value().partition(">")
    seen.press("The message in the other direction")
    expect(choice).to_have_value(f"{target}>{source}")
    same(column(seen.numbers("message"), 1), np.ravel(messages[target, source]))
    close(seen.number("log_evidence"), agent.inference.log_evidence)


def test_a_click_on_an_edge_shows_its_message_and_another_click_the_other_direction(
    seen: Seen, replay: str, agent: Any
) -> None:
    open_slice(seen, replay, 0)
    on_factors = all(end.startswith(("f_", "S_", "O_")) for pair in agent.inference.messages for end in pair)
    figure = seen.figure("likelihood" if on_factors else "message")
    edge = figure.locator(".edge.clickable").nth(1)
    edge.press("Enter")
    first = seen.place["edge"].split(">")
    edge.press("Enter")
    assert seen.place["edge"].split(">") == first[::-1]
    same(column(seen.numbers("message"), 1), np.ravel(agent.inference.messages[first[1], first[0]]))


def test_the_path_leads_back_step_by_step(seen: Seen, replay: str, agent: Any) -> None:
    node = next(node for node in agent.tree if len(node.path) == 2)
    open_slice(seen, replay, node.index)
    trail = seen.page.get_by_role("navigation", name="Path to this slice")
    names = action_names(agent.ts)
    assert trail.locator("li").all_inner_texts() == ["TS(t)", *(names[a] for a in node.path)]
    trail.get_by_role("button", name=names[node.path[0]]).click()
    seen.expect_place(node=node.parent.index)
    trail.get_by_role("button", name="TS(t)").click()
    seen.expect_place(node=0)
    trail.get_by_role("button", name="Tree").click()
    seen.expect_place(view="visualisation")
