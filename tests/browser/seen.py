"""What can be seen and done on the inspector's page, in words that tests are written in."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest
from inspector.recorded import Recorded
from numpy.typing import ArrayLike
from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from btai import BTAI_3MF
from btai.experiments import RunFile, Trial
from btai.model import TemporalSlice

Row = list[str | float | None]

PATIENCE = 20.0  # seconds: a busy machine may take its time
expect.set_options(timeout=1000 * PATIENCE)

ROWS = """table => [...table.querySelectorAll("tbody tr")].map(row => [...row.children].map(cell => {
    const number = cell.querySelector("data");
    if (number) return number.getAttribute("value") ? Number(number.getAttribute("value")) : null;
    return cell.textContent.trim();
}))"""


class Seen:
    """A window that shows the page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} {message.location.get('url', '')}")

    def open(self, url: str, **place: Any) -> Seen:
        """Go to a place: a view, a cursor, what a view is set to."""
        self.page.goto("about:blank")  # so that it is a new page also where only the fragment differs
        self.page.goto(f"{url}#{urlencode(place)}")
        expect(self.page.locator("main > *").first).to_be_visible()
        self.arrive()
        return self

    def arrive(self) -> None:
        """Wait until nothing that is shown is of before, or still to come."""
        expect(self.page.locator('[aria-busy="true"]')).to_have_count(0)
        self.until(lambda: self.page.evaluate("() => [...document.images].every(image => image.complete)"), True)

    @property
    def place(self) -> dict[str, str]:
        """What the address says of where the page is."""
        return dict(parse_qsl(self.page.url.partition("#")[2]))

    def expect_place(self, **place: Any) -> None:
        """Wait until the address says so."""
        self.until(
            lambda: {key: self.place.get(key) for key in place}, {key: str(value) for key, value in place.items()}
        )

    def until(self, now: Callable[[], Any], wanted: Any) -> None:
        """Wait until something is as wanted; the page draws what comes when it comes."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if now() == wanted:
                return
            self.page.wait_for_timeout(50)
        assert now() == wanted

    def button(self, name: str) -> Locator:
        """A button by its name, or by how its name begins."""
        return self.page.get_by_role("button", name=name).first

    def press(self, name: str) -> None:
        """Press a button."""
        self.button(name).click()

    def figure(self, name: str) -> Locator:
        """A chart or table by its name."""
        return self.page.locator(f'[data-figure="{name}"]')

    def settled(self, name: str) -> Locator:
        """A figure once it shows what it should and not what was before."""
        figure = self.figure(name)
        expect(figure).to_be_visible()
        expect(figure).not_to_have_attribute("aria-busy", "true")
        return figure

    def number(self, name: str) -> float | None:
        """A number that has a name."""
        data = self.page.locator(f'data[data-id="{name}"]').first
        expect(data).to_be_visible()
        value = data.get_attribute("value")
        return float(value) if value else None

    def numbers(self, name: str) -> list[Row]:
        """The numbers of a figure: what the button beside its title shows in place of the chart."""
        figure = self.settled(name)
        toggle = figure.get_by_role("button", name="numbers as a table")
        if toggle.count() and toggle.get_attribute("aria-pressed") != "true":
            toggle.click()
        return self.rows(name)

    def rows(self, name: str) -> list[Row]:
        """The rows of the table in a figure, as it is."""
        table = self.settled(name).locator("table.data")
        expect(table).to_be_visible()
        found: list[Row] = table.evaluate(ROWS)
        return found

    def tip(self, target: Locator) -> str:
        """What is said of something under the pointer."""
        target.hover()
        tooltip = self.page.locator("#tooltip")
        expect(tooltip).to_be_visible()
        return tooltip.inner_text()

    def choose(self, label: str, value: str) -> None:
        """Choose from a list."""
        self.page.get_by_label(label).select_option(value)


def said(window: Seen) -> dict[str, Any]:
    """All that the page says, and every number in full, once nothing is being waited for."""
    window.arrive()
    main = window.page.locator("main")
    return {
        "text": main.inner_text(),
        "numbers": main.locator("data").evaluate_all("all => all.map(data => data.getAttribute('value'))"),
        "tips": main.locator("[data-tip]").evaluate_all("all => all.map(one => one.dataset.tip)"),
        "pictures": main.locator("img").evaluate_all("all => all.map(image => image.naturalWidth)"),
    }


def read(number: str) -> float:
    """A number as people read it on the page: four digits or so, with a true minus."""
    return float(number.replace("\N{MINUS SIGN}", "-"))


def column(rows: Sequence[Row], index: int) -> list[Any]:
    """One column of a table."""
    return [row[index] for row in rows]


def same(shown: object, wanted: ArrayLike) -> None:
    """Numbers on the page are the Python objects' own; JSON keeps every bit; only the order of sums may differ."""
    np.testing.assert_allclose(np.asarray(shown, float), np.asarray(wanted, float), rtol=1e-12, atol=1e-15)


def close(shown: float | None, wanted: float) -> None:
    """One number, likewise."""
    assert shown == pytest.approx(wanted, rel=1e-12, abs=1e-15)


def action_names(ts: TemporalSlice) -> tuple[str, ...]:
    """What the page calls the actions."""
    return ts.action.values or tuple(map(str, range(ts.action.size)))


def trial_of(recorded: Recorded, trial: int = 0) -> Trial:
    """The trial most tests look at, or another."""
    with RunFile.open(recorded.path) as file:
        return file.trials()[trial]


def agent_at(recorded: Recorded, cycle: int, iterations: int = 0, trial: int = 0) -> BTAI_3MF:
    """An agent of the test's own that has lived through a trial up to a cycle, and planned so much in it."""
    lived = trial_of(recorded, trial)
    for number, agent in enumerate(recorded.agents(lived.seed, lived.actions)):
        if number == cycle:
            if iterations:
                agent.plan(iterations)
            return agent
    raise AssertionError(f"the trial has no cycle {cycle}")
