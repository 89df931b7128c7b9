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
from spec import Factor, Spec

import btai
from btai import BTAI_3MF
from btai.agents import BatchAgent
from btai.errors import ImpossibleObservationError
from btai.model import TemporalSlice

ITERATIONS = 6
Task = tuple[str, TemporalSlice, Mapping[str, Any], Mapping[str, Any]]  # name, model, evidence of two cycles


def tasks() -> Iterator[Task]:
    """Our golden models, and one with shifted tables of every form."""
    for name in own_names():
        figures = own_figures(name)
        yield name, figures.spec.build(), figures.evidence, figures.next_evidence
    zeros = own_figures("zeros")
    yield "impossible at once", zeros.spec.build(), zeros.evidence, {"O_x": 0, "O_wall": 1}
    yield "impossible around a loop", ring().build(), {"O_0": 1}, {"O_0": 1, "O_1": 0, "O_2": 0}
    yield "shifted", shifted().build(), {"O_a": 3}, {"O_a": 4, "O_b": 1}


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


def figures_of(ts: TemporalSlice, first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two cycles of an agent and of a batch of two, the second of which has finished in the second cycle."""
    agent, batch = BTAI_3MF(ts, ITERATIONS), BatchAgent(ts, 2, ITERATIONS, threads=1)
    agent.reset(first)
    batch.reset(repeated(ts, first))
    chosen = agent.step()
    found = {"tree": tree_of(agent), "beliefs": beliefs_of(agent), "actions": batch.step().tolist()}
    batch.finish([False, True])
    try:
        agent.update(chosen, second)
        batch.update(np.full(2, chosen), repeated(ts, second))
    except ImpossibleObservationError as error:
        return found | {"refused": str(error)}
    found |= {"next beliefs": beliefs_of(agent), "batch": {n: b.tolist() for n, b in batch.beliefs.items()}}
    return found | {"next actions": [agent.step(), *batch.step().tolist()]}


def repeated(ts: TemporalSlice, evidence: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.array([value, value]) for name, value in evidence.items()}


def tree_of(agent: BTAI_3MF) -> dict[str, list[float]]:
    tree = agent.tree
    return {"expanded": tree.expanded.tolist(), "visits": tree.visits.tolist(), "efe": tree.efe[1:].tolist()}


def beliefs_of(agent: BTAI_3MF) -> dict[str, list[float]]:
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
