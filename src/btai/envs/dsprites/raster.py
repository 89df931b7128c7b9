"""Polygons to black-and-white images, without anti-aliasing.

The rules that make the images those of the data set, pixel for pixel:

- vertices lie on a grid of 1/256 pixel, so every comparison below is between integers and exact;
- a pixel is lit if its centre is inside the polygon (even-odd rule);
- a centre exactly on an edge is lit on a left or a bottom edge, not on a right or a top one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["IMAGE_SIZE", "SUBPIXELS", "rasterise"]

IMAGE_SIZE = 64
SUBPIXELS = 256

# One row of an image is one 64-bit word, bit c its column c. Crossing an outline flips every pixel to the
# right: entry c flips columns c, c + 1, ..., 63.  [65]
_FLIP_FROM = np.array([(1 << IMAGE_SIZE) - (1 << c) for c in range(IMAGE_SIZE + 1)], dtype=np.uint64)

# Small enough for the working arrays of a chunk to stay in the processor's cache.
_VERTICES_PER_CHUNK = 1 << 16


def rasterise(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The images of n closed polygons of k vertices each.

    Args:
        columns: horizontal positions of the vertices in 1/256 pixel, 0 at the image's left border, [n, k].
        rows: vertical positions, 0 at the image's top border, [n, k].

    Every polygon must lie inside the image.
    Returns images of zeros and ones, [n, 64, 64] (image, row, column).
    """
    n, k = columns.shape
    words = np.zeros((n, IMAGE_SIZE), dtype=np.uint64)
    chunk = max(1, _VERTICES_PER_CHUNK // k)
    for start in range(0, n, chunk):
        part = slice(start, start + chunk)
        _flip_crossings(words[part], columns[part], rows[part])
    octets = words.astype("<u8", copy=False).view(np.uint8)  # the lowest columns first, on any machine
    return np.unpackbits(octets, axis=1, bitorder="little").reshape(n, IMAGE_SIZE, IMAGE_SIZE)


def _flip_crossings(words: NDArray[np.uint64], columns: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Flip in `words` [n, 64] the pixels to the right of wherever an edge crosses a row of centres."""
    # From here on the centres are at whole multiples of SUBPIXELS.
    x0, y0 = columns - SUBPIXELS // 2, rows - SUBPIXELS // 2
    dx, dy = np.roll(x0, -1, axis=1) - x0, np.roll(y0, -1, axis=1) - y0
    # An edge from low to high meets the rows r with low < SUBPIXELS * r <= high: bottom lit, top not.
    above = y0 // SUBPIXELS
    passed = (y0 + dy) // SUBPIXELS - above
    crossing = np.flatnonzero(passed)
    met = np.abs(passed.ravel()[crossing])
    first = np.minimum(above, above + passed).ravel()[crossing] + 1

    edge = np.repeat(crossing, met)
    before = np.cumsum(met) - met
    row = np.arange(len(edge)) + np.repeat(first - before, met)
    x0, y0, dx, dy = (values.ravel()[edge] for values in (x0, y0, dx, dy))
    # The first centre at or to the right of the crossing: the fraction rounded up, so a left edge is lit.
    column = -(-(x0 * dy + dx * (SUBPIXELS * row - y0)) // (SUBPIXELS * dy))
    image = edge // columns.shape[1]
    np.bitwise_xor.at(words, (image, row), _FLIP_FROM[column])
