"""The tasks that btai brings along itself: a run file of one needs neither model nor environment to be looked into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from btai.envs.dsprites import (
    dsprites_flat,
    dsprites_slice,
    dSpritesEnv,
    dSpritesFlatWrapper,
    dSpritesPreProcessingWrapper,
)
from btai.inspector.recipes import ModelSource
from btai.model import TemporalSlice

__all__ = ["Known", "known_task"]

TASKS: dict[str, tuple[Any, Callable[..., TemporalSlice]]] = {
    f"{wrapper.__module__}.{wrapper.__qualname__}": (wrapper, make_model)
    for wrapper, make_model in (
        (dSpritesPreProcessingWrapper, dsprites_slice),
        (dSpritesFlatWrapper, dsprites_flat),
    )
}


@dataclass(frozen=True)
class Known:
    """An environment like the recorded one, and the model that btai has for it."""

    env: Any
    make_model: Callable[[], TemporalSlice]
    model: ModelSource


def known_task(environment: Any) -> Known | None:
    """The task of an environment as a run file describes it; None if it is not btai's own."""
    if not isinstance(environment, dict) or environment.get("class") not in TASKS:
        return None
    wrapper, make_model = TASKS[environment["class"]]
    task = {name: environment["env"][name] for name in ("granularity", "repeat", "max_cycles")}
    wrapped = {name: environment[name] for name in ("unfinished",) if name in environment}
    granularity, repeat = task["granularity"], task["repeat"]
    return Known(
        env=wrapper(dSpritesEnv(**task), **wrapped),
        make_model=partial(make_model, granularity=granularity, repeat=repeat),
        model=ModelSource(
            f"{make_model.__name__}(granularity={granularity}, repeat={repeat})",
            f"from btai.envs import {make_model.__name__}",
        ),
    )
