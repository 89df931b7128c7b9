"""`btai run`: an agent in an environment, many times over."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from btai.commands.options import (
    ENVIRONMENT_NAMES,
    FILE,
    agent_options,
    as_json,
    environment_named,
    environment_options,
    given_options,
    is_given,
    workers,
)

if TYPE_CHECKING:
    from btai.envs import Registered

__all__ = ["run_command"]


@click.command("run", epilog=ENVIRONMENT_NAMES)
@click.argument("environment", callback=lambda _context, _parameter, name: environment_named(name))
@environment_options
@agent_options
@click.option("--trials", type=click.IntRange(1), default=100, show_default=True, help="Random trials.")
@click.option("--exhaustive", is_flag=True, help="One trial from every start instead of random trials.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", type=FILE, help="Keep the run in this file; an interrupted run goes on from it.")
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
    if exhaustive and is_given("trials"):
        raise click.UsageError(
            "--trials: given with --exhaustive, which tries every start once; leave one of them out."
        )
    from btai.experiments import report, run
    from btai.experiments.environments import make_agent, make_env

    given = given_options(environment, options, granularity)
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
    report.console().print(report.run_table(result.summary, result.configuration))
    click.echo(_where(out, record=record))


def _where(out: Path | None, *, record: bool) -> str:
    """Where the run is kept, and what can be done with it."""
    if out is None:
        return "Not kept; --out FILE keeps a run, to resume and to look into."
    look = f"; btai inspect {out} looks into it" if record else ""
    return f"Kept in {out}: btai show {out} prints it again{look}."
