"""Notebooks: running them, and showing them as pages. `python docs/notebooks.py` runs those of `examples/` anew.

A notebook is kept with its outputs, so that it can be read where nothing runs. They are made here and not by Jupyter:
the same everywhere, without counters, times and names of a machine.
"""

from __future__ import annotations

import ast
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

__all__ = ["NOTEBOOKS", "as_markdown", "comparable", "executed", "read"]

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
CLOCK = "clock"  # the tag of a cell whose numbers depend on the machine

Cell = dict[str, Any]
Notebook = dict[str, Any]


def read(path: Path) -> Notebook:
    """A notebook from its file."""
    notebook: Notebook = json.loads(path.read_text("utf-8"))
    return notebook


def write(notebook: Notebook, path: Path) -> None:
    """As Jupyter writes it."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


def executed(notebook: Notebook) -> Notebook:
    """The notebook with the outputs that its cells have when they are run from top to bottom."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell = cell | {"execution_count": count, "outputs": _outputs("".join(cell["source"]), count, namespace)}
        cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(source: str, count: int, namespace: dict[str, Any]) -> list[Cell]:
    """What a cell prints, and the value of its last line."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(ast.Module(body, []), f"cell {count}", "exec"), namespace)  # noqa: S102 - our own notebooks
        value = eval(ast.unparse(last), namespace) if last else None  # noqa: S307
    outputs: list[Cell] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = [str(value._repr_html_())]
        outputs.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data})
    return outputs


def comparable(notebook: Notebook) -> list[Any]:
    """The outputs cell by cell, those that depend on the clock without their numbers."""
    return [_comparable(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _comparable(cell: Cell) -> Any:
    if CLOCK not in cell["metadata"].get("tags", []):
        return cell["outputs"]
    return re.sub(r"\d[\d.]*", "#", json.dumps(cell["outputs"], sort_keys=True))


def as_markdown(notebook: Notebook) -> str:
    """The notebook as a page in a folder of `docs`."""
    return "\n\n".join(block for cell in notebook["cells"] for block in _blocks(cell)) + "\n"


def _blocks(cell: Cell) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source.replace("](../docs/", "](../")]
    return [_fenced("python", source), *(_shown(output) for output in cell["outputs"])]


def _shown(output: Cell) -> str:
    if output["output_type"] == "stream":
        return _fenced("text", "".join(output["text"]))
    data = output["data"]
    if "text/html" in data:
        html = "".join(data["text/html"])
        return _fenced("{raw} html", f'<div class="notebook-output">{html}</div>')
    return _fenced("text", "".join(data["text/plain"]))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


if __name__ == "__main__":
    for path in NOTEBOOKS:
        stored = read(path)
        fresh = executed(stored)
        if comparable(fresh) == comparable(stored):  # a cell with the tag `clock` differs every time
            print(f"{path.name}: its outputs are current")
        else:
            write(fresh, path)
            print(f"{path.name}: written with its new outputs")
