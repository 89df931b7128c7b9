"""The parsers under damaged files, in a short form; `.venv/bin/python tests/fuzz.py 200000` is the long one."""

from __future__ import annotations

import time
from typing import Any

import fuzz
import numpy as np
import pytest
from fuzz import PARSERS, Parser

from btai.errors import FormatError


@pytest.mark.parametrize("name", PARSERS)
def test_damaged_files_are_read_or_refused_quickly_within_their_memory(name: str) -> None:
    found = fuzz.fuzz(name, range(1_000_000, 1_000_400))  # not those of the long form
    assert found.failures == ()
    assert found.inputs == found.read + found.refused == 400
    assert found.read >= 10  # the damage is not so great that nothing is left to read
    assert found.refused >= 100


@pytest.mark.parametrize("name", PARSERS)
def test_an_input_depends_on_its_number_alone(name: str) -> None:
    assert fuzz.damaged(name, 7) == fuzz.damaged(name, 7)
    assert len({fuzz.damaged(name, number) for number in range(20)}) > 10


def outcome(monkeypatch: pytest.MonkeyPatch, read: Any) -> fuzz.Found:
    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(fuzz, "PARSERS", {"toy": Parser(read, [b"abc"], [b"x"], bytes_per_byte=10)})
    return fuzz.fuzz("toy", range(1))


def crash(data: bytes) -> None:
    raise IndexError("out of range")


def refuse(data: bytes) -> None:
    raise FormatError("no")


def linger(data: bytes) -> None:
    end = time.process_time() + 0.06
    while time.process_time() < end:
        pass


def hang(data: bytes) -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("read", "failure"),
    [
        (crash, "IndexError: out of range"),
        (linger, "it took 0.1 s"),
        (hang, "it hung"),
        (lambda data: np.zeros(2**21, np.uint8), "it allocated "),
    ],
)
def test_whatever_else_happens_is_reported_with_the_number(
    monkeypatch: pytest.MonkeyPatch, read: Any, failure: str
) -> None:
    (found,) = outcome(monkeypatch, read).failures
    assert found.startswith(f"damaged('toy', 0): {failure}")


def test_reading_and_refusing_are_no_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome(monkeypatch, len).read == 1
    assert outcome(monkeypatch, refuse).refused == 1
