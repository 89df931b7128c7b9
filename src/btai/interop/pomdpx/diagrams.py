"""Tables of type DD: decision diagrams, whose parts may be shared as templates.

A part's value is a table with one axis per variable, of size 1 for those it does not look at. A template is valued
once however often it is used, so the work grows with the table, not with the number of paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.interop.factored.network import Ref
from btai.interop.factored.source import Source
from btai.interop.pomdpx.elements import Element
from btai.interop.pomdpx.tables import Kind, child_of
from btai.interop.pomdpx.variables import Symbol

__all__ = ["read_diagram"]

Part = NDArray[Any]


def read_diagram(parameter: Element, axes: Sequence[Symbol], kind: Kind, source: Source) -> Part:
    """The table `[*axes]`; a value without an edge counts as 0."""
    if parameter.all("Entry"):
        raise source.error(parameter.at, "expected <DAG> in a <Parameter> of type DD, found <Entry>")
    diagram = _Diagram(axes, kind, source)
    for template in parameter.all("SubDAGTemplate"):
        diagram.declare(template)
    part = diagram.part_in(child_of(parameter, "DAG", source), 0)
    return np.array(np.broadcast_to(part, [axis.size for axis in axes]))


class _Diagram:
    def __init__(self, axes: Sequence[Symbol], kind: Kind, source: Source) -> None:
        self.axes = {axis.name: i for i, axis in enumerate(axes)}
        self.symbols = list(axes)
        self.kind = kind
        self.source = source
        self.templates: dict[str, Element] = {}
        self.valued: dict[str, Part | None] = {}  # None while it is being valued

    def declare(self, template: Element) -> None:
        name = template.attributes["id"]
        if name in self.templates:
            raise self.source.error(template.at, f"expected a new id, found {name!r} a second time")
        self.templates[name] = template

    def part_in(self, holder: Element, depth: int) -> Part:
        """The value of what a <DAG>, an <Edge> or a <SubDAGTemplate> holds."""
        if len(holder.children) != 1:
            raise self.source.error(
                holder.at,
                f"expected one of <Node>, <Terminal> and <SubDAG> in <{holder.tag}>, found {len(holder.children)}",
            )
        if depth > self.source.limits.depth:
            limit = self.source.limits.depth
            raise self.source.error(holder.at, f"expected templates and nodes nested at most {limit} deep")
        (child,) = holder.children
        if child.tag == "Node":
            return self.node(child, depth)
        return self.terminal(child) if child.tag == "Terminal" else self.shared(child, depth)

    def terminal(self, element: Element) -> Part:
        words = element.words()
        value = self.kind.parse(words[0]) if len(words) == 1 else None
        if value is None:
            found = " ".join(words)[:40]
            raise self.source.error(
                element.position(0), f"expected {self.kind.expected} in <Terminal>, found {found!r}"
            )
        return np.full([1] * len(self.axes), value, dtype=self.kind.dtype)

    def node(self, element: Element, depth: int) -> Part:
        axis = self.axis(element, element.attributes["var"])
        symbol = self.symbols[axis]
        edges: dict[int, Part] = {}
        for edge in element.children:
            index = symbol.index(edge.attributes["val"])
            if index is None or index in edges:
                again = " a second time" if index is not None else ""
                raise self.source.error(
                    edge.at, f"expected a value of {symbol.name} as val, found {edge.attributes['val']!r}{again}"
                )
            edges[index] = _given(self.part_in(edge, depth + 1), axis, index)
        shape = list(np.broadcast_shapes(*(part.shape for part in edges.values()), (1,) * len(self.axes)))
        shape[axis] = symbol.size
        self.source.allow_table(element.at, "a node of the diagram", shape)
        table = np.zeros(shape, dtype=self.kind.dtype)
        for index, part in edges.items():
            table[(*[slice(None)] * axis, slice(index, index + 1))] = part
        return table

    def axis(self, element: Element, name: str) -> int:
        if name not in self.axes:
            known = " ".join(self.axes)
            raise self.source.error(element.at, f"expected as var one of {known}, found {name!r}")
        return self.axes[name]

    def shared(self, element: Element, depth: int) -> Part:
        """A part that has a name: a template of the file, or one of the format's own."""
        kind = element.attributes["type"]
        own = ("uniform", "deterministic", "persistent") if self.kind.keywords else ()
        if kind == "template":
            return self.template(element, depth)
        if kind not in own:
            known = ", ".join((*own, "template"))
            raise self.source.error(element.at, f"expected as type one of {known}, found {kind!r}")
        last = len(self.symbols) - 1
        symbol = self.symbols[last]
        if self.attribute(element, "var") != symbol.name:
            found = element.attributes["var"]
            raise self.source.error(element.at, f"expected {symbol.name} as var of a {kind} part, found {found!r}")
        part = np.zeros([1] * last + [symbol.size])
        if kind == "uniform":
            part[...] = 1 / symbol.size
        elif kind == "deterministic":
            index = symbol.index(self.attribute(element, "val"))
            if index is None:
                found = element.attributes["val"]
                raise self.source.error(element.at, f"expected a value of {symbol.name} as val, found {found!r}")
            part[..., index] = 1
        else:
            part = self.persistent(element, symbol)
        return part

    def persistent(self, element: Element, symbol: Symbol) -> Part:
        """The state keeps its value."""
        before = [i for i, s in enumerate(self.symbols) if s.ref == Ref("before", symbol.ref.name) and s != symbol]
        if not before:
            raise self.source.error(
                element.at, f"expected the state before {symbol.name} among the parents of a persistent part"
            )
        self.source.allow_table(element.at, "a persistent part", [symbol.size, symbol.size])
        shape = [1] * len(self.symbols)
        shape[before[0]] = shape[-1] = symbol.size
        return np.eye(symbol.size).reshape(shape)

    def template(self, element: Element, depth: int) -> Part:
        name = self.attribute(element, "idref")
        if name not in self.templates:
            raise self.source.error(element.at, f"expected the id of a <SubDAGTemplate>, found {name!r}")
        if name not in self.valued:
            self.valued[name] = None
            self.valued[name] = self.part_in(self.templates[name], depth + 1)
        part = self.valued[name]
        if part is None:
            raise self.source.error(element.at, f"expected no template that holds itself, found {name!r}")
        return part

    def attribute(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            raise self.source.error(element.at, f"expected the attribute {name} on this <SubDAG>")
        return element.attributes[name]


def _given(part: Part, axis: int, index: int) -> Part:
    """`part` once the variable of `axis` is known; of size 1 there."""
    return part if part.shape[axis] == 1 else np.take(part, [index], axis=axis)
