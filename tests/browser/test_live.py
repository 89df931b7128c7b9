"""A live agent: every button commands it, and what the page shows is what an agent of the test's own comes to."""

from __future__ import annotations

import pytest
from browser.models import Pair, pair
from browser.seen import Seen, action_names, close, column, same
from playwright.sync_api import Locator, expect

from btai import BTAI_3MF


@pytest.fixture
def shown(live: tuple[str, str], seen: Seen) -> Seen:
    """The page of a live agent; the window closes before the server does."""
    return seen.open(live[0])


@pytest.fixture
def own(live: tuple[str, str]) -> Pair:
    """An environment and an agent that do the same when the test lets them."""
    env, agent = pair(live[1])
    agent.reset(env.reset())
    return Pair(env, agent)


def controls(seen: Seen) -> Locator:
    return seen.page.locator(".controls")


def tree_of(agent: BTAI_3MF) -> list[list[float]]:
    """The table around the root that the page should show."""
    tree = agent.tree
    children = [[c.index, c.visits, c.cost, c.mean_cost, c.efe, c.exploration, c.uct] for c in tree.root.children]
    return [[tree.root.index, tree.root.visits, tree.root.cost, tree.root.mean_cost], *children]


def check_tree(seen: Seen, agent: BTAI_3MF) -> None:
    """The page stands where the agent does, and shows its tree."""
    seen.until(lambda: int(seen.place["iteration"]), len(agent.tree.expanded))
    rows = seen.numbers("near-tree")
    for row, wanted in zip(rows, tree_of(agent), strict=False):
        same(row[1 : 1 + len(wanted)], wanted)
    assert len(rows) == 1 + agent.tree.n_actions


def check_cycle(seen: Seen, own: Pair, cycle: int) -> None:
    """The page shows the cycle that the agent is in: reward, observations and beliefs."""
    seen.expect_place(cycle=cycle, iteration=0, node=0)
    expect(seen.page.locator("[data-id=cycle]")).to_have_text(str(cycle))
    close(seen.number("reward"), own.env.get_reward())
    for name, vector in own.agent.evidence.items():
        values = own.agent.ts.observations[name].values
        told = seen.figure("environment").get_by_text(name, exact=True).locator("xpath=following-sibling::dd[1]")
        expect(told).to_have_text(values[int(vector.argmax())] if values else str(int(vector.argmax())))
    state = next(iter(own.agent.beliefs))
    seen.press("Temporal slice")
    seen.choose("Variable whose beliefs are shown", state)
    seen.expect_place(state=state)
    same(column(seen.numbers("beliefs"), 1), own.agent.beliefs[state])
    same(column(seen.rows("beliefs"), 2), own.agent.prior[state])
    seen.press("Visualisation")


def test_next_planning_iteration_plans_one(shown: Seen, own: Pair) -> None:
    expect(shown.page.locator(".near-tree .node-none")).to_have_count(own.agent.ts.action.size)
    expect(shown.figure("whole-tree")).to_contain_text("The tree grows here")
    expect(controls(shown).get_by_role("button", name="Perform best action")).to_be_disabled()
    for _ in range(3):
        controls(shown).get_by_role("button", name="Next planning iteration").click()
        own.agent.plan(1)
        check_tree(shown, own.agent)


def test_finish_planning_does_what_is_left_of_the_budget(shown: Seen, own: Pair) -> None:
    controls(shown).get_by_role("button", name="Next planning iteration").click()
    shown.expect_place(iteration=1)
    controls(shown).get_by_role("button", name="Finish planning").click()
    own.agent.plan(own.agent.options.iterations)
    check_tree(shown, own.agent)
    expect(controls(shown).get_by_role("button", name="Finish planning")).to_be_disabled()
    expect(controls(shown).get_by_role("button", name="Next planning iteration")).to_be_enabled()  # beyond it by hand


def test_perform_best_action_acts_in_the_environment(shown: Seen, own: Pair) -> None:
    for cycle in (1, 2):
        controls(shown).get_by_role("button", name="Finish planning").click()
        own.agent.plan(own.agent.options.iterations)
        best = own.agent.choose()
        name = action_names(own.agent.ts)[best]
        controls(shown).get_by_role("button", name=f"Perform best action: {name}").click()
        own.agent.update(best, own.env.execute(best))
        check_cycle(shown, own, cycle)


