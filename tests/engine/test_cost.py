"""What an iteration costs grows with what matters alone. Only ratios of times measured side by side are compared."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from btai import BTAI_3MF, TemporalSliceBuilder
from btai.engine import compile
from btai.model import TemporalSlice

ITERATIONS = 100  # few enough for the histories to stay in the processor's caches


def independent_states(relevant: int, irrelevant: int, size: int = 16) -> TemporalSlice:
    """States that each go their own way by noisy moves; what is seen of the relevant ones is preferred."""
    builder = TemporalSliceBuilder("A_0", 3)
    moves = np.stack([noisy(np.roll(np.eye(size), step, axis=0)) for step in (-1, 0, 1)], axis=2)
    for i in range(relevant + irrelevant):
        builder.add_state(f"S_{i}", np.full(size, 1 / size)).add_transition(f"S_{i}", moves, [f"S_{i}", "A_0"])
        builder.add_observation(f"O_{i}", noisy(np.eye(size)), [f"S_{i}"])
        if i < relevant:
            builder.add_preference([f"O_{i}"], scores=np.arange(size) == i % size)
    return builder.build()


def noisy(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.99 * table + 0.01 / len(table)


def seconds(*models: TemporalSlice) -> list[float]:
    """The least time of a decision with each model, measured in turns."""
    agents = [BTAI_3MF(ts, ITERATIONS) for ts in models]
    least = [np.inf] * len(agents)
    for _ in range(25):
        for i, agent in enumerate(agents):
            agent.reset({})
            least[i] = min(least[i], timed(agent.step))
    return [float(t) for t in least]


def timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def test_irrelevant_states_cost_no_time() -> None:
    alone, accompanied = seconds(independent_states(2, 0), independent_states(2, 32))
    assert accompanied < 1.5 * alone


def test_time_grows_with_the_number_of_values_of_a_shifted_table_and_not_with_its_square() -> None:
    small, large = seconds(independent_states(2, 0, size=64), independent_states(2, 0, size=512))
    assert large < 24 * small  # 8 times the values, 64 times the entries


def test_operations_grow_linearly_with_relevant_states_and_not_with_irrelevant_ones() -> None:
    one, two, eight = (compile(independent_states(n, 0)).operations for n in (1, 2, 8))
    assert two == 2 * one
    assert eight == 8 * one
    assert compile(independent_states(2, 30)).operations == two
