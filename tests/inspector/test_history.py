"""A search that is scrubbed through is at every iteration what it was."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from inspector.recorded import Recorded
from numpy.typing import NDArray

from btai.agents.options import Options
from btai.inspector.history import SearchHistory
from btai.planning import Tree, choose_action, new_tree, replay, search
from btai.planning.tree import ITERATIONS, NODES

OPTIONS = {
    "most visited, then cost": ("most_visited", "cost"),
    "most visited, then first": ("most_visited", "first"),
    "lowest cost": ("lowest_cost", "cost"),
}


class Dice:
    """Costs drawn at random, few of them different, so that there are ties."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def score(self, node: int, first: int, efe: NDArray[np.float64]) -> None:
        efe[:] = self._rng.integers(1, 5, len(efe)) / 3


def options(selection: str = "most_visited", ties: str = "cost") -> Options:
    rng = np.random.default_rng(0)
    return Options(150, 2.4, None, selection, ties, 1.0, rng, "exact", "numpy")


def searched(n_actions: int, iterations: int, exp_const: float = 1.0, seed: int = 0) -> Tree:
    tree = new_tree(n_actions, iterations)
    search(tree, Dice(seed), iterations, exp_const)
    return tree


def history_of(tree: Tree, *given: str) -> SearchHistory:
    history = SearchHistory(tree.n_actions, options(*given))
    history.extend(tree.expanded, tree.efe)
    return history


def assert_same(one: Tree, other: Tree) -> None:
    for field in Tree._fields[1:]:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), field, strict=True)


@pytest.mark.parametrize(("n_actions", "exp_const"), [(1, 1.0), (2, 0.0), (3, 1.0), (5, 9.0)])
def test_every_iteration_is_that_of_a_replay_to_the_bit(n_actions: int, exp_const: float) -> None:
    tree = searched(n_actions, 60, exp_const)
    history = history_of(tree)
    for iteration in range(61):
        assert_same(history.tree(iteration), replay(n_actions, tree.expanded, tree.efe, iterations=iteration))


@pytest.mark.parametrize("root", [(0, 0.0), (7, 12.5)])
def test_a_root_may_begin_with_visits_and_a_cost_of_its_own(root: tuple[int, float]) -> None:
    tree = new_tree(3, 40, *root)
    search(tree, Dice(1), 40, 1.0)
    history = SearchHistory(3, options(), *root)
    history.extend(tree.expanded, tree.efe)
    for iteration in (0, 1, 20, 40):
        assert_same(history.tree(iteration), replay(3, tree.expanded, tree.efe, *root, iterations=iteration))


def test_a_history_may_grow_bit_by_bit() -> None:
    tree = searched(3, 40)
    whole, growing = history_of(tree), SearchHistory(3, options())
    for iterations in (0, 1, 2, 17, 17, 40):
        growing.extend(tree.expanded[:iterations], tree.efe[: 1 + 3 * iterations])
        assert growing.iterations == iterations
        assert_same(growing.tree(iterations), whole.tree(iterations))
    for one, other in zip(growing.written, whole.written, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_paths_written_down_give_every_iteration_by_looking_up() -> None:
    """What a page does with them, step by step."""
    n_actions, tree = 3, searched(3, 50)
    written = history_of(tree).written
    visits, costs, place = [1], [0.0], 0
    for iteration, node in enumerate(written.expanded.tolist(), 1):
        children = slice(1 + (iteration - 1) * n_actions, 1 + iteration * n_actions)
        visits += [1] * n_actions
        costs += written.efe[children].tolist()
        while node != -1:
            assert written.path_nodes[place] == node
            costs[node] = float(written.path_costs[place])
            visits[node] += 1
            place += 1
            node = -1 if node == 0 else int(written.expanded[(node - 1) // n_actions])
        assert place == written.path_ends[iteration]
        expected = replay(n_actions, tree.expanded, tree.efe, iterations=iteration)
        assert visits == expected.visits.tolist()
        assert costs == expected.cost.tolist()


@pytest.mark.parametrize("given", OPTIONS.values(), ids=OPTIONS)
def test_the_best_action_after_each_iteration_is_the_agents_choice(given: tuple[str, str]) -> None:
    tree = searched(4, 80)
    history = history_of(tree, *given)
    assert history.best_at(0) is None
    for iteration in range(1, 81):
        now = replay(4, tree.expanded, tree.efe, iterations=iteration)
        assert history.best_at(iteration) == choose_action(now, *given)


def test_of_an_agent_that_draws_its_actions_the_likeliest_is_the_best() -> None:
    tree = searched(4, 30)
    history = history_of(tree, "softmax", "cost")
    now = replay(4, tree.expanded, tree.efe)
    assert history.best_at(30) == int((now.cost[1:5] / now.visits[1:5]).argmin())


def test_the_roots_children_are_written_down_after_each_iteration() -> None:
    tree = searched(3, 40)
    written = history_of(tree).written
    for iteration in range(1, 41):
        now = replay(3, tree.expanded, tree.efe, iterations=iteration)
        np.testing.assert_array_equal(written.root_visits[iteration - 1], now.visits[1:4])
        np.testing.assert_array_equal(written.root_costs[iteration - 1], now.cost[1:4])


def test_replay_equals_live_at_every_cycle_and_iteration(recorded: Recorded) -> None:
    trace = recorded.trace()
    for row in trace.trials():
        for moment, agent in zip(trace.moments(row.trial), recorded.agents(row.seed or 0, row.actions), strict=True):
            cycle = moment.cycle
            history = SearchHistory(agent.ts.action.size, agent.options)
            history.extend(cycle.expanded, cycle.efe)
            for iteration in range(len(cycle.expanded) + 1):
                if iteration:
                    agent.plan(1)
                assert_shown(history.tree(iteration), agent.tree)
    trace.close()


def assert_shown(tree: Tree, shown: Any) -> None:
    assert tree.counts[NODES] == len(shown)
    assert tree.counts[ITERATIONS] == len(shown.expanded)
    for field in ("parent", "action", "first_child", "visits", "cost", "efe", "expanded"):
        np.testing.assert_array_equal(getattr(tree, field), getattr(shown, field), field)


def test_a_step_through_ten_thousand_iterations_takes_less_than_a_tenth_of_a_second() -> None:
    tree = searched(4, 10_000)
    history = history_of(tree)
    history.tree(0)
    seconds = []
    for iteration in (10_000, 9_000, 9_001, 8_999, 9_999):
        start = perf_counter()
        history.tree(iteration)
        seconds.append(perf_counter() - start)
    assert median(seconds) < 0.1, seconds
