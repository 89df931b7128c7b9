"""The parts of btai know each other in one direction only: every import in the source follows an arrow."""

from __future__ import annotations

import ast
from importlib.util import find_spec, resolve_name
from pathlib import Path

import pytest

# The arrows. A part may import the parts named beside it, and whatever those may import in turn.
# `__init__` is btai's own, the face shown to users: the parts below never look up to it.
KNOWS = {
    "errors": [],
    "extras": ["errors"],
    "notebook": [],
    "model": ["errors", "notebook"],
    "inference": ["model"],
    "engine": ["model"],
    "interop": ["model", "extras"],
    "envs": ["interop"],  # an environment that is just its model is sampled by btai.interop.gymnasium
    "planning": ["inference", "engine"],
    "agents": ["planning"],
    "experiments": ["agents", "envs"],
    "inspector": ["experiments"],  # it shows the run files that experiments write
    "__init__": ["inspector"],
    "commands": ["__init__"],
    "cli": ["commands"],
    "__main__": ["cli"],
}


def may_import(part: str) -> set[str]:
    """The part itself and all that the arrows lead to from it."""
    return {part}.union(*map(may_import, KNOWS[part]))


def imported_names(node: ast.AST, package: str) -> list[str]:
    """What an import statement in a module of `package` asks for, as absolute dotted names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        source = resolve_name("." * node.level + (node.module or ""), package)
        return [f"{source}.{alias.name}" for alias in node.names]
    return []


def part_of(name: str) -> str | None:
    """The part of btai a dotted name belongs to, None for a name of another package."""
    root, _, rest = name.partition(".")
    part = rest.partition(".")[0]
    if root != "btai":
        return None
    return part if part in KNOWS else "__init__"


def violations(source: str, path: str, names: tuple[str, ...]) -> list[str]:
    """Every import in the module btai.`names` against the arrows, those in functions and `if` blocks too."""
    part, package = names[0], ".".join(("btai", *names[:-1]))
    allowed = may_import(part) | {None}
    return [
        f"{path}:{node.lineno}: {part} may not import {name}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_names(node, package)
        if part_of(name) not in allowed
    ]


def modules() -> dict[Path, tuple[str, ...]]:
    """Each file of btai with its module's names below btai: `("model", "builder")`."""
    spec = find_spec("btai")  # does not import it: what is wrong there must not hide what is wrong here
    assert spec is not None
    assert spec.submodule_search_locations
    root = Path(spec.submodule_search_locations[0])
    return {path: path.relative_to(root).with_suffix("").parts for path in sorted(root.rglob("*.py"))}


def test_every_module_belongs_to_a_part_that_has_arrows() -> None:
    found = modules()
    assert ("errors",) in found.values()
    assert [str(path) for path, names in found.items() if names[0] not in KNOWS] == []


def test_every_import_follows_the_arrows() -> None:
    found = [
        line for path, names in modules().items() for line in violations(path.read_text("utf-8"), str(path), names)
    ]
    assert not found, "imports against the arrows:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import btai.agents", "btai.agents"),
        ("import numpy, btai.agents.search as search", "btai.agents.search"),
        ("from btai.agents import BTAI_3MF", "btai.agents.BTAI_3MF"),
        ("from btai import agents", "btai.agents"),
        ("from btai import BTAI_3MF", "btai.BTAI_3MF"),
        ("import btai", "btai"),
        ("from ..agents import BTAI_3MF", "btai.agents.BTAI_3MF"),
        ("from .. import agents", "btai.agents"),
        ("def lazily():\n    from btai.agents import BTAI_3MF", "btai.agents.BTAI_3MF"),
        ("if TYPE_CHECKING:\n    from btai.agents import BTAI_3MF", "btai.agents.BTAI_3MF"),
    ],
)
def test_an_import_against_the_arrows_is_reported_with_file_and_line(statement: str, name: str) -> None:
    source = f"import numpy\n{statement}\n"
    line = 2 + statement.count("\n")
    assert violations(source, "engine/program.py", ("engine", "program")) == [
        f"engine/program.py:{line}: engine may not import {name}"
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "import numpy.random",
        "from btai.model import TemporalSlice",
        "from btai.errors import ModelError",
        "from . import kernels",
        "from .kernels import run",
        "from ..model import TemporalSlice",
        "import btaix.agents",
    ],
)
def test_an_import_along_the_arrows_is_not_reported(statement: str) -> None:
    assert violations(statement, "engine/program.py", ("engine", "program")) == []


def test_the_arrows_are_those_of_the_design() -> None:
    assert may_import("errors") == {"errors"}
    assert may_import("planning") == {"planning", "inference", "engine", "model", "errors", "notebook"}
    assert may_import("envs") == {"envs", "interop", "model", "extras", "errors", "notebook"}
    assert may_import("interop") == {"interop", "model", "extras", "errors", "notebook"}
    assert not may_import("agents") & {"envs", "experiments", "inspector", "cli", "interop"}
