"""What if: other evidence, exploration constant or budget, a forced action; both outcomes side by side."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from browser.seen import Seen, action_names, agent_at, close, column, same, trial_of
from inspector.recorded import Recorded
from numpy.typing import NDArray
from playwright.sync_api import Route, expect

from btai import BTAI_3MF
from btai.experiments import RunFile

CYCLE = 1
FEW = 11  # planning iterations, of another budget


@pytest.fixture
def evidence(recorded: Recorded) -> dict[str, NDArray[np.float64]]:
    """What was observed; what was not is all ones in the file."""
    with RunFile.open(recorded.path) as file:
        given = file.cycles(0)[CYCLE].evidence
    return {name: np.array(vector) for name, vector in given.items() if not (vector == 1).all()}


def replanned(
    recorded: Recorded, evidence: Any, exp_const: float | None = None, iterations: int | None = None
) -> BTAI_3MF:
    """An agent of the test's own that decides again from the same prior."""
    before = agent_at(recorded, CYCLE)
    options = before.options
    agent = BTAI_3MF(before.ts, options.iterations, options.exp_const if exp_const is None else exp_const)
    agent.reset(evidence, before.prior)
    agent.plan(iterations or options.iterations)
    return agent


def field(seen: Seen, name: str) -> Any:
    """A field of the form."""
    return seen.page.locator(f".what-if-form [name='{name}']")


def see(seen: Seen) -> None:
    """Have it worked out."""
    seen.press("See what happens")
    expect(seen.button("See what happens")).to_be_enabled()
    expect(seen.figure("outcomes")).to_be_visible()


def check(seen: Seen, recorded: Recorded, altered: BTAI_3MF, chosen: int | None = None) -> None:
    """Both columns of every table are what agents of the test's own come to."""
    original = agent_at(recorded, CYCLE, agent_at(recorded, CYCLE).options.iterations)
    performed = trial_of(recorded).actions[CYCLE]
    for name, agent, action in (
        ("original", original, performed),
        ("altered", altered, altered.choose() if chosen is None else chosen),
    ):
        seen.until(lambda name=name: seen.number(f"{name}-iterations"), len(agent.tree.expanded))  # type: ignore[misc]
        close(seen.number(f"{name}-log_evidence"), agent.inference.log_evidence)
        close(seen.number(f"{name}-exp_const"), agent.tree.exp_const)
        close(seen.number(f"{name}-efe"), agent.tree.root.children[action].expected_free_energy.total)
        first = 1 if name == "original" else 4
        rows = seen.rows("outcome-actions")
        same(column(rows, first), [child.visits for child in agent.tree.root.children])
        same(column(rows, first + 1), [child.mean_cost for child in agent.tree.root.children])
        assert [row[first + 2] for row in rows].index("chosen") == action
    names = action_names(original.ts)
    said = seen.figure("outcomes").locator("tbody tr").first.locator("td")
    expect(said.nth(0)).to_have_text(names[performed])
    expect(said.nth(1)).to_contain_text(names[altered.choose() if chosen is None else chosen])


def check_beliefs(seen: Seen, ours: Any, theirs: Any) -> None:
    for name in list(ours)[:3]:
        seen.choose("State whose posterior is compared", name)
        seen.expect_place(state=name)
        rows = seen.numbers("outcome-beliefs")
        same(column(rows, 1), ours[name])
        same(column(rows, 2), theirs[name])


def test_another_observation(seen: Seen, replay: str, recorded: Recorded, evidence: Any) -> None:
    name = next(iter(evidence))
    value = (int(evidence[name].argmax()) + 1) % len(evidence[name])
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    field(seen, name).select_option(str(value))
    see(seen)
    altered = replanned(recorded, evidence | {name: value})
    check(seen, recorded, altered)
    check_beliefs(seen, agent_at(recorded, CYCLE).beliefs, altered.beliefs)
    expect(seen.figure("outcomes").locator("tr.differs").filter(has_text="log evidence")).to_contain_text("changed")


def test_an_observation_cleared(seen: Seen, replay: str, recorded: Recorded, evidence: Any) -> None:
    name = list(evidence)[1]
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    field(seen, name).select_option(label="not observed")
    see(seen)
    altered = replanned(recorded, {other: vector for other, vector in evidence.items() if other != name})
    check(seen, recorded, altered)
    check_beliefs(seen, agent_at(recorded, CYCLE).beliefs, altered.beliefs)


def test_an_observation_softened(seen: Seen, replay: str, recorded: Recorded, evidence: Any) -> None:
    name = next(iter(evidence))
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    field(seen, name).select_option("softened")
    slider = seen.page.get_by_label(f"How credible the other values of {name} are")
    slider.fill("0.35")
    expect(seen.page.locator(".soften")).to_contain_text("0.35 times as credible")
    see(seen)
    altered = replanned(recorded, evidence | {name: 0.35 + 0.65 * evidence[name]})
    check(seen, recorded, altered)
    check_beliefs(seen, agent_at(recorded, CYCLE).beliefs, altered.beliefs)


def test_another_exploration_constant_and_another_budget(
    seen: Seen, replay: str, recorded: Recorded, evidence: Any
) -> None:
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    field(seen, "exp_const").fill("0.3")
    see(seen)
    check(seen, recorded, replanned(recorded, evidence, exp_const=0.3))
    field(seen, "exp_const").fill("")
    field(seen, "iterations").fill(str(FEW))
    see(seen)
    check(seen, recorded, replanned(recorded, evidence, iterations=FEW))


