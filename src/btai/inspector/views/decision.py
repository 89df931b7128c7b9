"""The search at a moment of the planning, and why it speaks for an action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from btai.agents import Explanation
from btai.inspector.cursor import Cursor, CursorError
from btai.inspector.trace import Trace
from btai.inspector.views.shapes import Json, action_name, number, packed
from btai.model import TemporalSlice
from btai.planning import Node, TreeView

__all__ = ["action_rows", "curves", "facts", "why"]


def facts(trace: Trace, cursor: Cursor) -> Json:
    """What the search has counted at a node, its parent and its children."""
    tree, iteration = trace.tree(cursor), trace.iteration(cursor)
    found = tree[cursor.node]
    return {
        **_where(cursor, iteration),
        "node": cursor.node,
        "exp_const": tree.exp_const,
        "facts": _facts(trace.ts, found),
        "parent": None if found.parent is None else _facts(trace.ts, found.parent),
        "children": [_facts(trace.ts, child) for child in found.children],
        "selected": int(tree.expanded[-1]) if iteration else None,
        "best": trace.chosen(cursor),
        "plan": _nodes_along(tree, tree.plan),
    }


def curves(trace: Trace, cursor: Cursor) -> Json:
    """Visits and mean cost of each action after every planning iteration."""
    history = trace.history(cursor)
    visits, costs = history.written.root_visits, history.written.root_costs
    chosen = trace.chosen(Cursor(cursor.trial, cursor.cycle))
    return {
        "trial": cursor.trial,
        "cycle": cursor.cycle,
        "n_actions": history.n_actions,
        "iterations": history.iterations,
        "visits": packed(visits),
        "mean_cost": packed(costs / visits),
        "chosen": chosen,
        "parted": [_parted(visits, chosen, action) for action in range(history.n_actions)],
    }


def why(trace: Trace, cursor: Cursor) -> Json:
    """The action that the planning so far speaks for, against each other one."""
    chosen, iteration = trace.chosen(cursor), trace.iteration(cursor)
    if chosen is None or not iteration:
        raise CursorError("iteration 0: nothing was planned yet, so there is nothing to explain.")
    tree = trace.tree(cursor)
    explanation = Explanation.of(tree, chosen, trace.options.time_limit is None)
    own = explanation.actions[chosen].mean_cost
    return {
        **_where(cursor, iteration),
        "chosen": chosen,
        "performed": trace.moment(cursor).cycle.action,
        "terms": [*explanation.actions[chosen].terms],
        "actions": [
            row | {"terms": [*found.terms.values()]}
            for row, found in zip(action_rows(tree), explanation.actions, strict=True)
        ],
        "against": [
            {
                "action": other.action,
                "difference": other.mean_cost - own,
                "tied": explanation.is_tied(other.action),
                "terms": [*explanation.differences(other.action).values()],
                "deciding": explanation.deciding_term(other.action),
            }
            for other in explanation.actions
            if other.action != chosen
        ],
        "text": repr(explanation),
    }


def action_rows(tree: TreeView) -> list[Json]:
    """What the search found about each action."""
    return [
        {
            "action": node.action,
            "name": action_name(tree.ts, node.action),
            "visits": node.visits,
            "mean_cost": node.mean_cost,
            "exploration": node.exploration,
            "uct": node.uct,
            "efe": node.efe,
            "then": [action_name(tree.ts, action) for action in node.plan],
        }
        for node in tree.root.children
    ]


def _facts(ts: TemporalSlice, node: Node) -> Json:
    parent = node.parent
    counted: Json = {
        "node": node.index,
        "visits": node.visits,
        "cost": node.cost,
        "mean_cost": node.mean_cost if node.visits else None,
        "efe": number(node.efe),
    }
    if parent is None:
        return counted | dict.fromkeys(("action", "action_name", "parent_visits", "exploration", "uct"))
    return counted | {
        "action": node.action,
        "action_name": action_name(ts, node.action),
        "parent_visits": parent.visits,
        "exploration": node.exploration,
        "uct": node.uct,
    }


def _nodes_along(tree: TreeView, actions: tuple[int, ...]) -> list[int]:
    """The nodes that a path leads through, the root first."""
    node = tree.root
    nodes = [node.index]
    for action in actions:
        node = node.children[action]
        nodes.append(node.index)
    return nodes


def _parted(visits: NDArray[np.int32], chosen: int | None, action: int) -> int | None:
    """From which iteration on `chosen` has more visits than `action` for good; `visits` is `[N, A]`."""
    if chosen is None or action == chosen or not len(visits):
        return None
    behind = np.flatnonzero(visits[:, chosen] <= visits[:, action])
    last = int(behind[-1]) if len(behind) else -1
    return None if last == len(visits) - 1 else last + 2  # iterations count from 1


def _where(cursor: Cursor, iteration: int) -> Json:
    return {"trial": cursor.trial, "cycle": cursor.cycle, "iteration": iteration}
