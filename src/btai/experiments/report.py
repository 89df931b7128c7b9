"""Runs in words and tables, for people (rich) and for machines (JSON)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from btai.experiments.dsprites import Reproduced
from btai.experiments.run import Progress as RunProgress
from btai.experiments.summary import Summary

__all__ = [
    "REMARKS",
    "configuration_table",
    "progress_bars",
    "reproduction_as_json",
    "reproduction_table",
    "run_as_json",
    "run_table",
]

REMARKS = (
    "Why the paper has 0.72 with 50 iterations at granularity 1: 0.71875 is what this agent solves when every cycle "
    "infers from the initial prior. With the prediction for the executed action as prior, as the paper's text asks and "
    "as here, it solves every start.",
    "Why 100 iterations at granularity 1 solve only about 0.78 if ties go to the first action: far from the goal the "
    "cost is flat, so the visits of several actions tie, and taking the first of them makes the agent oscillate. "
    "Taking the tied action of the lowest mean cost is all it needs to solve every start.",
    "The paper's seconds come from a clock that ticks every 128 s (a float32 of time.time()), so only its P(solved) "
    "can be compared, not its times.",
)


def run_table(summary: Summary, configuration: Mapping[str, Any]) -> Table:
    """A run's figures, a line each."""
    return _plain_table(_lines(summary, configuration["trials"]))


def configuration_table(configuration: Mapping[str, Any]) -> Table:
    """What a run was made of, a line each."""
    return _plain_table(_flattened({key: value for key, value in configuration.items() if key != "layout"}))


def run_as_json(summary: Summary, configuration: Mapping[str, Any], path: Path | None) -> dict[str, Any]:
    """The same for machines."""
    return summary.as_dict() | {
        "complete": summary.trials == configuration["trials"],
        "out": None if path is None else str(path),
        "configuration": configuration,
    }


def reproduction_table(rows: Sequence[Reproduced]) -> Table:
    """The paper's table beside ours."""
    n_starts = rows[0].all_starts.summary.trials if rows else 0
    table = Table(
        title="BTAI_3MF on dSprites: P(solved) = (total reward + trials) / (2 trials)",
        caption="g: granularity, n: planning iterations. Paper: 100 random trials.\n"
        "Cycles and ms: per trial, over the starts. µs: per planning iteration.",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for heading in ("g", "n", "ties", "paper", "100 random (95 %)", f"{n_starts:,} starts", "cycles", "ms", "µs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for r in rows:
        whole, sample = r.all_starts.summary, r.random.summary
        table.add_row(
            str(r.row.granularity),
            str(r.row.planning),
            r.row.ties,
            f"{r.row.paper:g}",
            f"{_figure(sample.p_solved)} ({_interval(sample, 2)})",
            _figure(whole.p_solved, 6),
            _figure(whole.cycles_mean),
            _figure(whole.seconds_per_trial, 2, 1e3),
            _figure(whole.microseconds_per_planning_iteration, 1),
        )
    return table


def reproduction_as_json(rows: Sequence[Reproduced]) -> list[dict[str, Any]]:
    """The same for machines."""
    return [
        asdict(r.row)
        | {
            kind: run_as_json(result.summary, result.configuration, result.path)
            for kind, result in (("all_starts", r.all_starts), ("random", r.random))
        }
        for r in rows
    ]


@contextmanager
def progress_bars() -> Iterator[Callable[[str], RunProgress]]:
    """Gives a function that opens a progress bar by title; on anything but a terminal nothing is shown."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("P(solved) {task.fields[p_solved]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:

        def bar(title: str) -> RunProgress:
            task = progress.add_task(title, total=None, p_solved="-")

            def report(summary: Summary, total: int) -> None:
                progress.update(task, completed=summary.trials, total=total, p_solved=_figure(summary.p_solved))

            return report

        yield bar


def _lines(s: Summary, wanted: int) -> list[tuple[str, str]]:
    """A name and a value for each figure."""
    certainty = "each start once" if s.exhaustive else f"95 %: {_interval(s)}"
    return [
        ("P(solved)", f"{_figure(s.p_solved, 6)}  ({certainty})"),
        ("mean reward", _figure(s.reward_mean, 6)),
        ("trials", f"{s.trials} of {wanted}  ({s.trials - s.finished} ran out of time)"),
        ("cycles per trial", _figure(s.cycles_mean)),
        ("seconds per trial", _figure(s.seconds_per_trial, 6)),
        ("µs per planning iteration", _figure(s.microseconds_per_planning_iteration, 2)),
    ]


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


def _flattened(configuration: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in configuration.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
