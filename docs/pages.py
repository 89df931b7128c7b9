"""Pages that are made from other parts of the repository when the documentation is built, into `docs/_made`."""

from __future__ import annotations

import inspect
import pkgutil
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
from measured import write_measured
from notebooks import NOTEBOOKS, as_markdown, read
from sources import PAGE, sources_page

from btai.cli import main

__all__ = ["write_pages"]

PARTS = ("agents", "engine", "envs", "errors", "experiments", "inference", "inspector", "interop", "model", "planning")


def write_pages(docs: Path) -> None:
    """Make them anew; what is no longer there goes."""
    made = docs / "_made"
    shutil.rmtree(made, ignore_errors=True)
    (made / "reference").mkdir(parents=True)
    write_measured(docs.parent / "benchmarks" / "results", made)
    for notebook in NOTEBOOKS:
        (made / f"{notebook.stem}.md").write_text(as_markdown(read(notebook)), "utf-8")
    (docs / f"{PAGE}.md").write_text(sources_page(docs.parent), "utf-8")
    (made / "command.md").write_text(command(), "utf-8")
    for part in PARTS:
        (made / "reference" / f"{part}.md").write_text(reference(f"btai.{part}"), "utf-8")


def command() -> str:
    """What each command of `btai` says of itself."""
    helps = (f"## `{name}`\n\n```text\n{text}\n```" for name, text in _helps(main, "btai", None))
    return "\n\n".join(["# The command `btai`", *helps]) + "\n"


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """Name and help of a command and of those below it."""
    context = click.Context(command, parent, info_name=name.split()[-1], max_content_width=100)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from _helps(found, f"{name} {below}", context)


def reference(part: str) -> str:
    """Every public name of a part and of the packages below it, each where it stands deepest."""
    module = import_module(part)
    below = pkgutil.walk_packages(getattr(module, "__path__", None) or (), f"{part}.")
    packages = [part, *(found.name for found in below if found.ispkg)]
    return "\n\n".join(_section(package, packages) for package in packages) + "\n"


def _section(package: str, packages: list[str]) -> str:
    """A package with its names, but for those that a package below it shows as well."""
    module = import_module(package)
    deeper = [import_module(name) for name in packages if name.startswith(f"{package}.")]
    own = [name for name in module.__all__ if not any(name in below.__all__ for below in deeper)]
    directives = [f".. automodule:: {package}\n   :no-members:", *(_directive(package, name) for name in own)]
    level = "#" if package == packages[0] else "##"
    return "\n\n".join([f"{level} `{package}`", "```{eval-rst}", *directives, "```"])


def _directive(package: str, name: str) -> str:
    found = getattr(import_module(package), name)
    kind = "class" if inspect.isclass(found) else "function" if inspect.isroutine(found) else "data"
    inherited = "\n   :inherited-members:" if package == "btai.agents" and kind == "class" else ""
    return f".. auto{kind}:: {package}.{name}{inherited}"
