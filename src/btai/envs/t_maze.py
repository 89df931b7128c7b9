"""The T-maze: a reward waits in the left or the right arm, and a screen at the cue tells in which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from btai.envs.checks import cycles, one_of
from btai.envs.tables import certain
from btai.interop.gymnasium import AsGymnasium
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["T_MAZES", "TMazeEnv", "t_maze_slice"]

PLACES = ("centre", "cue", "left arm", "right arm")
CENTRE, CUE, LEFT, RIGHT = range(4)
CONTEXTS = ("reward left", "reward right")
OUTCOMES = ("nothing", "reward", "shock")
NOTHING, REWARD, SHOCK = range(3)
SCREEN = ("left", "right", "blank")

SNOW, BLANK = (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)  # what the screen shows away from the cue
TELLING, USELESS = np.eye(3, 2), certain([0, 0], 3)  # what it shows at the cue, [3, context]
T_MAZES = {"snow": (SNOW, TELLING), "blank screen": (BLANK, TELLING), "useless cue": (SNOW, USELESS)}


def t_maze_slice(maze: str = "snow", curious: bool = False, precision: float = 1.0) -> TemporalSlice:
    """The T-maze as a model, which is also how the environment works.

    "S_place" begins in the centre, each action leads to its place, and no arm can be left; "S_context", which arm has
    the reward, never changes. "O_outcome" is what the place holds, and preferred; "O_screen" is what its screen shows.

    Args:
        maze: "snow", where every screen but that at the cue snows; "blank screen", where they are blank instead; or
            "useless cue", where they snow and the one at the cue always shows the same picture.
        curious: whether "O_screen" has a preference too, a flat one. Without it a screen costs what cannot be known of
            it, its ambiguity; with it, the less the more it tells.
        precision: of the preference, softmax(precision * score) with the scores 0, 1 and -2.
    """
    one_of("maze", maze, T_MAZES, ", ".join(map(repr, T_MAZES)))
    elsewhere, at_cue = T_MAZES[maze]
    screen = np.empty((3, 4, 2))  # [screen, place, context]
    screen[:] = np.reshape(elsewhere, (3, 1, 1))
    screen[:, CUE] = at_cue
    outcome = np.full((4, 2), NOTHING)  # [place, context]
    outcome[LEFT], outcome[RIGHT] = (REWARD, SHOCK), (SHOCK, REWARD)
    place = np.tile(np.arange(4), (4, 1))  # [place, action]
    place[LEFT], place[RIGHT] = LEFT, RIGHT
    builder = (
        TemporalSliceBuilder("A_go", 4, values=[f"to the {name}" for name in PLACES])
        .add_state("S_place", certain(CENTRE, 4), values=PLACES)
        .add_state("S_context", [0.5, 0.5], values=CONTEXTS)
        .add_observation("O_outcome", certain(outcome, 3), ["S_place", "S_context"], values=OUTCOMES)
        .add_observation("O_screen", screen, ["S_place", "S_context"], values=SCREEN)
        .add_transition("S_place", certain(place, 4), ["S_place", "A_go"])
        .add_transition("S_context", np.eye(2), ["S_context"])
        .add_preference(["O_outcome"], scores=[0, 1, -2], precision=precision)
    )
    if curious:
        builder.add_preference(["O_screen"], scores=[0, 0, 0])
    return builder.build()


class TMazeEnv(AsGymnasium):
    """Find the arm that has the reward.

    Observations are O_outcome (0 nothing, 1 reward, 2 shock) and O_screen (0 left, 1 right, 2 blank). Actions are 0 to
    the centre, 1 to the cue, 2 to the left arm, 3 to the right arm. A trial terminates in an arm, with reward 1 if it
    has the reward and else -1. It is truncated, with reward -1, after `max_cycles`. All other rewards are 0.

    Args:
        maze: "snow", "blank screen" or "useless cue", as for `t_maze_slice`.
        max_cycles: cycles after which a trial is truncated.
    """

    metadata: dict[str, Any] = {**AsGymnasium.metadata, "trial_rewards": (-1.0, 1.0)}  # noqa: RUF012 - as there

    def __init__(self, maze: str = "snow", *, max_cycles: int = 4) -> None:
        super().__init__(t_maze_slice(maze), cycles(max_cycles))
        self.maze, self.max_cycles = maze, max_cycles

    def ended(self) -> bool:
        """Whether an arm was entered."""
        return self.state["S_place"] >= LEFT

    def reward(self, before: Mapping[str, int], obs: dict[str, Any], truncated: bool) -> float:
        """1 for the reward, -1 for the shock and for being late."""
        return -1.0 if truncated else (0.0, 1.0, -1.0)[obs["O_outcome"]]
