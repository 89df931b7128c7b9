"""A factored POMDP as the file formats declare it: what their readers make and `translate` turns into a slice.

It says more than a temporal slice can: tables may depend on the new value of another state, observations on the
action, and rewards on anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.interop.factored.source import Position
from btai.interop.loss import Loss

__all__ = ["Conditional", "Network", "Ref", "Reward", "Role", "Table", "Variable"]

Table = NDArray[np.float64]
Role = Literal["action", "before", "now", "observation", "reward"]


class Ref(NamedTuple):
    """A variable at a time: an action, a state before the action, a state, observation or reward after it."""

    role: Role
    name: str


@dataclass(frozen=True)
class Variable:
    """A variable under the name it gets in the slice; `observed` if it is a state that the agent sees."""

    name: str
    size: int
    values: tuple[str, ...] | None
    at: Position
    observed: bool = False


@dataclass(frozen=True, eq=False)
class Conditional:
    """P(variable | parents), `[n, *parents]`."""

    variable: str
    parents: tuple[Ref, ...]
    table: Table
    at: Position


@dataclass(frozen=True, eq=False)
class Reward:
    """One summand of the reward: `levels[table]`, `[*parents]`.

    Its numbers are kept as they were written: the logarithms that btai writes have more digits than a float.
    """

    name: str
    parents: tuple[Ref, ...]
    levels: tuple[Decimal, ...]
    table: NDArray[np.int64]
    at: Position


@dataclass(frozen=True, eq=False)
class Network:
    """All that a file declares, in its order; each mapping has an entry for every state or observation."""

    actions: tuple[Variable, ...]
    states: tuple[Variable, ...]
    observations: tuple[Variable, ...]
    priors: Mapping[str, Conditional]
    transitions: Mapping[str, Conditional]
    likelihoods: Mapping[str, Conditional]
    rewards: tuple[Reward, ...]
    losses: tuple[Loss, ...]

    @property
    def sizes(self) -> dict[Ref, int]:
        """The number of values of everything a table may depend on."""
        return (
            {Ref("action", a.name): a.size for a in self.actions}
            | {Ref("before", s.name): s.size for s in self.states}
            | {Ref("now", s.name): s.size for s in self.states}
            | {Ref("observation", o.name): o.size for o in self.observations}
        )
