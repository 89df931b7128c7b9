"""The data set's own file, for those who have it.

The file (`dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz`) holds 3 GB of pixels. They are read in pieces,
checked, and kept with eight pixels to the byte. Its pickled metadata are never touched.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from btai.envs.dsprites.latents import LATENTS, checked_classes
from btai.envs.dsprites.raster import IMAGE_SIZE
from btai.errors import EnvError

__all__ = ["DATA_SET", "Contents", "ImageFile", "open_images", "read_images"]

_IMAGES_PER_PIECE = 1 << 13


@dataclass(frozen=True)
class Contents:
    """What a file must hold: an image of every combination of classes, and how many pixels are lit in all."""

    sizes: tuple[int, ...]
    lit_pixels: int

    @property
    def latents(self) -> NDArray[np.int64]:
        """The classes of every image, in order, [n, 6]."""
        return np.indices(self.sizes).reshape(len(self.sizes), -1).T


DATA_SET = Contents(sizes=tuple(LATENTS.values()), lit_pixels=128_328_862)


@dataclass(frozen=True, eq=False)
class ImageFile:
    """The images of a file.

    Attributes:
        packed: eight pixels to the byte, [n, 64, 8].
        sizes: number of values of each latent variable, in the file's order.
    """

    packed: NDArray[np.uint8] = field(repr=False)
    sizes: tuple[int, ...]

    def of_classes(self, latents: ArrayLike) -> NDArray[np.uint8]:
        """Images of zeros and ones, [n, 64, 64], of rows of class indices [n, 6]."""
        rows = np.ravel_multi_index(tuple(checked_classes(latents).T), self.sizes)
        return np.unpackbits(self.packed[rows], axis=2)


_opened: WeakValueDictionary[tuple[Path, int, int], ImageFile] = WeakValueDictionary()


def open_images(path: str | os.PathLike[str]) -> ImageFile:
    """The data set's images; environments that are alive together share one copy of an unchanged file."""
    try:
        found = Path(path).resolve()
        status = found.stat()
    except OSError as error:
        raise EnvError(f"images is {os.fspath(path)!r}, which cannot be opened: {error.strerror}.") from error
    key = found, status.st_mtime_ns, status.st_size
    images = _opened.get(key)
    if images is None:
        images = _opened[key] = read_images(found)
    return images


def read_images(path: Path, contents: Contents = DATA_SET) -> ImageFile:
    """Read and check a file; an error tells how it differs from what it should be."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_latents(archive, contents)
            return ImageFile(_read_packed(archive, contents), contents.sizes)
    except _Mismatch as mismatch:
        raise EnvError(f"images is {str(path)!r}, which is not the dSprites data set: {mismatch}.") from None
    except _UNREADABLE as error:
        raise EnvError(f"images is {str(path)!r}, which is not a sound .npz file: {error}.") from error


class _Mismatch(Exception):
    """A sound file whose contents are not the data set's."""


# What the standard library raises on files that are no archives, damaged, encrypted or oddly compressed.
_UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)


def _check_latents(archive: zipfile.ZipFile, contents: Contents) -> None:
    expected = contents.latents
    start = 0
    for piece in _pieces(archive, "latents_classes", expected.shape, np.dtype(np.int64)):
        if not np.array_equal(piece, expected[start : start + len(piece)]):
            raise _Mismatch("latents_classes is not in the data set's order, the last class varying fastest")
        start += len(piece)


def _read_packed(archive: zipfile.ZipFile, contents: Contents) -> NDArray[np.uint8]:
    n = math.prod(contents.sizes)
    packed = np.empty((n, IMAGE_SIZE, IMAGE_SIZE // 8), dtype=np.uint8)
    start = lit = 0
    for piece in _pieces(archive, "imgs", (n, IMAGE_SIZE, IMAGE_SIZE), np.dtype(np.uint8)):
        if piece.max() > 1:
            raise _Mismatch(f"imgs holds the value {piece.max()}, it must hold 0 and 1 alone")
        lit += int(piece.sum(dtype=np.int64))
        packed[start : start + len(piece)] = np.packbits(piece, axis=2)
        start += len(piece)
    if lit != contents.lit_pixels:
        raise _Mismatch(f"imgs has {lit} lit pixels, it must have {contents.lit_pixels}")
    return packed


def _pieces(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[NDArray[Any]]:
    """The array `name` in consecutive pieces; nothing is allocated before its header is what it must be."""
    if f"{name}.npy" not in archive.namelist():
        raise _Mismatch(f"it holds no array {name!r}")
    with archive.open(f"{name}.npy") as file:
        read_header = _HEADERS.get(npy.read_magic(file))
        if read_header is None:
            raise _Mismatch(f"{name} is written in an unknown version of the .npy format")
        found = read_header(file)
        if found != (shape, False, dtype):
            raise _Mismatch(
                f"{name} has shape {found[0]} and type {found[2]}{' in column order' if found[1] else ''},"
                f" it must have shape {shape} and type {dtype}"
            )
        row = math.prod(shape[1:]) * dtype.itemsize
        for start in range(0, shape[0], _IMAGES_PER_PIECE):
            wanted = row * min(_IMAGES_PER_PIECE, shape[0] - start)
            data = file.read(wanted)
            if len(data) < wanted:
                raise _Mismatch(f"{name} ends early, at image {start + len(data) // row} of {shape[0]}")
            yield np.frombuffer(data, dtype=dtype).reshape(-1, *shape[1:])


_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
