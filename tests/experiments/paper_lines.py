"""Lines of the paper's tables with what came out, made up: nothing has to run to show them."""

from __future__ import annotations

from btai.experiments import Trial, summarise
from btai.experiments.paper import ROWS, Reproduced, Row
from btai.experiments.run import RunResult

__all__ = ["line", "result", "row", "trial"]


def row(agent: str, granularity: int, planning: int = 50, ties: str = "cost") -> Row:
    """The line of this setting."""
    wanted = (agent, granularity, planning, ties)
    return next(r for r in ROWS if (r.agent, r.granularity, r.planning, r.ties) == wanted)


def trial(reward: float, seconds: float = 0.004, finished: bool = True) -> Trial:
    """A trial of three quarters planning, 100 iterations."""
    return Trial(0, 1, None, reward, 2, finished, seconds * 0.75, seconds * 0.25, 0.0, 100, (0, 1))


def result(trials: list[Trial], exhaustive: bool = False) -> RunResult:
    """A run of these trials."""
    return RunResult(tuple(trials), summarise(trials, exhaustive=exhaustive), {"trials": len(trials)}, None)


def line(of: Row, seconds: float = 0.004) -> Reproduced:
    """The line with 100 random trials: 90 of reward 1, 4 of reward -1 and 6 unfinished; and all starts solved."""
    trials = [trial(1.0, seconds)] * 90 + [trial(-1.0, seconds)] * 4 + [trial(-1.0, seconds, finished=False)] * 6
    all_starts = None if of.is_random else result([trial(1.0, seconds)] * 3072, exhaustive=True)
    return Reproduced(of, result(trials), all_starts)
