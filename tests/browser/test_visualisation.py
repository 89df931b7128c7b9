"""The visualisation: the environment, the buttons, the tree around a node, the whole tree."""

from __future__ import annotations

import numpy as np
import pytest
from browser.seen import Seen, action_names, agent_at, close, column, same, trial_of
from inspector.recorded import Recorded
from playwright.sync_api import expect

from btai.experiments import RunFile


def test_the_environment_shows_picture_cycle_reward_and_what_was_observed(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    last = len(trial_of(recorded).actions)
    seen.open(replay, trial=0, cycle=last)
    expect(seen.page.locator("[data-id=cycle]")).to_have_text(str(last))
    close(seen.number("reward"), trial_of(recorded).reward)
    size = seen.page.locator("img.scene-image").evaluate("image => image.decode().then(() => image.naturalWidth)")
    env = recorded.make_env()
    env.reset(seed=trial_of(recorded).seed)
    assert size == env.render().shape[1]
    with RunFile.open(recorded.path) as file:
        evidence = file.cycles(0)[last].evidence
    for name, vector in evidence.items():
        if np.count_nonzero(vector) == 1:
            values = agent_at(recorded, 0).ts.observations[name].values
            index = int(vector.argmax())
            shown = seen.figure("environment").get_by_text(name, exact=True).locator("xpath=following-sibling::dd[1]")
            expect(shown).to_have_text(values[index] if values else str(index))


def test_before_planning_every_child_is_none(seen: Seen, replay: str, recorded: Recorded) -> None:
    seen.open(replay, cycle=0, iteration=0)
    missing = seen.page.locator(".near-tree .node-none")
    expect(missing).to_have_count(recorded.make_agent().ts.action.size)
    for text in missing.all_text_contents():
        assert "None" in text
    expect(seen.page.get_by_label("No parent: this is the root")).to_be_visible()


@pytest.mark.parametrize("iteration", [1, 2, 9, 25])
def test_the_node_and_its_children_have_the_numbers_of_a_fresh_agent(
    seen: Seen, replay: str, recorded: Recorded, iteration: int
) -> None:
    agent = agent_at(recorded, 1, iteration)
    tree, names = agent.tree, action_names(agent.ts)
    seen.open(replay, trial=0, cycle=1, iteration=iteration)
    rows = seen.numbers("near-tree")
    assert column(rows, 0) == ["(itself)", *names]
    for row, node in zip(rows, [tree.root, *tree.root.children], strict=True):
        same(row[1:5], [node.index, node.visits, node.cost, node.mean_cost])
        if node.index:
            same(row[5:], [node.efe, node.exploration, node.uct])


def test_the_best_action_is_green_and_the_node_expanded_last_is_framed_red_both_in_words(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    for iteration in (1, 5, 6):
        agent = agent_at(recorded, 0, iteration)
        seen.open(replay, trial=0, cycle=0, iteration=iteration, node=int(agent.tree.expanded[-1]))
        expect(seen.page.locator(".node-current.node-selected")).to_contain_text("expanded last")
        seen.open(replay, trial=0, cycle=0, iteration=iteration)
        best = seen.page.locator(".child.node-best")
        expect(best).to_have_count(1)
        expect(best).to_contain_text("best")
        expect(best).to_have_attribute("data-action", str(agent.choose()))


def test_a_child_becomes_the_root_of_the_view_then_opens_its_slice_and_the_arrow_leads_back(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    seen.open(replay, trial=0, cycle=0, iteration=1)
    name = action_names(agent_at(recorded, 0).ts)[1]
    seen.page.locator(".near-tree .child[data-node='2']").click()
    seen.expect_place(node=2)
    expect(seen.page.locator(".node-current")).to_contain_text(f"TS({name})")
    expect(seen.page.locator(".near-tree .node-none")).to_have_count(recorded.make_agent().ts.action.size)
    seen.press("To the parent, TS(t)")
    seen.expect_place(node=0)
    seen.page.locator(".near-tree .child[data-node='2']").click()
    seen.expect_place(node=2)
    seen.page.locator(".node-current").click()
    seen.expect_place(view="slice", node=2)
    expect(seen.page.locator(".slice")).to_have_attribute("data-node", "2")


def test_the_buttons_move_along_a_recorded_trial(seen: Seen, replay: str, recorded: Recorded) -> None:
    planned = recorded.make_agent().max_planning_steps
    seen.open(replay, trial=0, cycle=0, iteration=0)
    controls = seen.page.locator(".controls")
    controls.get_by_role("button", name="Next planning iteration").click()
    seen.expect_place(cycle=0, iteration=1)
    controls.get_by_role("button", name="Finish planning").click()
    seen.expect_place(cycle=0, iteration=planned)
    expect(controls.get_by_role("button", name="Finish planning")).to_be_disabled()
    performed = agent_at(recorded, 0).ts.action.values
    action = trial_of(recorded).actions[0]
    controls.get_by_role("button", name=f"Perform {performed[action] if performed else action}").click()
    seen.expect_place(cycle=1, iteration=0)
    controls.get_by_role("button", name="Reset").click()
    seen.expect_place(cycle=0, iteration=0)


@pytest.mark.parametrize("iteration", [0, 7, 25])
def test_the_whole_tree_lists_the_numbers_of_every_node(
    seen: Seen, replay: str, recorded: Recorded, iteration: int
) -> None:
    tree = agent_at(recorded, 0, iteration).tree
    seen.open(replay, trial=0, cycle=0, iteration=iteration)
    seen.until(lambda: seen.page.locator("canvas").get_attribute("data-dots"), str(len(tree)))
    rows = seen.numbers("whole-tree")
    assert len(rows) == len(tree)
    names = action_names(tree.ts)
    for index, path, visits, cost, mean, efe in rows:
        node = tree[int(index or 0)]
        assert path == (", ".join(names[a] for a in node.path) or "(root)")
        same([visits, cost, mean], [node.visits, node.cost, node.mean_cost])
        if node.index:
            same(efe, node.efe)
    assert column(rows, 2) == sorted(tree.visits.tolist(), reverse=True)


def test_rarely_visited_nodes_can_be_hidden(seen: Seen, replay: str, recorded: Recorded) -> None:
    tree = agent_at(recorded, 0, 25).tree
    seen.open(replay, trial=0, cycle=0, iteration=25)
    field = seen.figure("whole-tree").get_by_role("spinbutton")
    for least in (2, 5):
        field.fill(str(least))
        field.press("Enter")
        seen.until(
            lambda: seen.page.locator("canvas").get_attribute("data-dots"), str(np.count_nonzero(tree.visits >= least))
        )
        seen.expect_place(visits=least)


def test_the_whole_tree_zooms_moves_and_tells_the_numbers_under_the_pointer(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    tree = agent_at(recorded, 0, 25).tree
    seen.open(replay, trial=0, cycle=0, iteration=25)
    canvas = seen.page.locator("canvas")
    box = canvas.bounding_box()
    assert box is not None

    def root() -> float:
        """How far down the root lies, at the left where it is at first: the middle of where its numbers are told."""
        told = f"TS(t), node 0\n{tree.root.visits} visits, mean cost"
        found = []
        for y in range(0, int(box["height"]), 12):
            seen.page.mouse.move(box["x"] + 26, box["y"] + y)
            found += [y] if (canvas.get_attribute("data-tip") or "").startswith(told) else []
        assert found
        return (found[0] + found[-1]) / 2

    def zoom() -> list[float]:
        """Magnification and shift, as the address has them."""
        seen.page.wait_for_timeout(250)
        return [float(number) for number in seen.place["zoom"].split(",")]

    down = root()
    seen.press("Zoom in")  # about the node in view, which stays where it is
    assert zoom() == pytest.approx([1.5, -0.5 * 26 / box["width"], -0.5 * down / box["height"]], abs=0.02)
    assert root() == pytest.approx(down, abs=12)
    seen.page.mouse.move(box["x"] + 100, box["y"] + 10)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + 100, box["y"] + 10 + box["height"] / 8)
    seen.page.mouse.up()
    assert root() == pytest.approx(down + box["height"] / 8, abs=12)
    seen.press("Zoom out")
    assert zoom() == pytest.approx([1, 0, 1 / 8], abs=0.01)
    seen.press("Fit the tree")
    seen.until(lambda: "zoom" in seen.place, False)
    assert root() == pytest.approx(down, abs=12)


def test_a_node_of_the_whole_tree_can_be_clicked(seen: Seen, replay: str) -> None:
    seen.open(replay, trial=0, cycle=0, iteration=1, node=2)
    canvas = seen.page.locator("canvas")
    box = canvas.bounding_box()
    assert box is not None
    for y in range(int(box["y"]), int(box["y"] + box["height"]), 6):
        seen.page.mouse.move(box["x"] + 26, y)
        if canvas.get_attribute("data-tip"):
            seen.page.mouse.click(box["x"] + 26, y)
            break
    seen.expect_place(node=0)


def test_the_heat_map_shows_the_joint_belief_of_two_positions_along_the_planned_path(
    seen: Seen, replay: str, recorded: Recorded
) -> None:
    agent = agent_at(recorded, 0, 25)
    seen.open(replay, trial=0, cycle=0, iteration=25)
    x, y = seen.page.get_by_label("beliefs of").input_value().split(",")
    seen.figure("environment").get_by_role("button", name="numbers as a table").click()
    for step, node in ((0, agent.tree.root), (1, agent.tree.root.children[agent.choose()])):
        seen.open(replay, trial=0, cycle=0, iteration=25, step=step, tables="environment")
        joint = np.multiply.outer(node.beliefs[y], node.beliefs[x])
        shown = seen.rows("environment")
        same(column(shown, 2), [joint[int(row[1] or 0), int(row[0] or 0)] for row in shown])
        assert column(shown, 2) == sorted(column(shown, 2), reverse=True)
        close(max(column(shown, 2)), float(joint.max()))
    seen.open(replay, trial=0, cycle=0, iteration=25)
    expect(seen.page.locator(".scene-heat")).to_be_visible()
    seen.page.get_by_label("Step along the planned path").fill("1")
    seen.expect_place(step=1)
    seen.page.get_by_label("beliefs of").select_option("off")
    expect(seen.page.locator(".scene-heat")).to_have_count(0)
    reward, *observed = seen.numbers("environment")  # without a heat map, what was observed
    assert reward == ["reward", None]
    assert sorted(column(observed, 0)) == sorted(agent.evidence)
