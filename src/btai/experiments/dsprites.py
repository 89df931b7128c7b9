"""The paper's experiments with BTAI_3MF on dSprites, and its table to hold beside ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from btai.agents import BTAI_3MF
from btai.envs.dsprites import dsprites_slice, dSpritesEnv, dSpritesPreProcessingWrapper, initial_states
from btai.errors import RunFileError
from btai.experiments.run import Progress, RunResult, run

__all__ = ["PAPER", "Reproduced", "Row", "make_agent", "make_env", "reproduce"]

REPEAT = 8  # how often the paper's environment executes each action
QUICK_STEP = 4  # the quick reproduction takes every fourth x and y


@dataclass(frozen=True)
class Row:
    """One line of the table: a setting and the paper's P(solved) for it, over 100 random trials."""

    granularity: int
    planning: int
    paper: float
    ties: str = "cost"


PAPER = (
    Row(granularity=8, planning=50, paper=0.895),
    Row(granularity=4, planning=50, paper=0.977),
    Row(granularity=2, planning=50, paper=0.996),
    Row(granularity=1, planning=50, paper=0.72),
    Row(granularity=1, planning=100, paper=0.77),
    Row(granularity=1, planning=150, paper=1.0),
    # Not a line of its own in the paper: what its 0.77 is due to.
    Row(granularity=1, planning=100, paper=0.77, ties="first"),
)


@dataclass(frozen=True)
class Reproduced:
    """A line of the table with what came out."""

    row: Row
    all_starts: RunResult
    random: RunResult


def make_env(granularity: int) -> dSpritesPreProcessingWrapper:
    """The paper's environment."""
    return dSpritesPreProcessingWrapper(dSpritesEnv(granularity=granularity, repeat=REPEAT))


def make_agent(granularity: int, planning: int, exp_const: float = 2.4, ties: str = "cost") -> BTAI_3MF:
    """The paper's agent for that environment."""
    ts = dsprites_slice(granularity, REPEAT)
    return BTAI_3MF(ts, max_planning_steps=planning, exp_const=exp_const, ties=ties)


def reproduce(
    folder: str | os.PathLike[str],
    *,
    quick: bool = False,
    workers: int = 1,
    progress_of: Callable[[Row, str], Progress | None] = lambda _row, _kind: None,
    rows: Sequence[Row] = PAPER,
) -> Iterator[Reproduced]:
    """Run every line of the paper's table: from every start (a sixteenth of them if `quick`), and 100 random trials.

    Each run has its file in `folder`, so what was interrupted goes on, and what was done is read back.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFileError(f"{folder}: cannot be made ({error.strerror}). Choose another folder.") from error
    starts = [s for s in initial_states() if not quick or not any(s[-2:] % QUICK_STEP)]

    def run_row(row: Row, kind: str, **trials: Any) -> RunResult:
        return run(
            partial(make_agent, row.granularity, row.planning, ties=row.ties),
            partial(make_env, row.granularity),
            **trials,
            out=folder / f"dsprites-g{row.granularity}-n{row.planning}-ties-{row.ties}-{kind}.sqlite",
            workers=workers,
            progress=progress_of(row, kind),
        )

    for row in rows:
        yield Reproduced(
            row,
            all_starts=run_row(row, "quick" if quick else "all", starts=starts),
            random=run_row(row, "random", trials=100),
        )
