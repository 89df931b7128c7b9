"""Brute force: the paper's quantities computed slowly, from their definitions, without the package.

Nothing here is shared with `btai`: the full joint is enumerated, expectations are loops over every
configuration, and the search is a recursion over small objects. Only a `Spec`'s plain data is read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from spec import Array, Beliefs, Evidence, Factor, Group, Spec


class ImpossibleEvidence(ValueError):
    """The evidence has probability zero under the model."""


# --- inference ------------------------------------------------------------------------------------


def evidence_vector(evidence: Any, size: int) -> Array:
    """Evidence as the likelihood of each outcome: an index is one-hot, None says nothing."""
    if evidence is None:
        return np.ones(size)
    if np.ndim(evidence) == 0:
        return np.array([float(outcome == evidence) for outcome in range(size)])
    return np.array(evidence, dtype=float)


def joint(spec: Spec, evidence: Evidence, prior: Beliefs | None = None) -> Array:
    """P(S_1, ..., S_n, evidence) for every configuration of the states, axes as declared."""
    prior = spec.priors if prior is None else prior
    axis = {state: i for i, state in enumerate(spec.priors)}
    weights = {o: evidence_vector(evidence.get(o), spec.sizes[o]) for o in spec.likelihoods}
    table = np.empty([spec.sizes[state] for state in spec.priors])
    for cell in itertools.product(*(range(n) for n in table.shape)):
        table[cell] = math.prod(prior[state][cell[i]] for state, i in axis.items())
        for name, factor in spec.likelihoods.items():
            column = factor.column(cell[axis[parent]] for parent in factor.parents)
            table[cell] *= weights[name] @ column
    return table


def posteriors(spec: Spec, evidence: Evidence, prior: Beliefs | None = None) -> tuple[dict[str, Array], float]:
    """P(S | evidence) for each state, and the logarithm of P(evidence)."""
    table = joint(spec, evidence, prior)
    total = table.sum()
    if total == 0:
        raise ImpossibleEvidence(f"{dict(evidence)} has probability zero")
    axes = range(table.ndim)
    marginals = {state: table.sum(axis=tuple(a for a in axes if a != i)) / total for i, state in enumerate(spec.priors)}
    return marginals, math.log(total)


# --- prediction and expected free energy --------------------------------------------------------------


class Prediction(NamedTuple):
    states: dict[str, Array]
    observations: dict[str, Array]


class Efe(NamedTuple):
    risks: dict[Group, float]
    ambiguities: dict[str, float]

    @property
    def total(self) -> float:
        return sum([*self.risks.values(), *self.ambiguities.values()], start=0.0)


def configurations(beliefs: Beliefs, names: Sequence[str]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every joint value of the named variables, with its probability under the mean field."""
    for values in itertools.product(*(range(len(beliefs[name])) for name in names)):
        yield values, math.prod(float(beliefs[name][v]) for name, v in zip(names, values, strict=True))


def expectation(factor: Factor, beliefs: Beliefs) -> Array:
    """The factor's column averaged over its parents' configurations."""
    total = np.zeros(len(factor.table))
    for values, weight in configurations(beliefs, factor.parents):
        total += weight * factor.column(values)
    return total


def predict(spec: Spec, beliefs: Beliefs, action: int) -> Prediction:
    """The P-step: beliefs over the states and observations that follow `action`."""
    states = {state: expectation(spec.transition(state, action), beliefs) for state in spec.priors}
    observations = {name: expectation(factor, states) for name, factor in spec.likelihoods.items()}
    return Prediction(states, observations)


def entropy(distribution: Array) -> float:
    """In nats, with 0 log 0 = 0."""
    return -sum(float(p) * math.log(p) for p in distribution if p > 0)


def efe(spec: Spec, beliefs: Beliefs) -> Efe:
    """The expected free energy of a slice whose states have these beliefs, term by term."""
    predicted = {name: expectation(factor, beliefs) for name, factor in spec.likelihoods.items()}
    risks: dict[Group, float] = {}
    for group, preferred in spec.preferences.items():
        cells = [(q, float(preferred[values])) for values, q in configurations(predicted, group)]
        risks[group] = sum(q * (math.log(q) - math.log(c)) for q, c in cells if q > 0)
    ambiguities: dict[str, float] = {}
    for name, factor in spec.likelihoods.items():
        weighted = configurations(beliefs, factor.parents)
        ambiguities[name] = sum(weight * entropy(factor.column(values)) for values, weight in weighted)
    return Efe(risks, ambiguities)


