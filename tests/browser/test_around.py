"""What happens around a page: another page, the end of the inspector, a run that is still being written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser.models import pair
from browser.seen import Seen, column
from inspector.models import SevenStatesEnv
from inspector.recorded import seven_states_agent
from playwright.sync_api import Browser, expect

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
        seen.expect_place(iteration=1)
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


def test_a_page_of_a_run_that_has_only_begun_shows_its_trials_as_they_come(
    seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WATCH_SECONDS", 0.05)
    path = tmp_path / "run.sqlite"

    def write(until: int) -> None:
        def stop(summary: Any, total: int) -> None:
            if summary.trials == until:
                raise StopError

        with pytest.raises(StopError):
            run(seven_states_agent, SevenStatesEnv, 9, out=path, record=True, progress=stop)

    write(0)
    with Inspector(lambda: RunTrace(path, env=SevenStatesEnv())) as inspector:
        seen.page.goto(inspector.url)
        expect(seen.page.locator("main")).to_contain_text("There is no trial to show yet")
        write(1)
        expect(seen.page.locator(".near-tree .child").first).to_be_visible()
        seen.press("Trials")
        expect(seen.figure("trials").locator("tbody tr")).to_have_count(1)
        write(3)
        expect(seen.figure("trials").locator("tbody tr")).to_have_count(3)
        expect(seen.page.locator(".tiles")).to_contain_text("3 of 9")
        seen.page.goto("about:blank")
