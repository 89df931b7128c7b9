"""Write .pomdp: a temporal slice, flattened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from btai.interop.factored.names import fitting, renamed
from btai.interop.factored.network import Table
from btai.interop.factored.source import DEFAULT_LIMITS, Limits
from btai.interop.factored.translate import checked_discount
from btai.interop.loss import Loss, LossReport
from btai.interop.pomdp.flat import Flat, joint_names
from btai.interop.pomdp.reader import ACTION, OBSERVATION, STATE
from btai.interop.pomdp.words import KEYWORDS
from btai.model import TemporalSlice
from btai.model.files import named, replaced

__all__ = ["write_pomdp"]

_RULE = "a name in a .pomdp file is letters, digits, _ and -, a letter first, and no keyword"
_FLAT = "a .pomdp file is flat"


def write_pomdp(
    ts: TemporalSlice, path: str | os.PathLike[str], *, discount: float = 0.95, limits: Limits = DEFAULT_LIMITS
) -> LossReport:
    """Write a slice as a flat POMDP, and report what is lost by it.

    All states are joined into one, all observations into another; `ModelError` if the joint tables exceed the limits.
    Preferences become rewards for the joint observation, the sum of the logarithms of the preferred probabilities.
    """
    writer = _Writer(ts, checked_discount(discount), limits)
    text = "\n".join(writer.lines()) + "\n"
    with named(path), replaced(Path(path)) as file:
        file.write(text.encode("ascii"))
    return LossReport(tuple(writer.losses))


def _mended(name: str) -> str:
    mended = re.sub(r"[^A-Za-z0-9_\-]", "_", name)
    if not re.match("[A-Za-z]", mended):
        mended = f"v{mended}"
    return f"{mended}_" if mended in KEYWORDS else mended


@dataclass(frozen=True)
class _Values:
    """What stands after `states:` and the like, and what each value is called."""

    declared: str
    called: list[str]


class _Writer:
    def __init__(self, ts: TemporalSlice, discount: float, limits: Limits) -> None:
        self.ts = ts
        self.discount = discount
        self.flat = Flat(ts, limits)
        self.losses: list[Loss] = []
        self.report_structure()
        self.states = self.values("states", list(ts.states.values()), len(self.flat.prior))
        self.observations = self.values("observations", list(ts.observations.values()), len(self.flat.rewards))
        self.actions = self.values("actions", [ts.action], ts.action.size)

    def report_structure(self) -> None:
        ts = self.ts
        for kind, names, name in (
            ("states", list(ts.states), STATE),
            ("observations", list(ts.observations), OBSERVATION),
            ("action", [ts.action.name], ACTION),
        ):
            if len(names) > 1:
                self.losses.append(Loss(f"{kind} {', '.join(names)}", f"joined into one, read back as {name}; {_FLAT}"))
            elif not names:
                self.losses.append(Loss("no observations", f"one of a single value is written, read back as {name}"))
            elif names != [name]:
                self.losses.append(Loss(f"{kind} {names[0]}", f"read back as {name}; a .pomdp file names no variables"))
        groups = [p.observations for p in ts.preferences]
        if groups and groups != [tuple(ts.observations)]:
            shown = ", ".join(f"({', '.join(group)})" for group in groups)
            self.losses.append(Loss(f"preferences over {shown}", f"joined over all observations; {_FLAT}"))
        if ts.inference != "exact":
            self.losses.append(Loss(f"inference {ts.inference!r}", "pass it to read_pomdp again"))

    def values(self, kind: str, variables: Sequence[Any], size: int) -> _Values:
        """How a variable's values are declared and called: by names, or else by numbers."""
        names = joint_names(variables)
        if names is None:
            return _Values(str(size), [str(i) for i in range(size)])
        chosen = fitting(names, _mended)
        self.losses += renamed(kind, chosen, _RULE)
        return _Values(" ".join(chosen.values()), list(chosen.values()))

    def lines(self) -> Iterator[str]:
        yield f"discount: {self.discount!r}"
        yield "values: reward"
        yield f"states: {self.states.declared}"
        yield f"actions: {self.actions.declared}"
        yield f"observations: {self.observations.declared}"
        yield f"start: {_row(self.flat.prior)}"
        transition = self.flat.transition
        for action, table in zip(self.actions.called if len(transition) > 1 else ["*"], transition, strict=True):
            yield from self.distribution("T", action, table, self.states)
        yield from self.distribution("O", "*", self.flat.likelihood, self.observations)
        if self.ts.preferences:
            for name, reward in zip(self.observations.called, self.flat.rewards, strict=True):
                yield f"R: * : * : * : {name} {reward}"

    def distribution(self, keyword: str, action: str, table: Table, outcomes: _Values) -> Iterator[str]:
        """A statement for each row of `table` `[n_S, n]`, or for each number in a row that is nearly all 0."""
        for state, row in zip(self.states.called, table, strict=True):
            where = f"{keyword}: {action} : {state}"
            nonzero = np.flatnonzero(row)
            if 4 * len(nonzero) <= len(row):
                yield from (f"{where} : {outcomes.called[i]} {float(row[i])!r}" for i in nonzero.tolist())
            else:
                yield f"{where}\n{_row(row)}"


def _row(numbers: Table) -> str:
    return " ".join(map(repr, numbers.tolist()))
