"""The statements T, O and R of a .pomdp file: single numbers, rows and matrices, with wildcards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from btai.interop.factored.network import Table
from btai.interop.factored.numbers import Cell, Levels, probability, write_cells
from btai.interop.factored.source import Position
from btai.interop.pomdp.preamble import Axis
from btai.interop.pomdp.words import Words

__all__ = ["Distribution", "Rewards"]

Number = TypeVar("Number", float, int)


class Distribution:
    """What the statements T, or O, say: a table `[n_A, n_S, n]`. A later statement overwrites an earlier one."""

    def __init__(self, words: Words, axes: tuple[Axis, Axis, Axis], start: Table | None) -> None:
        self.words = words
        self.axes = axes
        self.start = start  # the distribution that `reset` stands for, if it can be used
        words.source.allow_table(axes[2].at, f"the table over {axes[2].called}s", [axis.size for axis in axes])
        self.table = np.zeros([axis.size for axis in axes])
        self._last: dict[int, Position] = {}
        self._last_for_all: Position | None = None

    def read(self, at: Position) -> None:
        """One statement; its keyword and colon have been passed."""
        cells = _read_cells(self.words, self.axes, 1)
        shape = _shape(self.axes, cells)
        values = self._read_keyword(shape)
        if values is None:
            values = np.array(_read_numbers(self.words, shape, probability, "a probability from 0 to 1"))
        write_cells(self.table, cells, values, self.words.source, at)
        if isinstance(cells[0], int):
            self._last[cells[0]] = at
        else:
            self._last, self._last_for_all = {}, at

    def last_on(self, action: int) -> Position | None:
        """Where the last statement on an action stands."""
        return self._last.get(action, self._last_for_all)

    def _read_keyword(self, shape: Sequence[int]) -> Table | None:
        """The row or matrix that the next word stands for, if it is a keyword that fits."""
        keyword = self.words.next.text
        if keyword == "uniform" and shape:
            values: Table = np.full(shape, 1 / shape[-1])
        elif keyword == "identity" and len(shape) == 2 and shape[0] == shape[1]:
            values = np.eye(shape[0])
        elif keyword == "reset" and shape and self.start is not None:
            values = np.broadcast_to(self.start, shape)
        else:
            return None
        self.words.take()
        return values


@dataclass(frozen=True)
class _Statement:
    cells: tuple[Cell, ...]
    indices: tuple[int, ...]
    at: Position


class Rewards:
    """What the statements R say; a table is made at the end, over the variables that any statement tells apart."""

    def __init__(self, words: Words, axes: tuple[Axis, Axis, Axis, Axis], sign: int) -> None:
        self.words = words
        self.axes = axes
        self.levels = Levels(sign)
        self._statements: list[_Statement] = []

    def read(self, at: Position) -> None:
        """One statement; its keyword and colon have been passed."""
        cells = _read_cells(self.words, self.axes, 2)
        indices = _read_numbers(self.words, _shape(self.axes, cells), self.levels.index, "a finite number")
        if len(set(indices)) == 1:  # equal numbers in a row say what a wildcard says
            cells, indices = ["*" if cell == "-" else cell for cell in cells], indices[:1]
        self._statements.append(_Statement(tuple(cells), tuple(indices), at))

    @property
    def at(self) -> Position:
        """Where the first statement stands."""
        return self._statements[0].at if self._statements else Position(1, 1)

    def told_apart(self) -> list[int]:
        """Which of the axes the rewards depend on."""
        return [i for i in range(len(self.axes)) if any(s.cells[i] != "*" for s in self._statements)]

    def table(self, axes: Sequence[int]) -> NDArray[np.int64]:
        """Indices into the levels, over these axes."""
        sizes = [self.axes[i].size for i in axes]
        self.words.source.allow_table(self.at, "the table of rewards", sizes)
        table = np.zeros(sizes, dtype=np.int64)
        for s in self._statements:
            write_cells(table, [s.cells[i] for i in axes], s.indices, self.words.source, s.at)
        return table


def _read_cells(words: Words, axes: Sequence[Axis], least: int) -> list[Cell]:
    """The values that a statement names before its numbers; `-` for the axes that it does not name."""
    cells: list[Cell] = []
    for axis in axes:
        if cells and words.next.text != ":":
            break
        if cells:
            words.take()
        cell: Cell | None = "*" if words.next.text == "*" else axis.index(words.next)
        if cell is None:
            words.refuse(f"expected {axis.article} {axis.called} or '*'")
        words.take()
        cells.append(cell)
    if len(cells) < least:
        words.refuse(f"expected ':' and {axes[len(cells)].article} {axes[len(cells)].called}")
    return cells + ["-"] * (len(axes) - len(cells))


def _shape(axes: Sequence[Axis], cells: Sequence[Cell]) -> list[int]:
    return [axis.size for axis, cell in zip(axes, cells, strict=True) if cell == "-"]


def _read_numbers(
    words: Words, shape: Sequence[int], parse: Callable[[str], Number | None], expected: str
) -> list[Number]:
    """As many numbers as the shape asks for."""
    count = prod(shape)
    numbers: list[Number] = []
    while len(numbers) < count:
        value = parse(words.next.text)
        if value is None:
            which = f"number {len(numbers) + 1} of {count}, " if count > 1 else ""
            words.refuse(f"expected {which}{expected}")
        words.take()
        numbers.append(value)
    return numbers
