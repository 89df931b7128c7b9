"""The plan of exact inference: loops are seen, min-fill builds a lawful bucket tree, too large a table is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from spec import Spec
from strategies import models

from btai.errors import CliqueTooLargeError
from btai.model import BucketTree, TemporalSliceBuilder, check_cliques, is_forest, plan_buckets

quick = settings(max_examples=100)

ROOT = -1
Scopes = list[tuple[int, ...]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], Scopes]:
    """The sizes of 1 to 9 variables, and up to 12 factors over 1 to 4 of them in any order."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=9))
    scope = st.permutations(range(len(sizes))).flatmap(
        lambda order: st.integers(1, min(4, len(order))).map(lambda n: tuple(order[:n]))
    )
    return sizes, draw(st.lists(scope, max_size=12))


def components(edges: Sequence[tuple[object, object]], nodes: Sequence[object]) -> int:
    """How many connected parts a graph has, by spreading the smallest label."""
    label = {node: i for i, node in enumerate(nodes)}
    for _ in nodes:
        for a, b in edges:
            label[a] = label[b] = min(label[a], label[b])
    return len(set(label.values()))


@quick
@given(graphs())
def test_forest_has_as_many_edges_as_nodes_less_parts(graph: tuple[list[int], Scopes]) -> None:
    sizes, scopes = graph
    nodes: list[object] = [*range(len(sizes)), *(f"f{i}" for i in range(len(scopes)))]
    edges: list[tuple[object, object]] = [(f"f{i}", v) for i, scope in enumerate(scopes) for v in scope]
    assert is_forest(len(sizes), scopes) == (len(edges) == len(nodes) - components(edges, nodes))


@quick
@given(models())
def test_loops_of_a_model_are_seen(spec: Spec) -> None:
    index = {name: i for i, name in enumerate(spec.priors)}
    scopes = [[index[parent] for parent in factor.parents] for factor in spec.likelihoods.values()]
    assert is_forest(len(index), scopes) != spec.has_loops


# --- bucket trees -------------------------------------------------------------------------------------


def ancestors(tree: BucketTree, bucket: int) -> list[int]:
    """The bucket itself and all above it."""
    return [bucket] if tree.parents[bucket] == ROOT else [bucket, *ancestors(tree, tree.parents[bucket])]


@quick
@given(graphs())
def test_every_variable_is_eliminated_once_and_reports_to_a_later_bucket(graph: tuple[list[int], Scopes]) -> None:
    sizes, scopes = graph
    tree = plan_buckets(sizes, scopes)
    assert sorted(scope[0] for scope in tree.scopes) == list(range(len(sizes)))
    for i, scope in enumerate(tree.scopes):
        assert tree.bucket_of(scope[0]) == i
        assert (tree.parents[i] == ROOT) == (len(scope) == 1)
        assert tree.parents[i] == ROOT or tree.parents[i] > i


@quick
@given(graphs())
def test_message_of_a_bucket_fits_its_parent_in_the_same_order(graph: tuple[list[int], Scopes]) -> None:
    tree = plan_buckets(*graph)
    for scope, parent in zip(tree.scopes, tree.parents, strict=True):
        if parent != ROOT:
            assert [v for v in tree.scopes[parent] if v in scope] == list(scope[1:])


@quick
@given(graphs())
def test_buckets_that_hold_a_variable_hang_together(graph: tuple[list[int], Scopes]) -> None:
    sizes, scopes = graph
    tree = plan_buckets(sizes, scopes)
    for variable in range(len(sizes)):
        top = tree.bucket_of(variable)
        for i, scope in enumerate(tree.scopes):
            if variable in scope:
                path = ancestors(tree, i)
                assert top in path
                assert all(variable in tree.scopes[j] for j in path[: path.index(top) + 1])


@quick
@given(graphs())
def test_every_factor_has_a_home_that_holds_all_its_variables(graph: tuple[list[int], Scopes]) -> None:
    sizes, scopes = graph
    tree = plan_buckets(sizes, scopes)
    for scope in scopes:
        assert set(scope) <= set(tree.scopes[tree.home(scope)])


@quick
@given(graphs())
def test_entries_are_counted(graph: tuple[list[int], Scopes]) -> None:
    sizes, scopes = graph
    tree = plan_buckets(sizes, scopes)
    assert list(tree.entries) == [math.prod(sizes[v] for v in scope) for scope in tree.scopes]


