"""The choice of an action from the children of the root."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from hand_made import planned_root
from hypothesis import given
from hypothesis import strategies as st

from btai.errors import PlanningError
from btai.planning import choose_action, new_tree

CHILDREN = st.lists(st.tuples(st.integers(1, 4), st.integers(-4, 4)), min_size=1, max_size=6)


@given(CHILDREN)
def test_choice_is_the_most_visited_with_ties_broken_by_mean_cost_then_index(children: list[tuple[int, int]]) -> None:
    visits, costs = zip(*children, strict=True)
    tree = planned_root(visits, costs)
    assert choose_action(tree) == oracle.choose(visits, costs)
    assert choose_action(tree, ties="first") == oracle.choose(visits, costs, ties="first")


@pytest.mark.parametrize(
    ("visits", "costs", "by_cost", "first"),
    [
        ([3, 5, 4], [1, 50, 1], 1, 1),  # visits decide, whatever the cost
        ([4, 4, 2], [8, 4, 0], 1, 0),  # of the most visited the cheaper
        ([4, 4, 4], [8, 4, 4], 1, 0),  # of the cheapest the lowest index
        ([2, 2], [-1, -1], 0, 0),
        ([7], [3], 0, 0),
    ],
)
def test_choice_among_equals(visits: list[int], costs: list[float], by_cost: int, first: int) -> None:
    tree = planned_root(visits, costs)
    assert choose_action(tree) == by_cost
    assert choose_action(tree, ties="first") == first


@pytest.mark.parametrize(
    ("visits", "costs", "action"),
    [
        ([9, 1, 1], [9, 0.5, 2], 1),  # means 1, 0.5, 2
        ([4, 2, 1], [4, 2, 1], 0),  # all means 1: the first
        ([1, 5], [0.9, 4], 1),  # means 0.9, 0.8, though the sum is higher
        ([3], [7], 0),
    ],
)
def test_lowest_cost_takes_the_lowest_mean_whatever_the_visits(
    visits: list[int], costs: list[float], action: int
) -> None:
    assert choose_action(planned_root(visits, costs), "lowest_cost") == action


@pytest.mark.parametrize("precision", [0.0, 0.5, 3.0])
def test_softmax_draws_as_often_as_the_formula_says(precision: float) -> None:
    visits, costs = [2, 1, 4, 1], [2.0, 0.5, 1.2, 3.0]
    weights = [math.exp(-precision * cost / n) for n, cost in zip(visits, costs, strict=True)]
    tree, rng, draws = planned_root(visits, costs), np.random.default_rng(3), 4000
    counts = np.bincount(
        [choose_action(tree, "softmax", precision=precision, rng=rng) for _ in range(draws)], minlength=4
    )
    for count, weight in zip(counts.tolist(), weights, strict=True):
        p = weight / sum(weights)
        assert abs(count - draws * p) < 4 * math.sqrt(draws * p * (1 - p))


def test_softmax_of_a_high_precision_takes_the_lowest_mean_cost_without_overflow() -> None:
    tree = planned_root([2, 1, 4], [2000.0, 500.5, 2001.0])
    rng = np.random.default_rng(0)
    assert {choose_action(tree, "softmax", precision=1e6, rng=rng) for _ in range(50)} == {2}


def test_softmax_is_the_same_for_the_same_seed() -> None:
    tree = planned_root([1, 1, 1], [1.0, 1.1, 0.9])

    def draw(seed: int) -> list[int]:
        rng = np.random.default_rng(seed)
        return [choose_action(tree, "softmax", rng=rng) for _ in range(20)]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


@pytest.mark.parametrize("selection", ["most_visited", "lowest_cost", "softmax"])
def test_choice_before_any_planning_is_refused(selection: str) -> None:
    with pytest.raises(PlanningError, match=r"before any planning: call plan\(n\), or step\(\)"):
        choose_action(new_tree(2, 5), selection, rng=np.random.default_rng(0))
