"""Monte-Carlo tree search: the tree as flat arrays, and the four phases of the search as four functions."""

from btai.planning.choose import choose_action
from btai.planning.reference import MEMORY_LIMIT, Backend, NumpyBackend, Searcher
from btai.planning.replay import replay
from btai.planning.search import evaluate, expand, propagate, search, select
from btai.planning.tree import NO_NODE, ROOT, Tree, grown_tree, new_tree
from btai.planning.view import Node, TreeView

__all__ = [
    "MEMORY_LIMIT",
    "NO_NODE",
    "ROOT",
    "Backend",
    "Node",
    "NumpyBackend",
    "Searcher",
    "Tree",
    "TreeView",
    "choose_action",
    "evaluate",
    "expand",
    "grown_tree",
    "new_tree",
    "propagate",
    "replay",
    "search",
    "select",
]
