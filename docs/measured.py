"""The parts of the page of results that are made of what was measured last, into `docs/_made/parts`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from sphinx.errors import ConfigError

__all__ = ["write_measured"]

NAMED = {"reproduce", "flattened", "flattening"}  # the pictures that the page itself shows
BUSY = 0.5  # the load above which times say little


def write_measured(results: Path, made: Path) -> None:
    """Take them from `benchmarks/results`, to which `make results` writes."""
    measured = json.loads(_needed(results / "results.json").read_text("utf-8"))
    parts = {
        "paper": _needed(results / "reproduce.md").read_text("utf-8"),
        "machine": machine(measured["machine"]),
        "times": times(measured["rows"]),
        "pictures": pictures(measured["curves"]),
    }
    (made / "parts").mkdir()
    for name, text in parts.items():
        (made / "parts" / f"{name}.md").write_text(text, "utf-8")
    for picture in {*NAMED, *_pictures_of(measured["curves"])}:
        shutil.copy(_needed(results / f"{picture}.png"), made)


def _needed(path: Path) -> Path:
    if not path.exists():
        raise ConfigError(
            f"{path} is missing, and the page of results is made of it: `make results` measures and writes it,"
            " on a quiet machine."
        )
    return path


def machine(of: dict[str, Any]) -> str:
    """Where and when it was measured."""
    versions = f"Python {of['python']}, NumPy {of['numpy']}, Numba {of['numba']}, btai {of['btai']}"
    said = f"Measured on {of['date'][:10]}: {of['processor']}, {of['cores']} cores; {versions}."
    if of["load"] <= BUSY:
        return f"{said}\n"
    return f"{said}\n\n:::{{warning}}\nThe machine was busy (load {of['load']:.1f}): its times say little.\n:::\n"


def times(rows: list[dict[str, Any]]) -> str:
    """A table of the single figures."""
    cells = ((r["name"], _number(r["value"]), r["unit"], r["note"]) for r in rows)
    return "\n".join(["| what | | unit | |", "|:--|--:|:--|:--|", *(f"| {' | '.join(row)} |" for row in cells)]) + "\n"


def _number(value: float | None) -> str:
    """Four digits that count, but every digit before the point."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def pictures(curves: list[dict[str, Any]]) -> str:
    """The curves, but for those that the page itself shows."""
    shown = {name: titles for name, titles in _pictures_of(curves).items() if name not in NAMED}
    return "\n".join(f"![{'; '.join(titles)}](_made/{name}.png)" for name, titles in shown.items()) + "\n"


def _pictures_of(curves: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The titles of the curves in each picture."""
    found: dict[str, list[str]] = {}
    for curve in curves:
        found.setdefault(curve.get("picture") or curve["name"], []).append(f"{curve['title']}: {curve['y']}")
    return found
