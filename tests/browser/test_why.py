"""Why: the chosen action against any other one, over the planning iterations and term by term."""

from __future__ import annotations

import numpy as np
import pytest
from browser.seen import Seen, action_names, agent_at, close, column, read, same, trial_of
from inspector.recorded import Recorded
from playwright.sync_api import expect

from btai.agents import Explanation

CYCLE = 1


def explained(recorded: Recorded, iteration: int) -> Explanation:
    """What an agent of the test's own says."""
    agent = agent_at(recorded, CYCLE, iteration)
    return Explanation.of(agent.tree, agent.choose())


@pytest.mark.parametrize("iteration", [7, 25])
def test_the_sentence_names_the_difference_and_the_term_that_decides(
    seen: Seen, replay: str, recorded: Recorded, iteration: int
) -> None:
    expected = explained(recorded, iteration)
    ours = expected.actions[expected.chosen]
    for other in expected.actions:
        if other.action == expected.chosen:
            continue
        seen.open(replay, view="why", trial=0, cycle=CYCLE, iteration=iteration, against=other.action)
        verdict = seen.page.locator(".verdict p").first
        expect(verdict.locator(".chosen-action")).to_have_text(ours.name)
        expect(verdict.locator("select")).to_have_value(str(other.action))
        difference = other.mean_cost - ours.mean_cost
        if difference == 0:
            expect(verdict).to_contain_text("costs the same")
            continue
        expect(verdict).to_contain_text("cheaper" if difference > 0 else "dearer")
        assert ("practically tied" in verdict.inner_text()) == expected.is_tied(other.action)
        shown, decides = verdict.locator("b:not(.chosen-action)").all_inner_texts()[-2:]
        assert read(shown) == pytest.approx(abs(difference), rel=1e-3)
        assert decides == expected.deciding_term(other.action)


def test_any_other_action_can_be_compared_term_by_term(seen: Seen, replay: str, recorded: Recorded) -> None:
    expected = explained(recorded, 25)
    ours = expected.actions[expected.chosen]
    others = [summary for summary in expected.actions if summary.action != expected.chosen]
    seen.open(replay, view="why", trial=0, cycle=CYCLE, iteration=25)
    for other in others:
        seen.choose("Action to compare with", str(other.action))
        seen.expect_place(against=other.action)
        *terms, whole = seen.numbers("differences")
        assert column(terms, 0) == [*ours.terms]
        same(column(terms, 1), [*ours.terms.values()])
        same(column(terms, 2), [*other.terms.values()])
        same(column(terms, 3), [*expected.differences(other.action).values()])
        same(whole[1:], [ours.mean_cost, other.mean_cost, other.mean_cost - ours.mean_cost])
        same(np.sum(column(terms, 3)), other.mean_cost - ours.mean_cost)


def test_the_deciding_term_is_marked_in_words(seen: Seen, replay: str, recorded: Recorded) -> None:
    expected = explained(recorded, 25)
    others = [summary.action for summary in expected.actions if summary.action != expected.chosen]
    other = next(action for action in others if not expected.is_tied(action))
    seen.open(replay, view="why", trial=0, cycle=CYCLE, iteration=25, against=other)
    for words in ("risk", "ambiguity", "positive: speaks for "):  # nothing is told by colour alone
        expect(seen.figure("differences").locator(".legend")).to_contain_text(words)
    decides = seen.settled("differences").locator(".part").filter(has_text="decides")
    expect(decides).to_have_count(1)
    assert (decides.get_attribute("data-tip") or "").startswith(expected.deciding_term(other))


