"""What people see of runs on a terminal and off it."""

from __future__ import annotations

import io
import re
import time
from functools import partial

import pytest
from experiments.paper_lines import trial
from rich.console import Console

from btai.experiments import report, summarise

DONE = summarise([trial(1.0)] * 3)


@pytest.mark.parametrize(("terminal", "width"), [(60, 80), (80, 80), (200, 200)])
def test_tables_are_printed_in_at_least_eighty_columns(
    terminal: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "Console", partial(Console, force_terminal=True, width=terminal))
    assert report.console().width == width


def test_without_a_terminal_tables_have_a_width_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "Console", partial(Console, file=io.StringIO(), width=17))
    assert report.console().width == 100


def test_bars_that_are_done_scroll_away_and_the_one_that_moves_stays_in_view(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    small = partial(Console, file=screen, force_terminal=True, width=80, height=5)
    monkeypatch.setattr(report, "Console", lambda stderr: small())
    with report.progress_bars() as bar:
        for number in range(10):
            bar(f"bar {number}")(DONE, 3)
        deadline = time.monotonic() + 10
        while "bar 9" not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", screen.getvalue()))
    for number in range(9):
        assert any(line.startswith(f"bar {number} P(solved) 1.000") and "3/3" in line for line in lines)
    assert any("bar 9" in line for line in lines)  # while it moves, not only in the end
    assert max(map(len, lines)) <= 80


def test_where_nothing_says_what_is_solved_the_mean_reward_stands_alone() -> None:
    summary = summarise([trial(0.0), trial(1.0)], rewards=None)
    text = report.run_as_text(summary, 2)
    assert "P(solved)" not in text
    assert "mean reward                0.500000" in text


def test_bars_write_nothing_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with report.progress_bars() as bar:
        for number in range(3):
            bar(f"bar {number}")(DONE, 3)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""