@quick
@given(graphs())
def test_variable_that_adds_fewest_edges_goes_first_then_the_smaller_table_then_the_index(
    graph: tuple[list[int], Scopes],
) -> None:
    sizes, scopes = graph
    tree = plan_buckets(sizes, scopes)
    edges = {frozenset(pair) for scope in scopes for pair in itertools.combinations(scope, 2)}
    left = set(range(len(sizes)))

    def around(v: int) -> list[int]:
        return [u for u in sorted(left) if frozenset((u, v)) in edges]

    def missing(v: int) -> set[frozenset[int]]:
        return {frozenset(pair) for pair in itertools.combinations(around(v), 2)} - edges

    for scope in tree.scopes:
        best = min(left, key=lambda v: (len(missing(v)), math.prod(sizes[u] for u in around(v)), v))
        assert scope[0] == best
        assert sorted(scope[1:]) == around(best)
        edges |= missing(best)
        left.remove(best)


@quick
@given(models(loops=False))
def test_without_loops_no_table_is_larger_than_what_one_observation_needs(spec: Spec) -> None:
    index = {name: i for i, name in enumerate(spec.priors)}
    scopes = [tuple(index[parent] for parent in factor.parents) for factor in spec.likelihoods.values()]
    tree = plan_buckets([len(prior) for prior in spec.priors.values()], scopes)
    alone = [{i} for i in index.values()]
    assert all(any(set(scope) <= set(need) for need in [*scopes, *alone]) for scope in tree.scopes)


def test_ring_of_four_is_cut_into_two_triangles() -> None:
    tree = plan_buckets([2, 2, 2, 2], [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert tree.scopes == ((0, 1, 3), (1, 2, 3), (2, 3), (3,))
    assert tree.parents == (1, 2, 3, ROOT)
    assert tree.entries == (8, 8, 4, 2)


def test_what_hangs_together_already_goes_before_what_has_fewer_neighbours() -> None:
    # Four variables in one factor, and a detour 3 - 4 - 5 - 0: variable 1 has three neighbours but adds no edge,
    # variable 4 has two and would add one.
    tree = plan_buckets([2] * 6, [(0, 1, 2, 3), (3, 4), (4, 5), (5, 0)])
    assert tree.scopes == ((1, 2, 0, 3), (2, 0, 3), (0, 3, 5), (3, 4, 5), (4, 5), (5,))


# --- the limit ----------------------------------------------------------------------------------------


def test_clique_of_forty_states_is_refused_before_anything_is_allocated(crowd: TemporalSliceBuilder) -> None:
    names = ", ".join(f"S_{i}" for i in range(40))
    message = (
        rf"^exact inference needs a joint table over \({names}\) with 1,099,511,627,776 entries \(8,388,608 MiB\);"
        r" the limit is 16,777,216\. Use build\(inference='loopy'\) .*or raise max_clique\.$"
    )
    with pytest.raises(CliqueTooLargeError, match=message):
        crowd.build()


def test_clique_of_forty_states_is_no_matter_for_loopy_propagation(crowd: TemporalSliceBuilder) -> None:
    assert crowd.build(inference="loopy").inference == "loopy"


@pytest.fixture(scope="module")
def crowd() -> TemporalSliceBuilder:
    """Forty states of two values, each pair of them seen together."""
    builder = TemporalSliceBuilder("A_0", 1)
    for i in range(40):
        builder.add_state(f"S_{i}", [0.5, 0.5]).add_transition(f"S_{i}", np.eye(2), [f"S_{i}"])
    for i, j in itertools.combinations(range(40), 2):
        builder.add_observation(f"O_{i}_{j}", np.full((2, 2, 2), 0.5), [f"S_{i}", f"S_{j}"])
    return builder


def test_table_may_be_as_large_as_the_limit_but_no_larger() -> None:
    builder = (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_a", [0.5, 0.5])
        .add_state("S_b", [0.25, 0.25, 0.5])
        .add_transition("S_a", np.eye(2), ["S_a"])
        .add_transition("S_b", np.eye(3), ["S_b"])
        .add_observation("O_x", np.full((2, 2, 3), 0.5), ["S_a", "S_b"])
    )
    builder.build(max_clique=6)
    with pytest.raises(CliqueTooLargeError, match=r"over \(S_b, S_a\) with 6 entries \(0 MiB\); the limit is 5\."):
        builder.build(max_clique=5)


def test_number_of_entries_may_be_beyond_every_machine_number() -> None:
    tree = BucketTree(scopes=((0, 1), (1,)), parents=(1, ROOT), entries=(10**400, 10**200))
    with pytest.raises(CliqueTooLargeError, match=r"over \(S_a, S_b\) with 10(,000){133} entries .* Less\.$"):
        check_cliques(tree, ["S_a", "S_b"], 2**24, "Less.")
