"""What a process with an agent takes: memory, and processor time until its first decision, imports and all."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import ROOT

from benchmarks.measure import in_new_process
from benchmarks.startup import FIRST_DECISION


def first_decision(**variables: str) -> tuple[float, float]:
    """Seconds on processors, whatever else the machine is doing, and the most megabytes, of an agent on dSprites."""
    _, seconds, memory = in_new_process("-c", FIRST_DECISION, PYTHONPATH=str(ROOT), **variables)
    return seconds, memory / 1e6


def test_process_with_its_agent_takes_less_than_a_second_and_250_megabytes() -> None:
    first_decision()  # everything is compiled by now
    tries = (first_decision() for _ in range(5))
    assert any(seconds < 1 and megabytes < 250 for seconds, megabytes in tries)


@pytest.mark.slow
def test_first_decision_of_a_machine_takes_less_than_20_seconds(tmp_path: Path) -> None:
    seconds, _ = first_decision(NUMBA_CACHE_DIR=str(tmp_path))
    assert seconds < 20
    assert any(tmp_path.rglob("*.nbc"))  # the machine code, for the next one
