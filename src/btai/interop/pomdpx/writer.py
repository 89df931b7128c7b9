"""Write POMDPX: any temporal slice."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from btai.interop.factored.names import fitting, renamed
from btai.interop.factored.network import Table
from btai.interop.factored.softmax import logarithms
from btai.interop.factored.translate import checked_discount
from btai.interop.loss import Loss, LossReport
from btai.model import TemporalSlice
from btai.model.files import named, replaced

__all__ = ["write_pomdpx"]

# White space separates names, and XML has no way to write most control characters.
_ILLEGAL = re.compile("[\\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_RULE = "a name in POMDPX has no spaces or control characters and is not *, - or null"


def write_pomdpx(ts: TemporalSlice, path: str | os.PathLike[str], *, discount: float = 0.95) -> LossReport:
    """Write a slice, and report what POMDPX cannot carry. `read_pomdpx` gives the same slice back.

    A preference becomes a reward on its observations, the logarithm of the preferred probability. `discount` is for
    the solvers of POMDPs, which want one.
    """
    writer = _Writer(ts, checked_discount(discount))
    text = "\n".join(writer.lines()) + "\n"
    with named(path), replaced(Path(path)) as file:
        file.write(text.encode())
    return LossReport(tuple(writer.losses))


def _mended(name: str) -> str:
    mended = _ILLEGAL.sub("_", name)
    return "_" if mended in ("", "*", "-", "null") else mended


class _Writer:
    def __init__(self, ts: TemporalSlice, discount: float) -> None:
        self.ts = ts
        self.discount = discount
        self.losses: list[Loss] = []
        if ts.inference != "exact":
            self.losses.append(Loss(f"inference {ts.inference!r}", "pass it to read_pomdpx again"))
        self.names = self.fitting("variables", [*ts.states, *ts.observations, ts.action.name])

    def fitting(self, whose: str, names: Iterable[str]) -> dict[str, str]:
        """Names that POMDPX can carry; those that had to change are reported."""
        chosen = fitting(names, _mended)
        self.losses += renamed(whose, chosen, _RULE)
        return chosen

    def lines(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield '<pomdpx version="1.0" id="btai">'
        yield f"  <Discount>{self.discount!r}</Discount>"
        yield from _element("Variable", self.variables())
        yield from _element("InitialStateBelief", self.priors())
        yield from _element("StateTransitionFunction", self.transitions())
        yield from _element("ObsFunction", self.likelihoods())
        yield from _element("RewardFunction", self.rewards())
        yield "</pomdpx>"

    def variables(self) -> Iterator[str]:
        for state in self.ts.states.values():
            names = f"vnamePrev={quoteattr(self.before(state.name))} vnameCurr={quoteattr(self.now(state.name))}"
            yield from self.variable("StateVar", names, state.name, state.size, state.values)
        for o in self.ts.observations.values():
            yield from self.variable("ObsVar", f"vname={quoteattr(self.names[o.name])}", o.name, o.size, o.values)
        action = self.ts.action
        names = f"vname={quoteattr(self.names[action.name])}"
        yield from self.variable("ActionVar", names, action.name, action.size, action.values)
        for i in range(max(len(self.ts.preferences), 1)):
            yield f'<RewardVar vname="R_{i}"/>'

    def variable(
        self, tag: str, attributes: str, name: str, size: int, values: tuple[str, ...] | None
    ) -> Iterator[str]:
        yield f"<{tag} {attributes}>"
        if values is None:
            yield f"  <NumValues>{size}</NumValues>"
        else:
            yield f"  <ValueEnum>{escape(' '.join(self.fitting(f'values of {name}', values).values()))}</ValueEnum>"
        yield f"</{tag}>"

    def priors(self) -> Iterator[str]:
        for state in self.ts.states.values():
            yield from self.table("CondProb", self.before(state.name), [], _floats(state.prior))

    def transitions(self) -> Iterator[str]:
        for t in self.ts.transitions.values():
            parents = [self.names[p] if p == self.ts.action.name else self.before(p) for p in t.parents]
            yield from self.table("CondProb", self.now(t.state), parents, _floats(np.moveaxis(t.table, 0, -1)))

    def likelihoods(self) -> Iterator[str]:
        for o in self.ts.observations.values():
            parents = [self.now(p) for p in o.parents]
            yield from self.table("CondProb", self.names[o.name], parents, _floats(np.moveaxis(o.likelihood, 0, -1)))

    def rewards(self) -> Iterator[str]:
        for i, p in enumerate(self.ts.preferences):
            digits = {value: str(logarithm) for value, logarithm in logarithms(p.table).items()}
            parents = [self.names[name] for name in p.observations]
            yield from self.table("Func", f"R_{i}", parents, _rows(p.table, digits.__getitem__))
        if not self.ts.preferences:  # POMDPX wants a reward: one that is always 0
            zeros = _floats(np.zeros(self.ts.action.size))
            yield from self.table("Func", "R_0", [self.names[self.ts.action.name]], zeros)

    def table(self, tag: str, name: str, parents: Sequence[str], rows: Iterable[str]) -> Iterator[str]:
        """One <CondProb> or <Func> with a single entry that writes all its numbers, the last axis fastest."""
        kind = "ProbTable" if tag == "CondProb" else "ValueTable"
        axes = len(parents) + (tag == "CondProb")
        yield f"<{tag}>"
        yield f"  <Var>{escape(name)}</Var>"
        yield f"  <Parent>{escape(' '.join(parents)) or 'null'}</Parent>"
        yield '  <Parameter type="TBL">'
        yield "    <Entry>"
        yield f"      <Instance>{' '.join('-' * axes)}</Instance>"
        yield f"      <{kind}>"
        yield from (f"        {row}" for row in rows)
        yield f"      </{kind}>"
        yield "    </Entry>"
        yield "  </Parameter>"
        yield f"</{tag}>"

    def before(self, state: str) -> str:
        return f"{self.names[state]}_0"

    def now(self, state: str) -> str:
        return f"{self.names[state]}_1"


def _element(tag: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"  <{tag}>"
    for line in lines:
        yield f"    {line}"
    yield f"  </{tag}>"


def _floats(table: Table) -> Iterator[str]:
    return _rows(table, repr)


def _rows(table: Table, written: Callable[[float], str]) -> Iterator[str]:
    """The numbers of a table, a line for each row of its last axis."""
    for row in table.reshape(-1, table.shape[-1]).tolist():
        yield " ".join(map(written, row))
