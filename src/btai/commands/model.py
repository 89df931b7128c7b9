"""`btai model FILE`: what a model file declares, and what the engine makes of it."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["model_command"]


@click.command("model")
@click.argument("file", type=click.Path(path_type=Path))
def model_command(file: Path) -> None:
    """Print what a model file declares, and what the compiler finds in it."""
    from btai import engine  # not before it is needed: it loads Numba
    from btai.model import load

    ts = load(file)
    click.echo(repr(ts))
    click.echo()
    click.echo(engine.compile(ts).describe())
