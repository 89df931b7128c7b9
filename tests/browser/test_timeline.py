"""The timeline: cycles, planning iterations, stepping, playing, the keyboard."""

from __future__ import annotations

from browser.seen import Seen, action_names, agent_at, close, trial_of
from inspector.recorded import Recorded
from playwright.sync_api import expect


def test_the_cycles_of_a_trial_with_what_was_done_in_each(seen: Seen, replay: str, recorded: Recorded) -> None:
    actions = trial_of(recorded).actions
    names = action_names(agent_at(recorded, 0).ts)
    seen.open(replay, trial=0, cycle=0)
    cycles = seen.page.get_by_role("navigation", name="Cycles").get_by_role("button")
    expect(cycles).to_have_count(len(actions) + 1)
    for number, action in enumerate(actions):
        expect(cycles.nth(number)).to_contain_text(names[action])
    expect(cycles.last).to_contain_text("end")
    cycles.nth(1).click()
    seen.expect_place(cycle=1, iteration=recorded.make_agent().max_planning_steps)
    expect(cycles.nth(1)).to_have_attribute("aria-current", "step")
    seen.page.go_back()
    seen.expect_place(cycle=0)


def test_scrubbing_shows_every_iteration_as_a_fresh_agent_would_be(seen: Seen, replay: str, recorded: Recorded) -> None:
    seen.open(replay, view="slice", trial=0, cycle=0, node=1)
    slider = seen.page.get_by_label("Planning iteration", exact=True)
    for iteration in (20, 3, 4, 1, 25):
        slider.fill(str(iteration))
        seen.expect_place(iteration=iteration)
        node = agent_at(recorded, 0, iteration).tree[1]
        seen.until(lambda node=node: seen.number("visits"), node.visits)  # type: ignore[misc]
        close(seen.number("cost"), node.cost)


def test_the_buttons_step_by_iterations_and_cycles(seen: Seen, replay: str) -> None:
    seen.open(replay, trial=0, cycle=1, iteration=5)
    timeline = seen.page.get_by_role("region", name="Timeline")
    for name, cycle, iteration in (
        ("Next planning iteration", 1, 6),
        ("Previous planning iteration", 1, 5),
    ):
        timeline.get_by_role("button", name=name).click()
        seen.expect_place(cycle=cycle, iteration=iteration)
    timeline.get_by_role("button", name="Next cycle").click()
    seen.expect_place(cycle=2)
    timeline.get_by_role("button", name="Previous cycle").click()
    timeline.get_by_role("button", name="Previous cycle").click()
    seen.expect_place(cycle=0)
    expect(timeline.get_by_role("button", name="Previous cycle")).to_be_disabled()


def test_the_keyboard_moves_through_time_and_tree(seen: Seen, replay: str, recorded: Recorded) -> None:
    planned = recorded.make_agent().max_planning_steps
    seen.open(replay, trial=0, cycle=1, iteration=5)
    keyboard = seen.page.keyboard
    keyboard.press("ArrowRight")
    seen.expect_place(iteration=6)
    keyboard.press("ArrowLeft")
    seen.expect_place(iteration=5)
    keyboard.press("Home")
    seen.expect_place(iteration=0)
    keyboard.press("End")
    seen.expect_place(iteration=planned)
    tree = agent_at(recorded, 1, planned).tree
    most = max(tree.root.children, key=lambda child: (child.visits, -child.index))
    keyboard.press("ArrowDown")
    seen.expect_place(node=most.index)
    keyboard.press("ArrowUp")
    seen.expect_place(node=0)
    keyboard.press("Shift+ArrowRight")
    seen.expect_place(cycle=2)
    keyboard.press("Shift+ArrowLeft")
    seen.expect_place(cycle=1)


def test_space_plays_and_pauses_and_a_trial_plays_to_its_end(seen: Seen, replay: str, recorded: Recorded) -> None:
    start = seen.open(replay, trial=0, cycle=0, iteration=0).place
    seen.page.clock.install()
    seen.page.keyboard.press("Space")
    expect(seen.button("Pause")).to_be_visible()
    seen.page.clock.run_for(500)
    seen.page.keyboard.press("Space")
    expect(seen.button("Play")).to_be_visible()
    paused = seen.place
    assert paused != start
    seen.page.clock.run_for(5000)
    assert seen.place == paused
    seen.press("Play")
    last = len(trial_of(recorded).actions)
    for _ in range(40 * (last + 1)):
        seen.page.clock.run_for(1000)
        if seen.place["cycle"] == str(last):
            break
        seen.page.wait_for_timeout(10)  # the page's clock is the test's, the server's is not
    expect(seen.button("Play")).to_be_visible()
    seen.expect_place(cycle=last, iteration=0)


def test_keys_that_belong_to_a_field_stay_there(seen: Seen, replay: str) -> None:
    seen.open(replay, trial=0, cycle=1, iteration=5)
    field = seen.figure("whole-tree").get_by_role("spinbutton")
    field.focus()
    seen.page.keyboard.press("ArrowLeft")
    seen.page.keyboard.press("ArrowUp")
    expect(field).to_have_value("2")
    seen.expect_place(iteration=5)


def test_a_slider_and_a_table_keep_the_keys_that_they_need(seen: Seen, replay: str) -> None:
    seen.open(replay, trial=0, cycle=0, iteration=25)
    seen.page.get_by_label("Step along the planned path").press("ArrowRight")
    seen.expect_place(step=1, iteration=25)
    seen.open(replay, trial=0, cycle=0, iteration=25, tables="whole-tree")
    table = seen.figure("whole-tree").get_by_role("region")
    table.press("End")
    seen.until(lambda: table.evaluate("table => table.scrollTop > 0"), True)
    table.press("ArrowDown")
    seen.expect_place(node=0, iteration=25)
    table.press("ArrowLeft")
    seen.expect_place(iteration=24)


def test_keys_do_nothing_behind_the_help(seen: Seen, replay: str) -> None:
    seen.open(replay, trial=0, cycle=0, iteration=20)
    seen.press("Help")
    seen.page.keyboard.press("ArrowLeft")
    seen.page.keyboard.press("Escape")
    expect(seen.page.get_by_role("dialog")).to_be_hidden()
    seen.expect_place(iteration=20)


def test_a_node_that_does_not_exist_yet_gives_way_to_its_ancestor_and_comes_back(seen: Seen, replay: str) -> None:
    seen.open(replay, trial=0, cycle=0, iteration=25, node=30)
    seen.page.keyboard.press("Home")
    expect(seen.page.locator(".node-current")).to_contain_text("TS(t)")
    expect(seen.page.locator(".notices")).to_contain_text("does not exist yet")
    seen.page.keyboard.press("End")
    expect(seen.page.locator(".node-current")).to_have_attribute("data-node", "30")


def test_a_place_that_does_not_exist_is_said_and_the_nearest_is_shown(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    seen.open(replay, trial=0, cycle=1, iteration=10_000)
    seen.expect_place(iteration=recorded.make_agent().max_planning_steps)
    expect(seen.page.locator(".notices")).to_contain_text("no planning iteration 10000")
    seen.press("Dismiss")
    expect(seen.page.locator(".notices")).to_be_empty()
