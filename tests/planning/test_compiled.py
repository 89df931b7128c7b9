"""The compiled search in portions: by a clock of the test's own, each is as long as Ctrl-C may have to wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from btai.planning import Tree, kernels, new_tree
from btai.planning.compiled import Portions, first_portion
from btai.planning.tree import ITERATIONS

Portioned = Callable[[int, int, float], list[int]]


@pytest.fixture
def portioned(monkeypatch: pytest.MonkeyPatch) -> Portioned:
    """The portions of a search: given the first, all iterations and the seconds that each of these takes."""
    now, pace, portions = 0.0, 0.0, []

    def search(tree: Tree, _model: Any, iterations: int, _exp_const: float) -> None:
        nonlocal now
        now += iterations * pace
        tree.counts[ITERATIONS] += iterations
        portions.append(iterations)

    def run(first: int, iterations: int, seconds: float) -> list[int]:
        nonlocal pace
        pace = seconds
        model: Any = None
        Portions(first).search(new_tree(2, 1), model, iterations, 2.0)
        return portions

    monkeypatch.setattr("time.perf_counter", lambda: now)
    monkeypatch.setattr(kernels, "search", search)
    return run


def test_a_portion_takes_a_hundredth_of_a_second_once_the_pace_is_known(portioned: Portioned) -> None:
    assert portioned(4, 50, 2.0**-10) == [4, 10, 10, 10, 10, 6]  # 10.24 would


def test_no_portion_is_longer_than_all_before_it_together(portioned: Portioned) -> None:
    assert portioned(10**6, 9000, 2.0**-30) == [1024, 1024, 2048, 4096, 808]


def test_an_iteration_longer_than_a_portion_is_a_portion_by_itself(portioned: Portioned) -> None:
    assert portioned(1, 3, 2.0) == [1, 1, 1]


def test_a_clock_that_stands_still_does_no_harm(portioned: Portioned) -> None:
    assert portioned(1, 1026, 0.0) == [1, 1024, 1]


@pytest.mark.parametrize(("operations", "iterations"), [(0, 10_000), (1_500, 2_500), (10**9, 1)])
def test_first_portion_is_a_hundredth_of_a_second_by_a_rough_estimate(operations: int, iterations: int) -> None:
    """A microsecond for the iteration, and 2 nanoseconds for each of its operations."""
    assert first_portion(operations) == iterations
