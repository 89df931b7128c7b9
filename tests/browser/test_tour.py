"""The tour in docs/inspector.md: what it says stands on the page, and its pictures are those of the page.

`make pictures` takes the pictures anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from browser.seen import Seen
from click.testing import CliRunner
from documents import ROOT, blocks
from PIL import Image, ImageChops
from playwright.sync_api import Browser, expect

from btai.cli import main
from btai.inspector import Inspector, RunTrace

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "inspector.md"
FOLDER = ROOT / "docs" / "_static" / "inspector"
WINDOW = {"width": 1200, "height": 800}
SHARP = 2  # pixels of a picture per pixel of the page
MARGIN = 8
MOST_BYTES = 200_000
ALIKE = 6.0  # of 255, on average over pictures so small that another font makes no difference

# What each picture shows: a place, and what is seen of it there.
ELLIPSE = json.dumps({"evidence": {"O_shape": 1}})
PICTURES: dict[str, tuple[dict[str, Any], str]] = {
    "trials": ({"view": "trials", "trial": 8, "sort": "cycles"}, "main"),
    "visualisation": ({"trial": 8, "cycle": 3}, "body"),
    "why": ({"view": "why", "trial": 8, "cycle": 3}, ".verdict, [data-figure^=curve]"),
    "beliefs": (
        {"view": "slice", "trial": 8, "cycle": 0, "state": "S_shape"},
        "[data-figure=beliefs], [data-figure=message]",
    ),
    "efe": ({"view": "slice", "trial": 8, "cycle": 3, "node": 585}, "[data-figure=facts], [data-figure=efe]"),
    "what-if": ({"view": "what-if", "trial": 8, "cycle": 0, "what": ELLIPSE}, ".outcomes"),
}
SHOWN = re.compile(r"!\[(?P<words>[^\]]+)\]\(_static/inspector/(?P<name>[\w-]+)\.png\)")


def words() -> dict[str, str]:
    """What the page says that each of its pictures shows."""
    text = PAGE.read_text("utf-8")
    return {found["name"]: " ".join(found["words"].split()) for found in SHOWN.finditer(text)}


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the inspector after the tour's first command."""
    path = tmp_path_factory.mktemp("tour") / "tour.sqlite"
    command = next(block.text for block in blocks(PAGE) if block.language == "sh").replace(path.name, str(path))
    done = CliRunner().invoke(main, shlex.split(command)[1:], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    with Inspector(lambda: RunTrace(path)) as inspector:
        yield inspector.url


@pytest.fixture
def window(chromium: Browser) -> Iterator[Seen]:
    """A window as the pictures are taken of."""
    context = chromium.new_context(viewport=WINDOW, device_scale_factor=SHARP, reduced_motion="reduce")  # type: ignore[arg-type]
    seen = Seen(context.new_page())
    yield seen
    context.close()
    assert seen.complaints == []


def picture(window: Seen, part: str) -> Image.Image:
    """What is seen of the elements that `part` selects, in few colours: the files stay small."""
    boxes = [box for one in window.page.locator(part).all() if (box := one.bounding_box())]
    left, top = (max(0, min(box[edge] for box in boxes) - MARGIN) for edge in ("x", "y"))
    right = min(WINDOW["width"], max(box["x"] + box["width"] for box in boxes) + MARGIN)
    bottom = min(WINDOW["height"], max(box["y"] + box["height"] for box in boxes) + MARGIN)
    clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    png = window.page.screenshot(clip=clip)  # type: ignore[arg-type]
    return Image.open(BytesIO(png)).convert("RGB").quantize(dither=Image.Dither.NONE)


def difference(one: Image.Image, other: Image.Image) -> float:
    """How far the greys of two pictures are apart on average, both of them very small."""
    tiny = [image.convert("L").resize((64, 40), Image.Resampling.BOX) for image in (one, other)]
    pixels = ImageChops.difference(*tiny).tobytes()
    return sum(pixels) / len(pixels)


@pytest.mark.parametrize("name", PICTURES)
def test_the_page_shows_what_the_tour_says_and_its_picture_is_of_today(name: str, window: Seen, toured: str) -> None:
    place, part = PICTURES[name]
    window.open(toured, **place)
    expect(window.page.locator(part).first).to_be_visible()
    expect(window.page.locator('[aria-busy="true"]')).to_have_count(0)
    window.page.mouse.move(0, 0)
    said = " ".join((window.page.locator("main").text_content() or "").split())
    quoted = re.findall(r'"([^"]+)"', words()[name])
    assert quoted
    assert [quote for quote in quoted if quote not in said] == []

    now = picture(window, part)
    if folder := os.environ.get("BTAI_PICTURES"):
        now.save(Path(folder) / f"{name}.png", optimize=True)
    path = FOLDER / f"{name}.png"
    assert path.stat().st_size < MOST_BYTES
    with Image.open(path) as kept:
        assert difference(kept, now) < ALIKE, "the page looks different now: run `make pictures`, and look at them"


def test_every_picture_of_the_page_is_known() -> None:
    assert words().keys() == PICTURES.keys()
    assert {path.stem for path in FOLDER.glob("*")} == PICTURES.keys()
