"""A slice as JSON that people write by hand and compare line by line: tables are nested lists, a level for each axis.

Numbers are written with all the digits that tell them apart, so that what is read back is equal to the bit.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import ModelFileError
from btai.model.cliques import MAX_CLIQUE_ENTRIES
from btai.model.document import MAX_AXES, Node, parsed_json, to_document, to_slice
from btai.model.slice import TemporalSlice

__all__ = ["from_json", "to_json"]


def to_json(ts: TemporalSlice) -> str:
    """The model as JSON; `from_json` gives an equal one."""
    return _written(to_document(ts, lambda _, table: table.tolist())) + "\n"


def from_json(text: str, max_clique: int = MAX_CLIQUE_ENTRIES) -> TemporalSlice:
    """The model that a JSON text declares.

    A `ModelFileError` says what is wrong and where, as in `states[0].prior[2]`. `max_clique` is that of
    `TemporalSliceBuilder.build`.
    """
    return to_slice(parsed_json(text), _table, max_clique)


def _written(value: Any, indent: str = "") -> str:
    """JSON with one line for each list of plain values: a row of a table, the names of the parents."""
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_written(item, inner)}" for key, item in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        lines = [_written(item, inner) for item in value]
        opening, closing = "[", "]"
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return f"{opening}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{closing}"


def _table(node: Node) -> NDArray[np.float64]:
    """The nested lists at `node`, if they are a regular table of numbers."""
    _shape(node, MAX_AXES)
    try:
        return np.array(node.value, dtype=np.float64)
    except OverflowError:
        raise node.wrong("a table of numbers of 64 bits") from None


def _shape(node: Node, axes: int) -> tuple[int, ...]:
    """The shape of nested lists of numbers; every list of a level is as long as the others."""
    if axes == 0:
        raise ModelFileError(f"{node.path}: a table was given with more than {MAX_AXES} axes, which NumPy cannot hold.")
    if not isinstance(node.value, list):
        raise node.wrong("a table (lists of numbers, nested once for each axis)")
    if all(type(number) in (int, float) for number in node.value):
        return (len(node.value),)
    nested = isinstance(node.value[0], list)
    shapes: list[tuple[int, ...]] = []
    for item in node.items():
        if not nested:
            item.number()
            continue
        shapes.append(_shape(item, axes - 1))
        if shapes[-1] != shapes[0]:
            raise ModelFileError(
                f"{item.path}: a list of shape {shapes[-1]} was given; required is {shapes[0]}, the shape of"
                f" {node.path}[0]."
            )
    return (len(node.value), *shapes[0])
