"""The grid as a table for people."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from experiments.corridor import Corridor, Rightwards
from rich.console import Console

from btai.experiments import report, run, summarise
from btai.experiments.sweeps import GridRow
from btai.experiments.sweeps.report import grid_table

SOLVED = run(Rightwards(), Corridor(), exhaustive=True).trials
EARNED = [replace(trial, reward=5.0) for trial in SOLVED]


def columns(*rows: GridRow) -> dict[str, list[str]]:
    """The cells of the table by heading."""
    return {str(column.header): [str(cell) for cell in column.cells] for column in grid_table(rows).columns}


def row(number: int, trials: object, *, exhaustive: bool = False) -> GridRow:
    assert isinstance(trials, list | tuple)
    return GridRow(number, {}, len(SOLVED), summarise(trials, exhaustive=exhaustive), None)


@pytest.mark.parametrize("trials", [SOLVED, ()], ids=["done", "not begun"])
def test_what_is_solved_is_shown_where_rewards_are_scores(trials: object) -> None:
    assert list(columns(row(0, trials))) == ["run", "trials", "P(solved)", "95 %", "cycles", "seconds"]


def test_rewards_are_shown_where_they_are_no_scores() -> None:
    shown = columns(row(0, EARNED), row(1, ()))
    assert list(shown) == ["run", "trials", "mean reward", "cycles", "seconds"]
    assert shown["mean reward"] == ["5.000", "-"]


def test_both_are_shown_where_there_are_both() -> None:
    shown = columns(row(0, SOLVED), row(1, EARNED))
    assert (shown["P(solved)"], shown["mean reward"]) == (["1.000", "-"], ["1.000", "5.000"])


def test_interval_is_that_of_the_samples_unless_every_start_was_tried() -> None:
    shown = columns(row(0, SOLVED), row(1, SOLVED, exhaustive=True), row(2, SOLVED[:5], exhaustive=True))
    assert shown["95 %"] == ["0.65–1.00", "each start", "-"]
    assert shown["trials"] == ["7", "7", "5 of 7"]


@pytest.mark.parametrize(
    "terminal", [{}, {"force_terminal": True}, {"force_terminal": True, "_environ": {"TERM": "dumb"}}]
)
def test_grid_is_whole_however_narrow_the_terminal_is(
    terminal: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    options: dict[str, Any] = {"file": screen, "width": 40, "no_color": True, "highlight": False} | terminal
    monkeypatch.setattr(report, "Console", partial(Console, **options))
    parameters = {f"some_parameter_{letter}": letter * 12 for letter in "abcdefgh"}
    rows = [replace(row(number, SOLVED), parameters=parameters | {"seed": number}) for number in range(2)]
    rows[1] = replace(rows[1], parameters={name: f"{value}x" for name, value in rows[1].parameters.items()})
    table = grid_table(rows)
    report.console(table).print(table)
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line).split() for line in screen.getvalue().splitlines()]
    assert ["0", *parameters.values(), "0", "7", "1.000", "0.65–1.00", "4.000"] in [line[:-1] for line in lines]
    assert sum(line[-2:] == ["cycles", "seconds"] for line in lines) == 1