def test_any_other_action_can_be_performed_by_hand(shown: Seen, own: Pair) -> None:
    names = action_names(own.agent.ts)
    for cycle, action in ((1, len(names) - 1), (2, 0)):
        shown.choose("Action to perform by hand", str(action))
        controls(shown).get_by_role("button", name="Perform by hand").click()
        own.agent.update(action, own.env.execute(action))
        check_cycle(shown, own, cycle)
        before = shown.page.get_by_role("navigation", name="Cycles").get_by_role("button").nth(cycle - 1)
        expect(before).to_contain_text(names[action])


def test_an_action_by_hand_against_the_plan_is_told_in_why(shown: Seen, own: Pair) -> None:
    controls(shown).get_by_role("button", name="Finish planning").click()
    own.agent.plan(own.agent.options.iterations)
    check_tree(shown, own.agent)
    other = (own.agent.choose() + 1) % own.agent.ts.action.size
    shown.choose("Action to perform by hand", str(other))
    controls(shown).get_by_role("button", name="Perform by hand").click()
    shown.expect_place(cycle=1)
    shown.page.keyboard.press("Shift+ArrowLeft")
    shown.press("Why")
    name = action_names(own.agent.ts)[other]
    expect(shown.page.locator(".verdict")).to_contain_text(f"{name} was chosen")
    shown.page.keyboard.press("ArrowLeft")
    expect(shown.page.locator(".verdict")).to_contain_text(f"in the end {name} was performed")


def test_reset_begins_another_trial_and_the_first_stays(shown: Seen, own: Pair) -> None:
    controls(shown).get_by_role("button", name="Finish planning").click()
    shown.expect_place(iteration=own.agent.options.iterations)
    controls(shown).get_by_role("button", name="Reset").click()
    shown.expect_place(trial=1, cycle=0, iteration=0)
    own.agent.plan(own.agent.options.iterations)
    first = tree_of(own.agent)
    own.agent.reset(own.env.reset())
    state = next(iter(own.agent.beliefs))
    shown.press("Temporal slice")
    same(column(shown.numbers("beliefs"), 1), own.agent.beliefs[state])
    shown.press("Trials")
    assert column(shown.rows("trials"), 0) == ["0", "1"]
    shown.press("Open trial 0 at its start")
    shown.expect_place(trial=0, view="visualisation")
    same(column(shown.numbers("near-tree"), 2), [row[1] for row in first])


def test_in_the_past_the_buttons_move_along_it_and_lead_back_to_now(shown: Seen, own: Pair) -> None:
    controls(shown).get_by_role("button", name="Finish planning").click()
    planned = own.agent.options.iterations
    shown.expect_place(iteration=planned)
    for _ in range(4):
        shown.page.keyboard.press("ArrowLeft")
    shown.expect_place(iteration=planned - 4)
    controls(shown).get_by_role("button", name="Next planning iteration").click()  # goes to it, plans nothing
    shown.expect_place(iteration=planned - 3)
    own.agent.plan(planned - 3)
    check_tree(shown, own.agent)
    controls(shown).get_by_role("button", name="Back to now").click()
    shown.expect_place(iteration=planned)


def test_a_trial_that_is_over_says_so_and_can_only_be_reset(shown: Seen, own: Pair) -> None:
    cycle = 0
    while not own.env.done():
        controls(shown).get_by_role("button", name="Perform by hand").click()
        own.agent.update(0, own.env.execute(0))
        cycle += 1
        shown.expect_place(cycle=cycle)
    expect(controls(shown)).to_contain_text("The trial is over")
    for name in ("Next planning iteration", "Finish planning", "Perform best action", "Perform by hand"):
        expect(controls(shown).get_by_role("button", name=name)).to_be_disabled()
    close(shown.number("reward"), own.env.get_reward())
    controls(shown).get_by_role("button", name="Reset").click()
    shown.expect_place(trial=1, cycle=0)


def test_what_if_works_on_a_live_cycle_and_leaves_it_alone(shown: Seen, own: Pair) -> None:
    controls(shown).get_by_role("button", name="Next planning iteration").click()
    shown.expect_place(iteration=1)
    shown.press("What if")
    shown.page.locator("[name='iterations']").fill("9")
    shown.press("See what happens")
    own.agent.plan(9)
    expect(shown.figure("outcomes")).to_be_visible()
    same(column(shown.rows("outcome-actions"), 4), [child.visits for child in own.agent.tree.root.children])
    shown.press("Visualisation")
    shown.expect_place(iteration=1)
    expect(shown.figure("whole-tree")).to_contain_text("after 1 iteration")
