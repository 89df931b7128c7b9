"""`btai sweep` and `btai merge`: a grid of runs in one file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from btai.commands.options import FILE, as_json
from btai.commands.show import show_grid

if TYPE_CHECKING:
    from btai.experiments.sweeps import Shard
    from btai.experiments.team import Executor

__all__ = ["merge_command", "sweep_command"]


def _no_file(_context: click.Context, _parameter: click.Parameter, address: str | None) -> str | None:
    """An option with an optional value takes whatever follows it."""
    if address is not None and address.endswith(".toml"):
        raise click.BadParameter(f"{address} was taken for the ADDRESS of a cluster; put FILE before --ray.")
    return address


@click.command("sweep")
@click.argument("file", type=FILE)
@click.option(
    "--out", type=FILE, help="The run file; FILE with the ending .sqlite by default. A sweep goes on from it."
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Trials to run at once; by default one for each processor, on Ray two.",
)
@click.option(
    "--ray",
    metavar="[ADDRESS]",
    is_flag=False,
    flag_value="auto",
    callback=_no_file,
    help="Use a running Ray cluster: that at host:port, else that of RAY_ADDRESS or of this machine.",
)
@click.option("--shard", metavar="I/N", help="Run only part I of N, 1 to N, into a file of its own; see btai merge.")
@as_json
def sweep_command(
    file: Path, out: Path | None, workers: int | None, ray: str | None, shard: str | None, as_json: bool
) -> None:
    """Run every cell of the grid that a TOML file describes, and print the grid.

    The same command goes on where it was stopped, and tries again what failed. The exit code is 0 if everything that
    was to be run is complete.
    """
    from btai.experiments import RunFile
    from btai.experiments.sweeps import read_grid, sweep
    from btai.experiments.sweeps.report import sweep_bar

    part = _shard(shard)
    name = file.stem if shard is None else f"{file.stem}-{part.index}-of-{part.count}"
    out = out or file.with_name(f"{name}.sqlite")
    cells = read_grid(file)
    with sweep_bar(name) as bar:
        sweep(cells, out, _executor(ray, workers), shard=part, progress=bar)
    with RunFile.open(out) as run_file:
        _end(complete=show_grid(run_file, part.runs(len(cells)), as_json=as_json))


@click.command("merge")
@click.argument("out", type=FILE)
@click.argument("shards", metavar="SHARD...", type=FILE, nargs=-1, required=True)
@as_json
def merge_command(out: Path, shards: tuple[Path, ...], as_json: bool) -> None:
    """Join the run files of one sweep in OUT, and print the grid with what is missing.

    OUT is a run file like any other: `btai sweep` can complete it. The exit code is 0 if nothing is missing.
    """
    from btai.experiments import RunFile
    from btai.experiments.sweeps import merge

    merge(out, shards)
    with RunFile.open(out) as run_file:
        _end(complete=show_grid(run_file, as_json=as_json))


def _shard(text: str | None) -> Shard:
    from btai.experiments.sweeps import Shard

    if text is None:
        return Shard()
    index, _, count = text.partition("/")
    if not (index.isascii() and index.isdigit() and count.isascii() and count.isdigit()):
        raise click.UsageError(f"--shard {text}: I/N is required, such as 1/4.")
    return Shard(int(index), int(count))


def _executor(ray: str | None, workers: int | None) -> Executor:
    from btai.experiments.sweeps import Processes, RayCluster

    if ray is None:
        return partial(Processes, workers=workers)
    return partial(RayCluster, address=ray, workers=workers)


def _end(*, complete: bool) -> None:
    if not complete:
        click.get_current_context().exit(1)
