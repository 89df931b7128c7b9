"""The paper's interface to the dSprites environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from btai.envs.dsprites import tables
from btai.envs.dsprites.env import dSpritesEnv
from btai.envs.dsprites.images import centre
from btai.envs.dsprites.task import ACTIONS, SpriteState, Task, initial_states
from btai.errors import EnvError

__all__ = ["dSpritesPreProcessingWrapper"]


class dSpritesPreProcessingWrapper:
    """Turns Gymnasium's interface into the paper's: `reset` and `execute` return the agent's evidence.

    Evidence is one index per observation, by name. The wrapper is no `gymnasium.Env`: a trial is driven
    through this interface or through Gymnasium's, never half and half.

    Args:
        env: a `dSpritesEnv`, possibly inside Gymnasium's own wrappers.
    """

    n_actions: int = len(ACTIONS)
    labels: Mapping[str, tuple[str, ...]] = tables.LABELS

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        core = getattr(env, "unwrapped", env)
        if not isinstance(core, dSpritesEnv):
            raise EnvError(f"env is a {type(core).__name__}: it must be a dSpritesEnv, wrapped or not.")
        self._env = env
        self._core = core
        self._reward = 0.0
        self._done = True  # no trial is running
        self._truncated = False

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        """Start a trial, at `state` (shape, scale, orientation, x, y) or at a uniformly drawn one."""
        obs, _ = self._env.reset(seed=seed, options=None if state is None else {"state": state})
        self._reward, self._done, self._truncated = 0.0, False, False
        return cast(dict[str, int], obs)

    def execute(self, action: int) -> dict[str, int]:
        """Execute an action, as often as the environment repeats it."""
        obs, reward, terminated, truncated, _ = self._env.step(action)
        self._reward, self._done, self._truncated = float(reward), terminated or truncated, truncated
        return cast(dict[str, int], obs)

    def done(self) -> bool:
        """Whether the trial is over (or none has started)."""
        return self._done

    @property
    def truncated(self) -> bool:
        """Whether the trial is over because it took too long."""
        return self._truncated

    def get_reward(self) -> float:
        """The reward of the last action: 0 until the trial is over."""
        return self._reward

    @property
    def task(self) -> Task:
        """The rules."""
        return self._core.task

    @property
    def state(self) -> SpriteState:
        """The true state, which the agent does not see."""
        return self._core.state

    def initial_states(self) -> NDArray[np.int64]:
        """Every start that can matter, for `reset(state=...)`, by shape, then x, then y: [3072, 5]."""
        return initial_states()

    def render(self) -> NDArray[np.uint8] | None:
        """The present image, [64, 64, 3]; None where the environment shows it in a window by itself."""
        return None if self._core.render_mode == "human" else self._core.frame()

    def picture_area(self, x: str, y: str) -> tuple[float, float, float, float] | None:
        """The part of the image where the centre of a shape has a value of these two states, cell beside cell.

        Returns left, top, right and bottom as shares of the image; None for states that are not its positions.
        """
        if (x, y) != ("S_pos_x", "S_pos_y"):
            return None
        cells, sizes = self.task.granularity, self.task.sizes
        first = centre(-0.5)  # half a step before the first centre
        return first, first, centre(cells * sizes["pos_x"] - 0.5), centre(cells * sizes["pos_y"] - 0.5)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def a(self) -> tables.Tables:
        """Likelihoods P(O | S) by observation, [n_O, n_S]."""
        return tables.likelihoods(self.task)

    def b(self) -> tables.Tables:
        """Transitions by state: S_pos_x and S_pos_y [next, current, action], the others [next, current]."""
        return tables.transitions(self.task)

    def c(self) -> tables.Tables:
        """The joint preference "O_shape_pos_x_y", [n_x, n_y, n_shape]."""
        return tables.preferences(self.task)

    def d(self, uniform: bool = True) -> tables.Tables:
        """Priors by state, [n_S]: uniform, or nearly certain of the present state's observation."""
        return tables.priors(self._core.task, None if uniform else self.task.observe(self.state))
