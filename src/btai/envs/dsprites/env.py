"""The dSprites task as a Gymnasium environment."""

from __future__ import annotations

import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from btai.envs.checks import whole_number
from btai.envs.dsprites.dataset import open_images
from btai.envs.dsprites.images import render_classes
from btai.envs.dsprites.raster import IMAGE_SIZE
from btai.envs.dsprites.task import (
    ABSORBING_ROW,
    ACTIONS,
    REWARD_WITHOUT_ENTRY,
    START_SIZES,
    SpriteState,
    Task,
    checked_state,
    initial_states,
    reward_on_entry,
)
from btai.envs.dsprites.window import Window
from btai.errors import EnvError

__all__ = ["dSpritesEnv"]

Observation = dict[str, Any]  # of int, by name; Gymnasium's Dict space promises no more


class dSpritesEnv(gymnasium.Env[Observation, np.int64]):
    """Move a shape out of the image, downwards: squares in the left corner, ellipses and hearts in the right.

    Observations are the indices O_shape, O_scale, O_orientation, O_pos_x and O_pos_y, the positions divided
    by the granularity. Actions are 0 DOWN, 1 UP, 2 LEFT, 3 RIGHT, each executed `repeat` times.

    A trial terminates when the shape enters the absorbing row y = 32, with a reward from 1 (in its corner) to
    -1 (in the other). It is truncated, with reward -1, after `max_cycles` calls without entry. All other
    rewards are 0. `info["state"]` is the true (shape, scale, orientation, x, y), [5].

    `reset` draws the start uniformly from its seed, or takes it from `options={"state": (...)}`.

    Args:
        granularity: 1, 2, 4 or 8.
        repeat: how many times a call executes its action.
        images: path of the data set's file, to show its images; None shows computed ones.
        max_cycles: calls after which a trial is truncated.
        render_mode: None, "rgb_array" (frames [64, 64, 3]) or "human" (a window).
    """

    action_space: spaces.Discrete
    observation_space: spaces.Dict

    metadata: dict[str, Any] = {  # noqa: RUF012 - not a ClassVar in gymnasium.Env
        "render_modes": ["human", "rgb_array"],
        "render_fps": 4,
        "trial_rewards": (-1.0, 1.0),
    }

    def __init__(
        self,
        granularity: int = 1,
        repeat: int = 8,
        images: str | os.PathLike[str] | None = None,
        *,
        max_cycles: int = 50,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise EnvError(f"render_mode is {render_mode!r}: it must be None, 'human' or 'rgb_array'.")
        self.task = Task(granularity, repeat, max_cycles)
        self.images = images
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(ACTIONS))
        self.observation_space = spaces.Dict(
            {f"O_{name}": spaces.Discrete(size) for name, size in self.task.sizes.items()}
        )
        self._image_of = render_classes if images is None else open_images(images).of_classes
        self._window: Window | None = None
        self._state: SpriteState | None = None
        self._cycles = 0
        self._over = False

    @property
    def state(self) -> SpriteState:
        """The true state."""
        if self._state is None:
            raise EnvError("no trial has started: call reset() first.")
        return self._state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a trial at a uniformly drawn state, or at `options={"state": ...}`."""
        given = _state_option(options or {})
        super().reset(seed=seed)
        # Drawn in any case, so that a given state does not shift the later draws of a seeded environment.
        drawn = SpriteState(*self.np_random.integers(START_SIZES).tolist())
        self._state = drawn if given is None else given
        self._cycles = 0
        self._over = False
        self._show()
        return self.task.observe(self._state), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Execute `action` `repeat` times, or until the shape has left the image."""
        number = whole_number("action", action, range(len(ACTIONS)), "0 DOWN, 1 UP, 2 LEFT or 3 RIGHT")
        state = self.state
        if self._over:
            raise EnvError("the trial is over: call reset() before the next step().")
        x, y = self.task.move(state.x, state.y, number)
        self._state = state._replace(x=x, y=y)
        self._cycles += 1
        terminated = y == ABSORBING_ROW
        truncated = not terminated and self._cycles >= self.task.max_cycles
        self._over = terminated or truncated
        reward = 0.0
        if terminated:
            reward = reward_on_entry(state.shape, x)
        elif truncated:
            reward = REWARD_WITHOUT_ENTRY
        self._show()
        return self.task.observe(self._state), reward, terminated, truncated, self._info()

    def initial_states(self) -> NDArray[np.int64]:
        """Every start that can matter, for `reset(options={"state": ...})`: [3072, 5]."""
        return initial_states()

    def image(self) -> NDArray[np.uint8]:
        """The present image of zeros and ones, [64, 64]; empty once the shape has left it."""
        if self.state.y == ABSORBING_ROW:
            return np.zeros((IMAGE_SIZE, IMAGE_SIZE), dtype=np.uint8)
        colour = 0
        image: NDArray[np.uint8] = self._image_of([(colour, *self.state)])[0]
        return image

    def frame(self) -> NDArray[np.uint8]:
        """The present image in black and white, [64, 64, 3] (red, green, blue)."""
        return np.repeat(255 * self.image()[:, :, None], 3, axis=2)

    def render(self) -> NDArray[np.uint8] | None:
        """A frame [64, 64, 3] in mode "rgb_array"; in mode "human", `reset` and `step` draw the window."""
        return self.frame() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _info(self) -> dict[str, Any]:
        return {"state": np.array(self.state, dtype=np.int64)}

    def _show(self) -> None:
        if self.render_mode != "human":
            return
        if self._window is None:
            self._window = Window("dSprites", frames_per_second=self.metadata["render_fps"])
        self._window.show(self.frame())


def _state_option(options: dict[str, Any]) -> SpriteState | None:
    """The state that the options of `reset` ask for, if any."""
    for unknown in options.keys() - {"state"}:
        raise EnvError(f"options has the key {unknown!r}: the only option of reset is 'state'.")
    return checked_state(options["state"]) if "state" in options else None
