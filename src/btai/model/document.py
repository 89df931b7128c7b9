"""A slice as a document of plain values, which both forms of model file share; they differ in what stands for a table.

::

    {"format": "btai model", "version": 1, "inference": "exact",
     "action": {"name": "A_move", "values": ["left", "right"]},        or "size" instead of "values"
     "states": [{"name": "S_x", "prior": TABLE, "parents": ["S_x", "A_move"], "transition": TABLE}],
     "observations": [{"name": "O_x", "parents": ["S_x"], "likelihood": TABLE}],
     "preferences": [{"observations": ["O_x"], "table": TABLE}]}       or "scores" (and "precision") instead of "table"

States and observations may have "values", the names of their values. Lists keep the order of declaration.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.errors import CliqueTooLargeError, ModelError, ModelFileError
from btai.model.builder import TemporalSliceBuilder
from btai.model.cliques import MAX_CLIQUE_ENTRIES
from btai.model.slice import TemporalSlice

__all__ = ["MAX_AXES", "Node", "parsed_json", "to_document", "to_slice"]

FORMAT = "btai model"
VERSION = 1
MAX_AXES = 64  # NumPy's own limit

Table = NDArray[np.float64]
Labels = Sequence[str] | None


def to_document(ts: TemporalSlice, encode: Callable[[str, Table], Any]) -> dict[str, Any]:
    """The document of `ts`; `encode(name, table)` gives what stands in it for a table."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "inference": ts.inference,
        "action": _head(ts.action.name, ts.action.values) | ({} if ts.action.values else {"size": ts.action.size}),
        "states": [
            {
                **_head(s.name, s.values),
                "prior": encode(f"{s.name}.prior", s.prior),
                "parents": [*ts.transitions[s.name].parents],
                "transition": encode(f"{s.name}.transition", ts.transitions[s.name].table),
            }
            for s in ts.states.values()
        ],
        "observations": [
            {
                **_head(o.name, o.values),
                "parents": [*o.parents],
                "likelihood": encode(f"{o.name}.likelihood", o.likelihood),
            }
            for o in ts.observations.values()
        ],
        "preferences": [
            {"observations": [*p.observations], "table": encode(f"preferences.{i}", p.table)}
            for i, p in enumerate(ts.preferences)
        ],
    }


def to_slice(
    document: object, decode: Callable[[Node], ArrayLike], max_clique: int = MAX_CLIQUE_ENTRIES
) -> TemporalSlice:
    """The slice that a document declares, checked by the builder; `decode` gives the table that a node stands for."""
    root = Node(document, "")
    _check_format(root)
    top = root.fields(["format", "version", "action", "states"], ["inference", "observations", "preferences"])
    builder = _with_action(top["action"])
    paths: dict[str, str] = {}
    for node in top["states"].items():
        paths[_add_state(builder, node, decode)] = node.path
    for node in _items_of(top, "observations"):
        paths[_add_observation(builder, node, decode)] = node.path
    for node in _items_of(top, "preferences"):
        paths[_add_preference(builder, node, decode)] = node.path
    inference = top["inference"].text() if "inference" in top else "exact"
    try:
        return builder.build(inference, max_clique)
    except CliqueTooLargeError:
        raise
    except ModelError as error:  # its message begins with the name of the variable
        path = paths.get(str(error).partition(":")[0])
        raise ModelFileError(f"{path}: {error}" if path else str(error)) from error


def parsed_json(text: str) -> Any:
    """What a JSON text says, if every key stands once and every number is finite."""
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ModelFileError(f"line {error.lineno}, column {error.colno}: this is not JSON ({error.msg}).") from None
    except RecursionError:
        raise ModelFileError(
            "its JSON is nested too deeply; a model needs a few levels and one for each axis."
        ) from None
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its JSON holds a number that cannot be read ({error}).") from None


