"""What can be done with every chart: have its numbers as a table, save it, and send a link to what is seen."""

from __future__ import annotations

import json
import struct
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browser.seen import Seen, said
from PIL import Image, ImageChops
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.slow

INVISIBLE = 4  # of 255: corners are not always drawn alike to the last bit
SVG = "{http://www.w3.org/2000/svg}"

# Every chart, by the place where it is seen. The facts of a node are no chart, and cannot be saved.
PLACES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "visualisation": ({"cycle": 1}, {"environment", "near-tree", "whole-tree"}),
    "present": (
        {"view": "slice", "cycle": 1},
        {"likelihood", "transition", "preferences", "beliefs", "message"},
    ),
    "future": (
        {"view": "slice", "cycle": 1, "node": 2, "part": "risk:0"},
        {"likelihood", "transition", "preferences", "beliefs", "efe"},
    ),
    "why": ({"view": "why", "cycle": 1}, {"curve-visits", "curve-mean-cost", "differences"}),
    "what-if": ({"view": "what-if", "cycle": 1, "what": json.dumps({"iterations": 40})}, {"outcome-beliefs"}),
}
PICTURES = {"environment", "whole-tree"}  # without words in them


def chart(figure: Locator) -> Locator:
    """The drawing in a figure: the one with the numbers, where there are two."""
    return figure.locator("svg.chart, canvas, .scene").last


def saved(seen: Seen, name: str, kind: str) -> Path:
    """The file that the figure is saved as."""
    figure = seen.settled(name)
    figure.get_by_role("button", name="save or copy").click()
    with seen.page.expect_download() as download:
        figure.get_by_role("button", name=f"Save as {kind}").click()
    seen.page.keyboard.press("Escape")
    assert download.value.suggested_filename == f"{name}.{kind.lower()}"
    return Path(download.value.path())


@pytest.fixture(params=PLACES)
def charts(request: pytest.FixtureRequest, seen: Seen, replay: str) -> list[str]:
    """The names of the charts at a place, and the window that shows it."""
    place, names = PLACES[request.param]
    seen.open(replay, trial=0, **place)
    figures = seen.page.locator("figure")
    seen.until(lambda: {*figures.evaluate_all("all => all.map(figure => figure.dataset.figure)")} - {"facts"}, names)
    seen.arrive()
    return sorted(names)


def test_a_chart_is_named_and_has_its_numbers_as_a_table(seen: Seen, charts: list[str]) -> None:
    for name in charts:
        figure = seen.settled(name)
        named = figure.locator("svg.chart, canvas, svg.scene-heat, .scene img")
        assert all(named.evaluate_all("all => all.map(one => one.ariaLabel || one.alt)"))
        figure.get_by_role("button", name="numbers as a table").press("Enter")
        seen.expect_place(tables=name)
        table = figure.get_by_role("table")
        expect(table.locator("caption")).not_to_be_empty()
        expect(table.get_by_role("columnheader").first).to_be_attached()
        expect(table.get_by_role("rowheader").first).to_be_attached()
        assert seen.rows(name)
        figure.get_by_role("button", name="numbers as a table").press("Enter")
        expect(chart(figure)).to_be_visible()


def test_a_chart_is_saved_as_it_looks(seen: Seen, charts: list[str]) -> None:
    for name in charts:
        figure = seen.settled(name)
        width, height = chart(figure).evaluate(
            "one => [one.getAttribute('width') ?? one.clientWidth, one.getAttribute('height') ?? one.clientHeight]"
            ".map(Number)"
        )
        texts = [] if name in PICTURES else figure.locator("svg.chart").last.locator("text").all_text_contents()
        check_svg(saved(seen, name, "SVG"), width, [text for text in texts if text])
        assert bool(texts) is (name not in PICTURES)
        picture = saved(seen, name, "PNG").read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        assert struct.unpack(">II", picture[16:24]) == pytest.approx((2 * width, 2 * height), abs=2)


def check_svg(path: Path, width: float, texts: list[str]) -> None:
    """It has the words and shapes of the chart, and its style in itself."""
    drawing = ElementTree.parse(path).getroot()
    assert [text for one in drawing.iter(f"{SVG}text") if (text := "".join(one.itertext()))] == texts
    assert float(drawing.attrib["width"]) == pytest.approx(width, abs=1)
    shapes = {"rect", "path", "line", "ellipse", "circle", "polyline", "image"}
    assert sum(one.tag.removeprefix(SVG) in shapes for one in drawing.iter()) > 2
    for one in drawing.iter():
        assert not one.attrib.keys() & {"class", "style"}  # which mean nothing away from the page
        assert "var(" not in "".join(one.attrib.values())


def look(seen: Seen) -> tuple[dict[str, Any], bytes]:
    """What the page says, and what it looks like."""
    seen.page.mouse.move(2, 2)
    seen.arrive()
    seen.page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    return said(seen), seen.page.screenshot()


def largest_difference(one: bytes, other: bytes) -> int:
    """Between two pictures of one size, of a colour, from 0 to 255."""
    first, second = (Image.open(BytesIO(png)).convert("RGB") for png in (one, other))
    return max(ImageChops.difference(first, second).tobytes())


def test_a_link_leads_to_exactly_what_was_seen(seen: Seen, replay: str) -> None:
    """Go to many places by hand, and each time open the link to it in the same window."""

    def check() -> None:
        before = look(seen)
        seen.press("Copy link")
        expect(seen.button("Copied")).to_be_visible()
        link = seen.page.evaluate("navigator.clipboard.readText()")
        seen.page.goto("about:blank")
        seen.page.goto(link)
        expect(seen.page.locator("main > *").first).to_be_visible()
        seen.until(lambda: look(seen)[0] == before[0], True)
        assert largest_difference(look(seen)[1], before[1]) < INVISIBLE

    seen.open(replay, trial=1, cycle=1)
    seen.page.get_by_label("Step along the planned path").fill("1")
    field = seen.figure("whole-tree").get_by_role("spinbutton")
    field.fill("3")
    field.press("Enter")
    seen.press("Zoom in")
    seen.press("Previous planning iteration")
    seen.page.wait_for_timeout(300)  # until the zoom is in the address
    check()
    seen.page.locator(".near-tree .child").first.click()
    seen.press("Temporal slice")
    seen.settled("efe").locator(".part-risk").click()
    seen.settled("efe").locator(".part-risk").first.click()
    states = seen.page.get_by_label("Variable whose beliefs are shown")
    states.select_option(index=2)
    seen.figure("likelihood").get_by_role("button", name="numbers as a table").click()
    check()
    seen.press("Why")
    seen.settled("differences")
    seen.page.get_by_label("Action to compare with").select_option(index=1)
    check()
    seen.press("What if")
    seen.page.locator("[name='iterations']").fill("33")
    seen.press("See what happens")
    expect(seen.figure("outcomes")).to_be_visible()
    seen.choose("Beliefs of when", "after")
    check()
    seen.press("Trials")
    seen.press("cycles")
    check()
