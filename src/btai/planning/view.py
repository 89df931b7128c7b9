"""A search tree to look at: arrays by node, and nodes with their beliefs and costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import PlanningError
from btai.inference import Beliefs, ExpectedFreeEnergy, Prediction, expected_free_energy, p_step
from btai.model import TemporalSlice
from btai.notebook import Html
from btai.planning.tree import ITERATIONS, NO_NODE, NODES, ROOT, Tree

__all__ = ["Node", "TreeView"]

Vector = NDArray[np.float64]
Predict = Callable[[Mapping[str, Vector], int], Prediction]


class TreeView:
    """The tree as it was when it was asked for, read-only: `visits`, `cost`, `efe`, `parent`, `action` of every node
    `[nodes]`, in order of creation, and `expanded`, the node that each planning iteration expanded `[iterations]`.

    It stays as it is when planning goes on. Beliefs are not kept by the search: a node predicts its own from the
    root's when somebody looks, by `predict(beliefs of its parent, action)`; the P-step, if absent. What was looked at
    is kept in `slices`, by node. A node keeps its number while the search goes on, so views of one search at several
    moments may share them.
    """

    def __init__(
        self,
        ts: TemporalSlice,
        tree: Tree,
        beliefs: Mapping[str, Vector],
        exp_const: float,
        predict: Predict | None = None,
        slices: dict[int, ExpectedFreeEnergy] | None = None,
    ) -> None:
        nodes = int(tree.counts[NODES])
        self.ts = ts
        self.exp_const = exp_const
        self.n_actions = tree.n_actions
        self.parent = _snapshot(tree.parent, nodes)
        self.action = _snapshot(tree.action, nodes)
        self.first_child = _snapshot(tree.first_child, nodes)
        self.visits = _snapshot(tree.visits, nodes)
        self.cost = _snapshot(tree.cost, nodes)
        self.efe = _snapshot(tree.efe, nodes)
        self.expanded = _snapshot(tree.expanded, int(tree.counts[ITERATIONS]))
        self._root_beliefs = Beliefs(ts, dict(beliefs))
        self._predict = predict or partial(p_step, ts)
        self._slices = {} if slices is None else slices

    def __len__(self) -> int:
        return len(self.visits)

    def __getitem__(self, index: int) -> Node:
        if not 0 <= index < len(self):
            raise PlanningError(f"node {index} was asked for; the tree has the nodes 0 to {len(self) - 1}.")
        return Node(self, int(index))

    def __iter__(self) -> Iterator[Node]:
        return (Node(self, index) for index in range(len(self)))

    @property
    def root(self) -> Node:
        """The present slice."""
        return Node(self, ROOT)

    @property
    def plan(self) -> tuple[int, ...]:
        """The actions the search likes best: child by child the most visited, of equals the cheaper, to a leaf."""
        return self.root.plan

    def beliefs(self, index: int) -> Beliefs:
        """The beliefs over the states of node `index`."""
        return self._root_beliefs if index == ROOT else self.prediction(index).states

    def prediction(self, index: int) -> Prediction:
        """What is predicted for node `index`, which is not the root."""
        return self.expected_free_energy(index).prediction

    def expected_free_energy(self, index: int) -> ExpectedFreeEnergy:
        """What node `index`, which is not the root, is expected to cost, with what is predicted for it."""
        if index == ROOT:
            raise PlanningError(
                "the root is the present slice: it has no prediction and no expected free energy; look at its children."
            )
        path = [index]
        while path[-1] not in self._slices and self.parent[path[-1]] != ROOT:
            path.append(int(self.parent[path[-1]]))
        for node in reversed(path):
            if node not in self._slices:
                before = self.beliefs(int(self.parent[node]))
                prediction = self._predict(before, int(self.action[node]))
                self._slices[node] = expected_free_energy(self.ts, prediction)
        return self._slices[index]

    def __repr__(self) -> str:
        return f"TreeView: {len(self)} nodes after {len(self.expanded)} planning iterations"

    def _repr_html_(self) -> Html:
        from btai.planning.show import tree_as_html

        return tree_as_html(self)


@dataclass(frozen=True)
class Node:
    """One node of a tree."""

    tree: TreeView
    index: int

    @property
    def parent(self) -> Node | None:
        """The node before, or `None` for the root."""
        parent = int(self.tree.parent[self.index])
        return None if parent == NO_NODE else Node(self.tree, parent)

    @property
    def children(self) -> list[Node]:
        """One node per action; empty for a leaf."""
        first = int(self.tree.first_child[self.index])
        return [] if first == NO_NODE else [Node(self.tree, first + a) for a in range(self.tree.n_actions)]

    @property
    def action(self) -> int:
        """The action that leads here; -1 for the root."""
        return int(self.tree.action[self.index])

    @property
    def path(self) -> tuple[int, ...]:
        """The actions from the root to here."""
        actions = []
        node: Node | None = self
        while node is not None and node.index != ROOT:
            actions.append(node.action)
            node = node.parent
        return tuple(reversed(actions))

    @property
    def plan(self) -> tuple[int, ...]:
        """The actions the search likes best from here on, as `TreeView.plan` those from the root on."""
        node = self
        while children := node.children:
            node = max(children, key=lambda child: (child.visits, -child.mean_cost))
        return node.path[len(self.path) :]

    @property
    def visits(self) -> int:
        """How often the search passed through."""
        return int(self.tree.visits[self.index])

    @property
    def cost(self) -> float:
        """The aggregated cost G^aggr."""
        return float(self.tree.cost[self.index])

    @property
    def mean_cost(self) -> float:
        """Aggregated cost per visit."""
        return self.cost / self.visits

    @property
    def efe(self) -> float:
        """The node's own expected free energy as the search used it; nan for the root."""
        return float(self.tree.efe[self.index])

    @property
    def exploration(self) -> float:
        """The second term of the UCT criterion (eq:UCT), seen from the parent."""
        parent = self.parent
        return 0.0 if parent is None else self.tree.exp_const * math.sqrt(math.log(parent.visits) / self.visits)

    @property
    def uct(self) -> float:
        """-mean cost + exploration (eq:UCT)."""
        return -self.mean_cost + self.exploration

    @property
    def beliefs(self) -> Beliefs:
        """P(S_I | O_t) of each state, `[n_S]`."""
        return self.tree.beliefs(self.index)

    @property
    def predicted_observations(self) -> Beliefs:
        """P(O_I | O_t) of each observation, `[n_O]`."""
        return self.tree.prediction(self.index).observations

    @property
    def expected_free_energy(self) -> ExpectedFreeEnergy:
        """The node's expected free energy, to be taken apart."""
        return self.tree.expected_free_energy(self.index)

    @property
    def risk(self) -> Mapping[tuple[str, ...], float]:
        """The risk of each preference group."""
        return self.expected_free_energy.risk

    @property
    def ambiguity(self) -> Mapping[str, float]:
        """The ambiguity of each observation."""
        return self.expected_free_energy.ambiguity

    def __repr__(self) -> str:
        numbers = f"visits {self.visits}, mean cost {self.mean_cost:.6g}, efe {self.efe:.6g}"
        return f"Node {self.index}: path {self.path}, {numbers}"

    def _repr_html_(self) -> Html:
        from btai.planning.show import node_as_html

        return node_as_html(self)


def _snapshot(array: NDArray[Any], length: int) -> NDArray[Any]:
    """A read-only copy: the search goes on writing into its own arrays."""
    copy = array[:length].copy()
    copy.flags.writeable = False
    return copy