@dataclass(frozen=True)
class Node:
    """A value in a document, and the path that leads to it."""

    value: Any
    path: str

    def wrong(self, required: str) -> ModelFileError:
        """The error that something else is required here."""
        return ModelFileError(f"{self.path or 'the model'}: {shortened(self.value)} was given; {required} is required.")

    def fields(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Node]:
        """The values of an object by key: all of the required keys, and none that is unknown."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"an object with the keys {_listed(required)}")
        for key in required:
            if key not in self.value:
                raise ModelFileError(f"{self.path or 'the model'}: the key {key!r} is missing. Add it.")
        for key in self.value:
            if key not in (*required, *optional):
                raise ModelFileError(
                    f"{self.path or 'the model'}: the key {shortened(key)} is unknown; known are"
                    f" {_listed([*required, *optional])}. Correct or remove it."
                )
        inner = f"{self.path}." if self.path else ""
        return {key: Node(value, inner + key) for key, value in self.value.items()}

    def items(self) -> list[Node]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [Node(value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def texts(self) -> list[str]:
        """A list of texts."""
        return [node.text() for node in self.items()]

    def count(self) -> int:
        """A whole number, at least 0."""
        if type(self.value) is not int or not 0 <= self.value < 2**63:
            raise self.wrong("a whole number from 0 to 2**63 - 1")
        return self.value

    def number(self) -> float:
        """A number."""
        try:
            if type(self.value) in (int, float):
                return float(self.value)
        except OverflowError:
            pass
        raise self.wrong("a number of 64 bits")


def _check_format(root: Node) -> None:
    document = root.value
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(
            f'this is no btai model: a model is an object whose "format" is {FORMAT!r}. Files of other kinds have'
            " translators in btai.interop."
        )
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise ModelFileError(
            f"version: {shortened(version)} was given; this btai reads version {VERSION}. If a newer btai wrote the"
            " file, update btai."
        )


def _with_action(node: Node) -> TemporalSliceBuilder:
    fields = node.fields(["name"], ["size", "values"])
    if "size" not in fields and "values" not in fields:
        raise ModelFileError(f"{node.path}: neither 'size' nor 'values' is given; one of them is required.")
    values = _values(fields)
    size = fields["size"].count() if "size" in fields else len(values or ())
    with _located(node):
        return TemporalSliceBuilder(fields["name"].text(), size, values)


def _add_state(builder: TemporalSliceBuilder, node: Node, decode: Callable[[Node], ArrayLike]) -> str:
    fields = node.fields(["name", "prior", "parents", "transition"], ["values"])
    name = fields["name"].text()
    with _located(node):
        builder.add_state(name, decode(fields["prior"]), _values(fields))
        builder.add_transition(name, decode(fields["transition"]), fields["parents"].texts())
    return name


def _add_observation(builder: TemporalSliceBuilder, node: Node, decode: Callable[[Node], ArrayLike]) -> str:
    fields = node.fields(["name", "parents", "likelihood"], ["values"])
    name = fields["name"].text()
    with _located(node):
        builder.add_observation(name, decode(fields["likelihood"]), fields["parents"].texts(), _values(fields))
    return name


def _add_preference(builder: TemporalSliceBuilder, node: Node, decode: Callable[[Node], ArrayLike]) -> str:
    fields = node.fields(["observations"], ["table", "scores", "precision"])
    group = fields["observations"].texts()
    given: dict[str, Any] = {kind: decode(fields[kind]) for kind in ("table", "scores") if kind in fields}
    if "precision" in fields:
        if "scores" not in fields:
            raise ModelFileError(f"{node.path}: 'precision' belongs to 'scores', which is not given. Remove it.")
        given["precision"] = fields["precision"].number()
    with _located(node):
        builder.add_preference(group, **given)
    return f"({', '.join(group)})"


def _items_of(fields: Mapping[str, Node], key: str) -> list[Node]:
    return fields[key].items() if key in fields else []


def _values(fields: Mapping[str, Node]) -> Labels:
    return fields["values"].texts() if "values" in fields else None


def _head(name: str, values: Labels) -> dict[str, Any]:
    return {"name": name} | ({"values": [*values]} if values else {})


@contextmanager
def _located(node: Node) -> Iterator[None]:
    """What the builder complains of is said to stand at `node`."""
    try:
        yield
    except ModelFileError:
        raise
    except ModelError as error:
        raise ModelFileError(f"{node.path}: {error}") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ModelFileError(f"the key {shortened(twice)} stands twice in one object. Remove one of them.")
    return result


def _no_constant(name: str) -> None:
    raise ModelFileError(f"it holds {name}, which is not a number of JSON. Replace it by a finite number.")


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(map(repr, keys))
