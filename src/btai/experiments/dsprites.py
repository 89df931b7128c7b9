"""The paper's flat agents on dSprites, each with the environment it was published with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from btai.agents import BTAI_BF, BTAI_VMP
from btai.envs.dsprites import dsprites_flat, flat_prior
from btai.experiments.environments import make_env
from btai.model import TemporalSlice
from btai.planning import TreeView

__all__ = ["BASELINES", "ToldFirstCell", "make_baseline", "make_flat_env"]

EXP_CONST = 2.4

Baseline = BTAI_BF | BTAI_VMP

BASELINES: Mapping[str, tuple[type[Baseline], float, int]] = {
    "BTAI_BF": (BTAI_BF, 1.0, 20),
    "BTAI_VMP": (BTAI_VMP, 2.0, 30),
}
"""The flat agents: class, precision of the preference, and cycles after which a trial is given up."""


def make_flat_env(name: str, granularity: int) -> Any:
    """The paper's environment for one of the `BASELINES`; a trial that takes too long earns -1, as the text says."""
    _, _, max_cycles = BASELINES[name]
    return make_env("dsprites-flat", granularity=granularity, max_cycles=max_cycles)


def make_baseline(name: str, granularity: int, planning: int) -> ToldFirstCell:
    """The agent for that environment, with its published tables and prior."""
    kind, precision, _ = BASELINES[name]
    ts = dsprites_flat(granularity, precision)
    # The generator is a first one only: every trial begins with `seeded`.
    return ToldFirstCell(kind(ts, planning, EXP_CONST, rng=np.random.default_rng(0)), granularity)


class ToldFirstCell:
    """A flat agent that begins each trial nearly certain of the cell it sees first, as the published programs do."""

    def __init__(self, agent: Baseline, granularity: int) -> None:
        self.agent = agent
        self.granularity = granularity

    def reset(self, obs: Mapping[str, Any]) -> None:
        """Begin a trial; with nothing observed, from the declared prior."""
        first = obs.get("O_sprite")
        self.agent.reset(obs, None if first is None else {"S_sprite": flat_prior(self.granularity, first)})

    def step(self) -> int:
        """Plan and choose an action."""
        return self.agent.step()

    def update(self, action: int, obs: Mapping[str, Any]) -> None:
        """Take in the action executed and what was observed then."""
        self.agent.update(action, obs)

    def seeded(self, seed: int) -> Self:
        """This agent, its random choices begun anew from `seed`."""
        self.agent.seeded(seed)
        return self

    @property
    def ts(self) -> TemporalSlice:
        """The agent's slice."""
        return self.agent.ts

    @property
    def tree(self) -> TreeView:
        """The agent's search tree."""
        return self.agent.tree
