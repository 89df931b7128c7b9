"""Collects contractions and lays them out as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.engine.flat import floats, ints, shorts, starts
from btai.engine.program import DENSE, NO_OP, SHIFTED, Ops
from btai.engine.tables import Contraction

__all__ = ["OpsBuilder"]


class _Op(NamedTuple):
    contraction: Contraction
    n_out: int
    common: int  # the op that computes what the columns have in common, or NO_OP
    variables: tuple[int, ...]  # the inputs, in order of summation
    sizes: tuple[int, ...]


class OpsBuilder:
    """Add contractions, get their numbers; then `build`."""

    def __init__(self) -> None:
        self._ops: list[_Op] = []

    def add(self, contraction: Contraction, n_out: int, variables: Sequence[int], sizes: Sequence[int]) -> int:
        """The number of a new op; `variables` and `sizes` are those of the table's axes 1.."""
        common = NO_OP if contraction.common is None else self.add(contraction.common, 1, variables, sizes)
        order = contraction.order
        self._ops.append(
            _Op(contraction, n_out, common, tuple(variables[i] for i in order), tuple(sizes[i] for i in order))
        )
        return len(self._ops) - 1

    def inputs(self, op: int) -> tuple[int, ...]:
        """The variables that one op sums over, in its order."""
        return self._ops[op].variables

    def build(self) -> Ops:
        """All arrays, end to end."""
        contractions = [op.contraction for op in self._ops]
        dense = [np.zeros(0) if c.dense is None else c.dense for c in contractions]
        levels = [level for c in contractions for level in c.levels]
        is_last = [level is c.levels[-1] for c in contractions for level in c.levels]
        bases = [level.bases for level in levels]
        values = [level.values for level in levels]
        is_inner = [not last for last in is_last]
        return Ops(
            kind=ints(DENSE if c.dense is not None else SHIFTED for c in contractions),
            n_out=ints(op.n_out for op in self._ops),
            common=ints(op.common for op in self._ops),
            input_start=starts(len(op.variables) for op in self._ops),
            input_variable=ints(v for op in self._ops for v in op.variables),
            input_size=ints(n for op in self._ops for n in op.sizes),
            table_start=starts(table.size for table in dense)[:-1],
            table_size=ints(table.size for table in dense),
            tables=floats(dense),
            level_start=starts(len(c.levels) for c in contractions)[:-1],
            node_start=starts(len(level.bases) for level in levels),
            base_value=floats(_where(is_last, bases)),
            base_node=shorts(_where(is_inner, bases)),
            exception_start=starts(len(level.indices) for level in levels),
            exception_node=shorts([level.nodes for level in levels]),
            exception_index=shorts([level.indices for level in levels]),
            exception_value=floats(_where(is_last, values)),
            exception_next=shorts(_where(is_inner, values)),
        )


def _where(wanted: Sequence[bool], arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """The arrays that are wanted; zeros in the places of the others."""
    return [array if is_wanted else np.zeros_like(array) for is_wanted, array in zip(wanted, arrays, strict=True)]
