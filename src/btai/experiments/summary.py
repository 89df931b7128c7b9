"""What a run comes to: how much of the task is solved, how surely, and how fast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from btai.experiments.trial import WON_OR_LOST, Trial

__all__ = ["Summary", "Tally", "summarise", "wilson_interval"]

Z_95 = 1.959963984540054  # The standard normal distribution has 95 % of its mass within this of its mean.


@dataclass(frozen=True)
class Summary:
    """Figures of a run; those that need a trial are None before the first.

    `p_solved` is how far the mean reward has come from a failure's to a success's, and `interval` its 95 % Wilson score
    interval. Between -1 and 1 that is the paper's P(solved) = (total reward + trials) / (2 trials). Both are None where
    an environment does not say what a failure and a success earn, or a trial earned less or more. Where every start was
    tried once (`exhaustive`), no start was sampled and the interval is the figure itself.
    """

    trials: int
    p_solved: float | None
    interval: tuple[float, float] | None
    reward_mean: float | None
    finished: int  # trials that the environment ended
    cycles_mean: float | None
    seconds_per_trial: float | None
    microseconds_per_planning_iteration: float | None  # None where no agent said that it planned
    exhaustive: bool

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from btai.experiments.report import run_as_html

        return run_as_html(self, self.trials)


class Tally:
    """Adds up trials one by one; a summary is ready at any time."""

    def __init__(self, *, exhaustive: bool = False, rewards: Sequence[float] | None = WON_OR_LOST) -> None:
        self._exhaustive = exhaustive
        self._ends = rewards  # None also once a trial has been beyond them
        self._trials = self._finished = self._cycles = self._iterations = 0
        self._reward = self._seconds = self._planning_seconds = 0.0

    def add(self, trial: Trial) -> None:
        """Count one more trial."""
        self._trials += 1
        self._finished += trial.finished
        self._cycles += trial.cycles
        self._iterations += trial.planning_iterations
        self._reward += trial.reward
        self._seconds += trial.seconds
        self._planning_seconds += trial.planning_seconds
        if self._ends and not self._ends[0] <= trial.reward <= self._ends[1]:
            self._ends = None

    def summary(self) -> Summary:
        """The figures so far."""
        p_solved = self._p_solved()
        return Summary(
            trials=self._trials,
            p_solved=p_solved,
            interval=self._interval(p_solved),
            reward_mean=_ratio(self._reward, self._trials),
            finished=self._finished,
            cycles_mean=_ratio(self._cycles, self._trials),
            seconds_per_trial=_ratio(self._seconds, self._trials),
            microseconds_per_planning_iteration=_ratio(1e6 * self._planning_seconds, self._iterations),
            exhaustive=self._exhaustive,
        )

    def _p_solved(self) -> float | None:
        if not self._ends or not self._trials:
            return None
        worst, best = self._ends
        return (self._reward - worst * self._trials) / ((best - worst) * self._trials)

    def _interval(self, p_solved: float | None) -> tuple[float, float] | None:
        if p_solved is None:
            return None
        return (p_solved, p_solved) if self._exhaustive else wilson_interval(p_solved, self._trials)


def summarise(
    trials: Iterable[Trial], *, exhaustive: bool = False, rewards: Sequence[float] | None = WON_OR_LOST
) -> Summary:
    """The figures of these trials.

    Args:
        trials: the trials.
        exhaustive: whether every start was tried once.
        rewards: what a trial earns that fails, and one that succeeds; None: nobody can say.
    """
    tally = Tally(exhaustive=exhaustive, rewards=rewards)
    for trial in trials:
        tally.add(trial)
    return tally.summary()


def wilson_interval(mean: float, n: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's score interval for the mean of `n` scores in [0, 1].

    Exact in form for scores of 0 and 1. For scores between it is wide enough too: of all scores in [0, 1] with a
    given mean, zeros and ones vary most. Unlike a bootstrap it needs no seed, and n equal scores do not make it
    certain.
    """
    scale = 1 + z**2 / n
    centre = (mean + z**2 / (2 * n)) / scale
    half = z * math.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)


def _ratio(amount: float, count: int) -> float | None:
    return amount / count if count else None
