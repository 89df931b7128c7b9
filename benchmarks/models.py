"""The models that are measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from btai.envs.dsprites import Task, initial_states, tables
from btai.envs.tables import nearly
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["DSPRITES_LIKE", "dsprites_like", "dsprites_starts", "independent_states"]

Table = NDArray[np.float64]


def dsprites_starts(n: int, granularity: int = 1) -> list[Mapping[str, int]]:
    """What is seen at `n` starts of the dSprites task, drawn once and for all."""
    chosen = np.random.default_rng(0).choice(len(initial_states()), n, replace=False)
    cells = initial_states()[chosen] // np.array([1, 1, 1, granularity, granularity])
    names = ("O_shape", "O_scale", "O_orientation", "O_pos_x", "O_pos_y")
    return [dict(zip(names, (int(v) for v in cell), strict=True)) for cell in cells]


DSPRITES_LIKE = {
    "pos_x": 32,
    "pos_y": 33,
    "shape": 3,
    "scale": 6,
    "orientation": 40,  # so far the paper's model at granularity 1: 760,320 configurations
    "object_hue": 10,
    "wall_hue": 10,
    "floor_hue": 10,
}
"""Latent variables and their numbers of values, in the order in which `dsprites_like` takes them."""


def dsprites_like(n: int, all_preferred: bool = False) -> TemporalSlice:
    """The paper's model of dSprites with the first `n` (at least two) of these variables, each seen for itself.

    Two of them make the position move under four actions; a third, the shape, says which corner is preferred. The
    others stay as they are and matter to no decision, unless `all_preferred`: then a value of each is preferred.
    """
    task = Task(granularity=1)
    likelihoods, transitions = tables.likelihoods(task), tables.transitions(task)
    builder = TemporalSliceBuilder("A_move", 4)
    for name, size in list(DSPRITES_LIKE.items())[:n]:
        state, seen, same = f"S_{name}", f"O_{name}", nearly(np.arange(size), size, tables.NOISE)
        parents = [state, "A_move"] if name.startswith("pos") else [state]
        builder.add_state(state, np.full(size, 1 / size))
        builder.add_observation(seen, likelihoods.get(seen, same), [state])
        builder.add_transition(state, transitions.get(state, same), parents)
        if all_preferred and name not in ("pos_x", "pos_y", "shape"):
            builder.add_preference([seen], scores=np.arange(size) == 0)
    (preference,) = tables.preferences(task).values()  # [x, y, shape]
    if n == 2:
        return builder.add_preference(["O_pos_x", "O_pos_y"], preference[..., 0] / preference[..., 0].sum()).build()
    return builder.add_preference(["O_pos_x", "O_pos_y", "O_shape"], preference).build()


def independent_states(relevant: int, irrelevant: int = 0, size: int = 16, dense: bool = False) -> TemporalSlice:
    """States that each go their own way under three actions; what is seen of the relevant ones is preferred.

    Their tables are moves with a little noise, or (`dense`) arbitrary numbers.
    """
    rng = np.random.default_rng(0)
    values = np.arange(size)
    builder = TemporalSliceBuilder("A_move", 3)
    for i in range(relevant + irrelevant):
        state, seen = f"S_{i}", f"O_{i}"
        moves = nearly(np.stack([(values + step) % size for step in (-1, 0, 1)], axis=1), size, 0.01)
        sight = nearly(values, size, 0.01)
        if dense:
            moves, sight = arbitrary(rng, moves.shape), arbitrary(rng, sight.shape)
        builder.add_state(state, np.full(size, 1 / size)).add_transition(state, moves, [state, "A_move"])
        builder.add_observation(seen, sight, [state])
        if i < relevant:
            builder.add_preference([seen], scores=values == i % size)
    return builder.build()


def arbitrary(rng: np.random.Generator, shape: tuple[int, ...]) -> Table:
    weights = rng.uniform(0.1, 1, shape)
    return np.asarray(weights / weights.sum(axis=0))
