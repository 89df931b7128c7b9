"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from btai.errors import BtaiError

if TYPE_CHECKING:
    from btai.envs import Registered

__all__ = [
    "ENVIRONMENTS",
    "ENVIRONMENT_NAMES",
    "FILE",
    "agent_options",
    "as_json",
    "environment_named",
    "environment_options",
    "given_options",
    "is_given",
    "workers",
]

Command = TypeVar("Command", bound=Callable[..., Any])

ENVIRONMENTS = (
    "dsprites|dsprites-flat|frozenlake|maze|rocksample|tiger|tmaze"  # a test compares: `--help` should not load them
)
ENVIRONMENT_NAMES = f"ENVIRONMENT: {ENVIRONMENTS.replace('|', ', ')}."  # what ends the help
FILE = click.Path(dir_okay=False, path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
workers = click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes to use.")


def environment_options(command: Command) -> Command:
    """The options of the environment and its model; `given_options` reads them."""
    for option in (
        click.option(
            "--set",
            "options",
            metavar="OPTION=VALUE",
            multiple=True,
            help="Of the environment or its model; repeat it.",
        ),
        click.option("--granularity", type=click.Choice(["1", "2", "4", "8"]), help="Of dsprites; the same as --set."),
    ):
        command = option(command)
    return command


def agent_options(command: Command) -> Command:
    """The options of BTAI_3MF."""
    for option in (
        click.option(
            "--ties",
            type=click.Choice(["cost", "first"]),
            default="cost",
            show_default=True,
            help="Of the most visited actions, take that of the lowest mean cost, or the first.",
        ),
        click.option(
            "--exp-const", type=click.FloatRange(0), default=2.4, show_default=True, help="Exploration constant."
        ),
        click.option(
            "--planning", type=click.IntRange(1), default=150, show_default=True, help="Iterations per action."
        ),
    ):
        command = option(command)
    return command


def environment_named(name: str) -> Registered:
    """The environment of this name."""
    from btai.envs import environment

    try:
        return environment(name)
    except BtaiError as error:
        raise click.BadParameter(str(error)) from error


def is_given(name: str) -> bool:
    """Whether the option of the running command was given, and is not the default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not click.core.ParameterSource.DEFAULT


def given_options(environment: Registered, texts: Sequence[str], granularity: str | None) -> dict[str, Any]:
    """OPTION=VALUE, and --granularity, in the types that the environment has for them."""
    options = {} if granularity is None else {"granularity": granularity}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name in options:
            wrong = "is no OPTION=VALUE" if not equals else f"gives {name} a second time"
            raise click.UsageError(f"--set {text} {wrong}.")
        options[name] = value
    return environment.read(options)
