"""Models in files of every kind, told by the ending of the name."""

from __future__ import annotations

import os
from pathlib import Path

from btai.interop.loss import Imported, LossReport
from btai.interop.pomdp import read_pomdp, write_pomdp
from btai.interop.pomdpx import read_pomdpx, write_pomdpx
from btai.model import TemporalSlice, load

__all__ = ["read_model", "write_model"]

READERS = {".pomdp": read_pomdp, ".pomdpx": read_pomdpx}
WRITERS = {".pomdp": write_pomdp, ".pomdpx": write_pomdpx}


def read_model(path: str | os.PathLike[str], *, precision: float = 1.0) -> Imported:
    """The model in a file, and a report of what a slice cannot carry.

    Names that end in `.pomdpx` and `.pomdp` are read as those, with the rewards times `precision` as preferences; all
    others are btai's own, see `btai.load`.
    """
    reader = READERS.get(_ending(path))
    return Imported(load(path), LossReport()) if reader is None else reader(path, precision=precision)


def write_model(ts: TemporalSlice, path: str | os.PathLike[str]) -> LossReport:
    """Write a model to a file of the kind that the ending of its name says, and report what that cannot carry."""
    writer = WRITERS.get(_ending(path))
    if writer is not None:
        return writer(ts, path)
    ts.save(path)
    return LossReport()


def _ending(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower()
