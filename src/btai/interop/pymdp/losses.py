"""What an agent of pymdp has and a slice has not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from btai.interop.loss import Loss
from btai.interop.pymdp.arguments import Arguments

__all__ = ["settings_lost"]


def settings_lost(arguments: Arguments) -> Iterator[Loss]:
    """The prior over policies, goals, learning, and settings that change what pymdp values."""
    for name, (is_neutral, why) in SETTINGS.items():
        value = arguments.get(name)
        if value is not None and not is_neutral(value):
            yield Loss(f"{name}={value}" if isinstance(value, bool) else name, why)


def _never(_: Any) -> bool:
    return False


def _is_even(policies: Any) -> bool:
    prior = np.asarray(policies)
    return bool(np.allclose(prior, prior[..., :1]))


def _is_nothing(goals: Any) -> bool:
    return not any(np.any(goal) for goal in goals)


def _is_one(precision: Any) -> bool:
    return bool(np.all(np.asarray(precision) == 1))


NO_LEARNING = "a slice does not learn; its tables are A and B as they stand"

# What changes how pymdp values a policy, or what it learns: whether a value changes nothing, and what is lost. How an
# agent infers, selects and samples is no part of the model.
SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "E": (_is_even, "a slice has no prior over policies: none is likelier than another"),
    "H": (_never, "a slice has no goals beside its preferences"),
    "I": (_is_nothing, "a slice has no inductive inference"),
    "use_inductive": (lambda on: not on, "a slice has no inductive inference"),
    "gamma": (_is_one, "a slice has no precision of policies; see the agent's action_selection='softmax'"),
    "use_utility": (bool, "btai always values preferences"),
    "use_states_info_gain": (bool, "btai always values what is learnt of the states"),
    "use_param_info_gain": (lambda on: not on, NO_LEARNING),
    **dict.fromkeys(("pA", "pB"), (_never, NO_LEARNING)),
    **{f"learn_{array}": (lambda on: not on, NO_LEARNING) for array in "ABCDE"},
}
