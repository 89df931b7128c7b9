"""The controls of a pymdp agent as one action: every joint setting that its policies begin with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import ModelError
from btai.interop.loss import Loss
from btai.interop.pymdp.arguments import Arguments

__all__ = ["Controls", "control_sizes", "controls_of", "shared_controls"]

Ints = NDArray[np.int64]

MAX_ACTIONS = 2**16


@dataclass(frozen=True, eq=False)
class Controls:
    """All controls together.

    Attributes:
        rows: the setting of every control for each joint action, [n_actions, controls].
        sizes: the number of settings of each control.
        listened: the controls on which each factor depends.
    """

    rows: Ints
    sizes: Sequence[int]
    listened: Sequence[Sequence[int]]

    def flat(self, factor: int) -> Ints:
        """The factor's own action for each joint action, [n_actions]: its controls row-major, the last fastest."""
        listened = list(self.listened[factor])
        if not listened:
            return np.zeros(len(self.rows), dtype=np.int64)
        dims = [self.sizes[c] for c in listened]
        return np.asarray(np.ravel_multi_index(tuple(self.rows[:, listened].T), dims), dtype=np.int64)

    def labels(self) -> list[str] | None:
        """A name for each joint action, as "u0=1, u2=0", of the controls that vary; None if none does."""
        varying = [c for c in range(len(self.sizes)) if len(np.unique(self.rows[:, c])) > 1]
        return [", ".join(f"u{c}={row[c]}" for c in varying) for row in self.rows] if varying else None


def controls_of(arguments: Arguments, actions: Sequence[int]) -> tuple[Controls, list[Loss]]:
    """The controls of an agent whose factors have so many `actions` each, and what is lost of its policies."""
    listened = shared_controls(arguments)
    if listened is not None:
        sizes = control_sizes(arguments)
        return Controls(_all_rows(sizes), sizes, listened), []
    _check_sizes(arguments, actions)
    own = [[f] for f in range(len(actions))]
    policies = arguments.get("policies")
    if policies is None:
        return Controls(_all_rows(actions), actions, own), []
    sequences = _policies(policies, actions)
    rows = sequences[:, 0]
    _, first = np.unique(rows, axis=0, return_index=True)
    kept = rows[np.sort(first)]  # in the order in which they appear: the slice's own, if one was written
    return Controls(kept, actions, own), list(_restrictions(sequences, kept))


def shared_controls(arguments: Arguments) -> list[list[int]] | None:
    """The controls on which each factor depends; None where each factor has one of its own.

    pymdp looks at `B_action_dependencies` only where no policies are given, and its agents keep `action_maps` then.
    """
    maps = arguments.get("action_maps")
    if maps is not None:
        return [list(action_map["multi_dependency"]) for action_map in maps]
    given = arguments.get("B_action_dependencies")
    if given is None or arguments.get("policies") is not None:
        return None
    sizes, factors = control_sizes(arguments), len(arguments.get("B"))
    lists = [[int(c) for c in controls] for controls in given]
    if len(lists) != factors or any(not 0 <= c < len(sizes) for controls in lists for c in controls):
        raise ModelError(
            f"B_action_dependencies: {lists} was given; required is a list for each of the {factors} factors, of"
            f" controls from 0 to {len(sizes) - 1}."
        )
    return lists


def control_sizes(arguments: Arguments) -> list[int]:
    """The number of settings of each control that factors share."""
    multi = arguments.get("num_controls_multi")
    sizes = arguments.get("num_controls") if multi is None else multi
    if sizes is None:
        raise ModelError("num_controls: it is missing; B_action_dependencies need the sizes of the controls. Give it.")
    return [int(n) for n in sizes]


def _check_sizes(arguments: Arguments, actions: Sequence[int]) -> None:
    """`num_controls`, which pymdp does not look at then, says the same as B."""
    given = arguments.get("num_controls")
    if given is not None and arguments.get("B_action_dependencies") is None and [*map(int, given)] != [*actions]:
        raise ModelError(
            f"num_controls: {[*map(int, given)]} was given; required is {[*actions]}, the sizes of B's last axes."
            " Correct one of them."
        )


def _all_rows(sizes: Sequence[int]) -> Ints:
    if prod(sizes) > MAX_ACTIONS:
        raise ModelError(
            f"num_controls: controls of {list(sizes)} settings make {prod(sizes):,} joint actions; the limit is"
            f" {MAX_ACTIONS:,}. Give the joint actions that are wanted as policies."
        )
    return np.array(list(product(*map(range, sizes))), dtype=np.int64).reshape(-1, len(sizes))


def _policies(policies: Any, actions: Sequence[int]) -> Ints:
    """The flat action of each factor, [policies, steps, factors]."""
    given = np.asarray(getattr(policies, "policy_arr", policies))
    if (
        given.ndim != 3
        or 0 in given.shape
        or given.shape[2] != len(actions)
        or not np.issubdtype(given.dtype, np.integer)
    ):
        raise ModelError(
            f"policies: an array of shape {given.shape} and type {given.dtype} was given; required are whole numbers of"
            f" shape (policies, steps, {len(actions)}), the action of each factor."
        )
    wrong = (given < 0) | (given >= np.array(actions))
    if wrong.any():
        p, t, f = (int(i) for i in np.argwhere(wrong)[0])
        raise ModelError(
            f"policies[{p}, {t}, {f}]: action {given[p, t, f]} was given for factor {f}; required is one from 0 to"
            f" {actions[f] - 1}, since B[{f}] has {actions[f]} actions."
        )
    return given.astype(np.int64)


def _restrictions(sequences: Ints, kept: Ints) -> Iterator[Loss]:
    steps = sequences.shape[1]
    different = len(np.unique(sequences, axis=0))
    later = len(np.unique(sequences.reshape(-1, sequences.shape[2]), axis=0)) > len(kept)
    if later or different != len(kept) ** steps:
        yield Loss(
            f"the {different} policies of {steps} steps",
            f"a slice has actions, not policies: its {len(kept)} actions are those of the first steps, and any sequence"
            " of them may be planned",
        )
