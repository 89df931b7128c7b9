"""A Chromium that opens the inspector's page, and runs to look into."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from browser.models import MODELS, PLANNING, pair
from browser.seen import Seen
from inspector.recorded import Recorded, record
from playwright.sync_api import Browser, sync_playwright

from btai.inspector import Inspector, LiveTrace

REQUIRED = "BTAI_NEEDS_CHROMIUM"  # set: a missing Chromium fails the tests instead of leaving them out
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    path = shutil.which("chromium")
    if path is None:
        reason = "THE INSPECTOR'S PAGE IS NOT TESTED: no Chromium was found. On Debian: apt-get install chromium"
        if os.environ.get(REQUIRED):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def seen(chromium: Browser) -> Iterator[Seen]:
    """A window of 1280 x 800 pixels. Whatever the page complains of fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    window = Seen(context.new_page())
    yield window
    context.close()
    assert window.complaints == []


@pytest.fixture(scope="session", params=MODELS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A recorded run, of dSprites and of the rover: three actions, seven states, a loop, several parents."""
    return record(tmp_path_factory.mktemp("runs"), request.param, PLANNING[request.param])


@pytest.fixture(scope="session")
def replay(recorded: Recorded) -> Iterator[str]:
    """The address of a page that shows the recorded run."""
    with Inspector(recorded.trace) as inspector:
        yield inspector.url


@pytest.fixture(params=MODELS)
def live(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The address of a page with a live agent, and the name of its model."""
    with Inspector(lambda: LiveTrace(*pair(request.param))) as inspector:
        yield inspector.url, request.param
