"""The environments by name, each with its model: data for the command line, for sweeps, for tables of results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from btai.envs.dsprites import (
    dsprites_flat,
    dsprites_slice,
    dSpritesEnv,
    dSpritesFlatWrapper,
    dSpritesPreProcessingWrapper,
)
from btai.envs.frozen_lake import frozen_lake, frozen_lake_slice
from btai.envs.grid_maze import GridMazeEnv, grid_maze_slice
from btai.envs.rock_sample import RockSampleEnv, rock_sample_slice
from btai.envs.t_maze import TMazeEnv, t_maze_slice
from btai.envs.tiger import TigerEnv, tiger_slice
from btai.errors import EnvError

if TYPE_CHECKING:
    from btai.model import TemporalSlice

__all__ = ["ENVIRONMENTS", "Registered", "environment"]


@dataclass(frozen=True)
class Registered:
    """What makes an environment and what makes its model; each takes those of the options that concern it.

    Every option has a default, which tells its type.
    """

    name: str
    make_env: Callable[..., Any]
    make_model: Callable[..., TemporalSlice]

    @property
    def options(self) -> dict[str, Any]:
        """The defaults of all options, by name."""
        return _defaults(self.make_env) | _defaults(self.make_model)

    def env(self, **options: Any) -> Any:
        """The environment, of the kind that `experiments.run` takes."""
        return self.make_env(**self._concerning(self.make_env, options))

    def model(self, **options: Any) -> TemporalSlice:
        """Its model."""
        return self.make_model(**self._concerning(self.make_model, options))

    def read(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Options given as text, each in the type of its default."""
        self._check(texts)
        return {name: _read(name, text, self.options[name]) for name, text in texts.items()}

    def _concerning(self, make: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
        self._check(options)
        return {name: value for name, value in options.items() if name in _defaults(make)}

    def _check(self, options: Mapping[str, Any]) -> None:
        for name in options.keys() - self.options.keys():
            raise EnvError(f"{name}: {self.name} has no such option; it has {', '.join(self.options)}.")


def environment(name: str) -> Registered:
    """The environment of this name."""
    if name not in ENVIRONMENTS:
        raise EnvError(f"{name!r} is no environment; there are {', '.join(ENVIRONMENTS)}.")
    return ENVIRONMENTS[name]


def _dsprites(granularity: int = 1, repeat: int = 8, max_cycles: int = 50) -> dSpritesPreProcessingWrapper:
    """The paper's environment."""
    return dSpritesPreProcessingWrapper(dSpritesEnv(granularity, repeat, max_cycles=max_cycles))


def _flat_dsprites(
    granularity: int = 8, repeat: int = 8, max_cycles: int = 50, unfinished: float = -1.0
) -> dSpritesFlatWrapper:
    """The same with one observation."""
    return dSpritesFlatWrapper(dSpritesEnv(granularity, repeat, max_cycles=max_cycles), unfinished)


ENVIRONMENTS: Mapping[str, Registered] = {
    entry.name: entry
    for entry in (
        Registered("dsprites", _dsprites, dsprites_slice),
        Registered("dsprites-flat", _flat_dsprites, dsprites_flat),
        Registered("frozenlake", frozen_lake, frozen_lake_slice),
        Registered("maze", GridMazeEnv, grid_maze_slice),
        Registered("rocksample", RockSampleEnv, rock_sample_slice),
        Registered("tiger", TigerEnv, tiger_slice),
        Registered("tmaze", TMazeEnv, t_maze_slice),
    )
}


def _defaults(make: Callable[..., Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(make).parameters.items()}


def _read(name: str, text: str, default: Any) -> Any:
    """`text` in the type of `default`."""
    if isinstance(default, bool):
        words = {"true": True, "false": False}
        if text.lower() in words:
            return words[text.lower()]
        raise EnvError(f"{name}: {text!r} was given; true or false is required.")
    if not isinstance(default, int | float):
        return text
    try:
        return type(default)(text)
    except ValueError:
        required = "a whole number" if isinstance(default, int) else "a number"
        raise EnvError(f"{name}: {text!r} was given; {required} is required, such as {default}.") from None
