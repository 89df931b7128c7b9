"""A sweep in parts: which cells are whose, and several run files become one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from btai.errors import RunFileError, SweepError
from btai.experiments.configuration import first_difference
from btai.experiments.database import real
from btai.experiments.runfile import RunFile
from btai.experiments.storedrun import StoredRun
from btai.experiments.sweeps.cells import FOUND

__all__ = ["WHOLE", "Shard", "merge"]


@dataclass(frozen=True)
class Shard:
    """Part `index` of `count`, from 1: every `count`-th cell."""

    index: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise SweepError(f"shard: {self.index}/{self.count} was given; i/n with i from 1 to n is required.")

    def runs(self, cells: int) -> range:
        """The numbers of its runs."""
        return range(self.index - 1, cells, self.count)


WHOLE = Shard()


def merge(out: str | os.PathLike[str], shards: Sequence[str | os.PathLike[str]]) -> None:
    """Put the trials of all shards into the file `out`, new or of the same sweep; the shards stay as they are.

    Refused, before anything is written, where the files are not all of one grid.
    """
    out = Path(out)
    others = [Path(shard) for shard in shards if real(Path(shard)) != real(out)]
    with ExitStack() as stack:
        opened = [stack.enter_context(RunFile.open(path)) for path in others]
        for file in opened[1:]:
            _check_same_grid(opened[0], file)
        if not opened:
            raise RunFileError(f"{out}: no other file was given; give the shards to be joined in it.")
        merged = stack.enter_context(RunFile.write(out, *map(_planned, opened[0].runs)))
        for file in opened:
            merged.take_over(file)
            for mine, other in zip(merged.runs, file.runs, strict=True):
                mine.complete({key: other.config[key] for key in FOUND if key in other.config})
                _settle(mine, other)


def _planned(run: StoredRun) -> Mapping[str, Any]:
    """The configuration of a run before anything was found out about it."""
    return {key: value for key, value in run.config.items() if key not in FOUND}


def _check_same_grid(first: RunFile, other: RunFile) -> None:
    if len(first.runs) != len(other.runs):
        raise RunFileError(
            f"{other.path} is of another sweep than {first.path}: it has {len(other.runs)} cells, not"
            f" {len(first.runs)}. Merge shards of one grid only."
        )
    for mine, its in zip(first.runs, other.runs, strict=True):
        difference = first_difference(_planned(mine), _planned(its))
        if difference:
            key, left, right = difference
            raise RunFileError(
                f"{other.path} is of another sweep than {first.path}: {key} of run {mine.number} is {right!r}, not"
                f" {left!r}. Merge shards of one grid only."
            )


def _settle(mine: StoredRun, other: StoredRun) -> None:
    """A failure counts where nobody has got over it; the first one if there are several."""
    if mine.failure is None and other.failure is None:
        return
    done = mine.done()
    failures = [f for f in (mine.failure, other.failure) if f is not None and f.trial not in done]
    if failures:
        mine.fail(min(failures, key=lambda failure: failure.trial))
    else:
        mine.forgive()
