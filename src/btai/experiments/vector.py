"""The environments of a batch as one vector environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from btai.errors import EnvError
from btai.experiments.slots import Flags, Ints
from btai.experiments.trial import Job, as_state
from btai.model import TemporalSlice

__all__ = ["VectorSlots"]

HOW_VECTORISED = ("num_envs", "vectorization_mode", "vector_kwargs")  # changes no trial


class VectorSlots:
    """The sub-environments of a Gymnasium vector environment as the slots of a batch.

    Each observation is one array, so they must form a `Dict` by the model's names. A trial's reward is the sum of its
    rewards, its initial state what `info["state"]` says after the reset. A trial that shall start at a state asks for
    it with `options={"state": ...}`, and `info["state"]` must confirm it: Gymnasium lets an environment ignore options.

    Args:
        env: the vector environment, with autoreset disabled: who resets a sub-environment gives it its seed.
        n: the number of slots, which must be that of its sub-environments.
        ts: the agents' slice.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], n: int, ts: TemporalSlice) -> None:
        _check_number(env, n)
        _check_autoreset(env)
        _check_spaces(env, ts)
        self._env = env
        self._obs: Mapping[str, NDArray[Any]] | None = None
        self._rewards = np.zeros(n)
        self._over = np.ones(n, bool)
        self._truncated = np.zeros(n, bool)

    def reset(self, jobs: Mapping[int, Job]) -> Mapping[int, Any]:
        """Begin a trial in each of these slots; their initial states."""
        if self._obs is None:
            self._obs, _ = self._env.reset(seed=0)  # All must have begun before some can begin anew.
        drawn = {slot: job for slot, job in jobs.items() if job.start is None}
        states = self._begin(drawn, {}) if drawn else {}
        for slot, job in jobs.items():
            if job.start is not None:  # One by one: a call has the same options for all.
                states |= self._begin({slot: job}, {"state": job.start})
                _check_start(job.start, states[slot])
        return states

    def execute(self, actions: Ints) -> None:
        """Execute an action in each slot; what idles, with an action of -1, is kept going by any."""
        acting = actions >= 0
        idle = self._over & ~acting
        if idle.any():  # No sub-environment may be stepped after its end, and all are stepped at once.
            self._env.reset(options={"reset_mask": idle})
        self._obs, rewards, terminated, truncated, _ = self._env.step(np.where(acting, actions, 0))
        self._rewards[acting] += rewards[acting]
        self._over = terminated | truncated
        self._truncated = truncated & ~terminated

    def seen(self, which: Flags) -> Mapping[str, NDArray[Any]]:
        """What was observed last, by name; `which` does not matter."""
        assert self._obs is not None
        return self._obs

    def over(self, slot: int) -> bool:
        """Whether the slot's trial was terminated or truncated."""
        return bool(self._over[slot])

    def truncated(self, slot: int) -> bool:
        """Whether it was only truncated."""
        return bool(self._truncated[slot])

    def reward(self, slot: int) -> float:
        """The sum of the trial's rewards."""
        reward = float(self._rewards[slot])
        if not np.isfinite(reward):
            raise EnvError(f"the rewards of a trial in {self._env} add up to {reward}; they must be finite numbers.")
        return reward

    def initial_states(self) -> Sequence[Any]:
        """The starts that the first sub-environment lists in its own `initial_states()`."""
        try:
            return list(cast(Any, self._env.unwrapped).call("initial_states")[0])
        except AttributeError as error:
            raise EnvError(
                f"the sub-environments of {self._env} have no initial_states(), so their starts cannot be tried "
                "exhaustively. Give them such a method, pass `starts`, or run random trials."
            ) from error

    @property
    def trial_rewards(self) -> Any:
        """As `FromGymnasium` has it."""
        return self._env.metadata.get("trial_rewards")

    def configuration(self) -> dict[str, Any]:
        """What tells these environments from others in a run file; not how many there are."""
        core, spec = self._env.unwrapped, self._env.spec
        if spec is None:
            made: Any = getattr(core, "envs", [core])[0]
        else:
            kwargs = {name: value for name, value in spec.kwargs.items() if name not in HOW_VECTORISED}
            made = {"id": spec.id, "max_steps": spec.max_episode_steps, **kwargs}
        return {"gymnasium": made, "wrappers": [type(wrapper).__qualname__ for wrapper in _wrappers(self._env)]}

    def _begin(self, jobs: Mapping[int, Job], options: dict[str, Any]) -> dict[int, Any]:
        """Reset these slots with the seeds of their jobs."""
        n = len(self._over)
        which = np.isin(np.arange(n), list(jobs))
        seeds = [jobs[slot].seed if slot in jobs else None for slot in range(n)]
        # Gymnasium's type for vector environments in general knows of one seed only.
        self._obs, infos = self._env.reset(seed=cast(Any, seeds), options={"reset_mask": which, **options})
        self._rewards[which] = 0.0
        self._over[which] = self._truncated[which] = False
        states = infos.get("state")
        return {slot: None if states is None else as_state(states[slot]) for slot in jobs}


