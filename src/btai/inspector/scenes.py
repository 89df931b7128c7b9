"""What an environment showed in a recorded trial, by acting it out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import BtaiError
from btai.experiments import Cycle, Job, Trial, run_trial
from btai.experiments.schema import RANDOM
from btai.inspector.png import picture_of

__all__ = ["Scene", "scenes_of"]

UNKNOWN = np.empty(0)
Scene = tuple[float | None, bytes | None]  # reward and picture


def scenes_of(env: Any, trial: Trial, cycles: Sequence[Cycle], configuration: Mapping[str, Any]) -> Sequence[Scene]:
    """What the environment gave and showed in each cycle, by acting out the trial again; the reward alone if it can't.

    An environment that then shows the agent something else than it did, for it draws random numbers of its own, has no
    say.
    """
    unknown: list[Scene] = [(None, None)] * len(cycles)
    if cycles:
        unknown[-1] = trial.reward, None
    if env is None:
        return unknown
    job = Job(trial.index, trial.seed, None if configuration["starts"] == RANDOM else trial.initial_state)
    actor = _Actor(env, trial.actions, cycles)
    try:
        run_trial(actor, env, job, len(trial.actions), actor)
    except (_OtherObservationsError, BtaiError):
        return unknown
    return actor.scenes if len(actor.scenes) == len(cycles) else unknown


class _OtherObservationsError(Exception):
    """The environment shows something else than it did when the trial was recorded."""


class _Actor:
    """Does what was done, and looks at what comes of it."""

    def __init__(self, env: Any, actions: Sequence[int], cycles: Sequence[Cycle]) -> None:
        self.scenes: list[Scene] = []
        self._env = env
        self._actions = iter(actions)
        self._cycles = cycles

    def reset(self, obs: Any, /) -> None:
        """Nothing to perceive."""

    def update(self, action: int, obs: Any, /) -> None:
        """Nothing to learn."""

    def step(self) -> int:
        """The action that was performed."""
        return next(self._actions)

    def decided(self, obs: Any, action: int) -> None:
        """Look, before the action."""
        self.ended(obs)

    def ended(self, obs: Any) -> None:
        """Look."""
        number = len(self.scenes)
        evidence = self._cycles[number].evidence
        if any(
            isinstance(value, int) and not _was_seen(evidence.get(name, UNKNOWN), value) for name, value in obs.items()
        ):
            raise _OtherObservationsError
        reward = float(self._env.get_reward()) if number else None
        self.scenes.append((reward, picture_of(self._env)))


def _was_seen(vector: NDArray[np.float64], value: int) -> bool:
    return 0 <= value < len(vector) and bool(vector[value] == 1)
