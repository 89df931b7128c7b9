"""Copy as Python: the lines run as they stand, and give the numbers that are shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.models import pair
from browser.seen import Seen, agent_at, close, column, same
from inspector.copied import value_of
from inspector.recorded import Recorded
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

CYCLE, ITERATION, NODE = 1, 12, 5

Copied = Callable[..., Any]


def clipboard(seen: Seen, name: str) -> str:
    """Copy a figure as Python."""
    figure = seen.settled(name)
    menu = figure.get_by_role("button", name="save or copy")
    if menu.count():
        menu.click()
    button = figure.get_by_role("button", name="Copy as Python")
    button.click()
    expect(figure.get_by_role("button", name="Copied")).to_be_visible()
    if menu.count():
        menu.click()
    return str(seen.page.evaluate("navigator.clipboard.readText()"))


@pytest.fixture
def copied(seen: Seen, recorded: Recorded, tmp_path: Path) -> Copied:
    """What the lines give that a figure is copied as."""
    ts = None if recorded.is_known else recorded.make_agent().ts
    return lambda name: value_of(clipboard(seen, name), tmp_path, ts)


def open_at(seen: Seen, replay: str, view: str, node: int = NODE, **place: Any) -> None:
    seen.open(replay, view=view, trial=0, cycle=CYCLE, iteration=ITERATION, node=node, **place)


def test_the_visualisation(seen: Seen, replay: str, copied: Copied) -> None:
    open_at(seen, replay, "visualisation")
    shown = seen.numbers("environment")
    joint = copied("environment")
    same(column(shown, 2), [joint[int(row[1] or 0), int(row[0] or 0)] for row in shown])
    (itself,) = (row for row in seen.numbers("near-tree") if row[0] == "(itself)")
    same(itself[2:], copied("near-tree"))
    visits, cost, efe, *_ = copied("whole-tree")
    for row in seen.numbers("whole-tree"):
        node = int(row[0] or 0)
        same(row[2:4], [visits[node], cost[node]])
        if node:
            same(row[5], efe[node])


def test_the_structure_of_the_model(seen: Seen, replay: str, copied: Copied) -> None:
    open_at(seen, replay, "slice")
    likelihood = {row[1]: row[2] for row in seen.numbers("likelihood") if row[2] != "(prior)"}
    assert likelihood == {name: ", ".join(parents) for name, parents in copied("likelihood").items()}
    transition = {row[0]: row[1] for row in seen.numbers("transition")}
    assert transition == {name: ", ".join(parents) for name, parents in copied("transition").items()}
    groups = [row[1] for row in seen.numbers("preferences") if row[0] != "none"]
    preferences = copied("preferences")
    assert groups == [", ".join(names) for names in preferences]
    assert all(table.sum() == pytest.approx(1) for table in preferences.values())


def test_the_future_slice(seen: Seen, replay: str, recorded: Recorded, copied: Copied) -> None:
    ts = recorded.make_agent().ts
    open_at(seen, replay, "slice")
    for name in (next(iter(ts.states)), [*ts.states][-1], [*ts.observations][-1]):
        seen.choose("Variable whose beliefs are shown", name)
        seen.expect_place(state=name)
        same(column(seen.numbers("beliefs"), 1), copied("beliefs"))
    facts = {row[0]: row[1] for row in seen.numbers("facts")}
    names = ("visits", "cost", "mean cost", "expected free energy", "exploration", "UCT")
    same([facts[name] for name in names], copied("facts"))
    total, risk, ambiguity = copied("efe")
    same(column(seen.numbers("efe"), 1), [sum(risk.values()), sum(ambiguity.values()), total])


def test_the_parts_of_the_expected_free_energy(seen: Seen, replay: str, recorded: Recorded, copied: Copied) -> None:
    for part in ("risk:0", f"ambiguity:{list(recorded.make_agent().ts.observations)[-1]}"):
        open_at(seen, replay, "slice", part=part)
        expect(seen.figure("efe").locator(".levels li")).to_have_count(3)
        *cells, _, whole = seen.numbers("efe")
        array = copied("efe")
        same(whole[-1], array.sum())
        values = column(cells, -1)
        same(values, array.ravel()[np.argsort(-np.abs(array), axis=None, kind="stable")][: len(values)])


def test_the_present_slice(seen: Seen, replay: str, recorded: Recorded, copied: Copied) -> None:
    ts = recorded.make_agent().ts
    open_at(seen, replay, "slice", node=0, state=next(iter(ts.states)))
    same(column(seen.numbers("beliefs"), 1), copied("beliefs"))
    observation = next(iter(ts.observations))
    seen.choose("Variable whose beliefs are shown", observation)
    seen.expect_place(state=observation)
    same(column(seen.numbers("beliefs"), 1), copied("beliefs")[observation])
    seen.press("The message in the other direction")
    same(column(seen.numbers("message"), 1), np.ravel(copied("message")))


def test_why(seen: Seen, replay: str, copied: Copied) -> None:
    open_at(seen, replay, "why")
    visits = [row[1:] for row in seen.numbers("curve-visits")]
    costs = [row[1:] for row in seen.numbers("curve-mean-cost")]
    for name in ("curve-visits", "curve-mean-cost"):
        value = copied(name)
        same(visits, value[0])
        same(costs, value[1])
    differences = seen.numbers("differences")[:-1]
    for name in ("differences", "actions"):
        value = copied(name)
        assert column(differences, 0) == [*value]
        same(column(differences, 3), [*value.values()])


def test_what_if(seen: Seen, replay: str, recorded: Recorded, copied: Copied) -> None:
    one, two, three = list(agent_at(recorded, CYCLE).evidence)[:3]
    changes: Any = {"evidence": {one: 0, two: None, three: {"soften": 0.4}}, "exp_const": 0.7, "iterations": 9}
    for forced in (None, 1):
        what = changes | ({} if forced is None else {"action": forced})
        open_at(seen, replay, "what-if", what=json.dumps(what))
        expect(seen.figure("outcomes")).to_be_visible()
        log_evidence, beliefs, actions, chosen = copied("outcomes")
        close(seen.number("altered-log_evidence"), log_evidence)
        rows = seen.rows("outcome-actions")
        same([row[4:6] for row in rows], actions)
        assert column(rows, 6).index("chosen") == chosen
        state = seen.page.get_by_label("State whose posterior is compared").input_value()
        same(column(seen.numbers("outcome-beliefs"), 2), beliefs[state])


def test_the_trials(seen: Seen, replay: str, copied: Copied) -> None:
    open_at(seen, replay, "trials")
    shown = seen.rows("trials")
    same([[float(row[0] or 0), row[1], row[2], row[4]] for row in shown], copied("trials"))


def test_a_live_agent_can_be_made_again(live: tuple[str, str], seen: Seen, tmp_path: Path) -> None:
    ts = pair(live[1]).agent.ts
    seen.open(live[0])
    controls = seen.page.locator(".controls")
    controls.get_by_role("button", name="Finish planning").click()
    controls.get_by_role("button", name="Perform best action:").click()
    seen.expect_place(cycle=1)
    for iteration in (1, 2):
        controls.get_by_role("button", name="Next planning iteration").click()
        seen.expect_place(iteration=iteration)
    visits, cost, *_ = value_of(clipboard(seen, "whole-tree"), tmp_path, ts)
    rows = seen.numbers("whole-tree")
    same(column(rows, 2), [visits[int(row[0] or 0)] for row in rows])
    same(column(rows, 3), [cost[int(row[0] or 0)] for row in rows])
