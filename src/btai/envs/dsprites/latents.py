"""The latent variables of the data set, their classes and the order of its images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.errors import EnvError

__all__ = ["LATENTS", "SHAPES", "checked_classes"]

SHAPES = ("square", "ellipse", "heart")

# Variables and their numbers of values, in the data set's order: the last varies fastest from image to image.
LATENTS = {"color": 1, "shape": len(SHAPES), "scale": 6, "orientation": 40, "posX": 32, "posY": 32}


def checked_classes(latents: ArrayLike) -> NDArray[np.int64]:
    """`latents` as rows of valid class indices, [n, 6]; an error names the first that is not."""
    classes = np.asarray(latents)
    if classes.ndim != 2 or classes.shape[1] != len(LATENTS) or classes.dtype.kind not in "iu":
        raise EnvError(
            f"latents has shape {classes.shape} and type {classes.dtype}: it must hold whole numbers in rows"
            f" of {len(LATENTS)}, the classes of {', '.join(LATENTS)}."
        )
    sizes = np.array(list(LATENTS.values()))
    wrong = np.argwhere((classes < 0) | (classes >= sizes))
    if len(wrong):
        row, column = wrong[0]
        raise EnvError(
            f"latents[{row}, {column}] is {classes[row, column]}: the class of {list(LATENTS)[column]}"
            f" must be from 0 to {sizes[column] - 1}."
        )
    return classes.astype(np.int64)
