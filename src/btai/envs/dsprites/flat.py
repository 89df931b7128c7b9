"""dSprites as the paper's two baseline agents see it: one state and one observation, for shape, column and row at once.

These are their published tables. They are not what `btai.model.flatten` makes of the factored slice: a product of
noises is not one noise spread evenly, and a column that knows nothing of the row still moves in the absorbing row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from btai.envs.checks import whole_number
from btai.envs.dsprites.latents import SHAPES
from btai.envs.dsprites.tables import ELSEWHERE, GOAL
from btai.envs.dsprites.task import ACTIONS, REWARD_WITHOUT_ENTRY, SpriteState, Task
from btai.envs.dsprites.wrapper import dSpritesPreProcessingWrapper
from btai.envs.tables import nearly

if TYPE_CHECKING:
    from btai.model import TemporalSlice

__all__ = ["FLAT_ACTIONS", "dSpritesFlatWrapper", "dsprites_flat", "flat_prior"]

FLAT_ACTIONS = ("UP", "DOWN", "LEFT", "RIGHT")  # another order than the environment's
_LIKELIHOOD_NOISE, _TRANSITION_NOISE, _PRIOR_NOISE = 0.01, 0.1, 0.1

Table = NDArray[np.float64]


def dsprites_flat(
    granularity: int = 8,
    precision: float = 1.0,
    *,
    noise: float = _LIKELIHOOD_NOISE,
    transition_noise: float = _TRANSITION_NOISE,
    repeat: int = 8,
) -> TemporalSlice:
    """The flat slice of the published BTAI_BF (precision 1) and BTAI_VMP (precision 2), with a uniform prior.

    With n = 32 / granularity, the state "S_sprite" and the observation "O_sprite" have 3 n (n + 1) values:
    shape * n (n + 1) + column * (n + 1) + row. The agents begin each trial from `flat_prior` of the first observation.

    Args:
        granularity: cells that look alike, along x and along y: 1, 2, 4 or 8.
        precision: of the preference, softmax(precision * score).
        noise: how probable it is to see another value than the true one, all others alike.
        transition_noise: how probable it is to arrive elsewhere.
        repeat: how many times the environment executes an action.
    """
    from btai.model import TemporalSliceBuilder  # here, because an environment needs no model

    task = Task(granularity, repeat)
    size, names = _size(task), _labels(task)
    return (
        TemporalSliceBuilder("A_move", len(FLAT_ACTIONS), values=FLAT_ACTIONS)
        .add_state("S_sprite", np.full(size, 1 / size), values=names)
        .add_observation("O_sprite", nearly(np.arange(size), size, noise), ["S_sprite"], values=names)
        .add_transition("S_sprite", nearly(_moves(task), size, transition_noise), ["S_sprite", "A_move"])
        .add_preference(["O_sprite"], scores=_scores(task), precision=precision)
        .build()
    )


def flat_prior(granularity: int, first: int) -> Table:
    """The published agents' prior in a trial that begins with the observation `first`: nearly certain, [n_S]."""
    size = _size(Task(granularity))
    return nearly(whole_number("first", first, range(size), f"a whole number from 0 to {size - 1}"), size, _PRIOR_NOISE)


class dSpritesFlatWrapper:
    """The environment for agents of `dsprites_flat`: one observation, "O_sprite", and the actions in their order.

    Args:
        env: a `dSpritesEnv`, possibly inside Gymnasium's own wrappers. The published programs give BTAI_BF 20 cycles
            and BTAI_VMP 30: `dSpritesEnv(..., max_cycles=20)`.
        unfinished: the reward of a trial that takes too long: -1 as the paper defines it, 0 as its programs did.
    """

    n_actions: int = len(FLAT_ACTIONS)
    labels: Mapping[str, tuple[str, ...]] = {"A_move": FLAT_ACTIONS}

    def __init__(self, env: gymnasium.Env[Any, Any], unfinished: float = REWARD_WITHOUT_ENTRY) -> None:
        self._env = env
        self._unfinished = float(unfinished)
        self._factored = dSpritesPreProcessingWrapper(env)

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        """Start a trial, at `state` (shape, scale, orientation, x, y) or at a uniformly drawn one."""
        return self._flat(self._factored.reset(seed, state))

    def execute(self, action: int) -> dict[str, int]:
        """Execute an action, 0 UP, 1 DOWN, 2 LEFT or 3 RIGHT, as often as the environment repeats it."""
        number = whole_number("action", action, range(len(FLAT_ACTIONS)), "0 UP, 1 DOWN, 2 LEFT or 3 RIGHT")
        return self._flat(self._factored.execute(ACTIONS.index(FLAT_ACTIONS[number])))

    def done(self) -> bool:
        """Whether the trial is over (or none has started)."""
        return self._factored.done()

    @property
    def truncated(self) -> bool:
        """Whether the trial is over because it took too long."""
        return self._factored.truncated

    def get_reward(self) -> float:
        """The reward of the last action: 0 until the trial is over."""
        return self._unfinished if self.truncated else self._factored.get_reward()

    @property
    def state(self) -> SpriteState:
        """The true state, which the agent does not see."""
        return self._factored.state

    def initial_states(self) -> NDArray[np.int64]:
        """Every start that can matter, for `reset(state=...)`, by shape, then x, then y: [3072, 5]."""
        return self._factored.initial_states()

    def render(self) -> NDArray[np.uint8] | None:
        """The present image, [64, 64, 3]; None where the environment shows it in a window by itself."""
        return self._factored.render()

    def close(self) -> None:
        """Close the environment."""
        self._factored.close()

    def _flat(self, obs: Mapping[str, int]) -> dict[str, int]:
        place = obs["O_shape"], obs["O_pos_x"], obs["O_pos_y"]
        return {"O_sprite": int(np.ravel_multi_index(place, _shape(self._factored.task)))}


def _shape(task: Task) -> tuple[int, int, int]:
    """How many shapes, columns and rows the flat index enumerates, the last of them fastest."""
    sizes = task.sizes
    return sizes["shape"], sizes["pos_x"], sizes["pos_y"]


def _size(task: Task) -> int:
    return int(np.prod(_shape(task)))


def _labels(task: Task) -> tuple[str, ...]:
    return tuple(f"{SHAPES[shape]}, {x}, {y}" for shape, x, y in np.ndindex(_shape(task)))


def _moves(task: Task) -> NDArray[np.int64]:
    """Where each action leads from the first pixel of each cell, [n_S, 4]."""
    targets = np.empty((*_shape(task), len(FLAT_ACTIONS)), np.int64)
    for shape, column, row, action in np.ndindex(targets.shape):
        number = ACTIONS.index(FLAT_ACTIONS[action])
        x, y = task.move(column * task.granularity, row * task.granularity, number)
        place = shape, x // task.granularity, y // task.granularity
        targets[shape, column, row, action] = np.ravel_multi_index(place, _shape(task))
    return targets.reshape(-1, len(FLAT_ACTIONS))


def _scores(task: Task) -> Table:
    """How much each place is liked, [n_O]: the absorbing row, in the right corner."""
    scores = np.zeros(_shape(task))
    scores[:, :, -1] = ELSEWHERE
    for number, shape in enumerate(SHAPES):
        scores[number, 0 if shape == "square" else -1, -1] = GOAL
    return scores.ravel()
