"""The search is the paper's, step by step: it grows the trees of the slow oracle and of the authors' own program."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import oracle
import pytest
from golden import N_AUTHORS_MODELS, authors_figures
from hand_made import BAD, GOOD, LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Beliefs, Spec
from strategies import evidences, models, tie_models

from btai.planning import NO_NODE, ROOT, NumpyBackend, Tree, evaluate, expand, new_tree, propagate, select

CLEAR = 1e-9  # a lead in UCT that rounding cannot undo
EXPLORATION = st.sampled_from([0.0, 0.3, 2.4, 20.0])

some = settings(max_examples=60)


def grown(spec: Spec, beliefs: Beliefs, iterations: int, exp_const: float) -> Tree:
    """The tree after so many iterations from these beliefs."""
    ts = spec.build()
    tree = new_tree(spec.n_actions, iterations)
    backend = NumpyBackend(ts)
    backend.start(ts.state_layout.flat(beliefs))
    backend.search(tree, iterations, exp_const)
    return tree


@st.composite
def searches(draw: st.DrawFn) -> tuple[Spec, Beliefs, int, float]:
    """A model, beliefs over its present states, a number of iterations and an exploration constant."""
    small = models(max_states=3, max_observations=3, max_size=3)
    spec = draw(small | tie_models(max_states=2, max_observations=2, max_size=3))
    beliefs, _ = oracle.posteriors(spec, draw(evidences(spec)))
    return spec, beliefs, draw(st.integers(1, 12)), draw(EXPLORATION)


def assert_equal_trees(tree: Tree, expected: oracle.Search) -> None:
    assert_array_equal(tree.expanded, expected.expanded)
    assert_array_equal(tree.parent, expected.parents())
    assert_array_equal(tree.action, expected.column("action"))
    assert_array_equal(tree.visits, expected.column("visits"))
    assert_allclose(tree.cost, expected.column("cost"), rtol=0, atol=1e-10)
    assert_allclose(tree.efe, expected.column("efe"), rtol=0, atol=1e-10)


@some
@given(searches())
def test_search_equals_the_slow_recursive_one(search: tuple[Spec, Beliefs, int, float]) -> None:
    spec, beliefs, iterations, exp_const = search
    tree = grown(spec, beliefs, iterations, exp_const)
    expected = oracle.search(spec, beliefs, iterations, exp_const)
    if expected.margin < CLEAR:  # a tie but for rounding: either way is right, but each step must be a best one
        expected, regret = oracle.replay(spec, beliefs, [int(node) for node in tree.expanded], exp_const)
        assert regret < CLEAR
    assert_equal_trees(tree, expected)


@pytest.mark.parametrize("index", range(N_AUTHORS_MODELS))
def test_search_grows_the_authors_tree(index: int) -> None:
    authors = authors_figures(index)
    expected = authors.under("plan1/")
    tree = grown(authors.spec, authors.under("istep1/"), authors.meta["n_planning"], authors.meta["exp_const"])
    assert_array_equal(tree.expanded, expected["expanded_node"])
    assert_array_equal(tree.parent, expected["parent"])
    assert_array_equal(tree.action, expected["action"])
    assert_array_equal(tree.visits, expected["visits"])
    assert_allclose(tree.cost, expected["cost"], rtol=0, atol=1e-10)
    assert_allclose(tree.efe, expected["efe"], rtol=0, atol=1e-10)


@some
@given(searches())
def test_visits_add_up(search: tuple[Spec, Beliefs, int, float]) -> None:
    spec, beliefs, n, exp_const = search
    tree = grown(spec, beliefs, n, exp_const)
    visits = tree.visits.tolist()
    assert visits[ROOT] == 1 + n
    assert sum(visits[1 : 1 + spec.n_actions]) == n - 1 + spec.n_actions
    below = [0] * len(visits)
    for node, parent in enumerate(tree.parent.tolist()):
        if parent != NO_NODE:
            below[parent] += visits[node] - 1
    for node in set(tree.expanded.tolist()) - {ROOT}:
        assert visits[node] - 2 == below[node]
    assert all(visits[node] == 1 for node in range(len(visits)) if node not in tree.expanded)


@some
@given(searches())
def test_every_cost_is_the_own_one_plus_the_best_of_each_expansion_below(
    search: tuple[Spec, Beliefs, int, float],
) -> None:
    spec, beliefs, n, exp_const = search
    tree = grown(spec, beliefs, n, exp_const)
    costs = [0.0, *tree.efe[1:].tolist()]
    for iteration, expanded in enumerate(tree.expanded.tolist()):
        best = min(tree.efe[1 + iteration * spec.n_actions :][: spec.n_actions].tolist())
        node = expanded
        while node != NO_NODE:
            costs[node] += best
            node = int(tree.parent[node])
    assert tree.cost.tolist() == costs  # bit for bit: the same sums in the same order


@some
@given(searches())
def test_nodes_are_numbered_in_order_of_expansion(search: tuple[Spec, Beliefs, int, float]) -> None:
    spec, beliefs, n, exp_const = search
    tree = grown(spec, beliefs, n, exp_const)
    a = spec.n_actions
    assert tree.counts.tolist() == [1 + n * a, n]
    assert tree.parent.tolist() == [NO_NODE, *np.repeat(tree.expanded, a)]
    assert tree.action.tolist() == [NO_NODE, *list(range(a)) * n]
    first_child = [NO_NODE] * (1 + n * a)
    for iteration, expanded in enumerate(tree.expanded):
        first_child[expanded] = 1 + iteration * a
    assert tree.first_child.tolist() == first_child


# --- the four phases, one at a time --------------------------------------------------------------------------


@dataclass
class GivenCosts:
    """A model whose nodes have these costs, and 0 where none is given."""

    costs: Mapping[int, float]

    def score(self, node: int, first: int, efe: Array) -> None:
        for action in range(len(efe)):
            efe[action] = self.costs.get(first + action, 0.0)


def built(n_actions: int, expanded: list[int], costs: Mapping[int, float]) -> Tree:
    """A tree by hand: these nodes expanded in turn."""
    tree, model = new_tree(n_actions, len(expanded)), GivenCosts(costs)
    for node in expanded:
        first = expand(tree, node)
        evaluate(tree, model, node, first)
        propagate(tree, node, first)
    return tree


def test_root_starts_with_one_visit_and_no_cost() -> None:
    tree = new_tree(n_actions=2, iterations=3)
    assert (tree.visits[ROOT], tree.cost[ROOT]) == (1, 0)
    assert math.isnan(tree.efe[ROOT])
    assert select(tree, 2.4) == ROOT


def test_expanded_children_have_one_visit_and_their_own_cost() -> None:
    tree = built(2, [ROOT], {1: 5.0, 2: 3.0})
    assert tree.visits[:3].tolist() == [2, 1, 1]
    assert tree.cost[:3].tolist() == [3.0, 5.0, 3.0]
    assert tree.efe[1:3].tolist() == [5.0, 3.0]


def test_cost_of_the_best_child_goes_to_the_expanded_node_and_all_its_ancestors() -> None:
    tree = built(2, [ROOT, 2, 3], {1: 5.0, 2: 3.0, 3: -1.0, 4: 7.0, 5: 0.25, 6: 0.125})
    assert tree.visits[:7].tolist() == [4, 1, 3, 2, 1, 1, 1]
    assert tree.cost[:7].tolist() == [3 - 1 + 0.125, 5, 3 - 1 + 0.125, -1 + 0.125, 7, 0.25, 0.125]


def test_selection_takes_the_first_of_exact_equals() -> None:
    assert select(built(3, [ROOT], {1: 1.0, 2: 1.0, 3: 1.0}), 2.4) == 1
    assert select(built(3, [ROOT], {1: 2.0, 2: 1.0, 3: 1.0}), 2.4) == 2
    assert select(built(3, [ROOT], {1: 2.0, 2: 1.0, 3: 0.5}), 2.4) == 3


def test_selection_between_equal_actions_goes_round_from_the_first() -> None:
    tree = built(3, [ROOT, 1], dict.fromkeys(range(1, 7), 1.0))
    assert select(tree, 2.4) == 2
    tree = built(3, [ROOT, 1, 2], dict.fromkeys(range(1, 10), 1.0))
    assert select(tree, 2.4) == 3
    tree = built(3, [ROOT, 1, 2, 3], dict.fromkeys(range(1, 13), 1.0))
    assert select(tree, 2.4) == 4  # all three have two visits again: the first child of the first child


def test_selection_weighs_the_mean_cost_not_the_sum() -> None:
    # Node 1 has cost 6 in 3 visits, node 2 cost 3 in one.
    tree = built(2, [ROOT, 1, 3], {1: 2.0, 2: 3.0, 3: 2.0, 4: 9.0, 5: 2.0, 6: 9.0})
    assert tree.cost[1:3].tolist() == [6.0, 3.0]
    assert select(tree, 0.0) == 5  # below 1: 2 < 3


def test_more_exploration_favours_the_less_visited() -> None:
    tree = built(2, [ROOT, 1], {1: 1.0, 2: 1.5, 3: 1.0, 4: 1.0})
    # Means 1 and 1.5, visits 2 and 1 of 3: exploration c sqrt(ln 3 / 2) = 0.741 c against c sqrt(ln 3) = 1.048 c.
    even = 0.5 / (math.sqrt(math.log(3)) - math.sqrt(math.log(3) / 2))
    assert select(tree, even * 0.99) == 3
    assert select(tree, even * 1.01) == 2


def test_exploration_counts_the_visits_of_the_node_whose_children_are_compared() -> None:
    # Node 2 is bad, but the root visited it often. Below node 1 (3 visits) stand node 3 (2 visits, mean 0) and
    # node 4 (1 visit, mean 0.36). With exploration constant 1 the less visited one gains
    # sqrt(ln 3) - sqrt(ln 3 / 2) = 0.307 < 0.36; by the root's 8 visits it would gain 0.422 and be taken.
    tree = built(2, [ROOT, 1, 3, 2, 7, 8, 9], {2: 0.2, 4: 0.36})
    assert tree.visits[:5].tolist() == [8, 3, 5, 2, 1]
    assert tree.parent[[7, 8, 9]].tolist() == [2, 2, 7]
    assert select(tree, 1.0) == 5


def test_search_without_exploration_follows_the_best_action_down() -> None:
    tree = grown(LEVER, LEVER.priors, iterations=3, exp_const=0)
    assert tree.expanded.tolist() == [0, 2, 4]
    assert tree.visits.tolist() == [4, 1, 3, 1, 2, 1, 1]
    assert_allclose(tree.cost, [3 * GOOD, BAD, 3 * GOOD, BAD, 2 * GOOD, BAD, GOOD], rtol=1e-14)
    assert_allclose(tree.efe, [math.nan, BAD, GOOD, BAD, GOOD, BAD, GOOD], rtol=1e-14)


def test_search_with_much_exploration_visits_the_actions_in_turn() -> None:
    tree = grown(LEVER, LEVER.priors, iterations=4, exp_const=10)
    assert tree.expanded.tolist() == [0, 2, 1, 4]
    assert tree.visits[:5].tolist() == [5, 2, 3, 1, 2]
