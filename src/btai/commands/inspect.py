"""`btai inspect`: look into an agent, live or as a run file has recorded it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from btai.inspector.cursor import Cursor

# Imported when the command runs: `btai --help` should not wait for it.
if TYPE_CHECKING:
    from btai.inspector.replay import RunTrace

__all__ = ["inspect_command"]

FILE = click.Path(dir_okay=False, path_type=Path)
LIVE = "dsprites"
LIVE_OPTIONS = ("granularity", "planning", "exp_const", "ties")
REPLAY_OPTIONS = ("run", "trial", "cycle", "iteration", "export", "model")


@click.command("inspect")
@click.argument("what", metavar="dsprites|RUNFILE")
@click.option("--granularity", type=click.Choice(["1", "2", "4", "8"]), default="1", show_default=True)
@click.option("--planning", type=click.IntRange(1), default=150, show_default=True, help="Iterations per action.")
@click.option("--exp-const", type=click.FloatRange(0), default=2.4, show_default=True, help="Exploration constant.")
@click.option("--ties", type=click.Choice(["cost", "first"]), default="cost", show_default=True)
@click.option("--run", type=click.IntRange(0), help="Of a file that holds several runs, by number.")
@click.option("--trial", type=click.IntRange(0), help="Open this trial of the run file.")
@click.option("--cycle", type=click.IntRange(0), help="Open it at this cycle.")
@click.option("--iteration", type=click.IntRange(0), help="And at this moment of the planning.")
@click.option("--export", type=FILE, help="Write a page that needs no server.")
@click.option("--model", type=FILE, help="The model file of the recorded agent, if it is not that of dSprites.")
@click.option(
    "--browser/--no-browser", default=True, help="Open the page, and end when it is closed.", show_default=True
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the page's address; any that is free.")
@click.pass_context
def inspect_command(context: click.Context, /, what: str, browser: bool, port: int, **options: Any) -> None:
    """Look into an agent: live (`dsprites`), or what a run file has recorded of one."""
    live = what == LIVE
    _check_together(context, what, live, options)
    if live:
        _inspect_live(browser=browser, port=port, **{name: options[name] for name in LIVE_OPTIONS})
    else:
        _inspect_run(Path(what), browser=browser, port=port, **{name: options[name] for name in REPLAY_OPTIONS})


def _check_together(context: click.Context, what: str, live: bool, options: dict[str, Any]) -> None:
    """Refuse what is not there, and options that have no meaning here."""
    if not live and not Path(what).exists():
        raise click.UsageError(f"{what}: there is no such file. Give a run file, or {LIVE} for a live agent.")
    for name in REPLAY_OPTIONS if live else LIVE_OPTIONS:
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            kind = "a run file" if live else LIVE
            raise click.UsageError(f"--{name.replace('_', '-')} is for {kind} only.")
    if options["export"] is not None and (options["cycle"] is not None or options["iteration"] is not None):
        raise click.UsageError("--cycle and --iteration are not for --export, which takes whole trials: --trial N.")


def _inspect_live(granularity: str, planning: int, exp_const: float, ties: str, *, browser: bool, port: int) -> None:
    from btai.experiments.dsprites import make_agent, make_env
    from btai.inspector.gui import GUI

    agent = make_agent(int(granularity), planning, exp_const, ties)
    GUI(make_env(int(granularity)), agent, port).loop(open_browser=browser)


def _inspect_run(
    path: Path,
    run: int | None,
    trial: int | None,
    cycle: int | None,
    iteration: int | None,
    export: Path | None,
    model: Path | None,
    *,
    browser: bool,
    port: int,
) -> None:
    from btai.inspector.gui import announce
    from btai.inspector.recipes import ModelSource
    from btai.inspector.replay import RunTrace
    from btai.inspector.server import Inspector
    from btai.model import load

    def opened() -> RunTrace:
        if model is None:
            return RunTrace(path, run=run)
        source = ModelSource(f"load({str(model.absolute())!r})", "from btai import load")
        return RunTrace(path, ts=load(model), model=source, run=run)

    if export is not None:
        _export(opened(), export, trial)
        return
    cursor = Cursor(trial or 0, cycle or 0, iteration)
    fragment = cursor.fragment if any(x is not None for x in (trial, cycle, iteration)) else ""

    def checked() -> RunTrace:
        trace = opened()
        if fragment:
            trace.iteration(cursor)  # an error for what is not there
        return trace

    inspector = Inspector(checked, port, closes_with_page=browser)
    inspector.serve(lambda url: announce(url + fragment, open_browser=browser))


def _export(trace: RunTrace, path: Path, trial: int | None) -> None:
    from btai.inspector.export import export_page

    try:
        exported = export_page(trace, path, None if trial is None else [trial])
    finally:
        trace.close()
    click.echo(f"{path}: trials: {exported.trials}, cycles: {exported.cycles}, {path.stat().st_size / 1e6:.1f} MB")
    if exported.slices_per_search is not None:
        more = " Choose a trial with --trial N for more." if exported.trials > 1 else ""
        click.echo(f"It has the slices of the {exported.slices_per_search} most visited nodes of each search.{more}")
