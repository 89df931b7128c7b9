"""What happens around a page: another page, the end of the inspector, a run that is still being written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser.models import pair
from browser.seen import Seen, column
from inspector.models import SevenStatesEnv
from inspector.recorded import seven_states_agent
from playwright.sync_api import Browser, Route, expect

from btai.experiments import run
from btai.inspector import Inspector, LiveTrace, RunTrace, service


def test_two_browsers_see_the_same_agent_and_either_may_command_it(
    chromium: Browser, live: tuple[str, str], seen: Seen
) -> None:
    address, name = live
    agent = pair(name).agent
    other = Seen(chromium.new_context().new_page())
    seen.open(address)
    other.open(address)
    for one, iterations in ((seen, 1), (other, 2)):
        one.page.locator(".controls").get_by_role("button", name="Next planning iteration").click()
        for page in (seen, other):
            page.expect_place(iteration=iterations)
    seen.page.keyboard.press("ArrowLeft")  # one of them looks back
    seen.expect_place(iteration=1)
    other.page.locator(".controls").get_by_role("button", name="Finish planning").click()
    other.expect_place(iteration=agent.options.iterations)
    expect(seen.page.locator(".position")).to_contain_text(f"iteration 1 of {agent.options.iterations}")
    other.page.context.close()
    seen.press("Back to now")
    seen.expect_place(iteration=agent.options.iterations)
    assert other.complaints == []


def test_a_page_outlives_the_inspector_and_says_that_it_has_ended(seen: Seen) -> None:
    with Inspector(lambda: LiveTrace(*pair("seven"))) as inspector:
        seen.open(inspector.url)
        seen.page.locator(".controls").get_by_role("button", name="Next planning iteration").click()
        expect(seen.page.locator(".near-tree .child.node-best")).to_be_visible()
        expect(seen.page.locator('[aria-busy="true"]')).to_have_count(0)
    expect(seen.page.locator(".notices")).to_contain_text("btai has ended")
    visits = column(seen.numbers("near-tree"), 2)
    assert visits == [2, 1, 1, 1]
    seen.page.locator(".controls").get_by_role("button", name="Next planning iteration").click()
    expect(seen.page.locator(".notices")).to_contain_text("The server does not answer")
    seen.complaints.clear()  # the browser's own: there is no server any more


def test_an_address_of_another_inspector_leads_nowhere_and_says_why(seen: Seen, replay: str) -> None:
    address, _, _ = replay.rstrip("/").rpartition("/")
    answer = seen.page.goto(f"{address}/{'x' * 32}/")
    assert answer is not None
    assert answer.status == 404
    expect(seen.page.locator("body")).to_contain_text("The address that btai printed holds a token")
    seen.complaints.clear()  # the browser's own, of the status


class StopError(Exception):
    """Ends a run in the middle."""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Goes on with the run that `begun` shows, until it has so many trials of nine."""
    monkeypatch.setattr(service, "WATCH_SECONDS", 0.05)

    def until(trials: int) -> None:
        def stop(summary: Any, total: int) -> None:
            if summary.trials == trials:
                raise StopError

        with pytest.raises(StopError):
            run(seven_states_agent, SevenStatesEnv, 9, out=tmp_path / "run.sqlite", record=True, progress=stop)

    until(0)
    return until


@pytest.fixture
def begun(write: Callable[[int], None], tmp_path: Path) -> Iterator[str]:
    """The address of a page of a run without a trial yet."""
    with Inspector(lambda: RunTrace(tmp_path / "run.sqlite", env=SevenStatesEnv())) as inspector:
        yield inspector.url


def test_a_page_of_a_run_that_has_only_begun_shows_its_trials_as_they_come(
    begun: str, write: Callable[[int], None], seen: Seen
) -> None:
    seen.page.goto(begun)
    expect(seen.page.locator("main")).to_contain_text("There is no trial to show yet")
    write(1)
    expect(seen.page.locator(".near-tree .child").first).to_be_visible()
    seen.press("Trials")
    expect(seen.figure("trials").locator("tbody tr")).to_have_count(1)
    write(3)
    expect(seen.figure("trials").locator("tbody tr")).to_have_count(3)
    expect(seen.page.locator(".tiles")).to_contain_text("3 of 9")


def test_nor_is_a_trial_missed_that_ends_while_the_page_begins_to_listen(
    begun: str, write: Callable[[int], None], seen: Seen
) -> None:
    def listen_later(route: Route) -> None:
        write(1)
        route.continue_()

    seen.page.route("**/api/events", listen_later)
    seen.page.goto(begun)
    expect(seen.page.locator(".near-tree .child").first).to_be_visible()


def test_nor_is_what_a_live_agent_does_meanwhile(live: tuple[str, str], seen: Seen) -> None:
    def listen_later(route: Route) -> None:
        expect(seen.page.locator(".near-tree .node-none").first).to_be_visible()  # it has loaded what was there
        httpx.post(f"{live[0]}api/command", json={"command": "plan", "iterations": 3}, timeout=60)
        route.continue_()

    seen.page.route("**/api/events", listen_later)
    seen.open(live[0])
    seen.expect_place(iteration=3)
    expect(seen.page.locator(".position")).to_contain_text("iteration 3 of 3")


@pytest.mark.parametrize(("view", "asked"), [("Temporal slice", "node"), ("Trials", "trials"), ("Why", "why")])
def test_a_view_that_waits_says_so_after_a_moment(seen: Seen, replay: str, view: str, asked: str) -> None:
    held: list[Route] = []
    seen.open(replay, view="visualisation", trial=0, cycle=0)
    seen.page.route(re.compile(rf"/api/{asked}(\?|$)"), lambda route: held.append(route))
    seen.page.locator(f"nav.views button[data-name='{view}']").click()
    waiting = seen.page.locator("main .waiting")
    expect(waiting).to_have_attribute("role", "status")
    expect(waiting).to_have_css("opacity", "1")
    seen.until(lambda: len(held), 1)
    held[0].continue_()
    expect(waiting).to_have_count(0)
    seen.arrive()


def test_going_to_a_cycle_that_is_on_its_way_is_seen_in_the_one_before(seen: Seen, replay: str) -> None:
    held: list[Route] = []
    seen.open(replay, view="visualisation", trial=0, cycle=0)
    seen.page.route(re.compile(r"/api/cycle\?.*cycle=2"), lambda route: held.append(route))
    seen.page.locator(".cycles button").nth(2).click()
    main = seen.page.locator("main")
    expect(main).to_have_attribute("aria-busy", "true")
    expect(main.locator("> *").first).to_have_css("opacity", "0.55")
    seen.until(lambda: len(held), 1)
    held[0].continue_()
    seen.expect_place(cycle=2)
    seen.arrive()
    expect(main.locator("> *").first).to_have_css("opacity", "1")


def test_where_the_image_of_an_environment_comes_from_is_said(seen: Seen) -> None:
    class Unseen(SevenStatesEnv):
        render = None  # type: ignore[assignment]

    with Inspector(lambda: LiveTrace(Unseen(), seven_states_agent())) as inspector:
        seen.open(inspector.url, pair="off")
        expect(seen.figure("environment")).to_contain_text("render() of an environment supplies it")
