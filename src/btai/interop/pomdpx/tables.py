"""Tables of type TBL: entries that name a cell, or many by the wildcards `*` (all alike) and `-` (a number each)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.interop.factored.network import Table
from btai.interop.factored.numbers import Cell, Levels, probability, write_cells
from btai.interop.factored.source import Source
from btai.interop.pomdpx.elements import Element
from btai.interop.pomdpx.variables import Symbol

__all__ = ["Kind", "child_of", "of_probabilities", "of_rewards", "read_entries"]


@dataclass(frozen=True)
class Kind:
    """What the numbers of a table are."""

    tag: str
    dtype: type[np.generic]
    parse: Callable[[str], float | None]
    expected: str
    keywords: tuple[str, ...] = ()


def of_probabilities() -> Kind:
    """A conditional distribution; the last axis is the variable's own."""
    return Kind("ProbTable", np.float64, probability, "a probability from 0 to 1", ("uniform", "identity"))


def of_rewards(levels: Levels) -> Kind:
    """Rewards, as indices into their levels."""
    return Kind("ValueTable", np.int64, levels.index, "a finite number")


def child_of(element: Element, tag: str, source: Source) -> Element:
    """The one child of this tag."""
    for child in element.children:
        if child.tag == tag:
            return child
    raise source.error(element.at, f"expected <{tag}> in <{element.tag}>, found none")


def read_entries(parameter: Element, axes: Sequence[Symbol], kind: Kind, source: Source) -> NDArray[Any]:
    """The table `[*axes]`; what no entry writes is 0, and a later entry overwrites an earlier one."""
    table = np.zeros([axis.size for axis in axes], dtype=kind.dtype)
    if parameter.all("DAG") or parameter.all("SubDAGTemplate"):
        raise source.error(parameter.at, "expected <Entry> in a <Parameter> of type TBL, found a diagram")
    for entry in parameter.children:
        cells = _read_cells(child_of(entry, "Instance", source), axes, source)
        numbers = child_of(entry, kind.tag, source)
        if len(entry.children) > 2:
            raise source.error(entry.at, f"expected only <Instance> and <{kind.tag}> in <Entry>, found another table")
        shape = [axis.size for axis, cell in zip(axes, cells, strict=True) if cell == "-"]
        write_cells(table, cells, _read_numbers(numbers, cells, shape, kind, source), source, entry.at)
    return table


def _read_cells(instance: Element, axes: Sequence[Symbol], source: Source) -> list[Cell]:
    words = instance.words()
    if len(words) != len(axes):
        names = " ".join(axis.name for axis in axes)
        raise source.error(
            instance.at, f"expected {len(axes)} values in <Instance>, one for each of {names}, found {len(words)}"
        )
    cells: list[Cell] = []
    for i, (word, axis) in enumerate(zip(words, axes, strict=True)):
        cell: Cell | None = "*" if word == "*" else "-" if word == "-" else axis.index(word)
        if cell is None:
            raise source.error(instance.position(i), f"expected a value of {axis.name}, * or -, found {word!r}")
        cells.append(cell)
    return cells


def _read_numbers(element: Element, cells: list[Cell], shape: list[int], kind: Kind, source: Source) -> Any:
    words = element.words()
    if len(words) == 1 and words[0] in kind.keywords:
        return _keyword(element, words[0], cells, shape, source)
    if len(words) != prod(shape):
        raise source.error(
            element.at, f"expected {_count(prod(shape))} in <{kind.tag}> for this <Instance>, found {len(words)}"
        )
    numbers = [kind.parse(word) for word in words]
    if None in numbers:
        i = numbers.index(None)
        raise source.error(element.position(i), f"expected {kind.expected}, found {words[i][:40]!r}")
    return numbers


def _count(n: int) -> str:
    return "1 number" if n == 1 else f"{n:,} numbers"


def _keyword(element: Element, word: str, cells: list[Cell], shape: list[int], source: Source) -> Table:
    if word == "uniform":
        if cells[-1] != "-":
            raise source.error(element.position(0), "expected - as the last value of <Instance> for uniform")
        return np.full(shape, 1 / shape[-1])
    if len(shape) != 2 or shape[0] != shape[1] or cells[-1] != "-":
        raise source.error(
            element.position(0),
            "expected two - in <Instance>, the last for the variable itself, of equally many values for identity",
        )
    return np.eye(shape[0])
