"""The rules of the dSprites task: what an action does, what is seen, what is earned. Pure, without images.

A shape stands in one of 32 columns x and 32 rows y, row 0 at the top; row 32, below the image, is absorbing.
The goal is to leave the image downwards, squares in the left corner, ellipses and hearts in the right one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.envs.checks import cycles, whole_number
from btai.envs.dsprites.latents import LATENTS, SHAPES
from btai.errors import EnvError

__all__ = [
    "ABSORBING_ROW",
    "ACTIONS",
    "N_CELLS",
    "REWARD_WITHOUT_ENTRY",
    "START_SIZES",
    "VARIABLES",
    "SpriteState",
    "Task",
    "checked_state",
    "initial_states",
    "reward_on_entry",
]

ACTIONS = ("DOWN", "UP", "LEFT", "RIGHT")
_STEPS = ((0, 1), (0, -1), (-1, 0), (1, 0))  # (x, y) of each action

N_CELLS = 32  # columns, and rows above the absorbing one
ABSORBING_ROW = N_CELLS

REWARD_WITHOUT_ENTRY = -1.0  # at the end of a trial that never entered the absorbing row

_POSITIVE = range(1, 2**31)


class SpriteState(NamedTuple):
    """The whole state of the task; every field a class index of the data set, but y, which may be 32 too."""

    shape: int
    scale: int
    orientation: int
    x: int
    y: int


# The same fields as the agent names them, after "S_" or "O_".
VARIABLES = ("shape", "scale", "orientation", "pos_x", "pos_y")

# How many values each field takes when a trial starts.
START_SIZES = SpriteState(len(SHAPES), LATENTS["scale"], LATENTS["orientation"], N_CELLS, N_CELLS)


@dataclass(frozen=True)
class Task:
    """The choices that make a task, checked, and the rules that depend on them.

    Attributes:
        granularity: cells that look alike, along x and along y: 1, 2, 4 or 8.
        repeat: how many times one call executes its action.
        max_cycles: calls after which a trial ends.
    """

    granularity: int = 1
    repeat: int = 8
    max_cycles: int = 50

    def __post_init__(self) -> None:
        whole_number("granularity", self.granularity, (1, 2, 4, 8), "1, 2, 4 or 8")
        whole_number("repeat", self.repeat, _POSITIVE, "a whole number of at least 1")
        cycles(self.max_cycles)

    @property
    def sizes(self) -> dict[str, int]:
        """How many values of each variable the agent can tell apart."""
        cells = N_CELLS // self.granularity
        return dict(zip(VARIABLES, START_SIZES._replace(x=cells, y=cells + 1), strict=True))

    def observe(self, state: SpriteState) -> dict[str, int]:
        """What the agent sees of a state: one index per observation."""
        cells = state._replace(x=state.x // self.granularity, y=state.y // self.granularity)
        return {f"O_{name}": value for name, value in zip(VARIABLES, cells, strict=True)}

    def move(self, x: int, y: int, action: int) -> tuple[int, int]:
        """Where one call of `action` leads from (x, y); nothing leaves the absorbing row."""
        if y == ABSORBING_ROW:
            return x, y
        dx, dy = _STEPS[action]
        return _clamp(x + self.repeat * dx, N_CELLS - 1), _clamp(y + self.repeat * dy, ABSORBING_ROW)


def reward_on_entry(shape: int, x: int) -> float:
    """The reward for entering the absorbing row in column x: from 1 in its corner to -1 in the other."""
    distance = x if SHAPES[shape] == "square" else N_CELLS - 1 - x
    half = N_CELLS // 2
    # The nearer half earns 1 .. 1/16, the farther half -1/16 .. -1: no column earns 0.
    return ((half if distance < half else half - 1) - distance) / half


def initial_states() -> NDArray[np.int64]:
    """Every start that can matter, once: all 3 shapes, 32 columns and 32 rows at scale 0 and orientation 0.

    Returns rows (shape, scale, orientation, x, y), [3072, 5], ordered by shape, then x, then y.
    """
    shape, x, y = np.indices((len(SHAPES), N_CELLS, N_CELLS)).reshape(3, -1)
    unseen = np.zeros_like(shape)
    return np.stack([shape, unseen, unseen, x, y], axis=1)


def checked_state(values: Any) -> SpriteState:
    """`values` as a state in which a trial may start."""
    try:
        shape, scale, orientation, x, y = values
    except (TypeError, ValueError) as error:
        raise EnvError(f"state is {values!r}: it must be (shape, scale, orientation, x, y).") from error
    given = SpriteState(shape, scale, orientation, x, y)
    return SpriteState(
        *(
            whole_number(f"{name} of state", value, range(size), f"a whole number from 0 to {size - 1}")
            for name, value, size in zip(SpriteState._fields, given, START_SIZES, strict=True)
        )
    )


def _clamp(value: int, highest: int) -> int:
    return min(max(value, 0), highest)
