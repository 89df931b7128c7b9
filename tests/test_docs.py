"""Every Python block of the documents runs, one after the other in one namespace per document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def run_blocks(document: Path) -> dict[str, Any]:
    """What the document's Python blocks leave behind."""
    namespace: dict[str, Any] = {"__name__": document.stem}
    for block in re.findall(r"^```python\n(.*?)^```", document.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        exec(compile(block, str(document), "exec"), namespace)  # noqa: S102 - our own documents
    return namespace


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("document", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_code_of_the_document_runs(document: Path) -> None:
    run_blocks(document)


def test_lift_of_the_experiments_page_arrives(tmp_path: Path) -> None:
    assert run_blocks(DOCS / "experiments.md")["result"].summary.p_solved == 1.0
    assert (tmp_path / "lift.sqlite").exists()
