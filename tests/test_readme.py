"""The README shows the smallest agent as it is, and what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "smallest_agent.py"


def block_after(marker: str) -> str:
    """The code block of the README that follows a marker."""
    after = (ROOT / "README.md").read_text("utf-8").split(f"<!-- {marker} -->\n```", 1)[1]
    return after.split("\n", 1)[1].split("```", 1)[0]


def test_readme_shows_the_smallest_agent() -> None:
    assert block_after("examples/smallest_agent.py") == EXAMPLE.read_text("utf-8")


def test_readme_shows_what_it_prints() -> None:
    printed = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True).stdout
    shown = block_after("output of examples/smallest_agent.py").splitlines()
    assert shown == [line.rstrip() for line in printed.rstrip().splitlines()]
