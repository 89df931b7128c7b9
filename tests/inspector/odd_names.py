"""A model whose names hold what other languages quote with, in a ring, and a run of it to look into."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from btai import BTAI_3MF
from btai.experiments import run
from btai.model import TemporalSlice, TemporalSliceBuilder

STATES = ("S_a, b", "S_it's", 'S_"]\nraise SystemExit("{observation}") # \\')
OBSERVATIONS = ("O_it's (1)!~*", 'O_"]\nraise SystemExit("{state}") # \\', "O_{state}, {node}&x=%27")


def odd_slice() -> TemporalSlice:
    """Three switches; each two next to each other are seen together."""
    builder = TemporalSliceBuilder("A_0", 2)
    for i, name in enumerate(STATES):
        builder.add_state(name, [0.25, 0.75])
        builder.add_transition(
            name, [[[0.9, 0.3], [0.2, 0.4 + 0.1 * i]], [[0.1, 0.7], [0.8, 0.6 - 0.1 * i]]], [name, "A_0"]
        )
    for i, name in enumerate(OBSERVATIONS):
        likely = np.array([[0.9, 0.3], [0.2, 0.8 - 0.1 * i]])
        builder.add_observation(name, [likely, 1 - likely], [STATES[i], STATES[(i + 1) % 3]])
    builder.add_preference(OBSERVATIONS[:2], [[0.1, 0.2], [0.3, 0.4]])
    return builder.build()


class OddEnv:
    """Nothing happens; a trial ends after two cycles."""

    def __init__(self) -> None:
        self.state = dict.fromkeys(STATES, 1)
        self._cycles = 0

    def reset(self, seed: int | None = None) -> dict[str, int]:
        """Start a trial."""
        self._cycles = 0
        return dict.fromkeys(OBSERVATIONS, 0)

    def execute(self, action: int) -> dict[str, int]:
        """Let an action happen."""
        self._cycles += 1
        return dict.fromkeys(OBSERVATIONS, action)

    def done(self) -> bool:
        """Whether the trial is over."""
        return self._cycles >= 2

    def get_reward(self) -> float:
        """The reward of the trial so far."""
        return 0.0


def odd_run(folder: Path) -> Path:
    """A run file of it."""
    path = folder / "odd.sqlite"
    run(partial(BTAI_3MF, odd_slice(), 5), OddEnv, 1, seed=3, out=path, record=True)
    return path
