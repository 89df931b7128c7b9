"""The page: its files, and all of them in one."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from btai.errors import BtaiError

__all__ = ["one_file", "page_files"]

KINDS = (".html", ".js", ".css", ".svg", ".json", ".txt", ".md")
# Nothing but what stands in the file: no address can be reached, not even by mistake.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
SCRIPT = re.compile(r'<script type="module" src="static/([^"]+)"></script>')
STYLE = re.compile(r'<link rel="stylesheet" href="static/([^"]+)" ?/?>')
SPECIFIER = re.compile(r"""(\b(?:from|import)\s*)(["'])(\.{1,2}/[^"'\n]+)\2""")
NAMESPACE = "btai/"  # of the modules in the import map: a name that is no address


def page_files() -> dict[str, Traversable]:
    """Every file of the page by its name; what is not listed here cannot be asked for."""
    root = files("btai.inspector") / "static"
    return dict(_listed(root, "")) if root.is_dir() else {}


def one_file(data: str, static: Mapping[str, Traversable]) -> str:
    """The page as one file that needs no other, with `data` (no HTML) in the element `btai-data`."""
    if "index.html" not in static:
        raise BtaiError("the page's files are missing from this installation of btai; install it again.")
    page = static["index.html"].read_text("utf-8")
    modules: dict[str, str] = {}

    def style(found: re.Match[str]) -> str:
        return f"<style>{static[found[1]].read_text('utf-8')}</style>"

    def script(found: re.Match[str]) -> str:
        _collect(found[1], static, modules)
        imports = {NAMESPACE + name: _address(source) for name, source in modules.items()}
        return (
            f'<script type="text/plain" id="btai-data">{data}</script>\n'
            f'<script type="importmap">{json.dumps({"imports": imports})}</script>\n'
            f'<script type="module">import "{NAMESPACE}{found[1]}";</script>'
        )

    page = STYLE.sub(style, page)
    page = SCRIPT.sub(script, page)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return page.replace("<head>", f"<head>\n{policy}", 1)


def _collect(name: str, static: Mapping[str, Traversable], modules: dict[str, str]) -> None:
    """Put a module and all it imports into `modules`, their imports by the names of the import map."""
    if name in modules:
        return
    if name not in static:
        raise BtaiError(f"the page's module {name} is missing from this installation of btai; install it again.")
    folder = posixpath.dirname(name)
    wanted: list[str] = []

    def renamed(found: re.Match[str]) -> str:
        wanted.append(posixpath.normpath(posixpath.join(folder, found[3])))
        return f"{found[1]}{found[2]}{NAMESPACE}{wanted[-1]}{found[2]}"

    modules[name] = SPECIFIER.sub(renamed, static[name].read_text("utf-8"))
    for other in wanted:
        _collect(other, static, modules)


def _address(source: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(source.encode()).decode()


def _listed(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _listed(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(KINDS) or "LICENSE" in entry.name:
            yield prefix + entry.name, entry
