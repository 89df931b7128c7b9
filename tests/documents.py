"""The pages of the documentation, as the tests read them: their code blocks, and running them in order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from btai.cli import main

__all__ = ["PAGES", "ROOT", "Block", "blocks", "run_page", "save_file"]

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [p for p in (ROOT / "docs").rglob("*.md") if not {"_build", "_made"} & set(p.parts)]
    + [ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
)
FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A fenced block, and the remark on the line before it.

    `<!-- not run: why -->` says that the block is only shown, `<!-- needs pymdp -->` that it is run only where there
    is that package, `<!-- run instead: btai ... -->` which shorter command stands in for it, `<!-- output -->` that it
    shows what the block before has printed, `<!-- file: NAME -->` that the reader has it in a file of this name.
    """

    language: str
    text: str
    mark: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The page's blocks in order."""
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        line = text[: found.start("text")].count("\n")
        yield Block(found["language"], found["text"], found["mark"] or "", line)


def run_page(page: Path) -> dict[str, Any]:
    """Run the Python and shell blocks of a page from top to bottom; what the Python blocks leave behind."""
    namespace: dict[str, Any] = {"__name__": page.stem}
    printed: str | None = ""
    for block in blocks(page):
        if block.mark == "output":
            shown = printed is None or _lines(block.text) == _lines(printed)
            assert shown, f"{page.name}:{block.line}: another output is shown"
        elif block.mark.startswith("not run: ") or save_file(block):
            continue
        elif block.mark.startswith("needs ") and find_spec(block.mark.removeprefix("needs ")) is None:
            printed = None
        elif block.language == "python":
            printed = _run_python(block, page, namespace)
        elif block.language == "sh":
            printed = "".join(_run_command(command, page) for command in _commands(block))
    return namespace


def save_file(block: Block) -> bool:
    """Whether the block is a file; it is then there, in the current folder."""
    name = block.mark.removeprefix("file: ")
    if name == block.mark:
        return False
    Path(name).write_text(block.text, "utf-8")
    return True


def _run_python(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    source = "\n" * block.line + block.text  # so that an error names the line of the page
    with redirect_stdout(StringIO()) as printed:
        exec(compile(source, str(page), "exec"), namespace)  # noqa: S102 - our own documents
    return printed.getvalue()


def _commands(block: Block) -> list[str]:
    shorter = block.mark.removeprefix("run instead: ")
    text = shorter if shorter != block.mark else block.text.replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _run_command(command: str, page: Path) -> str:
    program, *arguments = shlex.split(command, comments=True)
    assert program == "btai", f"{page.name}: {command!r} is no command of btai; say why it is not run"
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, f"{page.name}: {command}\n{done.output}"
    return str(done.output)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
