"""The paper's tables beside ours: for a terminal, as Markdown, and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from btai.experiments.paper.remarks import remarks
from btai.experiments.paper.reproduce import Reproduced, Score
from btai.experiments.paper.rows import AUTHORS_SOURCE, PAPER_SOURCE, REPAIRED, Row
from btai.experiments.report import run_as_json
from btai.experiments.run import RunResult

__all__ = ["as_json", "as_markdown", "as_tables"]

UNKNOWN = "-"
SETTING = ("agent", "g", "n")


@dataclass(frozen=True)
class Grid:
    """A table before it is laid out: a group of lines for each table of the paper; the numbers stand to the right.

    A heading may be of two lines. No line is longer than 80 columns.
    """

    title: str
    headings: tuple[str, ...]
    groups: Sequence[Sequence[tuple[str, ...]]]
    note: str


def as_tables(lines: Sequence[Reproduced]) -> list[RenderableType]:
    """What a terminal shows: two tables and the remarks."""
    said = Table.grid(padding=(0, 1))
    for remark in remarks(lines):
        said.add_row("•", Text(remark))
    return [*(Group(Text(grid.title), _rich(grid), Text(grid.note)) for grid in _grids(lines)), said]


def as_markdown(lines: Sequence[Reproduced]) -> str:
    """The same for documents."""
    blocks = [*map(_markdown, _grids(lines)), "\n".join(f"- {remark}" for remark in remarks(lines))]
    return "\n\n".join(filter(None, blocks))


def as_json(lines: Sequence[Reproduced]) -> list[dict[str, Any]]:
    """The same for machines, with everything that is known of each run."""
    return [
        asdict(line.row)
        | {
            "sources": {"paper": PAPER_SOURCE, "authors": AUTHORS_SOURCE},
            "p_solved": {
                "first_100_random": line.sample_score(line.row.unfinished)._asdict(),
                "unfinished_as_0": line.score(0.0)._asdict(),
                "unfinished_as_-1": line.score(-1.0)._asdict(),
            },
            "seconds_per_trial": line.seconds,
            "times_faster_than": {
                "paper": line.times_faster_than(line.row.paper_seconds),
                "authors": line.times_faster_than(line.row.authors.seconds),
                "repaired": line.times_faster_than(line.row.repaired_seconds),
            },
            "random": _run(line.random),
            "all_starts": None if line.all_starts is None else _run(line.all_starts),
        }
        for line in lines
    ]


def _run(result: RunResult) -> dict[str, Any]:
    return run_as_json(result.summary, result.configuration, result.path)


def _grids(lines: Sequence[Reproduced]) -> tuple[Grid, Grid]:
    groups = [list(group) for _, group in groupby(lines, lambda line: line.row.table)]
    starred = any(line.row.ties != "cost" for line in lines)
    solved = Grid(
        "How much of dSprites is solved: P(solved) = (total reward + trials) / (2 trials)",
        (*SETTING, "paper", "authors", "100 trials\n(95 %)", "all trials,\nunfinished 0", "or -1"),
        [[_solved(line) for line in group] for group in groups],
        "g: granularity, n: planning iterations. authors: their programs, as we ran them once. 100 trials: from random "
        f"starts, as in the paper. all trials: {_how_many(lines)}. A trial that never arrives earns 0 in the authors' "
        "programs of BTAI_VMP and BTAI_BF, and so in the columns paper, authors and 100 trials; in the paper's text, "
        "in that of BTAI_3MF and in the last column it earns -1."
        + (' *: ties="first", of the most visited actions the first is taken.' if starred else ""),
    )
    fast = Grid(
        "How fast: milliseconds per trial, and how many times faster btai is",
        (*SETTING, "paper", "authors", "repaired", "btai", "than\npaper", "than\nauthors", "than\nrepaired"),
        [[_fast(line) for line in group if line.row.ties == "cost"] for group in groups],
        "authors: their programs, as we ran them once on one core of a test machine; repaired: "
        f"{REPAIRED} btai: on this machine when the trials were run; all else that it did meanwhile has made them "
        "slower.",
    )
    return solved, fast


def _how_many(lines: Sequence[Reproduced]) -> str:
    """What the trials are that P(solved) is of."""
    random = {f"{line.random.summary.trials:,} from random starts" for line in lines if line.all_starts is None}
    whole = {
        f"of BTAI_3MF one from each of {line.all_starts.summary.trials:,} starts" for line in lines if line.all_starts
    }
    return "; ".join([*sorted(random), *sorted(whole)])


def _setting(row: Row) -> tuple[str, ...]:
    return row.marked_agent, str(row.granularity), str(row.planning)


def _solved(line: Reproduced) -> tuple[str, ...]:
    row, sample = line.row, line.sample_score(line.row.unfinished)
    return (
        *_setting(row),
        _number(row.paper.p_solved),
        _number(row.authors.p_solved),
        f"{sample.p_solved:.3f} ({'–'.join(f'{end:.2f}' for end in sample.interval)})",
        _with_error(line.score(0.0)),
        _exactly(line.score(-1.0)),
    )


def _fast(line: Reproduced) -> tuple[str, ...]:
    row = line.row
    known = (row.paper_seconds, row.authors.seconds, row.repaired_seconds)
    return (
        *_setting(row),
        *map(_milliseconds, (*known, line.seconds)),
        *(_times(line.times_faster_than(seconds)) for seconds in known),
    )


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"


def _with_error(score: Score) -> str:
    low, high = score.interval
    return _exactly(score) if low == high else f"{_exactly(score)} ± {(high - low) / 2:.3f}"


def _exactly(score: Score) -> str:
    """As many digits as are known."""
    low, high = score.interval
    return f"{score.p_solved:.{6 if low == high else 3}f}"


def _milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    return f"{1e3 * seconds:,.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 2}f}"


def _times(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio:,.{0 if ratio >= 10 else 1}f}"


def _rich(grid: Grid) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, heading in enumerate(grid.headings):
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for group in grid.groups:
        for cells in group:
            table.add_row(*cells)
        table.add_section()
    return table


def _markdown(grid: Grid) -> str:
    rows = [
        [heading.replace("\n", " ") for heading in grid.headings],
        ("---", *["--:"] * (len(grid.headings) - 1)),
        *(row for group in grid.groups for row in group),
    ]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"**{grid.title}**\n\n{table}\n\n{grid.note}"
