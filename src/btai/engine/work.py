"""The memory of a search: one workspace per agent or thread, reused from cycle to cycle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.engine.flat import Floats, Ints, starts
from btai.engine.program import OTHER, Program

__all__ = ["Workspace", "grown_workspace", "new_workspace"]


class Workspace(NamedTuple):
    """Where a search keeps its histories; see `Parts`.

    Component `c` has room for `room` iterations: its trie's rows lie in `rows` from `row_start[c]`, `width[c]` apart,
    the children of its nodes in `children` from `child_start[c]`, `n_classes[c]` apart (NO_CHILD: not predicted yet).
    """

    room: int
    rows: Floats  # first the room for what spans components
    row_start: Ints  # [components]
    children: NDArray[np.int32]
    child_start: Ints  # [components]
    used: Ints  # [components]: nodes of each trie
    history: NDArray[np.int32]  # [nodes of the search tree, components]: the trie node of each
    bases: Ints  # [2 + components]: where the rows that a unit reads and writes begin: OLD, NEW, OTHER + c
    addresses: Ints  # [most inputs of an op]
    scratch: Floats
    cliques: Floats  # the tables of the I-step
    messages: Floats  # [2 * the largest message]
    likelihood: Floats  # [most configurations of an observation's parents]


def new_workspace(program: Program, iterations: int) -> Workspace:
    """A workspace for `program` with room for so many planning iterations."""
    parts, ops, cliques = program.parts, program.ops, program.cliques
    nodes = 1 + iterations * parts.n_classes
    row_start = parts.span_width + starts(nodes * parts.width)
    child_start = starts(nodes * parts.n_classes)
    return Workspace(
        room=iterations,
        rows=np.empty(row_start[-1]),
        row_start=row_start[:-1],
        children=np.empty(child_start[-1], np.int32),
        child_start=child_start[:-1],
        used=np.zeros(len(nodes), np.int64),
        history=np.empty((1 + iterations * parts.transition.shape[1], len(nodes)), np.int32),
        bases=np.zeros(OTHER + len(nodes), np.int64),
        addresses=np.zeros(np.diff(ops.input_start).max(initial=1), np.int64),
        scratch=np.empty(2 * _scratch_size(program)),
        cliques=np.empty(int((cliques.size * cliques.rest).sum())),
        messages=np.empty(2 * int(cliques.rest.max(initial=0))),
        likelihood=np.empty(int(cliques.configurations.max(initial=1))),
    )


def grown_workspace(program: Program, work: Workspace, iterations: int) -> Workspace:
    """`work`, or a larger copy of it if it has no room for so many iterations."""
    if iterations <= work.room:
        return work
    larger = new_workspace(program, iterations)
    for c, (nodes, width, classes) in enumerate(
        zip(work.used, program.parts.width, program.parts.n_classes, strict=True)
    ):
        _copy(work.rows, work.row_start[c], larger.rows, larger.row_start[c], nodes * width)
        _copy(work.children, work.child_start[c], larger.children, larger.child_start[c], nodes * classes)
    larger.used[:] = work.used
    larger.history[: len(work.history)] = work.history
    return larger


def _copy(source: NDArray[Any], start: int, target: NDArray[Any], place: int, length: int) -> None:
    target[place : place + length] = source[start : start + length]


def _scratch_size(program: Program) -> int:
    """The largest intermediate result of any op, or variable."""
    ops = program.ops
    first_sizes = np.append(ops.input_size, 1)[ops.input_start[:-1]]  # an op without inputs has no intermediate result
    return int(
        max(program.parts.size.max(), (ops.table_size // first_sizes).max(), np.diff(ops.node_start).max(initial=0))
    )
