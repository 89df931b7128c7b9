"""The places of a batch: environments by number, each for one trial at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from btai.experiments.trial import Environment, Job, as_state, finite_reward, in_trial, reset_arguments
from btai.inference import write_evidence
from btai.model import TemporalSlice

__all__ = ["Flags", "Ints", "Separate", "Slots"]

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Slots(Protocol):
    """The environments of a batch, by number; a trial takes one of them from its beginning to its end."""

    def reset(self, jobs: Mapping[int, Job]) -> Mapping[int, Any]:
        """Begin a trial in each of these slots; their initial states."""

    def execute(self, actions: Ints) -> None:
        """Execute an action in each slot, `[N]`; nothing where it is -1."""

    def seen(self, which: Flags) -> Mapping[str, NDArray[Any]]:
        """What was observed last, by name, `[N]` or `[N, n_O]`; of any value in the slots not in `which` `[N]`."""

    def over(self, slot: int) -> bool:
        """Whether the environment says that the slot's trial is over."""

    def truncated(self, slot: int) -> bool:
        """Whether it is over because it took too long."""

    def reward(self, slot: int) -> float:
        """The reward of the slot's trial so far."""


class Separate:
    """Environments of the plain kind, one after the other."""

    def __init__(self, envs: Sequence[Environment], ts: TemporalSlice) -> None:
        self._envs = envs
        self._layout = ts.observation_layout
        self._ts = ts
        self._jobs: dict[int, Job] = {}
        self._seen: dict[int, Mapping[str, Any]] = {}

    def reset(self, jobs: Mapping[int, Job]) -> Mapping[int, Any]:
        """Begin a trial in each of these slots; their initial states."""
        self._jobs |= jobs
        states = {}
        for slot, job in jobs.items():
            env = self._envs[slot]
            with in_trial(job):
                self._seen[slot] = env.reset(**reset_arguments(env, job))
                states[slot] = as_state(getattr(env, "state", job.start))
        return states

    def execute(self, actions: Ints) -> None:
        """Execute an action in each slot; nothing where it is -1."""
        for slot in np.flatnonzero(actions >= 0).tolist():
            with in_trial(self._jobs[slot]):
                self._seen[slot] = self._envs[slot].execute(int(actions[slot]))

    def seen(self, which: Flags) -> Mapping[str, NDArray[Any]]:
        """The evidence in the slots of `which` as vectors, `[N, n_O]`."""
        evidence = np.ones((len(which), self._layout.size))
        for slot in np.flatnonzero(which).tolist():
            with in_trial(self._jobs[slot]):
                write_evidence(self._ts, self._seen[slot], evidence[slot])
        return {name: evidence[:, span] for name, span in self._layout.spans.items()}

    def over(self, slot: int) -> bool:
        """Whether the slot's environment is done."""
        return self._envs[slot].done()

    def truncated(self, slot: int) -> bool:
        """Whether it is done because it took too long."""
        return bool(getattr(self._envs[slot], "truncated", False))

    def reward(self, slot: int) -> float:
        """The reward of the slot's trial so far."""
        return finite_reward(self._envs[slot])
