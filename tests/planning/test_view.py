"""The tree to look at: every node tells where it stands, what it cost and what it would believe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import oracle
import pytest
from golden import own_figures, own_names
from hand_made import BAD, GOOD, LEVER, planned_root
from numpy.testing import assert_allclose, assert_array_equal
from spec import Spec

from btai.errors import PlanningError
from btai.planning import NumpyBackend, Tree, TreeView, new_tree, replay

CLOSE = 1e-12


def searched(spec: Spec, beliefs: Mapping[str, Any], iterations: int, exp_const: float) -> TreeView:
    view, _, _ = search_in_progress(spec, beliefs, iterations, exp_const)
    return view


def search_in_progress(
    spec: Spec, beliefs: Mapping[str, Any], iterations: int, exp_const: float, room: int | None = None
) -> tuple[TreeView, NumpyBackend, Tree]:
    ts = spec.build()
    tree = new_tree(spec.n_actions, room or iterations)
    backend = NumpyBackend(ts)
    backend.start(ts.state_layout.flat(beliefs))
    backend.search(tree, iterations, exp_const)
    return TreeView(ts, tree, beliefs, exp_const), backend, tree


@pytest.fixture
def lever() -> TreeView:
    """Nodes 0 -> 1, 2; 2 -> 3, 4; 1 -> 5, 6; 4 -> 7, 8."""
    return searched(LEVER, LEVER.priors, iterations=4, exp_const=10)


def test_nodes_know_their_place(lever: TreeView) -> None:
    assert [child.index for child in lever.root.children] == [1, 2]
    assert [child.index for child in lever[2].children] == [3, 4]
    assert lever[7].children == []
    assert lever[7].parent == lever[4]
    assert lever.root.parent is None
    assert lever[8].path == (1, 1, 1)
    assert lever[5].path == (0, 0)
    assert lever[6].path == (0, 1)
    assert lever.root.path == ()
    assert (lever.root.action, lever[7].action) == (-1, 0)


def test_nodes_know_what_they_cost(lever: TreeView) -> None:
    node = lever[2]
    assert node.visits == 3
    assert node.cost == pytest.approx(3 * GOOD, rel=1e-14)
    assert node.mean_cost == pytest.approx(GOOD, rel=1e-14)
    assert node.efe == pytest.approx(GOOD, rel=1e-14)
    assert lever[1].cost == pytest.approx(BAD + GOOD, rel=1e-14)
    assert lever.root.cost == pytest.approx(4 * GOOD, rel=1e-14)
    assert math.isnan(lever.root.efe)


def test_uct_of_a_node_is_seen_from_its_parent(lever: TreeView) -> None:
    node = lever[4]  # 2 visits of its parent's 3
    assert node.exploration == pytest.approx(10 * math.sqrt(math.log(3) / 2), rel=1e-14)
    assert node.uct == pytest.approx(-GOOD + 10 * math.sqrt(math.log(3) / 2), rel=1e-14)
    assert lever.root.exploration == 0
    assert lever.root.uct == pytest.approx(-4 * GOOD / 5, rel=1e-14)


@pytest.mark.parametrize("name", own_names())
def test_every_node_shows_what_the_oracle_computes_for_it(name: str) -> None:
    figures = own_figures(name)
    beliefs, _ = oracle.posteriors(figures.spec, figures.evidence)
    view = searched(figures.spec, beliefs, figures.iterations, figures.exp_const)
    expected, _ = oracle.replay(figures.spec, beliefs, view.expanded.tolist(), figures.exp_const)
    deepest_first = reversed(range(len(view)))  # predictions are made from the root down, whoever asks first
    for index in deepest_first:
        node, other = view[index], expected.nodes[index]
        assert node.path == actions_to(other)
        assert_same(node.beliefs, other.beliefs)
        if other.parent is None:
            continue
        energy = oracle.efe(figures.spec, other.beliefs)
        assert_same(node.predicted_observations, oracle.predict(figures.spec, other.parent.beliefs, other.action)[1])
        assert_same(node.risk, energy.risks)
        assert_same(node.ambiguity, energy.ambiguities)
        assert node.expected_free_energy.total == pytest.approx(energy.total, rel=0, abs=CLOSE)
        assert node.uct == pytest.approx(expected.uct(other), rel=0, abs=CLOSE)


def actions_to(node: oracle.Node) -> tuple[int, ...]:
    return () if node.parent is None else (*actions_to(node.parent), node.action)


def assert_same(actual: Mapping[Any, Any], expected: Mapping[Any, Any]) -> None:
    assert actual.keys() == expected.keys()
    for name in expected:
        assert_allclose(actual[name], expected[name], rtol=0, atol=CLOSE, err_msg=str(name))


@pytest.mark.parametrize("name", own_names())
def test_costs_of_nodes_are_bit_for_bit_those_of_the_search(name: str) -> None:
    figures = own_figures(name)
    beliefs, _ = oracle.posteriors(figures.spec, figures.evidence)
    for node in list(searched(figures.spec, beliefs, figures.iterations, figures.exp_const))[1:]:
        assert node.expected_free_energy.total == node.efe


@pytest.mark.parametrize("what", ["predicted_observations", "expected_free_energy", "risk", "ambiguity"])
def test_root_has_no_prediction(lever: TreeView, what: str) -> None:
    with pytest.raises(PlanningError, match="the root is the present slice: it has no prediction"):
        getattr(lever.root, what)


def test_prediction_of_the_root_is_refused_by_the_tree_too(lever: TreeView) -> None:
    with pytest.raises(PlanningError, match="look at its children"):
        lever.prediction(0)


@pytest.mark.parametrize("index", [-1, 9, 1000])
def test_node_that_is_not_there_is_refused(lever: TreeView, index: int) -> None:
    with pytest.raises(PlanningError, match=rf"node {index} was asked for; the tree has the nodes 0 to 8"):
        lever[index]


def test_tree_can_be_walked_node_by_node(lever: TreeView) -> None:
    assert len(lever) == 9
    assert [node.index for node in lever] == list(range(9))
    assert lever[lever.parent[7]] == lever[4]  # a number out of its own arrays will do


@pytest.mark.parametrize("name", ["parent", "action", "first_child", "visits", "cost", "efe", "expanded"])
def test_arrays_are_read_only(lever: TreeView, name: str) -> None:
    with pytest.raises(ValueError, match="read-only"):
        getattr(lever, name)[0] = 1


def test_view_stays_as_it_is_when_the_search_goes_on() -> None:
    view, backend, tree = search_in_progress(LEVER, LEVER.priors, iterations=4, exp_const=10, room=50)
    before = {name: getattr(view, name).copy() for name in ("visits", "cost", "first_child", "expanded")}
    backend.search(tree, 30, 10)
    assert tree.visits[0] == 35
    for name, array in before.items():
        assert_array_equal(getattr(view, name), array)
    assert view[7].children == []


def test_plan_is_the_most_visited_way_down(lever: TreeView) -> None:
    assert lever.plan == (1, 1, 1)
    assert searched(LEVER, LEVER.priors, iterations=1, exp_const=0).plan == (1,)


def test_plan_goes_by_visits_even_where_another_child_is_cheaper() -> None:
    tree = planned_root(visits=[2, 3, 1], costs=[0.0, 9.0, 0.0])
    assert TreeView(LEVER.build(), tree, LEVER.priors, 2.4).plan == (1,)


def test_plan_takes_the_cheaper_of_equally_visited_children_and_then_the_first() -> None:
    ties = own_figures("ties")  # three children with two visits each, of which the last two are better and equal
    beliefs, _ = oracle.posteriors(ties.spec, ties.evidence)
    assert searched(ties.spec, beliefs, ties.iterations, ties.exp_const).plan == (1, 1)


def test_plan_before_any_planning_is_empty() -> None:
    tree = new_tree(2, 1)
    assert TreeView(LEVER.build(), tree, LEVER.priors, 2.4).plan == ()


def test_deep_tree_can_be_looked_into() -> None:
    depth = 1500  # deeper than Python's stack
    always_second = replay(2, range(0, 2 * depth, 2), [0.0] * (1 + 2 * depth))
    deepest = TreeView(LEVER.build(), always_second, LEVER.priors, 2.4)[2 * depth]
    assert deepest.path == (1,) * depth
    assert_allclose(deepest.beliefs["S_0"], [0, 1])


def test_tree_and_nodes_can_be_read(lever: TreeView) -> None:
    assert repr(lever) == "TreeView: 9 nodes after 4 planning iterations"
    assert repr(lever[8]) == "Node 8: path (1, 1, 1), visits 1, mean cost 0.287682, efe 0.287682"
