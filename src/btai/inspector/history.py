"""A search, ready to be scrubbed through: every state it went through, by looking up."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.agents.options import Options
from btai.inference import ExpectedFreeEnergy
from btai.planning import NO_NODE, ROOT, Tree, new_tree
from btai.planning.choose import best_action
from btai.planning.search import propagate
from btai.planning.tree import ITERATIONS, NODES

__all__ = ["SearchHistory", "Written"]

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


class Written(NamedTuple):
    """What a history has written down of N iterations with A actions."""

    expanded: Ints  # [N] the node that each iteration expanded
    efe: Floats  # [1 + N A] each node's expected free energy, NaN at the root
    path_nodes: Ints  # the paths of all iterations end to end, each from the expanded node up to the root
    path_costs: Floats  # the cost of these nodes after the iteration
    path_ends: Ints  # [1 + N] where the path of each iteration ends; 0 first
    best: Ints  # [N] the action that would be chosen after each iteration
    root_visits: Ints  # [N, A] of the root's children after each iteration
    root_costs: Floats  # [N, A] likewise


class SearchHistory:
    """What each planning iteration did to the tree.

    An iteration changes the cost of the nodes on one path only, from the node it expands up to the root. So the costs
    on these paths, written down once, give any iteration by looking up. They are those that the search's own
    `propagate` leaves behind; it runs over Python lists here, which, touched number by number, are several times
    faster than arrays.

    Args:
        n_actions: the number of actions A.
        options: of the agent that searched.
        visits, cost: what the root began with.
    """

    def __init__(self, n_actions: int, options: Options, visits: int = 1, cost: float = 0.0) -> None:
        self.n_actions = n_actions
        self.root = visits, cost
        self._by_visits = options.action_selection == "most_visited"
        self._by_cost = not self._by_visits or options.ties == "cost"  # with "softmax": the likeliest action
        self._lists = _Lists()
        self._tree: Any = SimpleNamespace(  # what `propagate` and `best_action` look at
            n_actions=n_actions, parent=[NO_NODE], visits=[visits], cost=[cost], efe=self._lists.efe, first_child=[1]
        )
        self._arrays: Written | None = None
        self.slices: dict[int, ExpectedFreeEnergy] = {}  # of the nodes that were looked at, at whatever iteration

    @property
    def iterations(self) -> int:
        """How many planning iterations are written down."""
        return len(self._lists.expanded)

    @property
    def written(self) -> Written:
        """All that is written down."""
        if self._arrays is None:
            self._arrays = self._lists.arrays(self.n_actions)
        return self._arrays

    def extend(self, expanded: Ints, efe: Floats) -> None:
        """Take in the search as far as it has got: the node each iteration expanded, and the efe of every node."""
        tree, actions, known = self._tree, self.n_actions, self.iterations
        costs = efe[len(tree.efe) :].tolist()
        tree.parent += np.repeat(expanded[known:], actions).tolist()
        tree.visits += [1] * len(costs)
        tree.cost += costs
        tree.efe += costs
        for iteration, node in enumerate(expanded[known:].tolist(), known):
            propagate(tree, node, 1 + iteration * actions)
            self._write_down(node)
        self._arrays = None

    def tree(self, iteration: int) -> Tree:
        """The tree after so many planning iterations, `0 .. N`."""
        tree, written, actions = new_tree(self.n_actions, iteration, *self.root), self.written, self.n_actions
        done = written.path_ends[iteration]
        touched = written.path_nodes[:done]
        tree.counts[NODES], tree.counts[ITERATIONS] = len(tree.visits), iteration
        tree.expanded[:] = written.expanded[:iteration]
        tree.parent[1:] = np.repeat(tree.expanded, actions)
        tree.action[1:] = np.tile(np.arange(actions), iteration)
        tree.first_child[:] = NO_NODE
        tree.first_child[tree.expanded] = 1 + actions * np.arange(iteration)
        tree.efe[1:] = tree.cost[1:] = written.efe[1 : len(tree.efe)]
        tree.cost[touched] = written.path_costs[:done]  # of a node that occurs again and again, the last cost stays
        tree.visits[1:] = 1
        tree.visits[:] += np.bincount(touched, minlength=len(tree.visits)).astype(np.int32)
        return tree

    def plans(self) -> list[tuple[int, list[int]]]:
        """The nodes of the best path, and the iteration from which on it is that: `TreeView.plan` of every moment."""
        written, actions = self.written, self.n_actions
        nodes, ends = written.path_nodes.tolist(), written.path_ends.tolist()
        costs, efe = written.path_costs.tolist(), written.efe.tolist()
        visits, cost = [1] * len(efe), list(efe)
        first_child = [NO_NODE] * len(efe)
        plans: list[tuple[int, list[int]]] = []
        for iteration, expanded in enumerate(written.expanded.tolist()):
            first_child[expanded] = 1 + iteration * actions
            for place in range(ends[iteration], ends[iteration + 1]):
                visits[nodes[place]] += 1
                cost[nodes[place]] = costs[place]
            plan = [ROOT]
            while (first := first_child[plan[-1]]) != NO_NODE:
                children = range(first, first + actions)
                plan.append(max(children, key=lambda child: (visits[child], -cost[child] / visits[child])))
            if not plans or plans[-1][1] != plan:
                plans.append((1 + iteration, plan))
        return plans

    def best_at(self, iteration: int) -> int | None:
        """The action that would be chosen after so many iterations; none before the first."""
        return self._lists.best[iteration - 1] if iteration else None

    def _write_down(self, node: int) -> None:
        """What the iteration that expanded `node` has just left behind."""
        tree, lists, actions = self._tree, self._lists, self.n_actions
        lists.expanded.append(node)
        while node != NO_NODE:
            lists.path_nodes.append(node)
            lists.path_costs.append(tree.cost[node])
            node = tree.parent[node]
        lists.path_ends.append(len(lists.path_nodes))
        lists.best.append(best_action(tree, self._by_visits, self._by_cost))
        lists.root_visits += tree.visits[1 : 1 + actions]
        lists.root_costs += tree.cost[1 : 1 + actions]


@dataclass
class _Lists:
    """The fields of `Written` while they grow."""

    expanded: list[int] = field(default_factory=list)
    efe: list[float] = field(default_factory=lambda: [np.nan])
    path_nodes: list[int] = field(default_factory=list)
    path_costs: list[float] = field(default_factory=list)
    path_ends: list[int] = field(default_factory=lambda: [0])
    best: list[int] = field(default_factory=list)
    root_visits: list[int] = field(default_factory=list)
    root_costs: list[float] = field(default_factory=list)

    def arrays(self, n_actions: int) -> Written:
        """The same as arrays."""
        return Written(
            expanded=np.array(self.expanded, np.int32),
            efe=np.array(self.efe),
            path_nodes=np.array(self.path_nodes, np.int32),
            path_costs=np.array(self.path_costs),
            path_ends=np.array(self.path_ends, np.int32),
            best=np.array(self.best, np.int32),
            root_visits=np.array(self.root_visits, np.int32).reshape(-1, n_actions),
            root_costs=np.array(self.root_costs).reshape(-1, n_actions),
        )
