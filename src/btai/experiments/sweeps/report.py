"""Sweeps in words and tables, for people (rich) and for machines (JSON)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from btai.experiments.sweeps.driver import SweepProgress
from btai.experiments.sweeps.table import GridRow, varying

__all__ = ["grid_as_json", "grid_table", "missing_lines", "sweep_bar"]

MOST_LISTED = 20  # cells that are not complete


def grid_table(rows: Sequence[GridRow]) -> Table:
    """A line for each run: the parameters in which the runs differ, and the figures."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    parameters, figures = varying(rows), _figures(rows)
    columns = {"run": [str(row.run) for row in rows]}
    for name in parameters:
        values = [_shown(row.parameters[name]) for row in rows]
        columns[_narrowed(name, values)] = values
    columns |= {heading: [figure(row) for row in rows] for heading, figure in figures.items()}
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)  # so that it cannot be cut off
    for row, cells in zip(rows, zip(*columns.values(), strict=True), strict=True):
        table.add_row(*cells, style="red" if row.failure else None)
    return table


def _narrowed(name: str, values: Sequence[str]) -> str:
    """The name of a parameter as a heading that is no wider than it must be."""
    words = name.split("_")
    return "\n".join(wrap(" ".join(words), max(map(len, (*words, *values)))))


def _figures(rows: Sequence[GridRow]) -> dict[str, Callable[[GridRow], str]]:
    """What is shown of each run, by heading: how much is solved where rewards say so, else the rewards themselves."""
    summaries = [row.summary for row in rows if row.summary.trials]
    figures: dict[str, Callable[[GridRow], str]] = {"trials": _trials}
    if not summaries or any(s.p_solved is not None for s in summaries):
        figures |= {"P(solved)": lambda row: _shown(row.summary.p_solved), "95 %": _interval}
    if any(s.p_solved is None for s in summaries):
        figures["mean reward"] = lambda row: _shown(row.summary.reward_mean)
    figures["cycles"] = lambda row: _shown(row.summary.cycles_mean)
    figures["seconds"] = lambda row: _shown(row.summary.seconds_per_trial)
    return figures


def _trials(row: GridRow) -> str:
    return f"{row.summary.trials}" if row.complete else f"{row.summary.trials} of {row.wanted}"


def _interval(row: GridRow) -> str:
    s = row.summary
    if s.exhaustive:
        return "each start" if row.complete else "-"
    return "-" if s.interval is None else "–".join(f"{end:.2f}" for end in s.interval)


def missing_lines(rows: Sequence[GridRow]) -> list[str]:
    """Which cells are not complete, and why."""
    missing = [row for row in rows if not row.complete]
    if not missing:
        return []
    failed = sum(row.failure is not None for row in missing)
    lines = [f"{len(missing)} of {len(rows)} cells are not complete, {failed} of them failed:"]
    lines += [_missing(row, varying(rows)) for row in missing[:MOST_LISTED]]
    if len(missing) > MOST_LISTED:
        lines.append(f"  and {len(missing) - MOST_LISTED} more")
    return lines


def grid_as_json(rows: Sequence[GridRow], path: Path) -> dict[str, Any]:
    """The same for machines."""
    return {"out": str(path), "complete": all(row.complete for row in rows), "runs": [row.flat() for row in rows]}


@contextmanager
def sweep_bar(title: str) -> Iterator[Callable[[SweepProgress], None]]:
    """A progress bar for the whole grid; on anything but a terminal nothing is shown."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials, cells {task.fields[cells]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None, cells="-")

        def report(p: SweepProgress) -> None:
            cells = f"{p.cells}/{p.all_cells}" + (f", {p.failed} failed" if p.failed else "")
            bar.update(task, completed=p.trials, total=p.all_trials, cells=cells)

        yield report


def _missing(row: GridRow, parameters: Sequence[str]) -> str:
    which = ", ".join(f"{name} {_shown(row.parameters[name])}" for name in parameters)
    line = f"  run {row.run}{f' ({which})' if which else ''}: {row.summary.trials} of {row.wanted} trials"
    if row.failure is None:
        return line
    # A traceback ends with what was raised, and with the notes on it, the last of which names the trial.
    reason = [text for text in row.failure.reason.splitlines() if text and not text.startswith((" ", "In trial "))][-1]
    return f"{line}, failed at trial {row.failure.trial}: {reason}"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
