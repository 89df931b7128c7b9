"""A tree and its nodes for notebooks."""

from __future__ import annotations

from btai.notebook import Html, bar, element, panel
from btai.planning.view import Node, TreeView

__all__ = ["node_as_html", "tree_as_html"]

MOST_NODES = 200
INDENT = "margin-left:1.2em"


def tree_as_html(tree: TreeView) -> Html:
    """The most visited nodes, each below its parent; those of the plan are bold and open."""
    # A parent has more visits than its children, or was made before them: so it is always among those shown.
    order = sorted(range(len(tree)), key=lambda index: (-tree.visits[index], index))
    shown = set(order[:MOST_NODES])
    left_out = len(tree) - len(shown)
    rest = [element("div", f"{left_out:,} nodes with fewer visits are not shown.")] if left_out else []
    branches = (_branch(child, shown, plan=tree.plan) for child in tree.root.children if child.index in shown)
    return panel(repr(tree), *branches, *rest)


def node_as_html(node: Node) -> Html:
    """Where a node stands, what it costs, and what is believed there."""
    path = ", ".join(map(_labels(node.tree).__getitem__, node.path)) or "the present"
    costs = [] if node.parent is None else [node.expected_free_energy._repr_html_()]
    title = f"Node {node.index}: {path}; visits {node.visits:,}, mean cost {node.mean_cost:.4f}"
    return panel(title, *costs, node.beliefs._repr_html_())


def _branch(node: Node, shown: set[int], plan: tuple[int, ...]) -> Html:
    """A node and what is shown below it; `plan` is None off the plan."""
    planned = node.path == plan[: len(node.path)]
    name = _labels(node.tree)[node.action]
    numbers = f" visits {node.visits:,}, mean cost {node.mean_cost:.4f}, own EFE {node.efe:.4f}"
    line = (element("b", name) if planned else name, " ", bar(node.visits / node.tree.root.visits), numbers)
    below = [_branch(child, shown, plan) for child in node.children if child.index in shown]
    if not below:
        return element("div", *line, style=INDENT)
    unfolded = {"open": "open"} if planned else {}
    return element("details", element("summary", *line), *below, style=INDENT, **unfolded)


def _labels(tree: TreeView) -> tuple[str, ...]:
    return tree.ts.labels(tree.ts.action.name)
