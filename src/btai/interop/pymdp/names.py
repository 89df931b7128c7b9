"""The names that a slice has and pymdp has not: it numbers everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Names"]


@dataclass(frozen=True)
class Names:
    """Names for an agent's factors, modalities and actions.

    Attributes:
        states: of the factors; None: S_0, S_1, ...
        observations: of the modalities; None: O_0, O_1, ...
        action: of the action variable.
        actions: of the joint actions; None: by their controls, as in "u0=1, u2=0"; empty: they have none.
        state_values: the names of a state's values, by its name.
        observation_values: the same for observations.
    """

    states: Sequence[str] | None = None
    observations: Sequence[str] | None = None
    action: str = "A_action"
    actions: Sequence[str] | None = None
    state_values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    observation_values: Mapping[str, Sequence[str]] = field(default_factory=dict)
