"""A program in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from btai.engine.program import COST, DENSE, NO_OP, Program
from btai.engine.structure import Component, Conditional

__all__ = ["program_as_text"]

Row = tuple[str, ...]


def program_as_text(program: Program) -> str:
    """What the compiler found: what matters, what is shared, how each table is contracted, what it all costs."""
    return "\n".join([*_relevance(program), *_sharing(program), *_contractions(program), *_totals(program)])


def _relevance(program: Program) -> Iterator[str]:
    states, irrelevant = program.ts.states, program.structure.irrelevant
    relevant = [name for name in states if name not in irrelevant]
    yield f"{len(relevant)} of {len(states)} states matter to a decision: {', '.join(relevant) or 'none'}."
    if irrelevant:
        yield f"Left out of the search: {', '.join(irrelevant)}."
        yield "  No preference, and no ambiguity that varies, depends on them, however indirectly."
        yield "  Their beliefs are computed when somebody looks."


def _sharing(program: Program) -> Iterator[str]:
    if program.structure.components:
        yield "Predicted once for all nodes of the tree with the same history of actions (= joins what acts alike):"
    for component in program.structure.components:
        names = _class_names(program, component)
        distinct = f"{_counted(len(names), 'prediction')} per expansion"
        yield f"  {', '.join(component.states)}: {distinct} ({', '.join(names)})"


def _class_names(program: Program, component: Component) -> list[str]:
    """The actions of each class, by name."""
    names = program.ts.labels(program.ts.action.name)
    return [
        " = ".join(name for name, of in zip(names, component.class_of, strict=True) if of == k)
        for k in range(len(component.representatives))
    ]


def _contractions(program: Program) -> Iterator[str]:
    rows = _rows(program)
    if rows:
        yield "Tables are contracted with beliefs as they stand (dense), or as a constant plus exceptions (shifted):"
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _rows(program: Program) -> list[Row]:
    """A row for each contraction; those of a state under different actions are one row where they are alike."""
    rows = []
    spanning = [""]
    for c, names in enumerate([*(_class_names(program, p) for p in program.structure.components), spanning]):
        alike: dict[Row, list[str]] = {}
        for k, name in enumerate(names):
            for unit in range(program.parts.unit_start[c, k], program.parts.unit_end[c, k]):
                alike.setdefault(_row(program, unit), []).append(name)
        for (label, *rest), under in alike.items():
            after = "" if len(under) == len(names) else f" after {', '.join(under)}"
            rows.append((label + after, *rest))
    return rows


def _row(program: Program, unit: int) -> Row:
    """What one unit computes, from what, the size of its table, and how."""
    ops, op = program.ops, int(program.parts.unit_op[unit])
    names = [*program.ts.states, *program.ts.observations]
    inputs = [names[v] for v in ops.input_variable[ops.inputs(op)]]
    sizes = [str(n) for n in ops.input_size[ops.inputs(op)]]
    if program.parts.unit_kind[unit] != COST:
        sizes.insert(0, str(ops.n_out[op]))
    source = f"from {', '.join(inputs)}" if inputs else "constant"
    return program.labels[unit], source, " x ".join(sizes), _method(program, op)


def _method(program: Program, op: int) -> str:
    ops = program.ops
    operations = _counted(ops.operations(op), "operation")
    if ops.kind[op] == DENSE:
        return f"dense, {operations}"
    shared = "" if ops.common[op] == NO_OP else " beside what each column's entries share"
    return f"shifted, {_counted(ops.exceptions(op), 'exception')}{shared}, {operations}"


def _totals(program: Program) -> Iterator[str]:
    constant = [name for name, a in program.structure.ambiguities.items() if not isinstance(a, Conditional)]
    if constant:
        yield f"Added once: the ambiguity of {', '.join(constant)}, in any state {program.parts.constant:.6g}."
    yield (
        f"A planning iteration takes at most {_counted(program.operations, 'operation')}"
        f" and {_counted(program.bytes_per_iteration, 'byte')}; the program itself takes"
        f" {_counted(program.nbytes, 'byte')}."
    )


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
