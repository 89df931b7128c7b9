"""`btai reproduce`: the paper's tables, run again."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from btai.commands.options import as_json, workers

if TYPE_CHECKING:
    from btai.experiments.paper import Reproduced, Row
    from btai.experiments.run import Progress

__all__ = ["reproduce_command"]


@click.command("reproduce")
@click.option(
    "--table",
    "tables",
    type=click.IntRange(1, 4),
    multiple=True,
    help="1: BTAI_VMP at granularity 8, 2: at 4, 3: BTAI_BF, 4: BTAI_3MF. Several may be given; all by default.",
)
@click.option("--quick", is_flag=True, help="100 random trials of BTAI_VMP and BTAI_BF, not 1,000.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("btai-runs"),
    show_default=True,
    help="Where the run files are kept; interrupted runs go on from there.",
)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw P(solved) against seconds per trial into this file (.png, .pdf, .svg).",
)
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@workers
@as_json
def reproduce_command(
    tables: Sequence[int],
    quick: bool,
    folder: Path,
    figure: Path | None,
    markdown: bool,
    workers: int,
    as_json: bool,
) -> None:
    """Run the paper's experiments on dSprites, and print its tables beside ours."""
    if markdown and as_json:
        raise click.UsageError("--markdown and --json were given; one of them is required.")
    from btai.experiments import paper

    if figure is not None:
        paper.check_figure(figure)
    rows = [row for row in paper.ROWS if not tables or row.table in tables]
    lines = _run(rows, folder, quick, workers)
    if as_json:
        click.echo(json.dumps(paper.as_json(lines)))
    elif markdown:
        click.echo(paper.as_markdown(lines))
    else:
        _print(lines, folder)
    if figure is not None:
        paper.draw_figure(lines, figure)


def _run(rows: Sequence[Row], folder: Path, quick: bool, workers: int) -> Sequence[Reproduced]:
    from btai.experiments import paper, report

    with report.progress_bars() as bar:

        def bar_of(row: Row, kind: str) -> Progress:
            number = f"{rows.index(row) + 1}/{len(rows)}"
            setting = f"{row.marked_agent:<9} g {row.granularity} n {row.planning:<3}"
            return bar(f"{number:>5} {setting} {kind.partition('-')[0]:<6}")

        return list(paper.reproduce(folder, quick=quick, workers=workers, progress_of=bar_of, rows=rows))


def _print(lines: Sequence[Reproduced], folder: Path) -> None:
    from btai.experiments import paper, report

    console = report.console()
    for part in paper.as_tables(lines):
        console.print(part)
        console.print()
    click.echo(f"The runs are kept in {folder}{os.sep}; to look into one:\n  btai show {lines[0].whole.path}")
