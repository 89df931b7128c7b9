"""The documentation says what is true: its code runs, its tests exist, its reference is complete."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from documents import PAGES, ROOT, blocks, run_page, save_file

from btai.experiments import RunFile

SHOWN_ONLY = {"text", "toml", "json", "ini", "sql"}
DIRECTIVE = re.compile(r"\{[\w:-]+\}.*")  # of MyST
TEST = re.compile(r"tests/[\w/]+\.py(?:::\w+)?")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_code_of_the_page_runs(page: Path) -> None:
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_block_says_what_it_is(page: Path) -> None:
    """A block that is neither run nor of a kind that cannot be run would be code that nobody tries."""
    for block in blocks(page):
        known = block.language in {"python", "sh", *SHOWN_ONLY} or DIRECTIVE.fullmatch(block.language)
        assert known, f"{page.name}:{block.line}: {block.language!r}"
        assert re.fullmatch(r"(not run: .{10,}|run instead: btai .+|output|(?!not run|run instead).*)", block.mark)


@cache
def functions_of(path: Path) -> frozenset[str]:
    return frozenset(n.name for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef))


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=page_name)
def test_every_test_that_the_page_names_exists(page: Path) -> None:
    for name in TEST.findall(page.read_text("utf-8")):
        path, _, function = name.partition("::")
        assert (ROOT / path).is_file(), name
        assert not function or function in functions_of(ROOT / path), name


def test_lift_of_the_experiments_page_arrives(tmp_path: Path) -> None:
    assert run_page(ROOT / "docs" / "experiments.md")["result"].summary.p_solved == 1.0
    assert (tmp_path / "lift.sqlite").exists()


@pytest.mark.parametrize(
    ("command", "made", "done"),
    [
        (["bash", "ties.sbatch"], "ties-2-of-4.sqlite", [0, 20, 0, 0, 0, 20, 0, 0]),
        ([sys.executable, "lifts.py"], "lifts.sqlite", [10] * 4),
    ],
)
def test_files_of_the_sweeps_page_run(command: list[str], made: str, done: list[int]) -> None:
    for block in blocks(ROOT / "docs" / "sweeps.md"):
        save_file(block)
    scripts = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    slurm = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_CPUS_PER_TASK": "2"}
    subprocess.run(command, check=True, env=os.environ | slurm | {"PATH": scripts})
    with RunFile.open(made) as file:
        assert [len(run.done()) for run in file.runs] == done


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, "utf-8")
    return page


def test_blocks_share_a_namespace_and_their_output_is_compared(tmp_path: Path) -> None:
    page = "```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n<!-- output -->\n```text\n{}\n```\n"
    assert run_page(page_of(tmp_path, page.format(3)))["x"] == 2
    with pytest.raises(AssertionError, match=r"page\.md:10: another output"):
        run_page(page_of(tmp_path, page.format(4)))


def test_commands_run_unless_a_reason_is_given_and_a_shorter_one_may_stand_in(tmp_path: Path) -> None:
    run_page(page_of(tmp_path, "<!-- run instead: btai --version -->\n```sh\nbtai run dsprites --trials 9999\n```\n"))
    run_page(page_of(tmp_path, "<!-- not run: it would install something -->\n```sh\npip install btai\n```\n"))
    with pytest.raises(AssertionError, match="no command of btai"):
        run_page(page_of(tmp_path, "```sh\npip install btai\n```\n"))
    with pytest.raises(AssertionError, match="No such command"):
        run_page(page_of(tmp_path, "```sh\nbtai dance\n```\n"))
