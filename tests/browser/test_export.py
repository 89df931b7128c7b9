"""The page in one file: opened from the disk without a network, it shows what replay shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.seen import Seen, agent_at, close, column, said, same, trial_of
from inspector.recorded import Recorded
from playwright.sync_api import Browser, expect

from btai.inspector import export_page

pytestmark = pytest.mark.slow

# Views at cursors: every view, at the present and in the future, early and late.
PLACES: list[dict[str, Any]] = [
    {"view": "visualisation", "cycle": 0, "iteration": 0, "node": 0},
    {"view": "visualisation", "cycle": 1, "iteration": 7, "node": 2},
    {"view": "slice", "cycle": 0, "iteration": 25, "node": 0},
    {"view": "slice", "cycle": 1, "iteration": 12, "node": 5},
    {"view": "slice", "cycle": 1, "iteration": 25, "node": 3, "part": "risk:0"},
    {"view": "why", "cycle": 1, "iteration": 25, "node": 0},
    {"view": "why", "cycle": 0, "iteration": 3, "node": 0},
    {"view": "trials", "cycle": 0, "iteration": 25, "node": 0},
]


@pytest.fixture(scope="session")
def exported(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the exported run."""
    path = tmp_path_factory.mktemp("exported") / "page.html"
    trace = recorded.trace()
    export_page(trace, path)
    trace.close()
    return path.as_uri()


@pytest.fixture
def offline(chromium: Browser, exported: str) -> Iterator[Seen]:
    """A window without a network, in which nothing may be asked for but the one file."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce", offline=True)
    window = Seen(context.new_page())
    asked: set[str] = set()
    window.page.on("request", lambda request: asked.add(request.url.partition("#")[0]))
    yield window
    context.close()
    assert window.complaints == []
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {exported}


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(map(str, place.values())))
def test_every_view_says_what_it_says_in_replay(
    seen: Seen, offline: Seen, replay: str, exported: str, place: dict[str, Any]
) -> None:
    for window, address in ((seen, replay), (offline, exported)):
        window.open(address, trial=0, **place)
    seen.until(lambda: said(seen) == said(offline), True)
    assert said(offline) == said(seen)


def test_its_numbers_are_those_of_the_python_objects(offline: Seen, exported: str, recorded: Recorded) -> None:
    agent = agent_at(recorded, 1, 25)
    node = agent.tree[4]
    offline.open(exported, view="slice", trial=0, cycle=1, iteration=25, node=4)
    state = next(iter(agent.ts.states))
    offline.choose("Variable whose beliefs are shown", state)
    same(column(offline.numbers("beliefs"), 1), node.beliefs[state])
    for name, value in {"visits": node.visits, "cost": node.cost, "uct": node.uct}.items():
        close(offline.number(name), value)
    rows = offline.numbers("efe")
    same(column(rows, 1)[:2], [sum(node.risk.values()), sum(node.ambiguity.values())])


def test_it_is_scrubbed_and_played_like_replay(offline: Seen, exported: str, recorded: Recorded) -> None:
    offline.open(exported, view="slice", trial=0, cycle=0, iteration=25, node=1)
    slider = offline.page.get_by_label("Planning iteration", exact=True)
    for iteration in (20, 3, 1):
        slider.fill(str(iteration))
        node = agent_at(recorded, 0, iteration).tree[1]
        offline.until(lambda node=node: offline.number("visits"), node.visits)  # type: ignore[misc]
        close(offline.number("cost"), node.cost)
    last = len(trial_of(recorded).actions)
    for cycle in range(1, last + 1):
        offline.page.keyboard.press("Shift+ArrowRight")
        offline.expect_place(cycle=cycle)


def test_it_says_that_nothing_can_be_tried_out_in_it(offline: Seen, exported: str) -> None:
    offline.open(exported, view="what-if", trial=0, cycle=0)
    expect(offline.page.locator("main")).to_contain_text("btai inspect")


def test_a_trial_that_is_not_in_the_page_is_not_said_to_be_unrecorded(
    chromium: Browser, recorded: Recorded, tmp_path: Path
) -> None:
    trace = recorded.trace()
    export_page(trace, tmp_path / "page.html", trials=[0])
    trace.close()
    window = Seen(chromium.new_page())
    window.open((tmp_path / "page.html").as_uri(), view="trials")
    first, second = window.figure("trials").locator("tbody tr .open").all()
    expect(first).to_contain_text("Open")
    expect(second).to_have_text("not in this page")
    window.page.close()
