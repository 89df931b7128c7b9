"""A Gymnasium environment as agents and experiments want one: outcomes by the model's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from btai.errors import EnvError
from btai.model import TemporalSlice

__all__ = ["FromGymnasium"]

Key = str | int


class FromGymnasium:
    """Gives an agent what a Gymnasium environment shows, one index for each observation of its model, by name.

    The observation space is `Discrete`, `MultiDiscrete`, or a `Dict` or `Tuple` of `Discrete`; the action space is
    `Discrete`. Values and actions count from 0, wherever the spaces start::

        experiments.run(agent, FromGymnasium(gymnasium.make("FrozenLake-v1"), agent.ts))

    `experiments.run` does so by itself with an environment that is given as it is. What a trial earns that fails, and
    one that succeeds, Gymnasium does not know; where an environment's `metadata` says so, as in
    `{"trial_rewards": (0, 1)}`, results tell how much is solved.

    Its parts are called by their keys in a `Dict`, else by their numbers, so a single `Discrete` is part 0. Without
    `names`, a part of a `Dict` is the observation of that name, with `"O_"` before it if need be. Numbered parts are
    the model's observations in the order of declaration if they are as many, else `O_0`, `O_1`, ...

    Args:
        env: the environment.
        ts: the agent's slice, with which names and sizes must agree.
        names: the observation that each part is, by key or number; the parts left out are not shown to the agent.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        ts: TemporalSlice | None = None,
        names: Mapping[Key, str] | None = None,
    ) -> None:
        self._env = env
        self._actions = _discrete("the action space", env.action_space, "")
        self._parts = _parts(env.observation_space)
        self.names = _automatic(self._parts, ts) if names is None else dict(names)
        _check_names(self.names, self._parts)
        if ts is not None:
            self._check_fit(ts)
        self._reward = 0.0
        self._done = True  # no trial is running
        self.truncated = False

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return int(self._actions.n)

    @property
    def state(self) -> Any:
        """What the environment calls its `state`, None if nothing."""
        return getattr(self._env.unwrapped, "state", None)

    @property
    def trial_rewards(self) -> Any:
        """The reward of a trial that fails and of one that succeeds, None if the environment does not say."""
        return self._env.metadata.get("trial_rewards")

    def initial_states(self) -> Sequence[Any]:
        """The starts that the environment lists in its own `initial_states()`, for `reset(state=...)`."""
        core = self._env.unwrapped
        if not hasattr(core, "initial_states"):
            raise EnvError(
                f"{type(core).__name__} has no initial_states(), so its starts cannot be tried exhaustively. Give it "
                "such a method, pass `starts`, or run random trials."
            )
        return list(core.initial_states())

    def reset(self, seed: int | None = None, state: Any = None) -> dict[str, int]:
        """Start a trial, drawn from the seed, or at `state`, for which `options={"state": ...}` asks."""
        obs, _ = self._env.reset(seed=seed, options=None if state is None else {"state": state})
        # Gymnasium lets an environment ignore options.
        if state is not None and not _alike(self.state, state):
            raise EnvError(
                f"state: a trial shall begin at {state!r}, but after reset(options={{'state': ...}}) the environment's "
                f"`state` is {self.state!r}. Let it take the option and have that property, or let the starts be drawn."
            )
        self._reward, self._done, self.truncated = 0.0, False, False
        return self._named(obs)

    def execute(self, action: int) -> dict[str, int]:
        """Execute an action."""
        if not 0 <= action < self.n_actions:
            raise EnvError(f"action {action!r} was given; required is one from 0 to {self.n_actions - 1}.")
        obs, reward, terminated, truncated, _ = self._env.step(int(self._actions.start) + int(action))
        self._reward += float(reward)
        self._done = bool(terminated or truncated)
        self.truncated = bool(truncated and not terminated)
        return self._named(obs)

    def done(self) -> bool:
        """Whether the trial is over (or none has started)."""
        return self._done

    def get_reward(self) -> float:
        """The sum of the trial's rewards so far."""
        return self._reward

    def render(self) -> Any:
        """The environment's picture `[rows, columns, 3]`, None if it was not made with `render_mode="rgb_array"`."""
        return self._env.render() if self._env.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def configuration(self) -> dict[str, Any]:
        """What tells this environment from others in a run file."""
        spec = self._env.spec
        made: Any = self._env
        if spec is not None:
            made = {"id": spec.id, "max_steps": spec.max_episode_steps, **spec.kwargs}
            if spec.additional_wrappers:
                made["wrappers"] = [wrapper.name for wrapper in spec.additional_wrappers]
        return {"gymnasium": made, "names": {str(key): name for key, name in self.names.items()}}

    def _named(self, obs: Any) -> dict[str, int]:
        values = _values(self._env.observation_space, obs)
        return {
            self.names[part.key]: int(values[part.key]) - part.start for part in self._parts if part.key in self.names
        }

    def _check_fit(self, ts: TemporalSlice) -> None:
        if ts.action.size != self.n_actions:
            raise EnvError(
                f"{ts.action.name}: the model has {ts.action.size} actions and the environment {self.n_actions}; they"
                " must be as many. Declare the action with the environment's number."
            )
        for part in self._parts:
            name = self.names.get(part.key)
            if name is None:
                continue
            if name not in ts.observations:
                raise EnvError(
                    f"{name}: the model has no such observation for the environment's part {part.key!r}; it has"
                    f" {', '.join(ts.observations) or 'none'}. Say which it is: names={{{part.key!r}: 'O_...'}}."
                )
            if ts.observations[name].size != part.size:
                raise EnvError(
                    f"{name}: the model's observation has {ts.observations[name].size} values and the environment's"
                    f" part {part.key!r} has {part.size}; they must be as many. Correct the model, or give names= if"
                    " another observation is meant."
                )


