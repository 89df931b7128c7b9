"""The expected free energy taken apart: risk and ambiguity, their parts, the cells of a part; everything adds up."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import pytest
from browser.seen import Row, Seen, agent_at, close, column, same
from inspector.recorded import Recorded
from playwright.sync_api import expect

from btai.inference import ExpectedFreeEnergy


@pytest.fixture
def efe(seen: Seen, replay: str, recorded: Recorded) -> Any:
    """What the node should cost; the page shows it."""
    agent = agent_at(recorded, 0, 10)
    seen.open(replay, view="slice", trial=0, cycle=0, iteration=10, node=6)
    return agent.tree[6].expected_free_energy


def take_apart(seen: Seen, name: str) -> None:
    """Click the bar of a part."""
    seen.settled("efe").locator("svg .part.clickable").filter(has_text=name).first.click()


def parts_and_sum(seen: Seen) -> tuple[list[Row], float]:
    rows = seen.numbers("efe")
    total = rows[-1][-1]
    assert isinstance(total, float | int)
    close(fsum(column(rows[:-1], -1)), total)
    return rows[:-1], total


def as_chart(seen: Seen) -> None:
    seen.figure("efe").get_by_role("button", name="numbers as a table").click()


def test_risk_and_ambiguity_add_up_to_the_whole(seen: Seen, efe: ExpectedFreeEnergy) -> None:
    rows, total = parts_and_sum(seen)
    assert column(rows, 0) == ["risk", "ambiguity"]
    same(column(rows, 1), [sum(efe.risk.values()), sum(efe.ambiguity.values())])
    close(total, efe.total)


def test_a_click_shows_the_parts_of_each_term(seen: Seen, efe: ExpectedFreeEnergy) -> None:
    take_apart(seen, "ambiguity")
    rows, total = parts_and_sum(seen)
    assert column(rows, 0) == list(efe.ambiguity)
    same(column(rows, 1), list(efe.ambiguity.values()))
    close(total, sum(efe.ambiguity.values()))
    as_chart(seen)
    seen.figure("efe").get_by_role("button", name="whole").click()
    take_apart(seen, "risk")
    rows, total = parts_and_sum(seen)
    assert column(rows, 0) == [", ".join(group) for group in efe.risk]
    same(column(rows, 1), list(efe.risk.values()))


def test_a_second_click_shows_the_cells_of_a_risk(seen: Seen, efe: ExpectedFreeEnergy) -> None:
    group = next(iter(efe.risk))
    take_apart(seen, "risk")
    take_apart(seen, ", ".join(group)[:8])
    expect(seen.figure("efe").locator(".levels b")).to_have_text(", ".join(group))
    rows, total = parts_and_sum(seen)
    close(total, efe.risk[group])
    cells = efe.risk_cells(group)
    values = efe.ts.observations
    for row in rows[:20]:
        if "other" in str(row[0]):
            break
        place = tuple(
            list(values[name].values or map(str, range(values[name].size))).index(str(row[axis]))
            for axis, name in enumerate(group)
        )
        close(float(row[-1] or 0), float(cells[place]))
    listed = [row for row in rows if "other" not in str(row[0])]
    same(column(listed, -1), -np.sort(-np.abs(cells.ravel()))[: len(listed)] * np.sign(column(listed, -1)))


def test_the_cells_of_an_ambiguity_are_weights_times_entropies(seen: Seen, efe: ExpectedFreeEnergy) -> None:
    name = next(iter(efe.ambiguity))
    take_apart(seen, "ambiguity")
    take_apart(seen, name)
    rows, total = parts_and_sum(seen)
    close(total, efe.ambiguity[name])
    parents = efe.ts.observations[name].parents
    cells = efe.ambiguity_cells(name)
    listed = [row for row in rows if "other" not in str(row[0])]
    weight, entropy = np.array(column(listed, -3), float), np.array(column(listed, -2), float)
    same(weight * entropy, column(listed, -1))
    close(max(column(listed, -1)), float(cells.max()))
    assert len(listed[0]) == len(parents) + 3


def test_a_cell_tells_how_its_value_comes_about(seen: Seen, efe: ExpectedFreeEnergy) -> None:
    group = next(iter(efe.risk))
    take_apart(seen, "risk")
    take_apart(seen, ", ".join(group)[:8])
    tip = seen.tip(seen.settled("efe").locator("svg .part").first)
    assert all(f"{name} = " in tip for name in group)
    assert "q (ln q \N{MINUS SIGN} ln C)" in tip


def test_the_graph_of_the_preferences_opens_the_risk_of_a_group(seen: Seen, efe: ExpectedFreeEnergy) -> None:
    seen.figure("preferences").locator(".factor.clickable").first.click()
    seen.expect_place(part="risk:0")
    close(parts_and_sum(seen)[1], next(iter(efe.risk.values())))
