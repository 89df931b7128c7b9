"""Runs to look into, and agents of one's own that do the same again, iteration by iteration."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from inspector.models import SevenStatesEnv, seven_states
from numpy.typing import NDArray

from btai import BTAI_3MF
from btai.envs import dsprites_slice, dSpritesEnv, dSpritesPreProcessingWrapper
from btai.experiments import run
from btai.inspector import RunTrace

TRIALS = 2


def dsprites_env() -> Any:
    return dSpritesPreProcessingWrapper(dSpritesEnv(granularity=4, repeat=8))


def dsprites_agent(planning: int = 30) -> BTAI_3MF:
    return BTAI_3MF(dsprites_slice(4, 8), max_planning_steps=planning, exp_const=2.4)


def seven_states_agent(planning: int = 25) -> BTAI_3MF:
    return BTAI_3MF(seven_states(), max_planning_steps=planning, exp_const=1.0)


@dataclass(frozen=True)
class Recorded:
    """A run file, and what made it."""

    path: Path
    make_agent: Callable[[], BTAI_3MF]
    make_env: Callable[[], Any]
    is_known: bool  # btai can make its environment itself

    def trace(self) -> RunTrace:
        """The run file, opened."""
        if self.is_known:
            return RunTrace(self.path)
        return RunTrace(self.path, env=self.make_env())

    def agents(self, seed: int, actions: tuple[int, ...]) -> Iterator[BTAI_3MF]:
        """An agent that lives through a trial again: at the beginning of each cycle, before it plans."""
        env, agent = self.make_env(), self.make_agent()
        agent.reset(env.reset(seed=seed))
        yield agent
        for action in actions:
            agent.update(action, env.execute(action))
            yield agent


def record(folder: Path, name: str, *planning: int, trials: int = TRIALS) -> Recorded:
    """Record a run of a model by its name."""
    makers: dict[str, tuple[Callable[..., BTAI_3MF], Callable[[], Any]]] = {
        "dsprites": (dsprites_agent, dsprites_env),
        "seven": (seven_states_agent, SevenStatesEnv),
    }
    agent, env = partial(makers[name][0], *planning), makers[name][1]
    path = folder / f"{name}.sqlite"
    run(agent, env, trials, seed=3, out=path, record=True)
    return Recorded(path, agent, env, name == "dsprites")


def long_run(path: Path, planning: int = 10_000) -> Path:
    """A run whose decisions take so many planning iterations."""
    run(partial(dsprites_agent, planning), dsprites_env, 1, seed=3, out=path, record=True)
    return path


def unpacked(packed: dict[str, str]) -> NDArray[Any]:
    """A packed array."""
    return np.frombuffer(base64.b64decode(packed["data"]), {"i4": "<i4", "f8": "<f8"}[packed["dtype"]])
