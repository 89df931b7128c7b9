"""Pictures of an environment as PNG."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["area_of", "as_png", "picture_of"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPES = {1: 0, 3: 2, 4: 6}  # channels: grey, red-green-blue, with opacity


def picture_of(env: Any) -> bytes | None:
    """How an environment looks, if it gives its picture as an array (of `render()`)."""
    render = getattr(env, "render", None)
    frame = render() if callable(render) else None
    return as_png(frame) if isinstance(frame, np.ndarray) and _is_picture(frame) else None


def area_of(env: Any, x: str, y: str) -> tuple[float, ...] | None:
    """The part of the picture that the values of two states cover, if the environment says so (`picture_area`).

    Left, top, right and bottom as shares of the picture; without it, the values are thought to cover the whole.
    """
    tell = getattr(env, "picture_area", None)
    area = tell(x, y) if callable(tell) else None
    return None if area is None else tuple(float(edge) for edge in area)


def as_png(picture: NDArray[Any]) -> bytes:
    """A picture `[rows, columns]` or `[rows, columns, 1 | 3 | 4]`; whole numbers to 255, or fractions and booleans."""
    if picture.dtype.kind in "fb":
        picture = np.rint(255.0 * np.clip(picture, 0, 1))
    pixels = np.ascontiguousarray(picture, np.uint8).reshape(*picture.shape[:2], -1)
    rows, columns, channels = pixels.shape
    lines = np.zeros((rows, 1 + columns * channels), np.uint8)  # each line begins with its filter: 0, none
    lines[:, 1:] = pixels.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", columns, rows, 8, COLOUR_TYPES[channels], 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(lines.tobytes())) + _chunk(b"IEND", b"")


def _is_picture(frame: NDArray[Any]) -> bool:
    has_shape = frame.ndim == 2 or (frame.ndim == 3 and frame.shape[2] in COLOUR_TYPES)
    return has_shape and frame.size > 0 and frame.dtype.kind in "uifb"


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
