"""Runs in words and tables, for people (rich) and for machines (JSON)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleDimensions
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from btai.experiments.configuration import flattened
from btai.experiments.run import Progress as RunProgress
from btai.experiments.summary import Summary
from btai.notebook import Html, panel
from btai.notebook import table as html_table

__all__ = [
    "configuration_table",
    "console",
    "progress_bars",
    "run_as_html",
    "run_as_json",
    "run_as_text",
    "run_table",
]

NARROWEST, WITHOUT_TERMINAL, MOST_COLUMNS = 80, 100, 10_000


def console(table: Table | None = None) -> Console:
    """Where tables are printed, this one for example.

    A terminal that is too narrow for them wraps their lines itself: nothing is cut off.
    """
    found = Console()
    width = max(found.width, NARROWEST) if found.is_terminal else WITHOUT_TERMINAL
    if table is not None:
        width = max(width, Measurement.get(found, found.options.update_width(MOST_COLUMNS), table).minimum)
    found.size = ConsoleDimensions(width, found.height)  # both: else a terminal that can do little has 80 columns
    return found


def run_table(summary: Summary, configuration: Mapping[str, Any]) -> Table:
    """A run's figures, a line each."""
    return _plain_table(_lines(summary, configuration["trials"]))


def configuration_table(configuration: Mapping[str, Any]) -> Table:
    """What a run was made of, a line each."""
    return _plain_table(flattened(configuration))


def run_as_json(summary: Summary, configuration: Mapping[str, Any], path: Path | None) -> dict[str, Any]:
    """The same for machines."""
    return summary.as_dict() | {
        "complete": summary.trials == configuration["trials"],
        "out": None if path is None else str(path),
        "configuration": configuration,
    }


def run_as_text(summary: Summary, wanted: int) -> str:
    """The same for a shell that shows what a line gives."""
    lines = _lines(summary, wanted)
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in lines)


def run_as_html(summary: Summary, wanted: int) -> Html:
    """The same for notebooks."""
    return panel("Run", html_table(("", ""), _lines(summary, wanted)))


@contextmanager
def progress_bars() -> Iterator[Callable[[str], RunProgress]]:
    """Gives a function that opens a progress bar by title; on anything but a terminal nothing is shown.

    One bar moves at a time. Those before it scroll away above it, however many there are.
    """
    errors = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        TextColumn("{task.fields[score]:<15}"),
        BarColumn(bar_width=None, table_column=Column(max_width=40)),  # what the others leave
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:

        def bar(title: str) -> RunProgress:
            for done in progress.tasks:
                if not progress.disable:
                    progress.print(progress.make_tasks_table([done]))
                progress.remove_task(done.id)
            task = progress.add_task(title, total=None, score="")

            def report(summary: Summary, total: int) -> None:
                progress.update(task, completed=summary.trials, total=total, score=_score(summary))

            return report

        yield bar


def _lines(s: Summary, wanted: int) -> list[tuple[str, str]]:
    """A name and a value for each figure."""
    certainty = "each start once" if s.exhaustive else f"95 %: {_interval(s)}"
    solved = [] if s.p_solved is None and s.trials else [("P(solved)", f"{_figure(s.p_solved, 6)}  ({certainty})")]
    return [
        *solved,
        ("mean reward", _figure(s.reward_mean, 6)),
        ("trials", f"{s.trials} of {wanted}  ({s.trials - s.finished} ran out of time)"),
        ("cycles per trial", _figure(s.cycles_mean)),
        ("seconds per trial", _figure(s.seconds_per_trial, 6)),
        ("µs per planning iteration", _figure(s.microseconds_per_planning_iteration, 2)),
    ]


def _score(s: Summary) -> str:
    """How much is solved, or, where nobody can say, what is earned."""
    if s.p_solved is None and s.trials:
        return f"reward {_figure(s.reward_mean)}"
    return f"P(solved) {_figure(s.p_solved)}"


def _plain_table(lines: Iterable[tuple[str, Any]]) -> Table:
    table = Table(box=None, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in lines:
        table.add_row(name, Text(str(value)))
    return table


def _figure(value: float | None, decimals: int = 3, scale: float = 1.0) -> str:
    return "-" if value is None else f"{value * scale:.{decimals}f}"


def _interval(summary: Summary, decimals: int = 3) -> str:
    return "-" if summary.interval is None else "–".join(_figure(end, decimals) for end in summary.interval)
