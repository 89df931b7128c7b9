"""Copy as Python: the lines that give a notebook the objects whose numbers the page shows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from btai.agents.options import ROOTS, Options
from btai.experiments import Cycle
from btai.inspector.evidence import observed, shortest

__all__ = ["VIEWS", "LiveRecipe", "Recipe", "RunRecipe"]

# What comes after a recipe, by view. The page puts its selection in place of the words in braces, every name quoted: it
# may come from somebody else's file.
VIEWS = {
    "tree": "tree.visits, tree.cost, tree.efe, tree.parent, tree.action",
    "beliefs": "tree[{node}].beliefs[{state}]",
    "likelihood": "{name: observation.parents for name, observation in ts.observations.items()}",
    "transition": "{name: transition.parents for name, transition in ts.transitions.items()}",
    "preferences": "{preference.observations: preference.table for preference in ts.preferences}",
    "observation": "tree[{node}].predicted_observations[{observation}]",
    "before": "tree[{node}].parent.beliefs[{state}]  # of the slice before; at the root: prior[{state}]",
    "facts": "node = tree[{node}]\nnode.visits, node.cost, node.mean_cost, node.efe, node.exploration, node.uct",
    "evidence": "evidence",
    "message": "inference.messages[{source}, {target}]",
    "efe": "efe = tree[{node}].expected_free_energy\nefe.total, efe.risk, efe.ambiguity",
    "risk": "tree[{node}].expected_free_energy.risk_cells({group})",
    "ambiguity": "tree[{node}].expected_free_energy.ambiguity_cells({observation})",
    "why": (
        "from btai.agents import Explanation\n\n"
        "why = Explanation.of(tree, chosen={chosen})\nprint(why)\nwhy.differences({action})"
    ),
    "curves": """import numpy as np

def branch(node):  # the action of the present slice that leads there
    while tree.parent[node] > 0:
        node = tree.parent[node]
    return tree.action[node]

below = np.array([[branch(node)] for node in tree.expanded]) == np.arange(tree.n_actions)
efe = tree.efe[1:].reshape(below.shape)  # of the children that each iteration adds
visits = 1 + below.cumsum(axis=0)
cost = efe[0] + (below * efe.min(axis=1, keepdims=True)).cumsum(axis=0)
visits, cost / visits""",
    "what_if": """from btai import BTAI_3MF
from btai.inference import evidence_vectors

changed = dict(evidence_vectors(ts, evidence))
{changes}
other = BTAI_3MF(ts, {options})
other.reset(changed, prior)
other.plan({iterations})
actions = [(child.visits, child.mean_cost) for child in other.tree.root.children]
other.inference.log_evidence, other.beliefs, actions, {chosen}""",
    "trials": (
        "with RunFile.open(file.path) as file:\n    trials = file.runs[run.number].trials()\n"
        "[(trial.index, trial.reward, trial.cycles, trial.planning_iterations) for trial in trials]"
    ),
    "occupancy": (
        "import numpy as np\n\nbeliefs = tree[{node}].beliefs\nnp.multiply.outer(beliefs[{y}], beliefs[{x}])"
    ),
}


SHAPING = ("exp_const", "inference", "root", "engine")  # the options of an agent that shape its tree


class Recipe(Protocol):
    """How to get at a cycle from Python."""

    def text(self, cycles: Sequence[Cycle], cycle: int, root: tuple[int, float]) -> str:
        """Lines that define `evidence`, `prior`, `inference` and, after `{iteration}` iterations, `tree`.

        `root`: the visits and the cost that the root of the cycle's tree began with.
        """


class RunRecipe:
    """From a run file."""

    def __init__(self, path: Path, run: int, options: Options) -> None:
        self._path = path
        self._run = run
        self._options = options

    def text(self, cycles: Sequence[Cycle], cycle: int, root: tuple[int, float]) -> str:
        """Lines that read the cycle from the file."""
        kept = "" if root == ROOTS["fresh"] else f", visits={root[0]}, cost={root[1]!r}"
        return "\n".join(
            [
                "from btai import i_step",
                "from btai.experiments import RunFile",
                "from btai.planning import TreeView",
                "",
                f"with RunFile.open({str(self._path)!r}) as file:",
                f"    run = file.runs[{self._run}]",
                "    ts = run.model",
                f"    cycle = run.cycles({cycles[cycle].trial})[{cycle}]",
                "evidence = {name: vector for name, vector in cycle.evidence.items() if not (vector == 1).all()}",
                "prior = cycle.prior",
                f"inference = i_step(ts, evidence, prior, method={self._options.inference!r})",
                f"tree = TreeView(ts, cycle.tree({{iteration}}{kept}), cycle.posterior, {self._options.exp_const!r})",
            ]
        )


class LiveRecipe:
    """By doing again what was done."""

    def __init__(self, options: Options, *, from_reset: bool) -> None:
        self._options = options
        self._from_reset = from_reset

    def text(self, cycles: Sequence[Cycle], cycle: int, root: tuple[int, float]) -> str:
        """Lines that bring a new agent to where this one was."""
        options = {name: getattr(self._options, name) for name in SHAPING}
        return "\n".join(
            [
                "from btai import BTAI_3MF",
                "",
                "# ts: the slice you gave to the agent",
                f"agent = BTAI_3MF(ts, {', '.join(f'{name}={value!r}' for name, value in options.items())})",
                self._reset(cycles[0]),
                *(line for pair in pairwise(cycles[: cycle + 1]) for line in self._update(*pair)),
                "if {iteration}:",
                "    agent.plan({iteration})",
                f"evidence = {_observations(cycles[cycle])}",
                "prior, inference, tree = agent.prior, agent.inference, agent.tree",
            ]
        )

    def _reset(self, first: Cycle) -> str:
        if first.trial > 0 or self._from_reset:
            return f"agent.reset({_observations(first)})"
        prior = {name: vector.tolist() for name, vector in first.prior.items()}  # of a trial that had begun before
        return f"agent.reset({_observations(first)}, {prior})"

    def _update(self, before: Cycle, after: Cycle) -> list[str]:
        update = f"agent.update({before.action}, {_observations(after)})"
        if self._options.root == "kept" and len(before.expanded):  # each tree goes on where the one before ended
            return [f"agent.plan({len(before.expanded)})", update]
        return [update]


def _observations(cycle: Cycle) -> dict[str, Any]:
    return {name: shortest(vector) for name, vector in observed(cycle.evidence).items()}
