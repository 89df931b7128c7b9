"""What if: the same decision with other evidence, another budget, another exploration constant or a forced action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.agents import BTAI_3MF
from btai.agents.options import Options, checked_whole
from btai.errors import EvidenceError
from btai.inference import Inference, evidence_vectors, i_step
from btai.inspector.cursor import Cursor
from btai.inspector.evidence import labels, observed
from btai.inspector.live import MOST_ITERATIONS, PORTION
from btai.inspector.trace import Trace
from btai.inspector.views import Json, action_name, action_rows, efe_parts, vectors
from btai.model import TemporalSlice
from btai.planning import Node, TreeView

__all__ = ["Change", "warm_up", "what_if"]

Vectors = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Change:
    """What is to be different; None leaves it as it was.

    `evidence` holds the observations that change: whatever an agent takes for one, None for *not observed*, or
    `{"soften": s}`: what was observed, but every other value s times as credible.
    """

    evidence: Mapping[str, Any]
    exp_const: float | None = None
    iterations: int | None = None
    action: int | None = None


def what_if(trace: Trace, cursor: Cursor, change: Change) -> Iterator[Json]:
    """Plan the cycle at the cursor again with a change; both outcomes come last, after `{}` for each portion done.

    A new agent does it, from the cycle's prior: the trace and the agent that made it are not touched.
    """
    cycle = trace.moment(cursor).cycle
    iterations = len(cycle.expanded) or min(trace.options.iterations, MOST_ITERATIONS)
    if change.iterations is not None:
        iterations = checked_whole("iterations", change.iterations, 1, MOST_ITERATIONS)
    if change.action is not None:
        checked_whole(trace.ts.action.name, change.action, 0, trace.ts.action.size - 1)
    made = observed(cycle.evidence)
    evidence = changed_evidence(trace.ts, made, change.evidence)
    agent = _agent(trace.ts, trace.options, change)
    agent.reset(evidence, cycle.prior, trace.history(cursor).root)
    for done in range(0, iterations, PORTION):
        agent.plan(min(PORTION, iterations - done))
        yield {}
    original = i_step(trace.ts, made, cycle.prior, method=trace.options.inference)
    chosen = trace.chosen(Cursor(cursor.trial, cursor.cycle))
    forced = change.action is not None
    yield {
        "original": _outcome(made, original, trace.tree(Cursor(cursor.trial, cursor.cycle)), chosen, False),
        "altered": _outcome(evidence, agent.inference, agent.tree, change.action if forced else agent.choose(), forced),
    }


def warm_up(ts: TemporalSlice, options: Options) -> None:
    """Load what plans, which takes seconds when a process does it for the first time; in any thread."""
    agent = _agent(ts, options, Change({}))
    agent.reset({})
    agent.plan(1)


def changed_evidence(ts: TemporalSlice, made: Vectors, changes: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """The evidence `made`, with `changes`."""
    given: dict[str, Any] = dict(made)
    for name, change in changes.items():
        if isinstance(change, dict):
            given[name] = _softened(name, made, change)
        else:
            given[name] = change
    return evidence_vectors(ts, {name: value for name, value in given.items() if value is not None})


def _softened(name: str, made: Vectors, change: Mapping[str, Any]) -> NDArray[np.float64]:
    share = change.get("soften")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise EvidenceError(f"{name}: soften {share!r} was given; a number from 0 to 1 is required.")
    if name not in made:
        raise EvidenceError(f"{name}: it was not observed, so there is nothing to soften. Set it instead.")
    return np.asarray((1 - share) * made[name] / made[name].max() + share)


def _agent(ts: TemporalSlice, options: Options, change: Change) -> BTAI_3MF:
    given = asdict(options) | {"time_limit": None}
    return BTAI_3MF(ts, **given if change.exp_const is None else given | {"exp_const": change.exp_const})


def _outcome(evidence: Vectors, inference: Inference, tree: TreeView, chosen: int | None, forced: bool) -> Json:
    """What is believed, what was chosen and what that leads to; the latter only where something was planned."""
    ts = tree.ts
    after = tree.root.children[chosen] if chosen is not None and len(tree.expanded) else None
    return {
        "evidence": vectors(evidence) | {name: None for name in ts.observations if name not in evidence},
        "observed": labels(ts, evidence),
        "log_evidence": inference.log_evidence,
        "exact": inference.exact,
        "posterior": vectors(tree.root.beliefs),
        "exp_const": tree.exp_const,
        "iterations": len(tree.expanded),
        "chosen": chosen,
        "chosen_name": action_name(ts, chosen),
        "forced": forced,
        "plan": [*tree.plan],
        "plan_names": [action_name(ts, action) for action in tree.plan],
        "actions": action_rows(tree),
        "after": after and _after(after),
    }


def _after(node: Node) -> Json:
    return {
        "action": node.action,
        "beliefs": vectors(node.beliefs),
        "observations": vectors(node.predicted_observations),
        "efe": efe_parts(node.expected_free_energy),
    }
