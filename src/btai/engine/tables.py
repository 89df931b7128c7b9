"""How a table is contracted with beliefs: densely, or as a constant plus its exceptions, whichever needs less.

Beliefs sum to 1. So if most entries of a row equal `b`, then `row @ q = b + sum of (row[i] - b) q[i]` over the
exceptions alone: a noisy identity of `n` values costs `n` products instead of `n * n`. With several parents the same
is done axis by axis: most slices along the first axis are equal, the others differ from them by a table of fewer axes,
and so on. Equal tables are kept once, so a joint preference with one special row costs a handful of products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, permutations
from math import prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contraction", "Level", "cheapest", "dense_operations"]

Table = NDArray[np.float64]

DENSE_WEIGHT = 0.25  # the time of a product in a contiguous loop, next to one that gathers its factors


@dataclass(frozen=True)
class Level:
    """One axis of a shifted contraction: each node is a base plus, for each exception, belief times value.

    On the last level bases and values are numbers; on those before, they are nodes of the next level.
    """

    bases: NDArray[np.float64] | NDArray[np.int64]  # [nodes]
    nodes: NDArray[np.int64]  # [exceptions]: the node to which it belongs
    indices: NDArray[np.int64]  # [exceptions]: the entry of the belief
    values: NDArray[np.float64] | NDArray[np.int64]  # [exceptions]


@dataclass(frozen=True)
class Contraction:
    """sum over the inputs' configurations of table * product of the inputs' beliefs, `[n_out]`."""

    order: tuple[int, ...]
    """The inputs (axes 1.. of the table) in the order in which they are summed out (dense), or nested (shifted)."""
    dense: Table | None
    """`[*inputs in order, n_out]`, or `None`."""
    levels: tuple[Level, ...] = ()
    """One per input in order, where the contraction is shifted."""
    common: Contraction | None = None
    """What is added to every output: the part of each column that its entries have in common."""

    @property
    def work(self) -> float:
        """The time of one contraction, in that of a gathered product."""
        if self.dense is not None:
            return DENSE_WEIGHT * dense_operations(self.dense.shape)
        common = self.common.work if self.common else 0
        return sum(len(level.bases) + len(level.indices) for level in self.levels) + common


def dense_operations(shape: Sequence[int]) -> int:
    """The products of summing one axis after the other out of a table `[*inputs, n_out]`, the first first."""
    return sum(prod(shape[axis:]) for axis in range(max(1, len(shape) - 1)))


def cheapest(table: Table, *, probabilities: bool) -> Contraction:
    """The cheapest way to contract `table` `[n_out, *inputs]`.

    Of a table of probabilities only minima are split off. Then every term is positive: nothing cancels, what is
    impossible stays exactly impossible, and small probabilities keep all their digits.
    """
    inputs = table.ndim - 1
    by_size = sorted(range(inputs), key=lambda axis: -table.shape[1 + axis])
    dense = Contraction(tuple(by_size), np.ascontiguousarray(table.transpose([*(1 + a for a in by_size), 0])))
    if inputs == 0 or len(np.unique(table)) > max(2, table.size // 2):
        return dense
    orders = list(permutations(range(inputs))) if inputs <= 3 else [tuple(range(inputs)), tuple(by_size)]
    shifted = (candidate for order in orders for candidate in _shifted(table, order, probabilities))
    return min(chain([dense], shifted), key=lambda candidate: candidate.work)


def _shifted(table: Table, order: tuple[int, ...], probabilities: bool) -> Iterator[Contraction]:
    """The shifted contractions of `table` `[n_out, *inputs]` that nest its inputs in this order."""
    arranged = table.transpose([0, *(1 + axis for axis in order)])
    yield Contraction(order, None, _levels(arranged, probabilities))
    if len(table) > 1:
        yield _with_common(arranged, order, probabilities)


def _with_common(table: Table, order: tuple[int, ...], probabilities: bool) -> Contraction:
    """Split off from each column what most of its entries share (or its minimum)."""
    columns = table.reshape(len(table), -1).T
    shared = (columns.min(axis=1) if probabilities else _modes(columns)).reshape((1, *table.shape[1:]))
    common = Contraction(order, None, _levels(shared, probabilities))
    return Contraction(order, None, _levels(table - shared, probabilities), common)


def _levels(table: Table, probabilities: bool) -> tuple[Level, ...]:
    """The levels of a shifted contraction of `table` `[n_out, *inputs in order]`."""
    levels = []
    nodes: list[Table] = list(table)
    for _ in range(table.ndim - 2):
        level, nodes = _split(nodes, probabilities)
        levels.append(level)
    return (*levels, _last_level(np.array(nodes), probabilities))


def _split(nodes: Sequence[Table], probabilities: bool) -> tuple[Level, list[Table]]:
    """Write each node as its most frequent slice plus the differences of the others; equal tables are kept once."""
    numbers: dict[bytes, int] = {}
    tables: list[Table] = []

    def number(table: Table) -> int:
        key = (table + 0.0).tobytes()  # + 0.0 makes -0.0 and 0.0 the same
        if key not in numbers:
            numbers[key] = len(tables)
            tables.append(table)
        return numbers[key]

    bases, owners, indices, values = [], [], [], []
    for owner, node in enumerate(nodes):
        keys = [(piece + 0.0).tobytes() for piece in node]
        base = node[keys.index(Counter(keys).most_common(1)[0][0])]
        if probabilities and not (node >= base).all():
            base = np.zeros_like(base)
        bases.append(number(base))
        for index, piece in enumerate(node):
            if not np.array_equal(piece, base):
                owners.append(owner)
                indices.append(index)
                values.append(number(piece - base))
    return Level(*(np.array(a, dtype=np.int64) for a in (bases, owners, indices, values))), tables


def _last_level(rows: Table, probabilities: bool) -> Level:
    """Write each row `[n]` as its most frequent entry (or its minimum) plus the exceptions."""
    bases = rows.min(axis=1) if probabilities else _modes(rows)
    owners, indices = np.nonzero(rows != bases[:, None])
    return Level(bases, owners, indices, rows[owners, indices] - bases[owners])


def _modes(rows: Table) -> Table:
    """The most frequent entry of each row."""
    ordered = np.sort(rows, axis=1)
    position = np.arange(rows.shape[1])
    new = np.concatenate([np.ones((len(rows), 1), bool), ordered[:, 1:] != ordered[:, :-1]], axis=1)
    run_lengths = position - np.maximum.accumulate(np.where(new, position, 0), axis=1)
    return np.asarray(ordered[np.arange(len(rows)), run_lengths.argmax(axis=1)])
