"""`btai show`: what a run file holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from btai.commands.options import FILE, as_json

if TYPE_CHECKING:
    from btai.experiments import RunFile, StoredRun

__all__ = ["show_command", "show_grid"]


@click.command("show")
@click.argument("file", type=FILE)
@click.option("--run", "number", type=click.IntRange(0), help="Of a sweep: show this run.")
@click.option("--csv", "csv_file", type=FILE, help="Write a line for each run into this file as well.")
@click.option("--parquet", "parquet_file", type=FILE, help="The same as Parquet; needs PyArrow.")
@as_json
def show_command(
    file: Path, number: int | None, csv_file: Path | None, parquet_file: Path | None, as_json: bool
) -> None:
    """Print what a run file holds, a run or the grid of a sweep; it may still be written."""
    from btai.experiments import RunFile
    from btai.experiments.sweeps import grid_rows, write_csv, write_parquet

    with RunFile.open(file) as run_file:
        for path, write in ((csv_file, write_csv), (parquet_file, write_parquet)):
            if path is not None:
                write(grid_rows(run_file), path)
        if number is not None or len(run_file.runs) == 1:
            _show_run(file, _chosen(run_file, number or 0), as_json=as_json)
        else:
            show_grid(run_file, as_json=as_json)


def show_grid(file: RunFile, runs: Sequence[int] | None = None, *, as_json: bool) -> bool:
    """Print all runs, or only these, and say what is missing; whether nothing is."""
    from btai.experiments import report
    from btai.experiments.sweeps import grid_rows
    from btai.experiments.sweeps.report import grid_as_json, grid_table, missing_lines

    rows = [row for row in grid_rows(file) if runs is None or row.run in runs]
    if as_json:
        click.echo(json.dumps(grid_as_json(rows, file.path)))
    else:
        table = grid_table(rows)
        report.console(table).print(table)
        click.echo("\n".join([*missing_lines(rows), f"One of them alone: btai show {file.path} --run NUMBER"]))
    return all(row.complete for row in rows)


def _chosen(file: RunFile, number: int) -> StoredRun:
    if number >= len(file.runs):
        raise click.UsageError(f"--run {number}: {file.path} has the runs 0 to {len(file.runs) - 1}.")
    return file.runs[number]


def _show_run(path: Path, run: StoredRun, *, as_json: bool) -> None:
    from btai.experiments import report

    summary, failure = run.summary(), run.failure
    if as_json:
        why = {} if failure is None else {"failed_trial": failure.trial, "failure": failure.reason}
        click.echo(json.dumps(report.run_as_json(summary, run.config, path) | why))
        return
    tables = report.run_table(summary, run.config), "", report.configuration_table(run.config)
    report.console().print(*tables, sep="\n")
    if failure is not None:
        click.echo(f"\nGiven up at trial {failure.trial}:\n{failure.reason}")
