"""dSprites: its images, the task of moving a shape to its corner, an agent's tables for that task."""

from btai.envs.dsprites.env import dSpritesEnv
from btai.envs.dsprites.flat import FLAT_ACTIONS, dsprites_flat, dSpritesFlatWrapper, flat_prior
from btai.envs.dsprites.generative import dsprites_slice
from btai.envs.dsprites.images import render, render_classes
from btai.envs.dsprites.latents import LATENTS, SHAPES
from btai.envs.dsprites.task import ACTIONS, SpriteState, Task, initial_states, reward_on_entry
from btai.envs.dsprites.wrapper import dSpritesPreProcessingWrapper

__all__ = [
    "ACTIONS",
    "FLAT_ACTIONS",
    "LATENTS",
    "SHAPES",
    "SpriteState",
    "Task",
    "dSpritesEnv",
    "dSpritesFlatWrapper",
    "dSpritesPreProcessingWrapper",
    "dsprites_flat",
    "dsprites_slice",
    "flat_prior",
    "initial_states",
    "render",
    "render_classes",
    "reward_on_entry",
]
