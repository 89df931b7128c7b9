"""The notebooks of `examples/`: their outputs are those that running them gives, and a page can be made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docs.notebooks import NOTEBOOKS, as_markdown, comparable, executed, read


def notebook_of(*cells: tuple[str, str], tags: list[str] | None = None) -> dict[str, Any]:
    metadata = {} if tags is None else {"tags": tags}
    return {"cells": [{"cell_type": kind, "source": [text], "metadata": metadata} for kind, text in cells]}


def outputs_of(*sources: str) -> list[Any]:
    return comparable(executed(notebook_of(*(("code", source) for source in sources))))


def test_there_is_one() -> None:
    assert [path.name for path in NOTEBOOKS] == ["cat_and_mouse.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_stored_outputs_are_current(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stored = read(path)
    fresh = comparable(executed(stored))
    for number, (before, now) in enumerate(zip(comparable(stored), fresh, strict=True), start=1):
        assert before == now, f"{path.name}, code cell {number}: `make notebook` runs it anew"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_file_is_what_jupyter_writes_and_runs_no_script(path: Path) -> None:
    notebook = read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert path.read_text("utf-8") == json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    assert "<script" not in json.dumps(notebook)


def test_cell_gives_what_it_prints_and_the_value_of_its_last_line() -> None:
    printed, valued, silent, nothing = outputs_of("x = 2\nprint(x)", "print('a')\nx + 1", "x = 3", "None")
    assert [(o["output_type"], o["text"]) for o in printed] == [("stream", ["2\n"])]
    assert [o["output_type"] for o in valued] == ["stream", "execute_result"]
    assert valued[1]["data"] == {"text/plain": ["3"]}
    assert silent == nothing == []


def test_value_shows_itself_as_html_where_it_can() -> None:
    ((output,),) = outputs_of(
        "class A:\n    def _repr_html_(self): return '<b>x</b>'\n    def __repr__(self): return 'x\\ny'\nA()"
    )
    assert output["data"] == {"text/plain": ["x\n", "y"], "text/html": ["<b>x</b>"]}


def test_cells_that_depend_on_the_clock_are_compared_without_their_numbers() -> None:
    def timed(number: str, **how: Any) -> list[Any]:
        return comparable(executed(notebook_of(("code", f"print('{number} µs')"), **how)))

    assert timed("1.5") != timed("27.25")
    assert timed("1.5", tags=["clock"]) == timed("27.25", tags=["clock"])


def test_error_in_a_cell_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        outputs_of("1 / 0")


def test_page_has_text_code_and_outputs() -> None:
    cells = ("markdown", "# A\n[b](../docs/b.md)"), ("code", "print(1)\n{2}")
    assert as_markdown(executed(notebook_of(*cells))) == (
        "# A\n[b](../b.md)\n\n```python\nprint(1)\n{2}\n```\n\n```text\n1\n```\n\n```text\n{2}\n```\n"
    )
    html = "class A:\n    def _repr_html_(self): return '<b>x</b>'\nA()"
    page = as_markdown(executed(notebook_of(("code", html))))
    assert page.endswith('```{raw} html\n<div class="notebook-output"><b>x</b></div>\n```\n')
