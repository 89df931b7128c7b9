"""A search is rebuilt, state by state, from the nodes it expanded and their costs."""

from __future__ import annotations

from copy import deepcopy

import oracle
from hand_made import BAD, GOOD, LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from spec import Spec
from strategies import evidences, models

from btai.planning import ROOT, NumpyBackend, Tree, new_tree, replay

some = settings(max_examples=40)


def search_of(spec: Spec, data: st.DataObject, iterations: int) -> tuple[NumpyBackend, Tree]:
    """A search that is about to begin."""
    ts = spec.build()
    beliefs, _ = oracle.posteriors(spec, data.draw(evidences(spec)))
    backend = NumpyBackend(ts)
    backend.start(ts.state_layout.flat(beliefs))
    return backend, new_tree(spec.n_actions, iterations)


def assert_equal_bit_for_bit(tree: Tree, nodes: int, other: Tree) -> None:
    """The two hold the same first so many nodes and as many iterations."""
    assert_array_equal(tree.counts, other.counts)
    assert_array_equal(tree.expanded[: tree.counts[1]], other.expanded[: tree.counts[1]])
    for name in ("parent", "action", "first_child", "visits", "cost", "efe"):
        # assert_array_equal compares exactly and takes two nans (the root's own cost) as equal
        assert_array_equal(getattr(tree, name)[:nodes], getattr(other, name)[:nodes], err_msg=name)


@some
@given(models(max_states=2, max_observations=3, max_size=3), st.integers(1, 10), st.data())
def test_replay_rebuilds_every_state_of_a_search(spec: Spec, iterations: int, data: st.DataObject) -> None:
    backend, tree = search_of(spec, data, iterations)
    states = []
    for _ in range(iterations):
        backend.search(tree, 1, 2.4)
        states.append(deepcopy(tree))
    for i, state in enumerate(states, start=1):
        again = replay(spec.n_actions, tree.expanded, tree.efe, iterations=i)
        assert_equal_bit_for_bit(again, 1 + i * spec.n_actions, state)
    everything = replay(spec.n_actions, tree.expanded, tree.efe)
    assert_equal_bit_for_bit(everything, len(tree.visits), tree)


def test_replay_takes_plain_lists() -> None:
    tree = replay(2, [0, 2, 1, 4], [float("nan"), BAD, GOOD, BAD, GOOD, BAD, GOOD, BAD, GOOD])
    assert tree.visits.tolist() == [5, 2, 3, 1, 2, 1, 1, 1, 1]
    assert_allclose(tree.cost[:3], [4 * GOOD, BAD + GOOD, 3 * GOOD], rtol=1e-14)


def test_replay_of_no_iterations_is_the_bare_root() -> None:
    for tree in (replay(2, [], []), replay(2, [0], [0.0, 1.0, 1.0], iterations=0)):
        assert tree.counts.tolist() == [1, 0]
        assert tree.visits.tolist() == [1]
        assert tree.cost.tolist() == [0.0]


def test_replay_continues_from_the_visits_and_cost_the_root_began_with() -> None:
    tree = replay(2, [ROOT, 1], [0.0, 1.0, 2.0, 3.0, 4.0], visits=7, cost=10.0)
    assert tree.visits.tolist() == [9, 2, 1, 1, 1]
    assert tree.cost.tolist() == [10 + 1 + 3, 1 + 3, 2, 3, 4]


def test_replay_leaves_what_it_reads_as_it_is() -> None:
    ts = LEVER.build()
    backend, tree = NumpyBackend(ts), new_tree(2, 5)
    backend.start(ts.state_layout.flat(LEVER.priors))
    backend.search(tree, 5, 2.4)
    expanded, efe = tree.expanded.copy(), tree.efe.copy()
    again = replay(2, tree.expanded, tree.efe)
    again.efe[:], again.expanded[:] = 0, 0
    assert_array_equal(tree.expanded, expanded)
    assert_array_equal(tree.efe, efe)
