"""Running the lines of the paper's tables, each into run files of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from btai.errors import RunFileError
from btai.experiments.dsprites import make_baseline, make_flat_env
from btai.experiments.environments import make_agent, make_env
from btai.experiments.paper.rows import ROWS, Row
from btai.experiments.run import Progress, RunResult, run
from btai.experiments.summary import Summary, summarise, wilson_interval

__all__ = ["Reproduced", "Score", "reproduce"]

SAMPLE = 100  # random trials behind each figure of the paper
MANY = 1000  # random trials of an agent that draws its actions
BATCH = 512  # trials from every start that go on at once

ProgressOf = Callable[[Row, str], Progress | None]


class Score(NamedTuple):
    """P(solved) and its 95 % interval, which is the figure itself where every start was tried once."""

    p_solved: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Reproduced:
    """A line of the tables with what came out.

    Attributes:
        random: its random trials, one at a time, at least the paper's 100.
        all_starts: one trial from every start, many at once; None for an agent that draws its actions.
    """

    row: Row
    random: RunResult
    all_starts: RunResult | None = None

    @property
    def whole(self) -> RunResult:
        """The run that says most."""
        return self.all_starts or self.random

    def score(self, unfinished: float) -> Score:
        """P(solved) of all trials, with so much reward for an unfinished one."""
        return _score(self.whole.summary, unfinished)

    def sample_score(self, unfinished: float) -> Score:
        """The same of the first 100 random trials, as many as the paper has."""
        return _score(summarise(self.random.trials[:SAMPLE]), unfinished)

    @property
    def seconds(self) -> float:
        """Seconds per trial, with nothing else going on."""
        return self.random.summary.seconds_per_trial or 0.0

    def times_faster_than(self, seconds: float | None) -> float | None:
        """How many times as long as ours a trial of so many seconds takes."""
        return None if seconds is None else seconds / self.seconds


def reproduce(
    folder: str | os.PathLike[str],
    *,
    quick: bool = False,
    workers: int = 1,
    progress_of: ProgressOf = lambda _row, _kind: None,
    rows: Sequence[Row] = ROWS,
) -> Iterator[Reproduced]:
    """Run every line of the paper's tables.

    BTAI_3MF is deterministic: 100 random trials, as in the paper, and one from every start. The others draw their
    actions: 1,000 random trials (100 if `quick`), of which the first 100 stand beside the paper's. Each run has its
    file in `folder`, so what was interrupted goes on, and what was done is read back.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFileError(f"{folder}: cannot be made ({error.strerror}). Choose another folder.") from error

    for row in rows:
        run_row = partial(_run_row, row, folder, progress_of)
        trials = MANY if row.is_random and not quick else SAMPLE
        random = run_row(f"random-{trials}", trials=trials, workers=workers)
        yield Reproduced(row, random, None if row.is_random else run_row("all", exhaustive=True, batch=BATCH))


def _run_row(row: Row, folder: Path, progress_of: ProgressOf, kind: str, **how: Any) -> RunResult:
    out = folder / f"{row.name}-{kind}.sqlite"
    return run(*_makers(row), out=out, progress=progress_of(row, kind), **how)


def _makers(row: Row) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """What makes the line's agent and its environment, in any process."""
    if row.is_random:
        return (
            partial(make_baseline, row.agent, row.granularity, row.planning),
            partial(make_flat_env, row.agent, row.granularity),
        )
    return (
        partial(make_agent, "dsprites", row.planning, ties=row.ties, granularity=row.granularity),
        partial(make_env, "dsprites", granularity=row.granularity),
    )


def _score(summary: Summary, unfinished: float) -> Score:
    """From a run in which an unfinished trial earns -1."""
    assert summary.p_solved is not None
    raised = (summary.trials - summary.finished) * (unfinished + 1) / (2 * summary.trials)
    p_solved = summary.p_solved + raised
    return Score(p_solved, (p_solved, p_solved) if summary.exhaustive else wilson_interval(p_solved, summary.trials))
