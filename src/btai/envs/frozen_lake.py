"""Gymnasium's FrozenLake, and a model made of its own table of transitions."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from btai.envs.checks import finite
from btai.envs.tables import certain, steps_to
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["frozen_lake", "frozen_lake_slice"]

ACTIONS = ("left", "down", "right", "up")
HOLE, GOAL = b"H", b"G"


class WonOrLost(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Rewards a trial that ends without a reward with -1, so that P(solved) is the share of those that had one."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.metadata = {**env.metadata, "trial_rewards": (-1.0, 1.0)}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As in the environment, but for the reward."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        lost = (terminated or truncated) and reward == 0
        return obs, -1.0 if lost else float(reward), terminated, truncated, info


def frozen_lake(map_name: str = "4x4", is_slippery: bool = True) -> gymnasium.Env[Any, Any]:
    """Gymnasium's environment: reward 1 at the goal; -1, for Gymnasium's 0, in a hole and when time runs out.

    Args:
        map_name: "4x4" (100 steps at most) or "8x8" (200).
        is_slippery: whether a step goes to either side of the intended direction as often as into it.
    """
    name = "FrozenLake8x8-v1" if map_name == "8x8" else "FrozenLake-v1"
    return WonOrLost(gymnasium.make(name, map_name=map_name, is_slippery=is_slippery, disable_env_checker=True))


def frozen_lake_slice(
    map_name: str = "4x4", is_slippery: bool = True, hole: float = 1.0, precision: float = 3.0
) -> TemporalSlice:
    """FrozenLake as a model: its table of transitions between the cells, which are seen as they are.

    A cell has a score of 1 for each step that it is nearer to the goal than the start.

    Args:
        map_name: "4x4" or "8x8".
        is_slippery: as for `frozen_lake`.
        hole: the score of lying in a hole; 1 is as bad as one step away from the start. The lower it is, the more the
            agent shuns the holes: below 0 it may stay where it is for ever.
        precision: of the preference, softmax(precision * score).
    """
    lake: Any = frozen_lake(map_name, is_slippery).unwrapped
    cells = lake.desc.ravel()
    n = len(cells)
    move = np.zeros((n, n, len(ACTIONS)))  # [next cell, cell, action]
    for cell, actions in lake.P.items():
        for action, outcomes in actions.items():
            for probability, target, _, _ in outcomes:
                move[target, cell, action] += probability
    names = [f"{kind.decode()} {row}, {column}" for (row, column), kind in np.ndenumerate(lake.desc)]
    steps = steps_to(np.flatnonzero(cells == GOAL).tolist(), move)
    scores = steps @ lake.initial_state_distrib - steps
    scores[cells == HOLE] = finite("hole", hole)
    return (
        TemporalSliceBuilder("A_go", len(ACTIONS), values=ACTIONS)
        .add_state("S_cell", lake.initial_state_distrib, values=names)
        .add_observation("O_cell", certain(np.arange(n), n), ["S_cell"], values=names)
        .add_transition("S_cell", move, ["S_cell", "A_go"])
        .add_preference(["O_cell"], scores=scores, precision=precision)
        .build()
    )
