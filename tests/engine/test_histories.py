"""Histories that the nodes of a tree share: each is predicted once, and what memory held before does not show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, given, settings
from numpy.testing import assert_array_equal
from spec import Spec
from strategies import models

from btai.engine import Model, Program, Workspace, begin, compile, new_workspace
from btai.planning import Tree, new_tree
from btai.planning.kernels import search

ITERATIONS = 12
some = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Searched(NamedTuple):
    program: Program
    work: Workspace
    tree: Tree


def searched(spec: Spec, junk: int = 0) -> Searched:
    """A search from the declared priors, in memory that `junk` has been written all over."""
    ts = spec.build()
    program = compile(ts)
    work, tree = new_workspace(program, ITERATIONS), new_tree(spec.n_actions, ITERATIONS)
    for array in (work.rows, work.children, work.used, work.history, work.bases, work.addresses, work.scratch):
        array.fill(junk)
    begin(program.parts, ts.state_layout.flat(spec.priors), work)
    search(tree, Model(program.ops, program.parts, work), ITERATIONS, 2.0)
    return Searched(program, work, tree)


def paths(tree: Tree) -> list[tuple[int, ...]]:
    """The actions that lead to each node."""
    found: list[tuple[int, ...]] = [()]
    for parent, action in zip(tree.parent[1:], tree.action[1:], strict=True):
        found.append((*found[parent], int(action)))
    return found


@some
@given(models(max_states=4, max_observations=3, max_size=3, max_actions=4))
def test_each_history_of_what_acts_alike_is_predicted_once(spec: Spec) -> None:
    program, work, tree = searched(spec)
    for component, used in zip(program.structure.components, work.used, strict=True):
        assert used == len({tuple(component.class_of[action] for action in path) for path in paths(tree)})


@some
@given(models(max_states=4, max_observations=3, max_size=3, max_actions=4))
def test_a_search_does_not_depend_on_what_lay_in_its_memory(spec: Spec) -> None:
    clean, dirty = searched(spec), searched(spec, junk=1)
    assert_array_equal(dirty.tree.efe, clean.tree.efe)
    assert_array_equal(dirty.tree.expanded, clean.tree.expanded)
    assert np.isfinite(clean.tree.efe[1:]).all()
