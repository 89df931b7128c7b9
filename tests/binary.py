"""Models of binary states and observations and two actions, whose structure can be read off."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from spec import Array, Factor, Group, Spec

NOISY = np.array([[0.9, 0.2], [0.1, 0.8]])  # its columns differ in entropy
FAIR = np.array([[0.7, 0.3], [0.3, 0.7]])  # its columns do not
LIKED = np.array([0.2, 0.8])
LEFT, RIGHT = np.array([[1.0, 0.6], [0.0, 0.4]]), np.array([[0.4, 0.0], [0.6, 1.0]])


STAYS = Factor(FAIR, ("S_a",))


def spec(
    transitions: Mapping[str, Factor], likelihoods: Mapping[str, Factor], preferred: tuple[Group, ...] = ()
) -> Spec:
    """States of two values each; two actions; preferences over the given groups of binary observations."""
    return Spec(
        action="A_0",
        n_actions=2,
        priors={state: np.array([0.5, 0.5]) for state in transitions},
        likelihoods=likelihoods,
        transitions=transitions,
        preferences={group: _liked(len(group)) for group in preferred},
    )


def _liked(n: int) -> Array:
    table = LIKED
    for _ in range(n - 1):
        table = np.multiply.outer(table, LIKED)
    return table


def moved(*by_action: Array) -> Array:
    """`[next, now, action]`."""
    return np.stack(by_action, axis=2)
