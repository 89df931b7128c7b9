"""A temporal slice flattened: one state, one observation, every combination of values a value of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import ModelError
from btai.interop.factored.names import fresh, short
from btai.interop.factored.network import Table
from btai.interop.factored.softmax import DIGITS, logarithms
from btai.interop.factored.source import Limits
from btai.model import TemporalSlice

__all__ = ["Flat", "joint_names"]


class Flat:
    """The joint tables of a slice; their size is checked before any is made."""

    def __init__(self, ts: TemporalSlice, limits: Limits) -> None:
        self.ts = ts
        self.states = {s.name: s.size for s in ts.states.values()}
        self.observations = {o.name: o.size for o in ts.observations.values()}
        n_s, n_o = prod(self.states.values()), prod(self.observations.values())
        self._check(
            f"the transition over {n_s:,} joint states", 2 * len(self.states) + 1, n_s**2 * ts.action.size, limits
        )
        self._check(
            f"the likelihood of {n_o:,} joint observations",
            len(self.observations) + len(self.states),
            n_o * n_s,
            limits,
        )

    @property
    def prior(self) -> Table:
        """`[n_S]`."""
        return self._joint([((s.name,), s.prior) for s in self.ts.states.values()], self.states).ravel()

    @property
    def transition(self) -> Table:
        """`[n_A, n_S, n_S]`, the new state last; `n_A` is 1 if no state depends on the action."""
        tables = [t.parents for t in self.ts.transitions.values()]
        action = self.ts.action
        n_a = action.size if any(action.name in parents for parents in tables) else 1
        new = {f"{name}'": size for name, size in self.states.items()}
        factors = [((*t.parents, f"{t.state}'"), np.moveaxis(t.table, 0, -1)) for t in self.ts.transitions.values()]
        n_s = prod(self.states.values())
        return self._joint(factors, {action.name: n_a, **self.states, **new}).reshape(n_a, n_s, n_s)

    @property
    def likelihood(self) -> Table:
        """`[n_S, n_O]`."""
        factors = [((*o.parents, o.name), np.moveaxis(o.likelihood, 0, -1)) for o in self.ts.observations.values()]
        return self._joint(factors, {**self.states, **self.observations}).reshape(
            prod(self.states.values()), prod(self.observations.values())
        )

    @property
    def rewards(self) -> list[Decimal]:
        """The logarithm of the preference for each joint observation `[n_O]`, with all the digits it needs."""
        with localcontext() as context:
            context.prec = DIGITS
            total = np.full([1] * len(self.observations), Decimal(0), dtype=object)
            for p in self.ts.preferences:
                digits = logarithms(p.table)
                scores = np.array([digits[value] for value in p.table.ravel().tolist()], dtype=object)
                total = total + _placed(p.observations, scores.reshape(p.table.shape), list(self.observations))
        return list(np.broadcast_to(total, tuple(self.observations.values())).ravel())

    def _joint(self, factors: Iterable[tuple[Sequence[str], Table]], sizes: dict[str, int]) -> Table:
        """The product of the factors, each over its variables, over all variables of `sizes` in this order."""
        joint = np.ones(tuple(sizes.values()))
        for names, table in factors:
            joint *= _placed(names, table, list(sizes))
        return joint

    def _check(self, what: str, axes: int, entries: int, limits: Limits) -> None:
        if entries > limits.entries or axes > limits.axes:
            raise ModelError(
                f"the slice cannot be written flat: {what} has {axes} axes and {entries:,} entries; at most"
                f" {limits.axes} and {limits.entries:,} are allowed. Write it as POMDPX, which is factored, or pass"
                " limits=Limits(entries=...)."
            )


def joint_names(variables: Sequence[Any]) -> list[str] | None:
    """The names of the joint values of some variables, or None if there is nothing to name them by."""
    if not variables or (len(variables) == 1 and variables[0].values is None):
        return None
    labels = [v.values or [f"{short(v.name)}{i}" for i in range(v.size)] for v in variables]
    names: dict[str, None] = {}
    for parts in product(*labels):
        names[fresh("-".join(parts), names)] = None
    return list(names)


def _placed(names: Sequence[str], table: NDArray[Any], order: list[str]) -> NDArray[Any]:
    """`table` over `names` with an axis for each variable of `order`, of size 1 where it is not among them."""
    axes = sorted(range(len(names)), key=lambda i: order.index(names[i]))
    sizes = {names[i]: table.shape[i] for i in axes}
    return np.transpose(table, axes).reshape([sizes.get(name, 1) for name in order])
