"""Additive rewards as preferences: softmax(precision * reward) over the observations that tell the reward.

A reward that depends on observations alone is a preference over them. Any other is told by an added observation of
its own, whose values are the amounts it can take: it depends on the states after the action, or, where the reward
is for a state before the action, on an added state that holds the amount. The preferences of several rewards
multiply, hence their amounts add up, as in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import prod

import numpy as np
from numpy.typing import NDArray

from btai.interop.factored.contract import Known, is_deterministic
from btai.interop.factored.draft import Draft
from btai.interop.factored.names import prefixed
from btai.interop.factored.network import Ref, Reward, Table, Variable
from btai.interop.factored.softmax import DIGITS, softmax
from btai.interop.factored.source import Position

__all__ = ["Rewards"]


@dataclass(frozen=True, eq=False)
class _Group:
    """The sum of the rewards over some observations: `levels[table]`, `[n_O1, n_O2, ...]`."""

    observations: tuple[str, ...]
    levels: tuple[Decimal, ...]
    table: NDArray[np.int64]
    at: Position


class Rewards:
    """Adds the rewards of a network to a draft."""

    def __init__(self, draft: Draft, known: Known, carriers: Mapping[Ref, Variable], precision: float) -> None:
        self.draft = draft
        self.known = known
        self.carriers = carriers  # the observation that tells the value of an observation, or of an observed state
        self.precision = precision
        self.groups: list[_Group] = []

    def add(self, reward: Reward) -> None:
        """Find the observations that tell the reward, or add one."""
        if all(ref in self.carriers for ref in reward.parents) and reward.parents:
            observations = tuple(self.carriers[ref].name for ref in reward.parents)
            self._add_group(_Group(observations, reward.levels, reward.table, reward.at))
            return
        amounts = sorted({float(level) + 0.0 for level in _used(reward)})  # + 0.0: of -0.0 and 0.0 remains one
        if len(amounts) > 1:
            self._add_carrier(reward, amounts)
        elif amounts[0] != 0:
            self.draft.lose(f"{reward.name} = {_label(amounts[0])}", "a constant reward changes no decision")

    def finish(self) -> None:
        """Declare the preferences."""
        for group in self.groups:
            table = softmax(group.levels, group.table, self.precision)
            if table is None:
                raise self.draft.source.error(
                    group.at,
                    f"expected rewards whose softmax over ({', '.join(group.observations)}) is above 0 everywhere,"
                    f" found rewards too far apart for precision={self.precision}; pass a lower precision",
                )
            self.draft.add_preference(group.observations, table)

    def _add_carrier(self, reward: Reward, amounts: list[float]) -> None:
        labels = tuple(map(_label, amounts))
        told = Variable(self.draft.fresh(prefixed("O_", reward.name)), len(amounts), labels, reward.at)
        roles = {ref.role for ref in reward.parents}
        by_states = "before" not in roles and roles != {"action"}
        own = Ref("observation" if by_states else "now", told.name)
        parents, table = self._distribution(reward, amounts, own, by_states)
        if by_states:
            self.draft.add_observation(told, parents, table)
            how = "which depends on the states after the action"
        else:
            n = len(amounts)
            state = self.draft.fresh(prefixed("S_", reward.name))
            self.draft.add_state(state, np.full(n, 1 / n), labels, parents, table)
            self.draft.add_observation(told, (Ref("now", state),), np.eye(n))
            how = f"through the added state {state}, which depends on the slice before the action"
        self.draft.lose(f"reward {reward.name}", f"it is told by the added observation {told.name}, {how}")
        levels = tuple(Decimal(amount) for amount in amounts)
        self._add_group(_Group((told.name,), levels, np.arange(len(levels)), reward.at))

    def _distribution(
        self, reward: Reward, amounts: list[float], own: Ref, by_states: bool
    ) -> tuple[tuple[Ref, ...], Table]:
        """P(amount | parents), the parents being those that an observation, or a transition, can have."""
        source, n = self.draft.source, len(amounts)
        source.allow_table(reward.at, f"the table of {own.name}", [n, reward.table.size])
        index = np.array([np.searchsorted(amounts, float(level)) for level in reward.levels])[reward.table]
        table = (np.arange(n).reshape(n, *[1] * index.ndim) == index).astype(np.float64)
        known = self.known.only("observation") if by_states else self.known
        hidden = [ref for ref in reward.parents if ref in known.conditionals]
        axes, table = known.summed_out((own, *reward.parents), table, reward.at)
        if not all(is_deterministic(known.given_others(ref)[1]) for ref in hidden):
            self.draft.lose(
                f"{reward.name} given {', '.join(ref.name for ref in hidden)}",
                "no variable of a slice can depend on these and carry a reward; given the others its distribution is"
                " exact, its correlation with them is lost",
            )
        return axes[1:], table

    def _add_group(self, group: _Group) -> None:
        """Groups must not overlap: one that shares an observation with others is joined to them."""
        place = len(self.groups)
        for other in [g for g in self.groups if set(g.observations) & set(group.observations)]:
            place = min(place, self.groups.index(other))
            self.groups.remove(other)
            group = self._sum(other, group)
        self.groups.insert(place, group)

    def _sum(self, one: _Group, two: _Group) -> _Group:
        names = tuple(dict.fromkeys((*one.observations, *two.observations)))
        sizes = dict(zip(one.observations, one.table.shape, strict=True))
        sizes |= dict(zip(two.observations, two.table.shape, strict=True))
        shape = tuple(sizes[name] for name in names)
        self.draft.source.allow_table(two.at, f"the joint preference over ({', '.join(names)})", shape)
        self.draft.source.allow_table(two.at, "the sums of rewards", [prod(shape)])
        pairs = _spread(one, names) * len(two.levels) + _spread(two, names)
        distinct, table = np.unique(np.broadcast_to(pairs, shape), return_inverse=True)
        with localcontext() as context:
            context.prec = DIGITS
            levels = tuple(
                one.levels[pair // len(two.levels)] + two.levels[pair % len(two.levels)] for pair in distinct.tolist()
            )
        return _Group(names, levels, table.reshape(shape), one.at)


def _spread(group: _Group, names: tuple[str, ...]) -> NDArray[np.int64]:
    """The group's table with an axis for each of `names`, of size 1 where the group does not have it."""
    order = sorted(range(len(group.observations)), key=lambda i: names.index(group.observations[i]))
    own = iter(np.transpose(group.table, order).shape)
    shape = [next(own) if name in group.observations else 1 for name in names]
    return np.transpose(group.table, order).reshape(shape)


def _used(reward: Reward) -> list[Decimal]:
    return [reward.levels[i] for i in np.unique(reward.table).tolist()]


def _label(amount: float) -> str:
    return repr(amount).removesuffix(".0")
