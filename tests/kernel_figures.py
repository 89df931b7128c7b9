"""What agents compute for models that, between them, lead through every line of the engine's kernels.

Run as a program (`python kernel_figures.py coverage.json`), it prints the figures and reports which lines of the
kernels ran; where `NUMBA_DISABLE_JIT=1` is set, those lines are plain Python.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from golden import own_figures, own_names
from spec import Array, Factor, Spec

import btai
from btai import BTAI_3MF, BTAI_VMP
from btai.agents import BatchAgent
from btai.errors import ImpossibleObservationError
from btai.model import TemporalSlice

ITERATIONS = 6
Task = tuple[str, TemporalSlice, Mapping[str, Any], Mapping[str, Any]]  # name, model, evidence of two cycles


def tasks() -> Iterator[Task]:
    """Our golden models, and others for what they leave out."""
    for name in own_names():
        figures = own_figures(name)
        yield name, figures.spec.build(), figures.evidence, figures.next_evidence
    zeros = own_figures("zeros")
    yield "impossible at once", zeros.spec.build(), zeros.evidence, {"O_x": 0, "O_wall": 1}
    yield "impossible around a loop", ring().build(), {"O_0": 1}, {"O_0": 1, "O_1": 0, "O_2": 0}
    yield "hardly possible together", alike().build(), {"O_0": 0}, {"O_0": 0}
    yield "shifted", shifted().build(), {"O_a": 3}, {"O_a": 4, "O_b": 1}
    yield "positive", positive().build(), {"O_b": [0.5, 0.1]}, {"O_a": 1, "O_b": 1}


def ring() -> Spec:
    """Three switches in a ring, each neighbours' difference in view: the number of differences is even."""
    differ = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    names = ("S_0", "S_1", "S_2")
    return Spec(
        action="A_0",
        n_actions=1,
        priors=dict.fromkeys(names, np.array([0.4, 0.6])) | {"S_0": np.array([1.0, 0.0])},
        likelihoods={f"O_{i}": Factor(differ, (names[i], names[(i + 1) % 3])) for i in range(3)},
        transitions={name: Factor(np.eye(2), (name,)) for name in names},
        preferences={},
    )


def alike() -> Spec:
    """Two switches, hardly ever on, of which is seen whether they differ: that both are on has the chance 1e-400."""
    return Spec(
        action="A_0",
        n_actions=1,
        priors=dict.fromkeys(("S_0", "S_1"), np.array([1.0, 1e-200])),
        likelihoods={"O_0": Factor(np.stack([np.eye(2), 1 - np.eye(2)]), ("S_0", "S_1"))},
        transitions={name: Factor(np.eye(2), (name,)) for name in ("S_0", "S_1")},
        preferences={},
    )


def shifted() -> Spec:
    """Columns of different noise, a move that depends on a second state, a preference for few cells, a fixed toss."""
    n = 20
    noise = np.linspace(0.01, 0.3, n)
    seen = np.where(np.eye(n, dtype=bool), 1 - noise, noise / (n - 1))
    moves = np.repeat(np.eye(n)[:, :, None], 12, axis=2)
    moves[:, :, 5] = np.roll(np.eye(n), 1, axis=0)
    liked = np.ones((n, n))
    liked[3, 4] = 50.0
    return Spec(
        action="A_0",
        n_actions=2,
        priors={"S_a": np.full(n, 1 / n), "S_b": np.full(12, 1 / 12)},
        likelihoods={
            "O_a": Factor(seen, ("S_a",)),
            "O_b": Factor(np.eye(n)[:, :12], ("S_b",)),
            "O_c": Factor(np.tile([[0.25], [0.75]], n), ("S_a",)),
        },
        transitions={
            "S_a": Factor(np.stack([moves, np.roll(moves, 3, axis=0)], axis=3), ("S_a", "S_b", "A_0")),
            "S_b": Factor(np.roll(np.eye(12), 1, axis=0), ("S_b",)),
        },
        preferences={("O_a", "O_b"): liked / liked.sum(), ("O_c",): np.array([0.5, 0.5])},
    )


