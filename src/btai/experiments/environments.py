"""The environments of btai and agents for them, by name."""

from __future__ import annotations

from typing import Any

from btai.agents import BTAI_3MF
from btai.envs import environment

__all__ = ["make_agent", "make_env"]


def make_env(name: str, **options: Any) -> Any:
    """The environment of this name, for `run`."""
    return environment(name).env(**options)


def make_agent(name: str, planning: int, exp_const: float = 2.4, ties: str = "cost", **options: Any) -> BTAI_3MF:
    """An agent with the model of this environment."""
    ts = environment(name).model(**options)
    return BTAI_3MF(ts, max_planning_steps=planning, exp_const=exp_const, ties=ties)
