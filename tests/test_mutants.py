"""The tool that breaks the code on purpose: what it changes, and that the changed code is what the tests then meet."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import mutants

SOURCE = '''"""Words are left alone, in errors as in documentation."""

from __future__ import annotations

Number = float | None
LIMIT = 3


def small(x: int | None = 1) -> bool:
    if not x:
        raise ValueError(f"{x + 1}")
    return x < LIMIT and x >= 0
'''


def test_each_mutant_is_one_change_where_something_is_computed(tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(SOURCE, "utf-8")
    found = {(m.line, m.where, m.change): m.source.decode() for m in mutants.mutants_of(path)}
    assert list(found) == [
        (6, "the module", "3 -> 4"),
        (9, "small", "1 -> 2"),
        (10, "small", "not x -> x"),
        (11, "small", "raise ValueError(f'{x + 1}') -> pass"),
        (12, "small", "return x < LIMIT and x >= 0 -> return None"),
        (12, "small", "x < LIMIT and x >= 0 -> x < LIMIT or x >= 0"),
        (12, "small", "x < LIMIT -> x <= LIMIT"),
        (12, "small", "x >= 0 -> x > 0"),
        (12, "small", "0 -> 1"),
    ]
    assert found[12, "small", "x < LIMIT -> x <= LIMIT"] == SOURCE.replace("x < LIMIT and", "(x <= LIMIT) and")
    assert found[11, "small", "raise ValueError(f'{x + 1}') -> pass"] == SOURCE.replace(
        'raise ValueError(f"{x + 1}")', "pass"
    )


@pytest.mark.slow
def test_tests_of_a_part_meet_the_mutants_of_its_files() -> None:
    command = [sys.executable, mutants.__file__, "--most", "2", "src/btai/model/layout.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert re.search(r"layout.py: 2 of \d+ mutants, 2 killed, 0 explained, 0 survived", done.stdout), done.stdout
    assert done.returncode == 0
