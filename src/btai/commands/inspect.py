"""`btai inspect`: look into an agent, live or as a run file has recorded it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from btai.commands.options import (
    ENVIRONMENT_NAMES,
    ENVIRONMENTS,
    FILE,
    agent_options,
    environment_named,
    environment_options,
    given_options,
    is_given,
)
from btai.commands.progress import progress_of
from btai.inspector.cursor import Cursor

# Imported when the command runs: `btai --help` should not wait for it.
if TYPE_CHECKING:
    from btai.envs import Registered
    from btai.inspector.replay import RunTrace

__all__ = ["inspect_command"]

LIVE_OPTIONS = ("granularity", "options", "planning", "exp_const", "ties")
REPLAY_OPTIONS = ("run", "trial", "cycle", "iteration", "export")


@click.command("inspect", epilog=ENVIRONMENT_NAMES)
@click.argument("what", metavar="RUNFILE|ENVIRONMENT")
@environment_options
@agent_options
@click.option("--run", type=click.IntRange(0), help="Of a file that holds several runs, by number.")
@click.option("--trial", type=click.IntRange(0), help="Open this trial of the run file.")
@click.option("--cycle", type=click.IntRange(0), help="Open it at this cycle.")
@click.option("--iteration", type=click.IntRange(0), help="And at this moment of the planning.")
@click.option("--export", type=FILE, help="Write a page that needs no server.")
@click.option(
    "--browser/--no-browser", default=True, help="Open the page, and end when it is closed.", show_default=True
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the page's address; any that is free.")
@click.pass_context
def inspect_command(context: click.Context, /, what: str, browser: bool, port: int, **options: Any) -> None:
    """Look into an agent: as a run file has recorded it, or live in an environment, given by its name."""
    live = what in ENVIRONMENTS.split("|")
    _check_together(context, what, live, options)
    if live:
        environment = environment_named(what)
        _inspect_live(environment, browser=browser, port=port, **{name: options[name] for name in LIVE_OPTIONS})
    else:
        _inspect_run(Path(what), browser=browser, port=port, **{name: options[name] for name in REPLAY_OPTIONS})


def _check_together(context: click.Context, what: str, live: bool, options: dict[str, Any]) -> None:
    """Refuse what is not there, and options that have no meaning here."""
    if not live and not Path(what).exists():
        raise click.UsageError(
            f"{what}: there is no such file. Give a run file, or, for a live agent, an environment: {ENVIRONMENTS}."
        )
    for name in REPLAY_OPTIONS if live else LIVE_OPTIONS:
        if is_given(name):
            option = next(p.opts[0] for p in context.command.params if p.name == name)
            raise click.UsageError(f"{option} is for {'a run file' if live else 'a live agent'} only.")
    if options["export"] is not None and (options["cycle"] is not None or options["iteration"] is not None):
        raise click.UsageError("--cycle and --iteration are not for --export, which takes whole trials: --trial N.")


def _inspect_live(
    environment: Registered,
    granularity: str | None,
    options: tuple[str, ...],
    planning: int,
    exp_const: float,
    ties: str,
    *,
    browser: bool,
    port: int,
) -> None:
    from btai.experiments.environments import make_agent, make_env
    from btai.inspector.gui import GUI

    given = given_options(environment, options, granularity)
    agent = make_agent(environment.name, planning, exp_const, ties, **given)
    GUI(make_env(environment.name, **given), agent, port).loop(open_browser=browser)


def _inspect_run(
    path: Path,
    run: int | None,
    trial: int | None,
    cycle: int | None,
    iteration: int | None,
    export: Path | None,
    *,
    browser: bool,
    port: int,
) -> None:
    from btai.inspector.gui import announce
    from btai.inspector.replay import RunTrace
    from btai.inspector.server import Inspector

    if export is not None:
        _export(RunTrace(path, run=run), export, trial)
        return
    cursor = Cursor(trial or 0, cycle or 0, iteration)
    fragment = cursor.fragment if any(x is not None for x in (trial, cycle, iteration)) else ""

    def checked() -> RunTrace:
        trace = RunTrace(path, run=run)
        try:
            if fragment:
                trace.iteration(cursor)  # an error for what is not there
        except BaseException:
            trace.close()
            raise
        return trace

    inspector = Inspector(checked, port, closes_with_page=browser)
    inspector.serve(lambda url: announce(url + fragment, open_browser=browser))


def _export(trace: RunTrace, path: Path, trial: int | None) -> None:
    from btai.inspector.export import export_page

    try:
        with progress_of(f"Exporting {path.name}", "cycles") as progress:
            exported = export_page(trace, path, None if trial is None else [trial], progress)
    finally:
        trace.close()
    click.echo(f"{path}: trials: {exported.trials}, cycles: {exported.cycles}, {path.stat().st_size / 1e6:.1f} MB")
    if exported.slices_per_search is not None:
        more = " Choose a trial with --trial N for more." if exported.trials > 1 else ""
        click.echo(f"It has the slices of the {exported.slices_per_search} most visited nodes of each search.{more}")
