"""What makes an agent or an environment of a name and options, in this process or another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from btai.agents import BTAI_3MF, BTAI_BF, BTAI_VMP
from btai.envs import Registered

__all__ = ["AGENTS", "Agents", "Recipe", "agent_options", "agent_recipe", "environment_recipe"]

Agents = Mapping[str, Callable[..., Any]]
Options = Mapping[str, Any]
Pairs = tuple[tuple[str, Any], ...]  # options that can be compared and hashed

AGENTS: Agents = {"BTAI_3MF": BTAI_3MF, "BTAI_BF": BTAI_BF, "BTAI_VMP": BTAI_VMP}
NOT_CHOSEN = ("ts", "rng")  # come from the environment and from the trial's seed


@dataclass(frozen=True)
class Recipe:
    """A function and the arguments to call it with: a `functools.partial` that is equal to its like."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        """What the function makes."""
        return self.function(*self.arguments)


def agent_options(kind: Callable[..., Any]) -> list[str]:
    """The names of an agent's options."""
    return [name for name in inspect.signature(kind).parameters if name not in NOT_CHOSEN]


def agent_recipe(
    kind: Callable[..., Any], options: Options, environment: Registered, of_environment: Options
) -> Recipe:
    """What makes an agent with these options and with the model of an environment."""
    return Recipe(_agent, (kind, _pairs(options), environment, _pairs(of_environment)))


def environment_recipe(environment: Registered, options: Options) -> Recipe:
    """What makes an environment with these options."""
    return Recipe(_environment, (environment, _pairs(options)))


def _pairs(options: Options) -> Pairs:
    return tuple(options.items())


def _agent(kind: Callable[..., Any], options: Pairs, environment: Registered, of_environment: Pairs) -> Any:
    """One that draws at random is given a source of random numbers, which every trial begins anew from its seed."""
    draws = {"rng": np.random.default_rng(0)} if "rng" in inspect.signature(kind).parameters else {}
    return kind(environment.model(**dict(of_environment)), **dict(options), **draws)


def _environment(environment: Registered, options: Pairs) -> Any:
    return environment.env(**dict(options))
