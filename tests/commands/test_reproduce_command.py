"""`btai reproduce`: what it prints and writes, on lines that take little time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from btai.cli import main
from btai.experiments import paper

LINES = tuple(replace(row, planning=1) for row in paper.ROWS if (row.granularity, row.planning) == (8, 50))


@pytest.fixture(autouse=True)
def few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "ROWS", LINES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def reproduce(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["reproduce", "--quick", *map(str, arguments)])


def test_it_prints_the_papers_tables_beside_ours(folder: Path) -> None:
    shown = reproduce("--folder", folder)
    assert shown.exit_code == 0, shown.output
    agents = [line.split()[0] for line in shown.stdout.splitlines() if line.split()[1:3] == ["8", "1"]]
    assert agents == 2 * [row.agent for row in LINES]
    assert max(map(len, shown.stdout.splitlines()[:-1])) <= 100
    assert f"The runs are kept in {folder}" in shown.stdout


def test_json_and_markdown_are_for_machines_and_documents(folder: Path) -> None:
    lines = json.loads(reproduce("--folder", folder, "--json").stdout)
    assert [line["agent"] for line in lines] == [row.agent for row in LINES]
    markdown = reproduce("--folder", folder, "--markdown").stdout
    assert markdown.startswith("**How much of dSprites is solved")
    assert markdown.count("\n| --- |") == 2
    both = reproduce("--folder", folder, "--markdown", "--json")
    assert (both.exit_code, both.stdout) == (2, "")
    assert "one of them is required" in both.stderr


def test_tables_can_be_chosen(folder: Path) -> None:
    chosen = json.loads(reproduce("--folder", folder, "--table", "4", "--json").stdout)
    assert {line["table"] for line in chosen} == {4}
    assert "5 is not in the range 1<=x<=4" in reproduce("--table", "5").stderr


def test_figure_is_drawn(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "figure.svg"
    assert reproduce("--folder", folder, "--figure", picture).exit_code == 0
    assert picture.read_text("utf-8").startswith("<?xml")


def test_figure_that_cannot_be_drawn_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    for figure in (tmp_path / "figure.txt", tmp_path / "nowhere" / "figure.png"):
        refused = reproduce("--folder", tmp_path / "runs", "--figure", figure)
        assert refused.exit_code == 1
        assert refused.stderr.startswith("Error: figure:")
        assert not (tmp_path / "runs").exists()