class _Part(NamedTuple):
    """One number that an environment shows."""

    key: Key
    size: int
    start: int


def _alike(left: Any, right: Any) -> bool:
    """Whether two states are the same, whatever holds their numbers."""
    if isinstance(left, Mapping) or isinstance(right, Mapping):
        return bool(left == right)
    return np.array_equal(left, right)


def _parts(space: spaces.Space[Any]) -> list[_Part]:
    if isinstance(space, spaces.MultiDiscrete):
        sizes, starts = space.nvec.ravel().tolist(), np.ravel(space.start).tolist()
        return [_Part(i, size, start) for i, (size, start) in enumerate(zip(sizes, starts, strict=True))]
    inner: list[tuple[Key, spaces.Space[Any]]]
    if isinstance(space, spaces.Dict):
        inner = list(space.spaces.items())
    elif isinstance(space, spaces.Tuple):
        inner = list(enumerate(space.spaces))
    else:
        inner = [(0, space)]
    discrete = [
        (key, _discrete(f"part {key!r} of the observation space", part, "; so is a MultiDiscrete alone"))
        for key, part in inner
    ]
    return [_Part(key, int(part.n), int(part.start)) for key, part in discrete]


def _values(space: spaces.Space[Any], obs: Any) -> Any:
    """The numbers in an observation, by key."""
    if isinstance(space, spaces.Discrete):
        return [obs]
    return np.ravel(obs) if isinstance(space, spaces.MultiDiscrete) else obs


def _discrete(what: str, space: spaces.Space[Any], others: str) -> spaces.Discrete:
    if not isinstance(space, spaces.Discrete):
        raise EnvError(f"{what} is {space}; a Discrete is required{others}. Wrap the environment in one that has it.")
    return space


def _automatic(parts: list[_Part], ts: TemporalSlice | None) -> dict[Key, str]:
    if ts is not None and len(ts.observations) == len(parts) and all(isinstance(part.key, int) for part in parts):
        return {part.key: name for part, name in zip(parts, ts.observations, strict=True)}
    keys = [part.key for part in parts]
    return {key: key if isinstance(key, str) and key.startswith("O_") else f"O_{key}" for key in keys}


def _check_names(names: Mapping[Key, str], parts: list[_Part]) -> None:
    keys = [part.key for part in parts]
    for key in names:
        if key not in keys:
            raise EnvError(f"names: {key!r} was given; the parts of the environment's observation are {keys}.")
    if len(set(names.values())) < len(names):
        raise EnvError(f"names: {dict(names)} gives two parts one name; each observation is one part. Rename one.")
