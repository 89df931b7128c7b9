"""The images of dSprites, computed instead of downloaded.

Every image of the data set is a polygon, scaled, turned, placed and rasterised; the outlines and rules here
reproduce the published images pixel for pixel, up to two pixels in the whole set of 737,280 images.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.envs.dsprites.latents import SHAPES, checked_classes
from btai.envs.dsprites.raster import IMAGE_SIZE, SUBPIXELS, rasterise
from btai.errors import EnvError

__all__ = ["centre", "render", "render_classes"]

_UNIT = 0.3 * IMAGE_SIZE  # pixels per unit of an outline, at scale 1
_LAST = 31  # class of a position

Vector = NDArray[np.float64]


def _full_turn(n: int) -> Vector:
    return 2 * np.pi * np.arange(n) / n


def _square() -> Vector:
    return np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def _ellipse() -> Vector:
    u = _full_turn(100)
    return np.stack([0.5 * 1.33 * np.cos(u), 0.5 / 1.33 * np.sin(u)], axis=1)


def _heart() -> Vector:
    u = _full_turn(150)
    height = (13 * np.cos(u) - 5 * np.cos(2 * u) - 2 * np.cos(3 * u) - np.cos(4 * u)) / 29 + 0.075
    return np.stack([np.sin(u) ** 3 / 2, -height], axis=1)


# Outlines around the origin, X to the right and Y down, in the order of SHAPES.  Each [k, 2]
_OUTLINES = (_square(), _ellipse(), _heart())


def render(shape: int | str, scale: float, angle: float, x: float, y: float) -> NDArray[np.uint8]:
    """One image of zeros and ones, [64, 64] (row 0 at the top), for any real values of the latent variables.

    Args:
        shape: 0, 1, 2 or "square", "ellipse", "heart".
        scale: above 0 up to 1; the data set has 0.5, 0.6, ..., 1.
        angle: in radians, counter-clockwise on the screen.
        x: position from 0 (left) to 1 (right).
        y: position from 0 (top) to 1 (bottom).
    """
    for name, value, valid, required in (
        ("scale", scale, 0 < scale <= 1, "above 0 and at most 1"),
        ("angle", angle, math.isfinite(angle), "a finite number of radians"),
        ("x", x, 0 <= x <= 1, "from 0 to 1"),
        ("y", y, 0 <= y <= 1, "from 0 to 1"),
    ):
        if not valid:
            raise EnvError(f"{name} is {value!r}: it must be {required}.")
    values = (np.array([float(value)]) for value in (scale, angle, x, y))
    image: NDArray[np.uint8] = _draw(_outline(shape), *values)[0]
    return image


def render_classes(latents: ArrayLike) -> NDArray[np.uint8]:
    """Images of the data set from their classes.

    Args:
        latents: rows of class indices (colour, shape, scale, orientation, posX, posY), [n, 6].

    Returns images of zeros and ones, [n, 64, 64] (image, row, column).
    """
    classes = checked_classes(latents)
    _, shape, scale, orientation, x, y = classes.T
    # The last orientation closes the full turn: it is the first one again.
    values = (0.5 + scale / 10, 2 * np.pi * (orientation % 39) / 39, x / _LAST, y / _LAST)
    images = np.empty((len(classes), IMAGE_SIZE, IMAGE_SIZE), dtype=np.uint8)
    for number, outline in enumerate(_OUTLINES):
        chosen = shape == number
        images[chosen] = _draw(outline, *(value[chosen] for value in values))
    return images


def centre(position: float) -> float:
    """Where a shape of that class of posX or posY has its centre, as a share of the image's width or height."""
    return (16 + 32 * position / _LAST) / IMAGE_SIZE


def _outline(shape: int | str) -> Vector:
    for number, name in enumerate(SHAPES):
        if shape in (number, name):
            return _OUTLINES[number]
    raise EnvError(f"shape is {shape!r}: it must be 0, 1, 2 or one of {', '.join(map(repr, SHAPES))}.")


def _draw(outline: Vector, scale: Vector, angle: Vector, x: Vector, y: Vector) -> NDArray[np.uint8]:
    """Images of one outline [k, 2] under n scales, angles and positions [n] each: [n, 64, 64]."""
    size = (_UNIT * scale)[:, None]
    across, down = size * outline[:, 0], size * outline[:, 1]
    angle = np.mod(angle, 2 * np.pi)[:, None]
    cosine, sine = np.cos(angle), np.sin(angle)
    # Centres range over the middle half of the image, so no shape ever leaves it.
    columns = 16 + 32 * x[:, None] + across * cosine + down * sine
    rows = 16 + 32 * y[:, None] - across * sine + down * cosine
    return rasterise(_to_subpixels(columns), _to_subpixels(rows))


def _to_subpixels(positions: Vector) -> NDArray[np.int64]:
    return np.rint(SUBPIXELS * positions).astype(np.int64)
