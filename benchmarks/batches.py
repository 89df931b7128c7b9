"""Many agents at once: decisions per second, by the number of threads, and the time of the paper's trials."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.measure import Effort, Row, least
from benchmarks.models import dsprites_starts
from btai import BatchAgent
from btai.envs import dsprites_slice
from btai.experiments import run
from btai.experiments.environments import make_agent, make_env

__all__ = ["BATCH_ITERATIONS", "measure", "throughput"]

BATCH_ITERATIONS = 100  # per decision
TRIAL_ITERATIONS = 150  # of the paper's row at granularity 1


def measure(effort: Effort) -> Iterator[Row]:
    """All rows."""
    agents = 256 if effort.quick else 4096
    one, two = (throughput(agents, threads, effort) for threads in (1, 2))
    name = f"batch of {agents:,}, {BATCH_ITERATIONS} iterations"
    yield Row(f"{name}: 1 thread", one, "/s", "decisions")
    yield Row(f"{name}: 2 threads", two, "/s", "decisions")
    yield Row("2 threads: times the decisions of 1", two / one, "×")
    iterations = 1 if effort.quick else TRIAL_ITERATIONS
    yield Row(
        f"trials from all 3,072 starts, {iterations} iterations", trials(iterations), "s", "the environment's, too"
    )


def throughput(n: int, threads: int, effort: Effort) -> float:
    """Decisions per second of `n` agents on dSprites, each somewhere else."""
    agents = BatchAgent(dsprites_slice(granularity=1), n, BATCH_ITERATIONS, threads=threads)
    starts = dsprites_starts(256)
    agents.reset({name: np.array([starts[i % 256][name] for i in range(n)]) for name in starts[0]})
    return n / least(agents.step, effort.seconds).wall


def trials(iterations: int) -> float:
    """Seconds of the paper's trials at granularity 1 from every start, on all processors."""
    begin = time.perf_counter()
    run(partial(make_agent, "dsprites", iterations), partial(make_env, "dsprites"), exhaustive=True, batch=512)
    return time.perf_counter() - begin
