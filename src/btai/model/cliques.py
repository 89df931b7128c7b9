"""The structure of exact inference: is the factor graph a forest, and if not, which tables does elimination need?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from btai.errors import CliqueTooLargeError

__all__ = ["MAX_CLIQUE_ENTRIES", "BucketTree", "check_cliques", "is_forest", "plan_buckets"]

MAX_CLIQUE_ENTRIES = 2**24
ROOT = -1


@dataclass(frozen=True)
class BucketTree:
    """A junction tree with one clique ("bucket") per variable, in the order of elimination.

    Bucket `i` holds variable `scopes[i][0]` and all its neighbours that were eliminated later; `parents[i]` is the
    bucket that receives its message (always a later one), or `ROOT`. Summing the first variable out of a bucket
    leaves a table over `scopes[i][1:]`, and all of those stand in the scope of the parent.
    """

    scopes: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    entries: tuple[int, ...]

    def home(self, scope: Sequence[int]) -> int:
        """The first bucket whose scope holds all of `scope`: where a factor over `scope` is multiplied in."""
        return min(self.bucket_of(variable) for variable in scope)

    def bucket_of(self, variable: int) -> int:
        """The bucket that eliminates `variable`."""
        return next(i for i, scope in enumerate(self.scopes) if scope[0] == variable)


def is_forest(n_variables: int, scopes: Sequence[Sequence[int]]) -> bool:
    """Whether the factor graph of `n_variables` variables and factors over `scopes` has no loop."""
    root = list(range(n_variables))

    def find(variable: int) -> int:
        while root[variable] != variable:
            root[variable] = root[root[variable]]
            variable = root[variable]
        return variable

    for scope in scopes:
        trees = {find(variable) for variable in scope}
        if len(trees) < len(scope):  # two variables of this factor are connected already: a loop
            return False
        for tree in trees:
            root[tree] = find(scope[0])
    return True


def plan_buckets(sizes: Sequence[int], scopes: Sequence[Sequence[int]]) -> BucketTree:
    """Eliminate the variables by min-fill (then by the smaller table, then by index).

    Only structure is computed: no table is allocated, so a model whose cliques are too large can be refused first.
    """
    neighbours: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        for variable in scope:
            neighbours[variable].update(set(scope) - {variable})

    order: list[tuple[int, set[int]]] = []
    remaining = set(range(len(sizes)))
    while remaining:
        chosen = min(remaining, key=lambda v: (_fill(v, neighbours), prod(sizes[u] for u in neighbours[v]), v))
        clique = set(neighbours[chosen])
        order.append((chosen, clique))
        remaining.remove(chosen)
        for variable in clique:
            neighbours[variable] |= clique - {variable}
            neighbours[variable].discard(chosen)

    rank = {variable: i for i, (variable, _) in enumerate(order)}
    ranked = [(variable, *sorted(rest, key=rank.__getitem__)) for variable, rest in order]
    return BucketTree(
        scopes=tuple(ranked),
        parents=tuple(rank[scope[1]] if len(scope) > 1 else ROOT for scope in ranked),
        entries=tuple(prod(sizes[v] for v in scope) for scope in ranked),
    )


def check_cliques(tree: BucketTree, names: Sequence[str], limit: int, fix: str) -> None:
    """No table of the junction tree has more than `limit` entries; `fix` tells what to do if one has."""
    largest = max(tree.entries)
    if largest > limit:
        clique = ", ".join(names[v] for v in tree.scopes[tree.entries.index(largest)])
        raise CliqueTooLargeError(
            f"exact inference needs a joint table over ({clique}) with {largest:,} entries"
            f" ({8 * largest // 2**20:,} MiB); the limit is {limit:,}. {fix}"
        )


def _fill(variable: int, neighbours: Sequence[set[int]]) -> int:
    """How many edges eliminating `variable` would add between its neighbours (counted twice)."""
    around = neighbours[variable]
    return sum(len(around - neighbours[u]) - 1 for u in around)
