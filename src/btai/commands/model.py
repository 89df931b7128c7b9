"""`btai model FILE`: what a model file declares, what the engine makes of it, and the same model in another file."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["model_command"]

FILE = click.Path(path_type=Path)


@click.command("model")
@click.argument("file", type=FILE)
@click.option("--out", type=FILE, help="Write the model to this file as well, in the format of its ending.")
@click.option(
    "--precision",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Of the preferences that a POMDP's rewards become, softmax(precision * reward).",
)
def model_command(file: Path, out: Path | None, precision: float) -> None:
    """Print what a model file declares, and what the compiler finds in it.

    FILE is one of btai's own, or a POMDP whose name ends in .pomdpx or .pomdp; what could not be carried over is
    reported.
    """
    from btai import engine  # not before it is needed: it loads Numba
    from btai.interop import read_model, write_model

    ts, losses = read_model(file, precision=precision)
    click.echo(repr(ts))
    if losses:
        click.echo(f"\n{losses}")
    click.echo(f"\n{engine.compile(ts).describe()}")
    if out is not None:
        click.echo(f"\nWritten to {out}. {write_model(ts, out)}")
