"""How quick the page is with 10,000 planning iterations per cycle: its first view, its scrubber, its whole tree.

What others do on the machine only adds to a time, so of some tries the best counts, or the median of many.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from browser.seen import Seen
from inspector.recorded import long_run

from btai.inspector import Inspector, RunTrace

pytestmark = pytest.mark.slow

SPEED = Path(__file__).with_name("speed.js")
PLANNED = 10_000
FIRST_VIEW = 1.0  # seconds
STEP = 0.1
FRAME = 1 / 20  # of which one sixtieth is waiting for the screen, and another one for the measuring
TRIES = 10

# Steps of the scrubber, from where to where. Nowhere is gone to twice: the page remembers what it was told there.
STEPS = {
    "on": [(9_000 + 10 * k, 9_001 + 10 * k) for k in range(8)],
    "back": [(8_001 + 10 * k, 8_000 + 10 * k) for k in range(8)],
    "far on": [(k, 9_990 + k) for k in range(1, 9)],
    "far back": [(9_890 + k, 10 + k) for k in range(1, 9)],
}


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page that shows such a run."""
    path = long_run(tmp_path_factory.mktemp("long") / "run.sqlite", PLANNED)
    with Inspector(lambda: RunTrace(path)) as inspector:
        yield inspector.url


@pytest.fixture
def measured(seen: Seen) -> Seen:
    """A window that measures."""
    seen.page.add_init_script(path=SPEED)
    return seen


def test_the_first_view_is_whole_within_a_second(measured: Seen, long: str) -> None:
    times = [FIRST_VIEW]
    while min(times) >= FIRST_VIEW and len(times) <= TRIES:
        measured.open(long, trial=0, cycle=0)
        times.append(measured.page.evaluate("speed.firstView"))
    assert min(times) < FIRST_VIEW, times


@pytest.mark.parametrize(("view", "figure"), [("visualisation", "near-tree"), ("slice", "facts")])
def test_a_step_of_the_scrubber_takes_less_than_a_tenth_of_a_second(
    measured: Seen, long: str, view: str, figure: str
) -> None:
    measured.open(long, trial=0, cycle=0, node=2, view=view)
    measured.settled(figure)

    def seconds(here: int, there: int) -> float:
        measured.page.evaluate("iteration => speed.scrub(iteration)", here)
        return float(measured.page.evaluate("iteration => speed.scrub(iteration)", there))

    times = {kind: [seconds(*step) for step in steps] for kind, steps in STEPS.items()}
    assert max(min(tries) for tries in times.values()) < STEP, times


def test_ten_thousand_nodes_stay_smooth(measured: Seen, long: str) -> None:
    measured.open(long, trial=0, cycle=0)
    measured.settled("near-tree")
    assert int(measured.page.locator("canvas").get_attribute("data-dots") or 0) >= 10_000
    times = measured.page.evaluate("speed.move(40)")
    assert median(times) < FRAME, times