def test_the_actions_with_their_numbers_and_a_click_compares(seen: Seen, replay: str, recorded: Recorded) -> None:
    expected = explained(recorded, 25)
    seen.open(replay, view="why", trial=0, cycle=CYCLE, iteration=25)
    rows = seen.rows("actions")
    assert column(rows, 0) == [summary.name for summary in expected.actions]
    for row, a in zip(rows, expected.actions, strict=True):
        same(row[2:7], [a.visits, a.mean_cost, a.exploration, a.uct, a.efe])
        assert (row[1] == "chosen") == (a.action == expected.chosen)
        assert row[7] == (
            ", ".join(a.then[:3]) + (", \N{HORIZONTAL ELLIPSIS}" if len(a.then) > 3 else "") or "\N{EN DASH}"
        )
    last = [summary for summary in expected.actions if summary.action != expected.chosen][-1]
    seen.figure("actions").get_by_role("button", name=last.name, exact=True).click()
    seen.expect_place(against=last.action)
    expect(seen.figure("actions").locator(f"tr[data-action='{last.action}']")).to_contain_text("compared")


def test_the_curves_are_what_a_fresh_agent_counts_after_every_iteration(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    agent = agent_at(recorded, CYCLE)
    planned = agent.options.iterations
    visits, costs = [], []
    for _ in range(planned):
        agent.plan(1)
        visits.append([child.visits for child in agent.tree.root.children])
        costs.append([child.mean_cost for child in agent.tree.root.children])
    seen.open(replay, view="why", trial=0, cycle=CYCLE, iteration=3)
    for name, expected in (("curve-visits", visits), ("curve-mean-cost", costs)):
        rows = seen.numbers(name)
        assert column(rows, 0) == list(range(1, planned + 1))
        same([row[1:] for row in rows], expected)


def test_the_curves_mark_where_the_two_actions_parted(seen: Seen, replay: str, recorded: Recorded) -> None:
    agent = agent_at(recorded, CYCLE)
    visits = []
    for _ in range(agent.options.iterations):
        agent.plan(1)
        visits.append([child.visits for child in agent.tree.root.children])
    chosen = trial_of(recorded).actions[CYCLE]
    for other in range(agent.ts.action.size):
        if other == chosen:
            continue
        ahead = [counts[chosen] > counts[other] for counts in visits]
        seen.open(replay, view="why", trial=0, cycle=CYCLE, against=other)
        mark = seen.figure("curve-visits").locator(".mark-parted")
        if not ahead[-1]:  # they are level to the end
            expect(seen.figure("curve-visits").locator(".curve-chosen")).to_be_visible()
            expect(mark).to_have_count(0)
            continue
        first = len(ahead) - ahead[::-1].index(False) + 1 if False in ahead else 1
        expect(mark).to_have_text(f"apart from {first} on")


def test_a_click_on_a_curve_goes_to_the_iteration_and_the_explanation_follows(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    planned = agent_at(recorded, CYCLE).options.iterations
    seen.open(replay, view="why", trial=0, cycle=CYCLE, iteration=planned)
    chart = seen.settled("curve-visits").locator("svg.lines")
    box = chart.bounding_box()
    assert box is not None
    chart.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    seen.until(lambda: 1 < int(seen.place["iteration"]) < planned, True)
    iteration = int(seen.place["iteration"])
    expected = explained(recorded, iteration)
    seen.until(lambda: column(seen.rows("actions"), 2), [summary.visits for summary in expected.actions])
    same(column(seen.rows("actions"), 3), [summary.mean_cost for summary in expected.actions])
    ours = action_names(agent_at(recorded, CYCLE).ts)[expected.chosen]
    expect(seen.page.locator(".verdict")).to_contain_text(f"After iteration {iteration}, {ours} is ahead")
    close(read(seen.page.locator(".position b").inner_text()), iteration)


def test_where_nothing_is_planned_the_page_says_so_and_leads_on(seen: Seen, replay: str, recorded: Recorded) -> None:
    seen.open(replay, view="why", trial=0, cycle=CYCLE, iteration=0)
    seen.press("To the end of the planning")
    seen.expect_place(iteration=agent_at(recorded, CYCLE).options.iterations)
    expect(seen.page.locator(".verdict")).to_contain_text("was chosen")
    last = len(trial_of(recorded).actions)
    seen.open(replay, view="why", trial=0, cycle=last)
    expect(seen.page.locator("main")).to_contain_text("nothing was planned")
    seen.press("To the decision before")
    seen.expect_place(cycle=last - 1)
    expect(seen.page.locator(".verdict")).to_contain_text("was chosen")
