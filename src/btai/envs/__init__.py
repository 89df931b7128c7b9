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

__all__ = ["dSpritesEnv", "dSpritesFlatWrapper", "dSpritesPreProcessingWrapper", "dsprites_flat", "dsprites_slice"]

gymnasium.register(id="btai/dSprites-v0", entry_point="btai.envs.dsprites:dSpritesEnv")
