"""The tree's memory: a root with room, which grows without changing what it holds."""

from __future__ import annotations

import pytest
from numpy.testing import assert_array_equal

from btai.planning import NO_NODE, ROOT, Tree, grown_tree, new_tree, replay


def filled() -> Tree:
    """Two iterations of two actions, without room for a third."""
    return replay(2, [0, 2], [float("nan"), 1.0, 0.5, 0.25, 0.75])


def test_new_tree_is_one_root_with_room_for_every_iteration() -> None:
    tree = new_tree(n_actions=3, iterations=4)
    assert len(tree.visits) == len(tree.cost) == len(tree.efe) == 1 + 4 * 3
    assert len(tree.expanded) == 4
    assert tree.counts.tolist() == [1, 0]
    assert tree.parent[ROOT] == tree.action[ROOT] == tree.first_child[ROOT] == NO_NODE


def test_new_tree_takes_the_visits_and_cost_of_its_root() -> None:
    tree = new_tree(2, 1, visits=5, cost=1.5)
    assert (tree.visits[ROOT], tree.cost[ROOT]) == (5, 1.5)


def test_tree_with_enough_room_stays_the_same_object() -> None:
    tree = new_tree(2, 3)
    assert grown_tree(tree, 3) is tree


@pytest.mark.parametrize(("more", "room"), [(1, 4), (2, 4), (3, 5), (100, 102)])
def test_growing_at_least_doubles_the_room(more: int, room: int) -> None:
    assert len(grown_tree(filled(), more).expanded) == room


def test_growing_keeps_what_the_tree_holds() -> None:
    tree = filled()
    larger = grown_tree(tree, 1)
    assert larger.n_actions == 2
    assert larger.counts.tolist() == [5, 2]
    for name in Tree._fields[2:]:
        kept = getattr(tree, name)
        assert_array_equal(getattr(larger, name)[: len(kept)], kept, err_msg=name)
