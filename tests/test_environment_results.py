"""The page of the environments: its tables are what the commands give."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import environments
from benchmarks.environments import PAGE, PLUS_MINUS, TABLES, Case, RandomAgent, Table, rewritten, row
from btai.cli import main
from btai.envs import TMazeEnv
from btai.experiments import run

TEXT = PAGE.read_text("utf-8")
TMAZE = next(table for table in TABLES if table.name == "tmaze")
CASES = [
    pytest.param(table, case, marks=[] if case.quick else pytest.mark.slow, id=f"{table.name} {case.added}".strip())
    for table in TABLES
    for case in table.cases
]


def lines_of(table: Table) -> list[str]:
    """The table on the page."""
    return TEXT.partition(f"<!-- begin: results in {table.name} -->\n")[2].partition("\n<!-- end")[0].splitlines()


@pytest.mark.parametrize(("table", "case"), CASES)
def test_row_of_the_page_is_what_comes_out(table: Table, case: Case) -> None:
    line = row(table, case)
    assert [line] == [other for other in lines_of(table) if other.split("|")[1] == line.split("|")[1]]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_page_has_every_row_once_in_order(table: Table) -> None:
    head, rows = lines_of(table)[:2], lines_of(table)[2:]
    assert head == table.head
    assert [line.split("|")[1].strip(" `") for line in rows] == [case.added or "the defaults" for case in table.cases]


def test_figures_are_those_that_the_command_prints() -> None:
    case = "--set maze='blank screen'"
    given = ["run", *shlex.split(f"{TMAZE.command} {case}"), "--json"]
    printed = json.loads(CliRunner().invoke(main, given, catch_exceptions=False).output)
    (cells,) = ([cell.strip() for cell in line.split("|")] for line in lines_of(TMAZE) if f"`{case}`" in line)
    assert cells[2].partition(PLUS_MINUS)[0] == f"{printed['p_solved']:.3f}" == "0.512"
    assert cells[5] == f"{printed['cycles_mean']:.1f}"


def test_random_agent_takes_any_action_alike() -> None:
    """By hand: in four cycles it misses both arms with probability 1/16, and else finds the reward in one of two."""
    trials = run(RandomAgent(4), TMazeEnv(), trials=2000, seed=5).trials
    share = sum(trial.reward == 1 for trial in trials) / 2000
    assert abs(share - 15 / 32) < 5 * (15 / 32 * 17 / 32 / 2000) ** 0.5
    assert {action for trial in trials for action in trial.actions} == {0, 1, 2, 3}


def test_only_the_table_between_the_marks_is_written_anew() -> None:
    text = "a\n<!-- begin: results in tiger -->\n| old |\n<!-- end: results in tiger -->\nb\n"
    assert rewritten(text, "tiger", ["| new |", "| newer |"]) == text.replace("| old |", "| new |\n| newer |")
    with pytest.raises(ValueError, match=r"maze has 0 places between marks; one is required"):
        rewritten(text, "maze", [])


def test_command_writes_the_tables_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "environments.md"
    page.write_text(TEXT, "utf-8")
    monkeypatch.setattr(environments, "PAGE", page)
    monkeypatch.setattr(environments, "TABLES", [replace(table, cases=table.cases[:1]) for table in TABLES])
    environments.main(["tmaze"])
    assert page.read_text("utf-8") == rewritten(TEXT, "tmaze", lines_of(TMAZE)[:3])
