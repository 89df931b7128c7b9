"""Plans the I-step: the junction tree's tables and the maps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from btai.engine.flat import Shorts, floats, ints, shorts, starts
from btai.engine.program import Cliques
from btai.model import BucketTree, TemporalSlice, plan_buckets

__all__ = ["InferencePlan", "lay_out_cliques", "no_cliques", "plan_inference"]

NO_PARENT = -1


@dataclass(frozen=True)
class InferencePlan:
    """The structure of exact inference, for any evidence: nothing large is allocated yet."""

    sizes: tuple[int, ...]  # of the states
    scopes: tuple[tuple[int, ...], ...]  # the parents of each observation, by the states' numbers
    tree: BucketTree
    homes: tuple[int, ...]  # [observations]: the bucket into which its likelihood is multiplied

    @property
    def nbytes(self) -> int:
        """A table takes 8 bytes an entry; a map into a bucket, from a message or a likelihood, 4 bytes an entry."""
        receivers = [parent for parent in self.tree.parents if parent != NO_PARENT] + list(self.homes)
        return 8 * sum(self.tree.entries) + 4 * sum(self.tree.entries[i] for i in receivers)


def plan_inference(ts: TemporalSlice) -> InferencePlan:
    """Which tables the junction tree of `ts` has."""
    index = {name: i for i, name in enumerate(ts.states)}
    sizes = tuple(s.size for s in ts.states.values())
    scopes = tuple(tuple(index[p] for p in o.parents) for o in ts.observations.values())
    tree = plan_buckets(sizes, scopes)
    return InferencePlan(sizes, scopes, tree, tuple(tree.home(scope) for scope in scopes))


def lay_out_cliques(ts: TemporalSlice, plan: InferencePlan) -> Cliques:
    """The schedule of exact inference."""
    sizes, tree = plan.sizes, plan.tree
    links = [(tree.scopes[parent], tree.scopes[i][1:]) for i, parent in enumerate(tree.parents) if parent != NO_PARENT]
    maps = [_map(onto, scope, sizes) for onto, scope in links]
    home_maps = [_map(tree.scopes[home], scope, sizes) for home, scope in zip(plan.homes, plan.scopes, strict=True)]
    map_starts = starts(len(m) for m in [*maps, *home_maps])
    next_start = iter(map_starts.tolist())
    likelihoods = [o.likelihood for o in ts.observations.values()]
    return Cliques(
        state=ints(scope[0] for scope in tree.scopes),
        size=ints(sizes[scope[0]] for scope in tree.scopes),
        rest=ints(n // sizes[scope[0]] for n, scope in zip(tree.entries, tree.scopes, strict=True)),
        start=starts(tree.entries)[:-1],
        parent=ints(tree.parents),
        map_start=ints(0 if parent == NO_PARENT else next(next_start) for parent in tree.parents),
        likelihood_start=starts(table.size for table in likelihoods)[:-1],
        likelihoods=floats(likelihoods),
        home=ints(plan.homes),
        configurations=ints(table.size // len(table) for table in likelihoods),
        home_map_start=map_starts[len(maps) : -1],
        maps=shorts([*maps, *home_maps]),
    )


def no_cliques(ts: TemporalSlice) -> Cliques:
    """An empty schedule, for a slice whose I-step is left to loopy propagation."""
    none = ints(())
    zeros = np.zeros(len(ts.observations), np.int64)
    return Cliques(
        state=none,
        size=none,
        rest=none,
        start=none,
        parent=none,
        map_start=none,
        likelihood_start=zeros,
        likelihoods=floats(()),
        home=zeros,
        configurations=zeros,
        home_map_start=zeros,
        maps=shorts(()),
    )


def _map(onto: Sequence[int], scope: Sequence[int], sizes: Sequence[int]) -> Shorts:
    """For each entry of a table over the variables `onto`, the entry of a table over `scope` that it agrees with."""
    entries = np.arange(prod(sizes[v] for v in scope), dtype=np.uint32).reshape([sizes[v] for v in scope])
    order = sorted(range(len(scope)), key=lambda axis: onto.index(scope[axis]))
    spread = entries.transpose(order).reshape([sizes[v] if v in scope else 1 for v in onto])
    return np.broadcast_to(spread, [sizes[v] for v in onto]).ravel()
