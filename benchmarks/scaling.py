"""How the time of a planning iteration grows, with one thing at a time."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.batches import BATCH_ITERATIONS, throughput
from benchmarks.measure import Curve, Effort, least
from benchmarks.models import independent_states
from btai import BTAI_3MF
from btai.envs import dsprites_flat, dsprites_slice
from btai.model import TemporalSlice

__all__ = ["measure"]

ITERATIONS = 100
MICROSECONDS = "µs per planning iteration"
Points = list[tuple[float, float]]


def measure(effort: Effort) -> Iterator[Curve]:
    """All curves."""
    yield states(effort)
    yield values(effort)
    yield iterations(effort)
    yield batch(effort)
    yield flattened(effort)


def states(effort: Effort) -> Curve:
    numbers = effort.some([2, 4, 8, 16, 32, 64])
    return Curve(
        "states",
        "More states, of 16 values each",
        "states",
        MICROSECONDS,
        {
            "all relevant": [(n, pace(independent_states(n), effort)) for n in numbers],
            "all but two irrelevant": [(n, pace(independent_states(2, n - 2), effort)) for n in numbers],
        },
    )


def values(effort: Effort) -> Curve:
    numbers = effort.some([4, 8, 16, 32, 64, 128, 256, 512, 1024])
    return Curve(
        "values",
        "More values, of two states",
        "values per state",
        MICROSECONDS,
        {
            "noisy moves (shifted)": [(n, pace(independent_states(2, size=n), effort)) for n in numbers],
            "arbitrary tables (dense)": [(n, pace(independent_states(2, size=n, dense=True), effort)) for n in numbers],
        },
    )


def iterations(effort: Effort) -> Curve:
    ts = dsprites_slice(granularity=1)
    numbers = effort.some([10, 30, 100, 300, 1000, 3000, 10000])
    points = [(float(n), pace(ts, effort, n)) for n in numbers]
    return Curve("iterations", "Longer searches, on dSprites", "planning iterations", MICROSECONDS, {"engine": points})


def batch(effort: Effort) -> Curve:
    """Decisions per second of batches of agents."""
    numbers = effort.some([1, 4, 16, 64, 256, 1024, 4096, 16384])
    return Curve(
        "batch",
        f"Larger batches, on dSprites, {BATCH_ITERATIONS} iterations",
        "agents in the batch",
        "decisions per second",
        {f"{t} thread{'s' * (t > 1)}": [(n, throughput(n, t, effort)) for n in numbers] for t in (1, 2)},
    )


def flattened(effort: Effort) -> Curve:
    """The same task with and without factors, by the number of values of the one state that holds them all."""
    series: dict[str, Points] = {"flat": [], "factored": []}
    for granularity in effort.some([8, 4, 2]):
        flat = dsprites_flat(granularity)
        n = flat.states["S_sprite"].size
        series["flat"].append((n, pace(flat, effort)))
        series["factored"].append((n, pace(dsprites_slice(granularity), effort)))
    return Curve(
        "flattened", "One state instead of five, on dSprites", "values of the flat state", MICROSECONDS, series
    )


def pace(ts: TemporalSlice, effort: Effort, n: int = ITERATIONS) -> float:
    """Microseconds per iteration of `n` planning iterations, without inference."""
    agent = BTAI_3MF(ts, n)
    time = least(lambda: agent.plan(n), effort.seconds, prepare=lambda: agent.reset({}))
    return 1e6 * time.wall / n
