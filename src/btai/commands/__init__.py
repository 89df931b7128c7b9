"""The commands of `btai`; `btai.cli` puts them together."""

from btai.commands.inspect import inspect_command
from btai.commands.model import model_command
from btai.commands.reproduce import reproduce_command
from btai.commands.run import run_command
from btai.commands.show import show_command
from btai.commands.sweep import merge_command, sweep_command

__all__ = [
    "inspect_command",
    "merge_command",
    "model_command",
    "reproduce_command",
    "run_command",
    "show_command",
    "sweep_command",
]
