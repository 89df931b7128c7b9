"""The generative model of the dSprites task, ready for an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from btai.envs.dsprites import tables
from btai.envs.dsprites.task import ACTIONS, Task

if TYPE_CHECKING:
    from btai.model import TemporalSlice

__all__ = ["dsprites_slice"]

# The variables in the order in which the paper declares them.
_DECLARED = ("pos_x", "pos_y", "shape", "scale", "orientation")
_MOVED = ("pos_x", "pos_y")


def dsprites_slice(granularity: int = 1, repeat: int = 8) -> TemporalSlice:
    """The paper's temporal slice for dSprites, with a uniform prior.

    Five states, each with an observation of its own; the action "A_move" moves the position; the joint
    preference is over ("O_pos_x", "O_pos_y", "O_shape").

    Args:
        granularity: cells that look alike, along x and along y: 1, 2, 4 or 8.
        repeat: how many times the environment executes an action.
    """
    from btai.model import TemporalSliceBuilder  # here, because an environment needs no model

    task = Task(granularity, repeat)
    a, b = tables.likelihoods(task), tables.transitions(task)
    c, d = tables.preferences(task), tables.priors(task)
    labels = tables.LABELS
    builder = TemporalSliceBuilder("A_move", len(ACTIONS), values=labels["A_move"])
    for name in _DECLARED:
        state, seen = f"S_{name}", f"O_{name}"
        builder.add_state(state, d[state], values=labels.get(state))
        builder.add_observation(seen, a[seen], [state], values=labels.get(seen))
    for name in _DECLARED:
        state = f"S_{name}"
        builder.add_transition(state, b[state], [state, "A_move"] if name in _MOVED else [state])
    builder.add_preference(["O_pos_x", "O_pos_y", "O_shape"], c["O_shape_pos_x_y"])
    return builder.build()
