"""The `btai` command: its subcommands read their arguments, call what does the work, and print.

Each imports what it needs by itself when it runs: `btai --help` should not wait for it.
"""

from __future__ import annotations

from typing import Any

import click

from btai import __version__, commands
from btai.errors import BtaiError

__all__ = ["main"]


class Commands(click.Group):
    """Prints the errors that btai raises on purpose as a message, without a traceback; exit code 1."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The whole first sentence of each command, where Click itself would cut it off."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(200)) for name, command in self.commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BtaiError as error:
            raise click.ClickException("\n".join([str(error), *getattr(error, "__notes__", [])[:1]])) from error
        except KeyboardInterrupt:
            click.echo("Stopped. Trials in a run file are kept: the same command goes on after them.", err=True)
            ctx.exit(130)  # 128 + SIGINT, as a shell would say it


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="btai %(version)s")
def main() -> None:
    """Branching time active inference: run agents, look into them, reproduce the paper."""


for name in commands.__all__:
    main.add_command(getattr(commands, name))