def _check_number(env: VectorEnv[Any, Any, Any], n: int) -> None:
    if env.num_envs != n:
        raise EnvError(f"batch: {n} was given; the vector environment has {env.num_envs}. Make them the same.")


def _check_autoreset(env: VectorEnv[Any, Any, Any]) -> None:
    mode = env.metadata.get("autoreset_mode")
    if mode is not AutoresetMode.DISABLED:
        raise EnvError(
            f"env: the autoreset mode of {env} is {mode}; AutoresetMode.DISABLED is required, so that each trial "
            "begins with its own seed: gymnasium.make_vec(..., "
            'vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.DISABLED}).'
        )


def _check_spaces(env: VectorEnv[Any, Any, Any], ts: TemporalSlice) -> None:
    """Refuse what would go wrong silently; `BatchAgent` refuses the rest."""
    if not _counts(env.single_action_space, ts.action.size):
        raise EnvError(
            f"{ts.action.name}: the model has {ts.action.size} actions, the sub-environments "
            f"{env.single_action_space}; Discrete({ts.action.size}) is required."
        )
    shown = env.single_observation_space
    if not isinstance(shown, spaces.Dict):
        raise EnvError(
            f"env: the observation space of a sub-environment is {shown}; a Dict by the names of the model's "
            f"observations ({', '.join(ts.observations)}) is required. Wrap the sub-environments, or give a function "
            "that makes one btai.interop.gymnasium.FromGymnasium, which names its observations."
        )
    for name, space in shown.spaces.items():
        if name not in ts.observations:
            known = ", ".join(ts.observations) or "none"
            raise EnvError(f"{name}: the sub-environments show it; the model has no such observation. It has {known}.")
        size = ts.observations[name].size
        if isinstance(space, spaces.Discrete) and not _counts(space, size):
            raise EnvError(
                f"{name}: the model's observation has {size} values, the sub-environments' is {space}; "
                f"Discrete({size}) is required."
            )


def _counts(space: Any, size: int) -> bool:
    """Whether these are the numbers from 0 to `size` - 1."""
    return isinstance(space, spaces.Discrete) and space.n == size and space.start == 0


def _check_start(start: Any, state: Any) -> None:
    if as_state(start) != state:
        raise EnvError(
            f"start: a trial shall begin at {as_state(start)}, but after reset(options={{'state': ...}}) the "
            f"sub-environment's info['state'] is {state}. Let it take the option and tell its state, or let the starts "
            "be drawn from the seed."
        )


def _wrappers(env: VectorEnv[Any, Any, Any]) -> Iterator[VectorEnv[Any, Any, Any]]:
    while isinstance(env, VectorWrapper):
        yield env
        env = env.env
