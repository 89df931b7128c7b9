"""Environments for agents, registered with Gymnasium: `gymnasium.make("btai/dSprites-v0")`."""

from btai.errors import MissingExtraError

try:
    import gymnasium
except ImportError as error:
    raise MissingExtraError(
        "btai.envs needs Gymnasium, which is not installed: install it with `pip install gymnasium`."
    ) from error

from btai.envs.dsprites import (
    dsprites_flat,
    dsprites_slice,
    dSpritesEnv,
    dSpritesFlatWrapper,
    dSpritesPreProcessingWrapper,
)
from btai.envs.frozen_lake import frozen_lake, frozen_lake_slice
from btai.envs.grid_maze import GridMazeEnv, grid_maze_slice
from btai.envs.registry import ENVIRONMENTS, Registered, environment
from btai.envs.rock_sample import RockSampleEnv, rock_sample_slice
from btai.envs.t_maze import TMazeEnv, t_maze_slice
from btai.envs.tiger import TigerEnv, tiger_slice

__all__ = [
    "ENVIRONMENTS",
    "GridMazeEnv",
    "Registered",
    "RockSampleEnv",
    "TMazeEnv",
    "TigerEnv",
    "dSpritesEnv",
    "dSpritesFlatWrapper",
    "dSpritesPreProcessingWrapper",
    "dsprites_flat",
    "dsprites_slice",
    "environment",
    "frozen_lake",
    "frozen_lake_slice",
    "grid_maze_slice",
    "rock_sample_slice",
    "t_maze_slice",
    "tiger_slice",
]

for kind in (dSpritesEnv, *(entry.make_env for entry in ENVIRONMENTS.values() if isinstance(entry.make_env, type))):
    gymnasium.register(
        id=f"btai/{kind.__name__.removesuffix('Env')}-v0", entry_point=f"{kind.__module__}:{kind.__qualname__}"
    )
