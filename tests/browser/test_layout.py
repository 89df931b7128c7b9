"""How the page looks: in every view, at both sizes and in both themes, no text is cut off, covered or hard to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from browser.seen import Seen
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

FAULTS = Path(__file__).with_name("faults.js").read_text("utf-8")
FOCUSED = Path(__file__).with_name("focus.js").read_text("utf-8")
REACHABLE = ", ".join(f"{kind}:enabled:visible" for kind in ("button", "select", "input")) + (
    ", [role=button]:visible, [role=region][tabindex]:visible"
)
SIZES = ((1280, 800), (1920, 1080))
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
KINDS = ("cut", "overlap", "contrast")
LAST = 4  # cycle of the trial, in which nothing is planned

# Every view, each as it is at first, at work, and with nothing to show.
SLICE = {"view": "slice", "cycle": 1}
VIEWS: dict[str, dict[str, Any]] = {
    "visualisation": {"cycle": 1, "iteration": 20},
    "visualisation before planning": {"cycle": 0, "iteration": 0},
    "visualisation elsewhere": {"cycle": 1, "iteration": 25, "node": 6, "step": 2, "zoom": "2,-0.4,-0.4", "visits": 2},
    "visualisation as tables": {"cycle": 1, "tables": "environment,near-tree,whole-tree"},
    "the present": {**SLICE, "node": 0},
    "the present as tables": {**SLICE, "node": 0, "tables": "likelihood,transition,preferences,beliefs,facts,message"},
    "a future": {**SLICE, "node": 2},
    "a far future": {**SLICE, "node": 40},
    "the risk": {**SLICE, "node": 2, "part": "risk"},
    "cells of the risk": {**SLICE, "node": 2, "part": "risk:0"},
    "the ambiguity": {**SLICE, "node": 2, "part": "ambiguity"},
    "a future as tables": {**SLICE, "node": 2, "part": "risk:0", "tables": "beliefs,efe"},
    "why": {"view": "why", "cycle": 1},
    "why as tables": {"view": "why", "cycle": 1, "tables": "curve-visits,curve-mean-cost,differences"},
    "why without planning": {"view": "why", "cycle": LAST},
    "what if": {"view": "what-if", "cycle": 1},
    "what if it had": {"view": "what-if", "cycle": 1, "what": json.dumps({"iterations": 40, "action": 1})},
    "what if, as tables": {"view": "what-if", "cycle": 1, "what": "{}", "tables": "outcome-beliefs"},
    "trials": {"view": "trials", "cycle": 1},
    "a place that is none": {"view": "trials", "cycle": 99},
}


def everywhere(seen: Seen) -> list[str]:
    """What is wrong with it at any size and in any theme."""
    found = []
    for width, height in SIZES:
        seen.page.set_viewport_size({"width": width, "height": height})
        for theme in THEMES:
            seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            expect(seen.page.locator('[aria-busy="true"]')).to_have_count(0)
            seen.page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            found += [f"{width} x {height}, {theme}: {fault}" for fault in seen.page.evaluate(FAULTS, KINDS)]
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_cut_off_covered_or_hard_to_read(seen: Seen, replay: str, view: str) -> None:
    seen.open(replay, trial=0, **VIEWS[view])
    assert everywhere(seen) == []


def test_nor_is_it_with_a_live_agent(live: tuple[str, str], seen: Seen) -> None:
    seen.open(live[0])
    assert everywhere(seen) == []
    for number, name in enumerate(("Next planning iteration", "Finish planning", "Perform by hand")):
        seen.page.locator(".controls").get_by_role("button", name=name).click()
        seen.until(lambda: int(seen.place["iteration"]) > 0 or seen.place["cycle"] == "1", True)
        if number < 2:
            expect(seen.page.locator(".near-tree .child.node-best")).to_be_visible()
        assert everywhere(seen) == []
    seen.press("Help")
    assert everywhere(seen) == []


@pytest.mark.parametrize("view", ["visualisation", "a future", "the present", "why", "what if it had", "trials"])
def test_the_tab_key_reaches_everything_and_one_sees_where_it_is(seen: Seen, replay: str, view: str) -> None:
    seen.open(replay, trial=0, **VIEWS[view])
    expect(seen.page.locator('[aria-busy="true"]')).to_have_count(0)
    reached = []
    for _ in range(150):
        seen.page.keyboard.press("Tab")
        focused = seen.page.evaluate(FOCUSED)
        if focused is None:
            break
        assert focused["marked"], focused
        assert focused["inside"], focused
        reached.append(focused["what"])
    else:
        pytest.fail("the Tab key never comes to an end")
    assert len(reached) >= seen.page.locator(REACHABLE).count()
