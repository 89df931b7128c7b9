"""The environments that btai can make again from a run file, to act out its trials: for their rewards and pictures."""

from __future__ import annotations

from inspect import signature
from typing import Any

from btai.envs import (
    GridMazeEnv,
    RockSampleEnv,
    TigerEnv,
    TMazeEnv,
    dSpritesEnv,
    dSpritesFlatWrapper,
    dSpritesPreProcessingWrapper,
)

__all__ = ["known_environment"]

OWN: dict[str, Any] = {
    f"{kind.__module__}.{kind.__qualname__}": kind
    for kind in (
        GridMazeEnv,
        RockSampleEnv,
        TigerEnv,
        TMazeEnv,
        dSpritesEnv,
        dSpritesFlatWrapper,
        dSpritesPreProcessingWrapper,
    )
}


def known_environment(description: Any) -> Any:
    """An environment like the one that a run file describes; None if it is not btai's own."""
    if not isinstance(description, dict):
        return None
    if "gymnasium" in description:  # what adapts it is made where it is needed
        return known_environment(description["gymnasium"])
    kind = OWN.get(description.get("class", ""))
    options = {name: value for name, value in description.items() if name != "class"}
    if kind is None or not options.keys() <= signature(kind).parameters.keys():
        return None
    if "env" in options:
        options["env"] = known_environment(options["env"])
    return kind(**options)
