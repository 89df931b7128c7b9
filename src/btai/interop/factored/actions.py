"""Several action variables joined into the one that a slice has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from btai.interop.factored.names import short
from btai.interop.factored.network import Conditional, Network, Ref, Variable
from btai.interop.factored.source import Position, Source
from btai.interop.loss import Loss

__all__ = ["with_one_action"]

Scalar = TypeVar("Scalar", bound=np.generic)


def with_one_action(network: Network, source: Source) -> Network:
    """The network with its action variables joined; the last one's value varies fastest."""
    if len(network.actions) == 1:
        return network
    joint = _joint(network.actions, source)
    join = _Join(network.actions, joint.name, source)
    return replace(
        network,
        actions=(joint,),
        transitions=join.of_all(network.transitions),
        likelihoods=join.of_all(network.likelihoods),
        rewards=tuple(
            replace(r, parents=parents, table=table)
            for r in network.rewards
            for parents, table in [join.of(r.parents, r.table, r.at)]
        ),
        losses=(
            *network.losses,
            Loss(
                "actions " + ", ".join(short(a.name) for a in network.actions),
                f"a slice has one action; they are joined into {joint.name}, whose values name the joint actions",
            ),
        ),
    )


def _joint(actions: tuple[Variable, ...], source: Source) -> Variable:
    size = prod(a.size for a in actions)
    source.allow_table(actions[0].at, "the joint actions", [size])
    labels = [a.values or [f"a{i}" for i in range(a.size)] for a in actions]
    values = tuple(",".join(parts) for parts in product(*labels))
    if len(set(values)) < len(values):
        raise source.error(actions[0].at, "expected values of actions whose names stay different when joined by commas")
    return Variable("A_" + "_".join(short(a.name) for a in actions), size, values, actions[0].at)


class _Join:
    """Replaces the axes of single actions by the axis of the joint one."""

    def __init__(self, actions: tuple[Variable, ...], joint: str, source: Source) -> None:
        self.sizes = {Ref("action", a.name): a.size for a in actions}
        self.joint = Ref("action", joint)
        self.source = source

    def of_all(self, conditionals: Mapping[str, Conditional]) -> dict[str, Conditional]:
        """The same distributions given the joint action."""
        joined = {}
        for name, c in conditionals.items():
            axes, table = self.of((Ref("now", c.variable), *c.parents), c.table, c.at)
            joined[name] = replace(c, parents=axes[1:], table=table)
        return joined

    def of(
        self, axes: tuple[Ref, ...], table: NDArray[Scalar], at: Position
    ) -> tuple[tuple[Ref, ...], NDArray[Scalar]]:
        """A table over `axes` with the joint action where the first single one stood, and its axes."""
        single = [ref for ref in self.sizes if ref in axes]
        if not single:
            return axes, table
        place = min(axes.index(ref) for ref in single)
        others = tuple(ref for ref in axes if ref not in self.sizes)
        in_front = np.moveaxis(table, [axes.index(ref) for ref in single], range(len(single)))
        rest = in_front.shape[len(single) :]
        known: tuple[Any, ...] = tuple(slice(None) if ref in single else None for ref in self.sizes)
        shape = (*self.sizes.values(), *rest)
        self.source.allow_table(at, f"the table over {self.joint.name}", [prod(shape)])
        joined = np.broadcast_to(in_front[known], shape).reshape(-1, *rest)
        return (*others[:place], self.joint, *others[place:]), np.moveaxis(joined, 0, place)