def positive() -> Spec:
    """No zero anywhere; two states that hang together, from slice to slice and by what is seen of them."""
    rng = np.random.default_rng(0)

    def table(*shape: int) -> Array:
        weights = rng.uniform(0.05, 1.0, shape)
        return np.asarray(weights / weights.sum(axis=0))

    return Spec(
        action="A_0",
        n_actions=2,
        priors={"S_a": table(2), "S_b": table(3)},
        likelihoods={
            "O_a": Factor(table(3, 2, 3), ("S_a", "S_b")),
            "O_b": Factor(table(2, 3), ("S_b",)),
            "O_c": Factor(np.full((2, 2), 0.5), ("S_a",)),
        },
        transitions={
            "S_a": Factor(table(2, 2, 2), ("A_0", "S_a")),
            "S_b": Factor(table(3, 3, 2), ("S_b", "S_a")),
        },
        preferences={("O_a", "O_b"): table(6).reshape(3, 2)},
    )


def figures_of(ts: TemporalSlice, first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two cycles of an agent and of a batch of two, the second of which has finished in the second cycle."""
    agent, batch = BTAI_3MF(ts, ITERATIONS), BatchAgent(ts, 2, ITERATIONS, threads=1)
    agent.reset(first)
    batch.reset(repeated(ts, first))
    chosen = agent.step()
    found: dict[str, Any] = {"tree": tree_of(agent), "beliefs": beliefs_of(agent), "actions": batch.step().tolist()}
    if all((table > 0).all() for table in tables_of(ts)):
        found["vmp"] = vmp_figures_of(ts, first, second)
        found["hurried vmp"] = vmp_figures_of(ts, first, second, tolerance=1e-12, max_sweeps=2)
    batch.finish([False, True])
    try:
        agent.update(chosen, second)
        batch.update(np.full(2, chosen), repeated(ts, second))
    except ImpossibleObservationError as error:
        return found | {"refused": str(error)}
    found |= {"next beliefs": beliefs_of(agent), "batch": {n: b.tolist() for n, b in batch.beliefs.items()}}
    return found | {"next actions": [agent.step(), *batch.step().tolist()]}


def tables_of(ts: TemporalSlice) -> list[Array]:
    priors = [state.prior for state in ts.states.values()]
    return priors + [o.likelihood for o in ts.observations.values()] + [t.table for t in ts.transitions.values()]


def vmp_figures_of(
    ts: TemporalSlice, first: Mapping[str, Any], second: Mapping[str, Any], **stopping: Any
) -> dict[str, Any]:
    """Two cycles by variational message passing, and what the second makes of the first."""
    agent = BTAI_VMP(ts, ITERATIONS, action_selection="lowest_cost", **stopping)
    agent.reset(first)
    found = {"beliefs": beliefs_of(agent)}
    agent.update(agent.step(), second)
    agent.step()
    past = {name: belief.tolist() for name, belief in agent.past.states(0).items()}
    found |= {"next beliefs": beliefs_of(agent), "past": past | {"action": agent.past.action(0).tolist()}}
    return found | {"tree": tree_of(agent), "ended": [agent.inference.iterations, agent.unsettled]}


def repeated(ts: TemporalSlice, evidence: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.array([value, value]) for name, value in evidence.items()}


def tree_of(agent: BTAI_3MF | BTAI_VMP) -> dict[str, list[float]]:
    tree = agent.tree
    return {"expanded": tree.expanded.tolist(), "visits": tree.visits.tolist(), "efe": tree.efe[1:].tolist()}


def beliefs_of(agent: BTAI_3MF | BTAI_VMP) -> dict[str, list[float]]:
    return {name: belief.tolist() for name, belief in agent.beliefs.items()}


def figures() -> dict[str, Any]:
    """The figures of every task, by its name."""
    return {name: figures_of(ts, first, second) for name, ts, first, second in tasks()}


def kernel_files() -> list[str]:
    """The files of the package in which kernels are defined."""
    package = Path(btai.__file__).parent
    return [str(path) for path in sorted(package.rglob("*.py")) if "kernel\ndef " in path.read_text("utf-8")]


def main(report: str) -> None:
    import coverage

    traced = coverage.Coverage(data_file=None, branch=True, config_file=False, include=kernel_files())
    with traced.collect():
        found = figures()  # imports the engine, so that its definitions run here, too
    traced.json_report(outfile=report)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
