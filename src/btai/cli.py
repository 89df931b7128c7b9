"""The `btai` command: it reads the arguments, calls what does the work, and prints.

Each command imports what it needs by itself: `btai --help` should not wait for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from btai import __version__
from btai.commands import (
    inspect_command,
    merge_command,
    model_command,
    reproduce_command,
    show_command,
    sweep_command,
)
from btai.commands.options import as_json, workers
from btai.errors import BtaiError

if TYPE_CHECKING:
    from btai.envs import Registered

__all__ = ["main"]

ENVIRONMENTS = (
    "dsprites|dsprites-flat|frozenlake|maze|rocksample|tiger|tmaze"  # a test compares: `--help` should not load them
)
RUN_FILE = click.Path(dir_okay=False, path_type=Path)


class Commands(click.Group):
    """Prints the errors that btai raises on purpose as a message, without a traceback; exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BtaiError as error:
            raise click.ClickException("\n".join([str(error), *getattr(error, "__notes__", [])[:1]])) from error
        except KeyboardInterrupt:
            click.echo("Stopped. Trials in a run file are kept: the same command goes on after them.", err=True)
            ctx.exit(130)  # 128 + SIGINT, as a shell would say it


def _environment(context: click.Context, parameter: click.Parameter, name: str) -> Registered:
    """The environment of this name, looked up when it is needed."""
    from btai.envs import environment

    try:
        return environment(name)
    except BtaiError as error:
        raise click.BadParameter(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="btai %(version)s")
def main() -> None:
    """Branching time active inference: run agents, look into them, reproduce the paper."""


for command in (inspect_command, merge_command, model_command, reproduce_command, show_command, sweep_command):
    main.add_command(command)


@main.command("run")
@click.argument("environment", metavar=ENVIRONMENTS, callback=_environment)
@click.option("--granularity", type=click.Choice(["1", "2", "4", "8"]), help="Of dsprites; the same as --set.")
@click.option(
    "--set", "options", metavar="OPTION=VALUE", multiple=True, help="Of the environment or its model; repeat it."
)
@click.option("--planning", type=click.IntRange(1), default=150, show_default=True, help="Iterations per action.")
@click.option("--exp-const", type=click.FloatRange(0), default=2.4, show_default=True, help="Exploration constant.")
@click.option(
    "--ties",
    type=click.Choice(["cost", "first"]),
    default="cost",
    show_default=True,
    help="Of the most visited actions, take that of the lowest mean cost, or the first.",
)
@click.option("--trials", type=click.IntRange(1), default=100, show_default=True, help="Random trials.")
@click.option("--exhaustive", is_flag=True, help="One trial from every start instead of random trials.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", type=RUN_FILE, help="Keep the run in this file; an interrupted run goes on from it.")
@click.option("--record", is_flag=True, help="Keep every cycle as well, to look into it; needs --out.")
@workers
@click.option("--batch", type=click.IntRange(1), help="Trials to plan at once, on all processors; no --workers then.")
@as_json
def run_command(
    environment: Registered,
    granularity: str | None,
    options: tuple[str, ...],
    planning: int,
    exp_const: float,
    ties: str,
    trials: int,
    exhaustive: bool,
    seed: int,
    out: Path | None,
    record: bool,
    workers: int,
    batch: int | None,
    as_json: bool,
) -> None:
    """Run BTAI_3MF in an environment, and print how much of the task it solves and how fast."""
    if record and out is None:
        raise click.UsageError("--record needs --out FILE to keep the cycles in.")
    from rich.console import Console

    from btai.experiments import report, run
    from btai.experiments.environments import make_agent, make_env

    given = environment.read(_options(options, granularity))
    with report.progress_bars() as bar:
        result = run(
            partial(make_agent, environment.name, planning, exp_const, ties, **given),
            partial(make_env, environment.name, **given),
            trials,
            seed,
            exhaustive=exhaustive,
            out=out,
            record=record,
            workers=workers,
            batch=batch,
            progress=bar(environment.name),
        )
    if as_json:
        click.echo(json.dumps(report.run_as_json(result.summary, result.configuration, out)))
        return
    Console().print(report.run_table(result.summary, result.configuration))
    click.echo(
        f"Kept in {out}: btai show {out}" if out else "Not kept; --out FILE keeps a run, to resume and to look into."
    )


def _options(texts: Sequence[str], granularity: str | None) -> dict[str, str]:
    """OPTION=VALUE, and --granularity, as a dictionary."""
    options = {} if granularity is None else {"granularity": granularity}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name in options:
            wrong = "is no OPTION=VALUE" if not equals else f"gives {name} a second time"
            raise click.UsageError(f"--set {text} {wrong}.")
        options[name] = value
    return options
