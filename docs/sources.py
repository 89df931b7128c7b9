"""Where the text names a test or an example, it becomes a link to a page that shows it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docutils.nodes import document, literal, make_id, reference
from sphinx.application import Sphinx

__all__ = ["PAGE", "link_sources", "sources_page"]

PAGE = "_made/sources"
NAMED = re.compile(r"`((?:tests|examples)/[\w/]+\.py(?:::\w+)?)`")


def sources_page(root: Path) -> str:
    """What the pages of `docs` and those beside the README name, file by file."""
    texts = [page.read_text("utf-8") for page in (*sorted(root.glob("docs/*.md")), *sorted(root.glob("*.md")))]
    names = sorted({name for text in texts for name in NAMED.findall(text)})
    files = sorted({name.partition("::")[0] for name in names})
    sections = (_section(root, file, [n for n in names if n.startswith(f"{file}::")], file in names) for file in files)
    return "\n\n".join(["---\norphan: true\n---\n\n# Tests and examples that these pages name", *sections]) + "\n"


def _section(root: Path, file: str, functions: list[str], is_named: bool) -> str:
    """A file: an example that is named as a whole; or what a file of tests is about, and the tests named."""
    source = (root / file).read_text("utf-8")
    is_whole = is_named and file.startswith("examples/")
    about = _python(source) if is_whole else ast.get_docstring(ast.parse(source)) or ""
    blocks = [f"({make_id(file)})=\n## `{file}`", about]
    for name in functions:
        blocks += [f"({make_id(name)})=\n### `{name.partition('::')[2]}`", _python(_function(source, name))]
    return "\n\n".join(filter(None, blocks))


def _function(source: str, name: str) -> str:
    """A test with its decorators."""
    wanted = name.partition("::")[2]
    found = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == wanted)
    first = min(node.lineno for node in (found, *found.decorator_list))
    return "\n".join(source.splitlines()[first - 1 : found.end_lineno])


def _python(source: str) -> str:
    return f"```python\n{source.rstrip()}\n```"


def link_sources(app: Sphinx, doctree: document, page: str) -> None:
    """Make links of the names."""
    if page == PAGE:
        return
    for node in list(doctree.findall(literal)):
        if NAMED.fullmatch(f"`{node.astext()}`") and not isinstance(node.parent, reference):
            address = f"{app.builder.get_relative_uri(page, PAGE)}#{make_id(node.astext())}"
            node.replace_self(reference("", "", node.deepcopy(), refuri=address, internal=True))
