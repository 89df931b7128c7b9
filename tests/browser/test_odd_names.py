"""Names that hold quotes, line breaks, commas and braces: they are shown as they are, and copied as names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser.seen import Seen, column, same
from browser.test_copy import clipboard
from inspector.copied import value_of
from inspector.odd_names import OBSERVATIONS, STATES, odd_run
from playwright.sync_api import expect

from btai.inspector import Inspector, RunTrace, export_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odd_run(tmp_path_factory.mktemp("odd"))


@pytest.fixture(scope="module")
def odd(run: Path) -> Iterator[str]:
    """The address of a page that shows the run."""
    with Inspector(lambda: RunTrace(run)) as inspector:
        yield inspector.url


@pytest.mark.parametrize("node", [0, 3])
def test_beliefs_are_copied_by_name_and_not_as_code(seen: Seen, odd: str, node: int, tmp_path: Path) -> None:
    for name in (*STATES, *OBSERVATIONS):
        seen.open(odd, view="slice", trial=0, cycle=1, node=node, state=name)
        copied = value_of(clipboard(seen, "beliefs"), tmp_path)
        same(column(seen.numbers("beliefs"), 1), copied[name] if node == 0 and name in OBSERVATIONS else copied)


def test_messages_and_parts_of_costs_are_copied_by_name_and_not_as_code(seen: Seen, odd: str, tmp_path: Path) -> None:
    seen.open(odd, view="slice", trial=0, cycle=1, node=0)
    same(column(seen.numbers("message"), 1), np.ravel(value_of(clipboard(seen, "message"), tmp_path)))
    for name in OBSERVATIONS:
        seen.open(odd, view="slice", trial=0, cycle=1, node=3, part=f"ambiguity:{name}")
        expect(seen.figure("efe").locator(".levels li")).to_have_count(3)
        same(seen.numbers("efe")[-1][-1], value_of(clipboard(seen, "efe"), tmp_path).sum())


def test_a_heat_map_is_copied_by_names_and_not_as_code(seen: Seen, odd: str, tmp_path: Path) -> None:
    seen.open(odd, view="visualisation", trial=0, cycle=1, node=3, pair=f"{STATES[1]},{STATES[2]}")
    joint = value_of(clipboard(seen, "environment"), tmp_path)
    shown = seen.numbers("environment")
    same(column(shown, 2), [joint[int(row[1] or 0), int(row[0] or 0)] for row in shown])


def test_cliques_are_shown_with_the_variables_they_have(seen: Seen, odd: str) -> None:
    seen.open(odd, view="slice", trial=0, cycle=1, node=0)
    cliques = seen.figure("message").locator(".clique .short")
    seen.until(lambda: sorted(cliques.all_text_contents(), key=len), ["S3", "S2 S3", "S1 S2 S3"])


def test_an_export_has_every_part_under_the_address_that_the_page_asks_for(
    seen: Seen, run: Path, tmp_path: Path
) -> None:
    trace = RunTrace(run)
    page = export_page(trace, tmp_path / "odd.html").path
    trace.close()
    for name in OBSERVATIONS:
        seen.open(page.as_uri(), view="slice", trial=0, cycle=1, node=3, part=f"ambiguity:{name}")
        expect(seen.figure("efe").locator(".levels li")).to_have_count(3)
        expect(seen.figure("efe").locator(".empty")).to_have_count(0)
        assert len(seen.numbers("efe")) == 4 + 2  # the cells, the rest and the sum


def test_a_start_of_several_states_is_shown_by_their_names(seen: Seen, odd: str) -> None:
    seen.open(odd, view="trials", sort="initial_state")
    (row,) = seen.rows("trials")
    assert row[6] == ", ".join(f"{name}=1" for name in STATES)
