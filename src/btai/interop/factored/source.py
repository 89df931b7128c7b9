"""A text in another program's format while it is read: its name in errors, its limits, and what it has used of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import NamedTuple

from btai.errors import FormatError
from btai.model.files import named

__all__ = ["DEFAULT_LIMITS", "Limits", "Position", "Source", "read_bytes"]


@dataclass(frozen=True)
class Limits:
    """What reading a file may cost at most; each is checked before anything of that size is allocated.

    Attributes:
        file_bytes: the size of the file.
        depth: how deep its elements may nest.
        elements: how many elements it may have.
        variables: how many variables it may declare.
        axes: how many axes a table may have.
        entries: how many numbers all tables together may hold, those made in translation included.
        writes: how many numbers all statements together may write; a later statement may overwrite an earlier one.
    """

    file_bytes: int = 2**25
    depth: int = 100
    elements: int = 2**19
    variables: int = 1000
    axes: int = 32
    entries: int = 2**23
    writes: int = 2**27


DEFAULT_LIMITS = Limits()


class Position(NamedTuple):
    """Where in a text, both from 1."""

    line: int
    column: int


class Source:
    """One text that is being read; every table is announced here first."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self._entries = 0
        self._writes = 0

    def error(self, at: Position, message: str) -> FormatError:
        """The error to raise for what stands at `at`."""
        return FormatError(f"{self.file}:{at.line}:{at.column}: {message}")

    def allow_table(self, at: Position, what: str, sizes: Iterable[int]) -> None:
        """Refuse a table of these sizes if it exceeds the limits; otherwise count it."""
        shape = tuple(sizes)
        if len(shape) > self.limits.axes:
            raise self.error(at, f"expected at most {self.limits.axes} variables in {what}, found {len(shape)}")
        self._entries += prod(shape)
        if self._entries > self.limits.entries:
            raise self.error(
                at,
                f"expected at most {self.limits.entries:,} numbers in all tables together, {what} would make them"
                f" {self._entries:,}; pass limits=Limits(entries=...) to allow more",
            )

    def allow_writes(self, at: Position, count: int) -> None:
        """Refuse to write `count` more numbers if that exceeds the limit; otherwise count them."""
        self._writes += count
        if self._writes > self.limits.writes:
            raise self.error(
                at,
                f"expected statements that write at most {self.limits.writes:,} numbers, this one would make them"
                f" {self._writes:,}; pass limits=Limits(writes=...) to allow more",
            )


def read_bytes(path: str | os.PathLike[str], limits: Limits) -> bytes:
    """The file's content, if it is not too large."""
    with named(path), Path(path).open("rb") as file:
        data = file.read(limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise FormatError(
            f"{os.fspath(path)}:1:1: expected a file of at most {limits.file_bytes:,} bytes, this one is larger; pass"
            " limits=Limits(file_bytes=...) to allow more"
        )
    return data
