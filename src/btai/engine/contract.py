"""The kernel of all kernels: one contraction of a table with beliefs."""

from __future__ import annotations

from btai.engine.flat import Floats, Ints
from btai.engine.jit import kernel
from btai.engine.program import DENSE, NO_OP, Ops

__all__ = ["contract"]


@kernel
def contract(ops: Ops, op: int, beliefs: Floats, addresses: Ints, out: Floats, start: int, scratch: Floats) -> None:
    """Write op's result `[n_out]` into `out[start:]`; its i-th input is the vector at `beliefs[addresses[i]:]`."""
    if ops.kind[op] == DENSE:
        _dense(ops, op, beliefs, addresses, out, start, scratch)
    else:
        _shifted(ops, op, beliefs, addresses, out, start, scratch)


@kernel
def _dense(ops: Ops, op: int, beliefs: Floats, addresses: Ints, out: Floats, start: int, scratch: Floats) -> None:
    """Sum out one input after the other, the first first: each step adds up contiguous rows."""
    size = ops.table_size[op]
    source = ops.tables[ops.table_start[op] : ops.table_start[op] + size]
    inputs = ops.input_start[op + 1] - ops.input_start[op]
    half = len(scratch) // 2
    if inputs == 0:
        for j in range(size):
            out[start + j] = source[j]
    for i in range(inputs):
        n = ops.input_size[ops.input_start[op] + i]
        belief = beliefs[addresses[i] : addresses[i] + n]
        size //= n
        place = (i % 2) * half
        target = out[start : start + size] if i == inputs - 1 else scratch[place : place + size]
        for j in range(size):
            target[j] = 0.0
        for k in range(n):
            weight = belief[k]
            if weight != 0.0:
                row = source[k * size : (k + 1) * size]
                for j in range(size):
                    target[j] += weight * row[j]
        source = target


@kernel
def _shifted(ops: Ops, op: int, beliefs: Floats, addresses: Ints, out: Floats, start: int, scratch: Floats) -> None:
    """Evaluate the levels from the last to the first: each node is its base plus its exceptions.

    What the columns have in common is an op of its own; it goes first, through the same lines.
    """
    common = 0.0
    current = ops.common[op] if ops.common[op] != NO_OP else op
    while True:
        _levels(ops, current, beliefs, addresses, out, start, scratch)
        if current == op:
            break
        common = out[start]
        current = op
    if ops.common[op] != NO_OP:
        for j in range(start, start + ops.n_out[op]):
            out[j] += common


@kernel
def _levels(ops: Ops, op: int, beliefs: Floats, addresses: Ints, out: Floats, start: int, scratch: Floats) -> None:
    """One shifted contraction without what the columns have in common."""
    half = len(scratch) // 2
    inputs = ops.input_start[op + 1] - ops.input_start[op]
    following = scratch[:0]  # the results of the level that this one builds on
    for i in range(inputs - 1, -1, -1):
        level = ops.level_start[op] + i
        first, last = ops.node_start[level], ops.node_start[level + 1]
        begin, end = ops.exception_start[level], ops.exception_start[level + 1]
        belief = beliefs[addresses[i] : addresses[i] + ops.input_size[ops.input_start[op] + i]]
        place = (i % 2) * half
        target = out[start : start + last - first] if i == 0 else scratch[place : place + last - first]
        node, index = ops.exception_node[begin:end], ops.exception_index[begin:end]
        if i == inputs - 1:
            base, value = ops.base_value[first:last], ops.exception_value[begin:end]
            for n in range(len(target)):
                target[n] = base[n]
            for e in range(len(node)):
                target[node[e]] += value[e] * belief[index[e]]
        else:
            base_node, next_node = ops.base_node[first:last], ops.exception_next[begin:end]
            for n in range(len(target)):
                target[n] = following[base_node[n]]
            for e in range(len(node)):
                target[node[e]] += following[next_node[e]] * belief[index[e]]
        following = target
