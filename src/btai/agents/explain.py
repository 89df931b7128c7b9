"""Why an action was chosen: each action's visits, costs and UCT terms, and the term that told them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from btai.errors import PlanningError
from btai.notebook import Html, bar, element, panel, table
from btai.planning import Node, TreeView

__all__ = ["ActionSummary", "Explanation"]

Terms = Mapping[str, float]

TIED = 1e-3  # of the costs: actions that differ by less are practically tied, whichever term it is that differs
STEPS_SHOWN = 3  # of what comes after an action
UNDER_TIME_LIMIT = "Planned under a time limit: another run may come out differently."


@dataclass(frozen=True)
class ActionSummary:
    """What the search found about one action.

    The mean cost is the mean of the expected free energies that were added up on the way: the action's own and, for
    each later iteration that passed through it, that of the best new child. `terms` is the mean of those costs term by
    term (risk of each preference group, ambiguity of each observation), so the terms add up to `mean_cost`. `then`
    names the actions the search likes best after this one: one that costs much itself may be chosen for what follows.
    """

    action: int
    name: str
    visits: int
    mean_cost: float
    exploration: float
    uct: float
    efe: float
    terms: Terms
    then: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """The chosen action against each other one."""

    chosen: int
    actions: tuple[ActionSummary, ...]
    iterations: int
    reproducible: bool

    @classmethod
    def of(cls, tree: TreeView, chosen: int, reproducible: bool = True) -> Explanation:
        """Explain a choice by its tree."""
        names = tree.ts.labels(tree.ts.action.name)
        actions = tuple(_summary(*found, names) for found in zip(tree.root.children, _mean_terms(tree), strict=True))
        return cls(chosen, actions, len(tree.expanded), reproducible)

    def differences(self, action: int | str) -> Terms:
        """By how much each term makes `action` costlier than the chosen one (mean cost, term by term)."""
        ours, theirs = self.actions[self.chosen].terms, self._of(action).terms
        return {term: theirs[term] - ours[term] for term in ours}

    def deciding_term(self, action: int | str) -> str:
        """The term that does most to set the mean cost of `action` apart from the chosen one's; `""` without terms."""
        differences = self.differences(action)
        sign = 1 if self._costlier_by(action) >= 0 else -1
        return max(differences, key=lambda term: sign * differences[term], default="")

    def is_tied(self, action: int | str) -> bool:
        """Whether `action` costs practically the same as the chosen one: but for a thousandth."""
        costs = self._of(action).mean_cost, self.actions[self.chosen].mean_cost
        return abs(self._costlier_by(action)) <= TIED * max(map(abs, costs))

    def __repr__(self) -> str:
        width = max(len(name) for name in ("action", *(s.name for s in self.actions)))
        then = max(len(text) for text in ("then", *map(_then, self.actions)))
        heads = f"visits  mean cost  exploration        UCT    own EFE  {'then':<{then}}  against the chosen one"
        lines = [self._result(), f"  {'action':<{width}}  {heads}"]
        for s in self.actions:
            numbers = f"{s.visits:>6}  {s.mean_cost:>9.4f}  {s.exploration:>11.4f}  {s.uct:>9.4f}  {s.efe:>9.4f}"
            lines.append(f"  {s.name:<{width}}  {numbers}  {_then(s):<{then}}  {self._verdict(s.action)}")
        if not self.reproducible:
            lines.append(f"  {UNDER_TIME_LIMIT}")
        return "\n".join(lines)

    def _repr_html_(self) -> Html:
        heads = ("action", "", "visits", "mean cost", "exploration", "UCT", "own EFE", "then", "against the chosen one")
        most = max(s.visits for s in self.actions)
        rows = (
            (
                element("b", s.name) if s.action == self.chosen else s.name,
                bar(s.visits / most),
                s.visits,
                *(f"{number:.4f}" for number in (s.mean_cost, s.exploration, s.uct, s.efe)),
                _then(s),
                self._verdict(s.action),
            )
            for s in self.actions
        )
        warning = () if self.reproducible else (element("div", UNDER_TIME_LIMIT),)
        return panel(self._result(), table(heads, rows, numbers=range(2, 7)), *warning)

    def _result(self) -> str:
        best = self.actions[self.chosen]
        return (
            f"{best.name} was chosen"
            f" (planning iterations: {self.iterations}, visits: {best.visits}, mean cost: {best.mean_cost:.4f})."
        )

    def _verdict(self, action: int) -> str:
        difference = self._costlier_by(action)
        if action == self.chosen:
            return "chosen"
        if difference == 0:
            return "costs the same"
        term = self.deciding_term(action)
        comparison = "more" if difference > 0 else "less"
        first = "practically tied: " if self.is_tied(action) else ""
        mainly = f"mainly by the {term} ({self.differences(action)[term]:+.4g})"
        return f"{first}costs {abs(difference):.4g} {comparison}, {mainly}"

    def _costlier_by(self, action: int | str) -> float:
        return self._of(action).mean_cost - self.actions[self.chosen].mean_cost

    def _of(self, action: int | str) -> ActionSummary:
        """The summary of an action, given by its number or its name."""
        for summary in self.actions:
            if action in (summary.action, summary.name):
                return summary
        raise PlanningError(
            f"action: {action!r} was given; a whole number from 0 to {len(self.actions) - 1}, or one of the names"
            f" {', '.join(summary.name for summary in self.actions)}, is required."
        )


def _then(summary: ActionSummary) -> str:
    """What the search likes best after an action, shortened."""
    steps = summary.then[:STEPS_SHOWN]
    return ", ".join([*steps, "…"] if len(steps) < len(summary.then) else steps) or "-"


def _summary(node: Node, terms: Terms, names: Sequence[str]) -> ActionSummary:
    return ActionSummary(
        action=node.action,
        name=names[node.action],
        visits=node.visits,
        mean_cost=node.mean_cost,
        exploration=node.exploration,
        uct=node.uct,
        efe=node.efe,
        terms=terms,
        then=tuple(names[action] for action in node.plan),
    )


def _mean_terms(tree: TreeView) -> list[Terms]:
    """The terms of each action's mean cost: the mean over all expected free energies that were added up in it."""
    means: list[Terms] = []
    for child, nodes in zip(tree.root.children, _contributors(tree), strict=True):
        terms = [tree.expected_free_energy(node).terms for node in nodes]
        totals = np.array([[*values.values()] for values in terms]).sum(axis=0)
        means.append(dict(zip(terms[0], (totals / child.visits).tolist(), strict=True)))
    return means


def _contributors(tree: TreeView) -> list[list[int]]:
    """Of each child of the root the node itself and, for each expansion below it, the best new child (eq:backprop)."""
    n_actions = tree.n_actions
    found = [[1 + action] for action in range(n_actions)]
    branch = [*range(n_actions)]  # of each node but the root the action of the present slice that leads there
    efes = tree.efe[1:].reshape(-1, n_actions)
    best_children = 1 + n_actions * np.arange(len(efes)) + efes.argmin(axis=1)
    for expanded, best in zip(tree.expanded[1:].tolist(), best_children[1:].tolist(), strict=True):
        action = branch[expanded - 1]
        branch += [action] * n_actions
        found[action].append(best)
    return found