def test_a_forced_action_and_what_is_believed_after_it(
    seen: Seen, replay: str, recorded: Recorded, evidence: Any
) -> None:
    performed = trial_of(recorded).actions[CYCLE]
    forced = (performed + 1) % agent_at(recorded, CYCLE).ts.action.size
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    field(seen, "action").select_option(str(forced))
    see(seen)
    altered = replanned(recorded, evidence)
    check(seen, recorded, altered, forced)
    expect(seen.figure("outcomes")).to_contain_text("(forced)")
    seen.choose("Beliefs of when", "after")
    seen.expect_place(when="after")
    children = altered.tree.root.children
    check_beliefs(seen, children[performed].beliefs, children[forced].beliefs)


def test_everything_at_once_is_in_the_link(seen: Seen, replay: str, recorded: Recorded, evidence: Any) -> None:
    changed, cleared = list(evidence)[:2]
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    field(seen, changed).select_option("0")
    field(seen, cleared).select_option("cleared")
    field(seen, "exp_const").fill("3")
    field(seen, "iterations").fill(str(FEW))
    see(seen)
    place = seen.place
    seen.open(replay, **place)
    expect(field(seen, changed)).to_have_value("0")
    expect(field(seen, cleared)).to_have_value("cleared")
    expect(field(seen, "exp_const")).to_have_value("3")
    given = {name: vector for name, vector in evidence.items() if name != cleared} | {changed: 0}
    check(seen, recorded, replanned(recorded, given, 3.0, FEW))


def test_the_original_is_untouched_and_changes_can_be_undone(
    seen: Seen, replay: str, recorded: Recorded, evidence: Any
) -> None:
    written = recorded.path.read_bytes()
    name = next(iter(evidence))
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    field(seen, name).select_option("cleared")
    see(seen)
    seen.press("Undo changes")
    expect(field(seen, name)).to_have_value("as observed")
    expect(seen.figure("outcomes")).to_have_count(0)
    assert "what" not in seen.place
    seen.press("Visualisation")
    tree = agent_at(recorded, CYCLE, agent_at(recorded, CYCLE).options.iterations).tree
    rows = seen.numbers("near-tree")
    same(column(rows, 3), [tree.root.cost, *(child.cost for child in tree.root.children)])
    assert recorded.path.read_bytes() == written


def outcome_rows(seen: Seen) -> dict[str, list[str]]:
    """What is said of each figure: as it was, what if, and whether it changed."""
    rows = seen.figure("outcomes").locator("tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}


def test_what_changed_is_seen_to_differ_and_what_rounding_changed_is_not_said_to(seen: Seen, replay: str) -> None:
    def slightly(route: Route) -> None:
        answer = route.fetch().json()
        original, altered = answer["original"], answer["altered"]
        original["after"]["efe"]["total"], altered["after"]["efe"]["total"] = 5.81512, 5.81467
        altered["log_evidence"] = original["log_evidence"] * (1 + 1e-15)
        route.fulfill(json=answer)

    seen.page.route("**/api/what-if", slightly)
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE, what=json.dumps({"iterations": FEW}))
    rows = outcome_rows(seen)
    assert rows["EFE of the next slice"] == ["5.8151", "5.8147", "changed"]
    ours, theirs, verdict = rows["log evidence"]
    assert (ours, verdict) == (theirs, "")
    assert rows["planning iterations"][2] == "changed"
    assert rows["exploration constant"][2] == ""


def test_results_of_before_are_marked_while_the_form_is_edited_and_while_they_are_worked_out(
    seen: Seen, replay: str
) -> None:
    held: list[Route] = []
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE, what=json.dumps({"iterations": FEW}))
    outcomes = seen.page.locator(".outcomes")
    expect(outcomes).not_to_have_class(re.compile("of-before"))
    field(seen, "iterations").fill(str(FEW + 1))
    expect(outcomes).to_have_class(re.compile("of-before"))
    expect(outcomes).to_contain_text("from before your changes")
    expect(outcomes.locator("table").first).to_have_css("opacity", "0.55")
    seen.page.route("**/api/what-if", lambda route: held.append(route))
    seen.press("See what happens")
    expect(outcomes).to_have_attribute("aria-busy", "true")
    expect(outcomes.locator("table").first).to_have_css("opacity", "0.55")
    seen.until(lambda: len(held), 1)
    held[0].continue_()
    seen.arrive()
    expect(outcomes.locator("table").first).to_have_css("opacity", "1")
    assert outcome_rows(seen)["planning iterations"][1] == str(FEW + 1)


def test_suggestions_are_a_beginning(seen: Seen, replay: str, recorded: Recorded, evidence: Any) -> None:
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE)
    seen.page.locator(".ideas button").filter(has_text="ten times as long").click()
    iterations = 10 * agent_at(recorded, CYCLE).options.iterations
    check(seen, recorded, replanned(recorded, evidence, iterations=iterations))


def test_what_cannot_be_is_said(seen: Seen, replay: str) -> None:
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE, what='{"evidence": {"O_nothing": 1}}')
    expect(seen.page.get_by_role("alert")).to_contain_text("O_nothing")
    seen.complaints.clear()  # the browser's own, of the answer 422
    seen.open(replay, view="what-if", trial=0, cycle=CYCLE, what="{mistyped")
    expect(seen.figure("outcomes")).to_be_visible()