# --- planning -------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Node:
    id: int
    parent: Node | None
    action: int
    beliefs: Beliefs
    efe: float
    cost: float
    visits: int = 1
    children: list[Node] = field(default_factory=list)


class Search:
    """A search tree grown one expansion at a time; node ids are given in order of creation."""

    def __init__(self, spec: Spec, beliefs: Beliefs, exp_const: float) -> None:
        self.spec = spec
        self.exp_const = exp_const
        self.root = Node(id=0, parent=None, action=-1, beliefs=beliefs, efe=math.nan, cost=0.0)
        self.nodes = [self.root]
        self.expanded: list[int] = []
        self.margin = math.inf  # the least lead of a selected child over a rival that is not its exact twin

    def uct(self, child: Node) -> float:
        assert child.parent is not None
        explore = self.exp_const * math.sqrt(math.log(child.parent.visits) / child.visits)
        return -child.cost / child.visits + explore

    def select(self, node: Node) -> Node:
        """From the root to a leaf by the highest UCT; `max` keeps the first, the lowest action."""
        if not node.children:
            return node
        best = max(node.children, key=self.uct)
        for rival in node.children:
            lead = self.uct(best) - self.uct(rival)
            if lead > 0 or not self.spec.twins(best.action, rival.action):
                self.margin = min(self.margin, lead)
        return self.select(best)

    def expand(self, node: Node) -> None:
        """Give `node` one child per action and add the best child's cost to it and its ancestors."""
        assert not node.children, f"node {node.id} was expanded twice"
        for action in range(self.spec.n_actions):
            beliefs = predict(self.spec, node.beliefs, action).states
            cost = efe(self.spec, beliefs).total
            child = Node(len(self.nodes), node, action, beliefs, efe=cost, cost=cost)
            node.children.append(child)
            self.nodes.append(child)
        self.expanded.append(node.id)
        self.back_up(node, min(child.efe for child in node.children))

    def back_up(self, node: Node, cost: float) -> None:
        node.cost += cost
        node.visits += 1
        if node.parent is not None:
            self.back_up(node.parent, cost)

    def column(self, field_name: str) -> list[Any]:
        """One field of every node in order of creation: "visits", "cost", "efe", "action"."""
        return [getattr(node, field_name) for node in self.nodes]

    def parents(self) -> list[int]:
        """The parent's id of every node in order of creation, -1 for the root."""
        return [-1 if node.parent is None else node.parent.id for node in self.nodes]


def search(spec: Spec, beliefs: Beliefs, iterations: int, exp_const: float) -> Search:
    """The paper's planning from `beliefs` over the present states.

    The sequence is the only right one where the result's `margin` is well above rounding; else `replay`.
    """
    tree = Search(spec, beliefs, exp_const)
    for _ in range(iterations):
        tree.expand(tree.select(tree.root))
    return tree


def replay(spec: Spec, beliefs: Beliefs, expanded: Sequence[int], exp_const: float) -> tuple[Search, float]:
    """Expand the given nodes instead of searching; also the most UCT given up by any step taken.

    Where two nodes tie but for rounding, a correct search may expand either: then its sequence differs
    from `search` and its regret here is still nothing. A wrong selection shows as a regret.
    """
    tree = Search(spec, beliefs, exp_const)
    regret = 0.0
    for node_id in expanded:
        child = node = tree.nodes[node_id]
        while child.parent is not None:
            regret = max(regret, *(tree.uct(rival) - tree.uct(child) for rival in child.parent.children))
            child = child.parent
        tree.expand(node)
    return tree, regret


def choose(visits: Sequence[float], costs: Sequence[float], ties: str = "cost") -> int:
    """Of the root's children the most visited; among those the lowest mean cost; then the lowest index.

    `ties="first"` leaves the costs out.
    """

    def rank(action: int) -> tuple[float, float, int]:
        mean_cost = costs[action] / visits[action] if ties == "cost" else 0.0
        return -visits[action], mean_cost, action

    return min(range(len(visits)), key=rank)
