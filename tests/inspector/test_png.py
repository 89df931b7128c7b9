"""Pictures as PNG."""

from __future__ import annotations

import struct
import zlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from btai.inspector.png import as_png, picture_of


def read_png(data: bytes) -> NDArray[np.uint8]:
    """The pixels of a PNG without filters, and its checksums checked."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, place = {}, 8
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, place + 8 + length)
        assert checksum == zlib.crc32(kind + content)
        chunks[kind] = content
        place += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    channels = {0: 1, 2: 3, 6: 4}[colour]
    assert (depth, rest) == (8, [0, 0, 0])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + width * channels)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, channels)


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1), (5, 7, 3), (5, 7, 4), (1, 1)])
def test_a_picture_can_be_read_back(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    np.testing.assert_array_equal(read_png(as_png(picture)), picture.reshape(*shape[:2], -1))


def test_fractions_and_booleans_are_shades() -> None:
    assert read_png(as_png(np.array([[0.0, 0.5, 1.0, 7.0]]))).ravel().tolist() == [0, 128, 255, 255]
    assert read_png(as_png(np.array([[False, True]]))).ravel().tolist() == [0, 255]


@pytest.mark.parametrize(
    "frame", [None, "text", [[1, 2]], np.zeros((2, 2, 2)), np.zeros(4), np.zeros((0, 4)), np.array([["a"]])]
)
def test_what_is_no_picture_is_none(frame: Any) -> None:
    assert picture_of(SimpleNamespace(render=lambda: frame)) is None


def test_an_environment_that_cannot_show_itself_has_no_picture() -> None:
    assert picture_of(SimpleNamespace()) is None
