"""Live environments and agents, twice the same: one for the page, one for the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from inspector.models import SevenStatesEnv
from inspector.recorded import dsprites_agent, seven_states_agent

from btai import BTAI_3MF
from btai.envs import dSpritesEnv, dSpritesPreProcessingWrapper

# Tests do the same on both models: `make test` has the one with more of everything, `make test-all` both.
MODELS = [pytest.param("dsprites", marks=pytest.mark.slow), "seven"]
PLANNING = {"dsprites": 30, "seven": 25}  # iterations per cycle, by model
START = 11  # seed of every trial


class SameStart(dSpritesPreProcessingWrapper):
    """dSprites whose trials all start in the same place."""

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        """Start a trial."""
        return super().reset(START if seed is None else seed, state)


class Pair(NamedTuple):
    """An agent in its environment."""

    env: Any
    agent: BTAI_3MF


def pair(name: str) -> Pair:
    """A model by its name: dSprites, or the rover, whose n-th trial is the same in every such environment."""
    if name == "dsprites":
        return Pair(SameStart(dSpritesEnv(granularity=4, repeat=8)), dsprites_agent(PLANNING[name]))
    return Pair(SevenStatesEnv(), seven_states_agent(PLANNING[name]))
