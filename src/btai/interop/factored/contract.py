"""Summing a variable out of a table by its own conditional distribution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from btai.interop.factored.network import Conditional, Ref, Table
from btai.interop.factored.source import Position, Source

__all__ = ["Known", "is_deterministic"]


@dataclass(frozen=True, eq=False)
class Known:
    """The variables that can be summed out, each with its distribution, and their order: parents come first."""

    conditionals: Mapping[Ref, Conditional]
    rank: Mapping[Ref, int]
    sizes: Mapping[Ref, int]
    source: Source
    _given_others: dict[Ref, tuple[tuple[Ref, ...], Table]] = field(default_factory=dict)

    @classmethod
    def of(cls, conditionals: Mapping[Ref, Conditional], sizes: Mapping[Ref, int], source: Source) -> Known:
        """Refuses variables that depend on one another in a circle."""
        parents = {ref: [p for p in c.parents if p in conditionals] for ref, c in conditionals.items()}
        try:
            order = list(TopologicalSorter(parents).static_order())
        except CycleError as error:
            circle: list[Ref] = error.args[1]
            raise source.error(
                conditionals[circle[0]].at,
                f"expected no circle of dependencies, found {' -> '.join(ref.name for ref in circle)}",
            ) from None
        return cls(conditionals, {ref: i for i, ref in enumerate(order)}, sizes, source)

    def only(self, role: str) -> Known:
        """These variables without those of another role."""
        kept = {ref: c for ref, c in self.conditionals.items() if ref.role == role}
        return Known(kept, self.rank, self.sizes, self.source)

    def given_others(self, ref: Ref) -> tuple[tuple[Ref, ...], Table]:
        """The distribution of a known variable given variables that are not known: `[n, *parents]` and its axes."""
        if ref not in self._given_others:
            c = self.conditionals[ref]
            self._given_others[ref] = self.summed_out((ref, *c.parents), c.table, c.at)
        return self._given_others[ref]

    def summed_out(self, axes: tuple[Ref, ...], table: Table, at: Position) -> tuple[tuple[Ref, ...], Table]:
        """`table` over `axes` once every known variable but `axes[0]` is summed out, and the axes that are left.

        The latest in order goes first, while whatever it shares with the others is still there: the result is exact.
        """
        sizes = {axes[0]: len(table), **self.sizes}
        while hidden := [ref for ref in axes[1:] if ref in self.conditionals]:
            last = max(hidden, key=self.rank.__getitem__)
            conditional = self.conditionals[last]
            label = {ref: i for i, ref in enumerate(dict.fromkeys((*axes, *conditional.parents)))}
            what = f"the table of {axes[0].name} without {last.name}"
            self.source.allow_table(at, what, [sizes[ref] for ref in label])
            left = tuple(ref for ref in label if ref != last)
            own = [label[last], *(label[ref] for ref in conditional.parents)]
            operands: list[Any] = [table, [label[ref] for ref in axes], conditional.table, own]
            table = np.einsum(*operands, [label[ref] for ref in left])
            axes = left
        return axes, table


def is_deterministic(table: Table) -> bool:
    """Whether every probability is 0 or 1."""
    return bool(((table == 0) | (table == 1)).all())
