"""The tables of an agent that knows the dSprites task, as its authors gave them to theirs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from btai.envs.dsprites.latents import SHAPES
from btai.envs.dsprites.task import ACTIONS, Task
from btai.envs.tables import nearly

__all__ = ["ELSEWHERE", "GOAL", "LABELS", "NOISE", "likelihoods", "preferences", "priors", "transitions"]

# What the values of the variables that have words for them are called; the others are counted.
LABELS = {"A_move": ACTIONS, "S_shape": SHAPES, "O_shape": SHAPES}

# Exact zeros would make surprising observations impossible: this much is spread evenly over the other values.
NOISE = 0.001

GOAL, ELSEWHERE = 5.0, -5.0  # of the columns of the absorbing row; any other place scores 0

Table = NDArray[np.float64]
Tables = dict[str, Table]


def likelihoods(task: Task) -> Tables:
    """Every observation tells its own state, nearly always: P(O | S) by observation, [n_O, n_S]."""
    return {f"O_{name}": nearly(np.arange(size), size, NOISE) for name, size in task.sizes.items()}


def transitions(task: Task) -> Tables:
    """P(next | state, action) of the position, [n_S, n_S, 4], and P(next | state) of the rest, [n_S, n_S]."""
    cells = {"pos_x": _cells_after_moves(task, axis=0), "pos_y": _cells_after_moves(task, axis=1)}
    return {f"S_{name}": nearly(cells.get(name, np.arange(size)), size, NOISE) for name, size in task.sizes.items()}


def preferences(task: Task) -> Tables:
    """The joint preference over (x, y, shape), [n_x, n_y, 3]: the absorbing row, in the right corner."""
    sizes = task.sizes
    scores = np.zeros((sizes["pos_x"], sizes["pos_y"], sizes["shape"]))
    scores[:, -1, :] = ELSEWHERE
    for number, shape in enumerate(SHAPES):
        scores[0 if shape == "square" else -1, -1, number] = GOAL
    odds = np.exp(scores)
    return {"O_shape_pos_x_y": odds / odds.sum()}


def priors(task: Task, observed: Mapping[str, int] | None = None) -> Tables:
    """P(S) at the start, [n_S]: uniform, or nearly certain of the values `observed` (keyed "O_...")."""
    if observed is None:
        return {f"S_{name}": np.full(size, 1 / size) for name, size in task.sizes.items()}
    return {f"S_{name}": nearly(observed[f"O_{name}"], size, NOISE) for name, size in task.sizes.items()}


def _cells_after_moves(task: Task, axis: int) -> NDArray[np.int64]:
    """The cell that each action leads to from the first pixel of each cell, along x or y: [n_S, 4].

    The other coordinate is taken as 0, so columns do not know of the absorbing row.
    """
    size = task.sizes[("pos_x", "pos_y")[axis]]
    targets = np.empty((size, len(ACTIONS)), dtype=np.int64)
    for cell, action in np.ndindex(targets.shape):
        pixel = cell * task.granularity
        x, y = (pixel, 0) if axis == 0 else (0, pixel)
        targets[cell, action] = task.move(x, y, action)[axis] // task.granularity
    return targets
