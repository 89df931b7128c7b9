"""Compiles a temporal slice into a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from btai.engine.cliques import lay_out_cliques, no_cliques, plan_inference
from btai.engine.flat import Ints, ints, starts
from btai.engine.ops import OpsBuilder
from btai.engine.program import COST, NEW, OBSERVATION, OLD, OTHER, STATE, Cliques, Ops, Parts, Program
from btai.engine.structure import Conditional, Structure, find_structure
from btai.engine.tables import cheapest
from btai.errors import CliqueTooLargeError
from btai.model import TemporalSlice

__all__ = ["MEMORY_LIMIT", "compile"]

SPAN = -1  # the component of what spans components
MEMORY_LIMIT = 2**31  # bytes
LOGARITHM = 3  # operations of the p ln p of each value of a predicted observation


class _Unit(NamedTuple):
    """One contraction of a search; see `Parts`."""

    op: int
    kind: int
    label: str  # the variable that it predicts, or the cost
    inputs: tuple[str, ...]  # in the op's order of summation


Groups = Mapping[tuple[int, int], Sequence[_Unit]]  # by component and action class; what spans components comes last


def compile(ts: TemporalSlice, memory_limit: int = MEMORY_LIMIT) -> Program:
    """Find what of `ts` matters and how to compute it with the least work.

    A slice whose program would take more than `memory_limit` bytes is refused before anything large is allocated.
    """
    inference = plan_inference(ts) if ts.inference == "exact" else None
    _check_memory(_table_bytes(ts), 0 if inference is None else inference.nbytes, memory_limit)
    cliques = no_cliques(ts) if inference is None else lay_out_cliques(ts, inference)
    return _Compiler(ts, find_structure(ts)).program(cliques)


def _table_bytes(ts: TemporalSlice) -> int:
    """What the tables take if all are dense; those of the observations stand in the program twice."""
    transitions = sum(t.table.nbytes for t in ts.transitions.values())
    likelihoods = sum(o.likelihood.nbytes for o in ts.observations.values())
    return transitions + 2 * likelihoods + sum(p.table.nbytes for p in ts.preferences)


def _check_memory(tables: int, inference: int, limit: int) -> None:
    if tables + inference > limit:
        raise CliqueTooLargeError(
            f"the compiled program would take {tables + inference:,} bytes ({tables:,} for its tables, {inference:,}"
            f" for exact inference); the limit is {limit:,}. Use engine='numpy', which needs less, or, if it is"
            " inference that takes too much, build(inference='loopy'), which is approximate and says so."
        )


class _Compiler:
    """Numbers the variables, adds the ops and lays out the rows of the components."""

    def __init__(self, ts: TemporalSlice, structure: Structure) -> None:
        self.ts = ts
        self.structure = structure
        self.names = [*ts.states, *ts.observations]
        self.number = {name: i for i, name in enumerate(self.names)}
        self.ops = OpsBuilder()
        self.preferred = [name for p in ts.preferences for name in p.observations]
        self.component = {s: i for i, component in enumerate(structure.components) for s in component.states}
        for name in self.preferred:
            self.component[name] = self._component_of(structure.likelihoods[name].parents)

    def program(self, cliques: Cliques) -> Program:
        """Everything, in the order in which it is needed."""
        transition = self._transitions()
        groups = self._groups(transition)
        parts = self._parts(transition, groups)
        ops = self.ops.build()
        work = [sum(self._operations(ops, unit) for unit in group) for group in groups.values()]
        return Program(
            self.ts,
            self.structure,
            ops,
            parts,
            cliques,
            labels=tuple(unit.label for group in groups.values() for unit in group),
            operations=sum(work[:-1]) + self.ts.action.size * work[-1],
            bytes_per_iteration=_bytes_per_iteration(parts, self.ts.action.size),
        )

    def _operations(self, ops: Ops, unit: _Unit) -> int:
        logarithms = self.ts.sizes[unit.label] if unit.kind == OBSERVATION else 0
        return ops.operations(unit.op) + LOGARITHM * logarithms

    def _component_of(self, names: Sequence[str]) -> int:
        """The one component of all these variables, or SPAN."""
        found = {self.component[name] for name in names}
        return found.pop() if len(found) == 1 else SPAN

    def _op(self, conditional: Conditional, *, probabilities: bool) -> int:
        table, parents = conditional.table, conditional.parents
        contraction = cheapest(table, probabilities=probabilities)
        return self.ops.add(contraction, len(table), [self.number[p] for p in parents], table.shape[1:])

    def _transitions(self) -> Ints:
        """The op of each state under each action, `[states, A]`; equal tables are one object and share an op."""
        tables = {id(c): c for by_action in self.structure.transitions.values() for c in by_action}
        ops = {key: self._op(conditional, probabilities=True) for key, conditional in tables.items()}
        return np.array([[ops[id(c)] for c in self.structure.transitions[s]] for s in self.ts.states], dtype=np.int64)

    def _groups(self, transition: Ints) -> Groups:
        """The units of each component and action class, and last of what spans components."""
        costs = self._cost_units()
        groups = {}
        for c, component in enumerate(self.structure.components):
            local = [unit for where, unit in costs if where == c]
            for k, action in enumerate(component.representatives):
                predictions = [self._unit(int(transition[self.number[s], action]), STATE, s) for s in component.states]
                groups[c, k] = predictions + local
        groups[len(self.structure.components), 0] = [unit for where, unit in costs if where == SPAN]
        return groups

    def _unit(self, op: int, kind: int, label: str) -> _Unit:
        return _Unit(op, kind, label, tuple(self.names[v] for v in self.ops.inputs(op)))

    def _cost_units(self) -> list[tuple[int, _Unit]]:
        """Predicted observations first, then the costs, which need them; each with its component."""
        units = []
        for name in self.preferred:
            op = self._op(self.structure.likelihoods[name], probabilities=True)
            units.append((self.component[name], self._unit(op, OBSERVATION, name)))
        expected = {f"ambiguity of {name}": a for name, a in self.structure.ambiguities.items()}
        for p in self.ts.preferences:
            label = f"preference over ({', '.join(p.observations)})"
            expected[label] = Conditional(-np.log(p.table)[None], p.observations)
        for label, conditional in expected.items():
            if isinstance(conditional, Conditional):
                unit = self._unit(self._op(conditional, probabilities=False), COST, label)
                units.append((self._component_of(conditional.parents), unit))
        return units

    def _parts(self, transition: Ints, groups: Groups) -> Parts:
        components = self.structure.components
        units = [(where, unit) for (where, _), group in groups.items() for unit in group]
        offset, width, span_width = self._rows()
        inputs = [(self._row(where, unit, name), offset[name]) for where, unit in units for name in unit.inputs]
        start, end = self._unit_ranges(groups)
        layouts = (self.ts.state_layout, self.ts.observation_layout)
        return Parts(
            class_of=ints(k for c in components for k in c.class_of).reshape(len(components), self.ts.action.size),
            n_classes=ints(len(c.representatives) for c in components),
            width=ints(width),
            span_width=span_width,
            constant=float(sum(a for a in self.structure.ambiguities.values() if not isinstance(a, Conditional))),
            unit_start=start,
            unit_end=end,
            unit_op=ints(unit.op for _, unit in units),
            unit_kind=ints(unit.kind for _, unit in units),
            unit_offset=ints(0 if unit.kind == COST else offset[unit.label] for _, unit in units),
            unit_input=starts(len(unit.inputs) for _, unit in units)[:-1],
            input_row=ints(row for row, _ in inputs),
            input_offset=ints(place for _, place in inputs),
            state_start=starts(len(c.states) for c in components),
            states=ints(self.number[s] for c in components for s in c.states),
            state_offset=ints(offset[s] for c in components for s in c.states),
            transition=transition,
            size=ints(self.ts.sizes[name] for name in self.names),
            flat=ints(span.start for layout in layouts for span in layout.spans.values()),
        )

    def _rows(self) -> tuple[dict[str, int], list[int], int]:
        """Where each variable lies in the row of its component; the widths of the rows, and of what spans them."""
        offset = {}
        ends = dict.fromkeys([*range(len(self.structure.components)), SPAN], 1)  # a row begins with its cost
        for name, component in self.component.items():
            offset[name] = ends[component]
            ends[component] += self.ts.sizes[name]
        span_width = ends.pop(SPAN)
        return offset, list(ends.values()), span_width

    def _row(self, where: int, unit: _Unit, name: str) -> int:
        """In which row a unit of component `where` finds an input."""
        if unit.kind == STATE:
            return OLD
        here = self.component[name] in (where, SPAN)
        return NEW if here else OTHER + self.component[name]

    def _unit_ranges(self, groups: Groups) -> tuple[Ints, Ints]:
        """Where the units of each component and class begin and end, `[components + 1, most classes]` each."""
        shape = (len(self.structure.components) + 1, 1 + max(k for _, k in groups))
        start, end = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        ends = accumulate(len(group) for group in groups.values())
        for key, last in zip(groups, ends, strict=True):
            start[key], end[key] = last - len(groups[key]), last
        return start, end


def _bytes_per_iteration(parts: Parts, n_actions: int) -> int:
    rows = sum(int(k) * (8 * int(w) + 4 * int(k)) for k, w in zip(parts.n_classes, parts.width, strict=True))
    return rows + n_actions * (32 + 4 * len(parts.width)) + 4
