"""Commands of `btai` with a file of their own; `btai.cli` puts them together."""

from btai.commands.model import model_command

__all__ = ["model_command"]
