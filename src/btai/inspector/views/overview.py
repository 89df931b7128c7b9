"""The model, the trials, and the cycles of a trial."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import Any

from btai.experiments.configuration import code_version
from btai.inference.factors import factor_name
from btai.inspector.cursor import Cursor
from btai.inspector.evidence import labels, observed
from btai.inspector.recipes import VIEWS
from btai.inspector.trace import Moment, Trace
from btai.inspector.views.shapes import Json, action_name, names_of, packed, vectors
from btai.model import TemporalSlice

__all__ = ["cycle", "info", "trial", "trials", "worst"]

PROTOCOL = 1
MOST_PAIRS = 6


def info(trace: Trace) -> Json:
    """What is looked at: the model, the agent, and where to begin."""
    start = trace.start()
    options = asdict(trace.options)
    return {
        "protocol": PROTOCOL,
        "version": code_version(),
        "mode": trace.mode,
        "title": trace.title,
        "can": {"command": trace.mode == "live", "what_if": True},
        "cursor": None if start is None else asdict(start) | {"iteration": trace.iteration(start)},
        "trials": trace.count,
        "model": _model(trace.ts),
        "agent": {"class": trace.agent_class} | {name: options[name] for name in options if name != "rng"},
        "occupancy": _position_pairs(trace.ts),
        "python": VIEWS,
    }


def trials(trace: Trace) -> Json:
    """The table of trials."""
    rows = [asdict(row) | {"recorded": True} for row in trace.trials()]
    return {"trials": rows, "expected": trace.expected, "summary": trace.summary()}


def trial(trace: Trace, cursor: Cursor) -> Json:
    """The cycles of a trial."""
    moments = trace.moments(cursor.trial)
    return {
        "trial": cursor.trial,
        "over": trace.is_over(cursor.trial),
        "cycles": [_head(trace, moment) | {"iterations": len(moment.cycle.expanded)} for moment in moments],
    }


def worst(trace: Trace, cursor: Cursor) -> Json:
    """The cycle of a trial in which the outlook of what was done was the worst: its mean cost was the highest."""
    outlooks = {}
    for number, moment in enumerate(trace.moments(cursor.trial)):
        action = moment.cycle.action
        if action is not None and len(moment.cycle.expanded):
            node = trace.tree(Cursor(cursor.trial, number)).root.children[action]
            outlooks[number] = node.mean_cost
    cycle = max(outlooks, key=lambda number: outlooks[number], default=None)
    return {"trial": cursor.trial, "cycle": cycle, "mean_cost": None if cycle is None else outlooks[cycle]}


def cycle(trace: Trace, cursor: Cursor, since: int = 0) -> Json:
    """One cycle, and its search after the first `since` iterations."""
    moment = trace.moment(cursor)
    since = trace.iteration(Cursor(cursor.trial, cursor.cycle, since))
    found, history = moment.cycle, trace.history(cursor)
    written = history.written
    made = observed(found.evidence)
    actions = trace.ts.action.size
    return _head(trace, moment) | {
        "trial": cursor.trial,
        "evidence": vectors(made) | {name: None for name in found.evidence if name not in made},
        "prior": vectors(found.prior),
        "posterior": vectors(found.posterior),
        "budget": None if trace.options.time_limit is not None else trace.options.iterations,
        "iterations": len(found.expanded),
        "from": since,
        "search": {
            "n_actions": actions,
            "root": dict(zip(("visits", "cost"), history.root, strict=True)),
            "expanded": packed(written.expanded[since:]),
            "efe": packed(written.efe[1 + since * actions :]),
            "path_cost": packed(written.path_costs[written.path_ends[since] :]),
            "best": packed(written.best[since:]),
        },
        "python": trace.recipe.text([m.cycle for m in trace.moments(cursor.trial)], cursor.cycle, history.root),
    }


def _head(trace: Trace, moment: Moment) -> Json:
    found = moment.cycle
    return {
        "cycle": found.cycle,
        "action": found.action,
        "action_name": action_name(trace.ts, found.action),
        "reward": moment.reward,
        "image": f"api/image?trial={found.trial}&cycle={found.cycle}" if moment.image else None,
        "observed": labels(trace.ts, found.evidence),
    }


def _model(ts: TemporalSlice) -> Json:
    def head(variable: Any) -> Json:
        return {"name": variable.name, "size": variable.size, "values": names_of(variable.values, variable.size)}

    priors = [{"name": factor_name(name), "kind": "prior", "variables": [name]} for name in ts.states]
    likelihoods = [
        {"name": factor_name(name), "kind": "likelihood", "observation": name, "variables": [*o.parents]}
        for name, o in ts.observations.items()
    ]
    return {
        "action": head(ts.action),
        "states": [
            head(state) | {"parents": [*ts.transitions[name].parents], "moved": _is_moved(ts, name)}
            for name, state in ts.states.items()
        ],
        "observations": [head(o) | {"parents": [*o.parents]} for o in ts.observations.values()],
        "preferences": [
            {"part": f"risk:{i}", "observations": [*p.observations], "shape": [*p.table.shape]}
            for i, p in enumerate(ts.preferences)
        ],
        "factors": priors + likelihoods,
    }


def _is_moved(ts: TemporalSlice, state: str) -> bool:
    return ts.action.name in ts.transitions[state].parents


def _position_pairs(ts: TemporalSlice) -> list[list[str]]:
    """Pairs of states that are like positions: the action moves them, and their values have numbers, not names."""
    positions = [name for name, state in ts.states.items() if state.values is None and _is_moved(ts, name)]
    return [[x, y] for x, y in combinations(positions, 2)][:MOST_PAIRS]
