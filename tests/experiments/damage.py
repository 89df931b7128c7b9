"""Files as a failing disk leaves them."""

from __future__ import annotations

import random
from collections.abc import Iterator

__all__ = ["damaged_copies"]


def damaged_copies(sound: bytes, copies: int, seed: int) -> Iterator[bytes]:
    """Copies of a file in which some bytes are others: one, ten or 300."""
    rng = random.Random(seed)
    for _ in range(copies):
        damaged = bytearray(sound)
        for _ in range(rng.choice([1, 10, 300])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        yield bytes(damaged)
