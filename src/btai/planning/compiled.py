"""The fast path: the search of `btai.planning.search`, compiled, over the kernels of the engine."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from btai.engine import Model, VmpModel, begin, compile, grown_workspace, infer, new_workspace, predict
from btai.inference import i_step
from btai.model import TemporalSlice
from btai.planning import kernels
from btai.planning.reference import MEMORY_LIMIT
from btai.planning.tree import ITERATIONS, Tree

__all__ = ["EngineBackend", "Portions", "first_portion"]

Vector = NDArray[np.float64]

PORTION_SECONDS = 0.01  # a running kernel cannot be interrupted: it comes back this often to let Ctrl-C through
FIRST_PORTION = 1024  # iterations at most, while the tree is small; see Portions.search
SECONDS_PER_OPERATION = 2e-9  # rough; it only sizes the first portion
SECONDS_PER_ITERATION = 1e-6  # beside its operations


class EngineBackend:
    """Inference and search on a compiled program; the same results as `NumpyBackend`."""

    def __init__(self, ts: TemporalSlice, method: str = "exact") -> None:
        self._program = compile(ts)
        # A slice built for loopy propagation has no schedule for exact inference; NumPy decides what it can do.
        self._exact = method == "exact" and ts.inference == "exact"
        self._method = method
        self.most_iterations = MEMORY_LIMIT // self._program.bytes_per_iteration
        self._work = new_workspace(self._program, 1)
        self._portions = Portions(first_portion(self._program.operations))

    def infer(self, prior: Vector, evidence: Vector, observed: Sequence[str]) -> Vector:
        """The I-step. Loopy propagation, and the words for impossible evidence, are those of `btai.inference`."""
        posterior = np.empty_like(prior)
        program = self._program
        if self._exact and infer(program.parts, program.cliques, prior, evidence, posterior, self._work):
            return posterior
        ts = program.ts
        vectors = ts.observation_layout.views(evidence)
        seen = {name: vectors[name] for name in observed}
        result = i_step(ts, seen, ts.state_layout.views(prior), method=self._method)
        return ts.state_layout.flat(result.posteriors)

    def predict(self, beliefs: Vector, action: int) -> Vector:
        """The P-step."""
        prediction = np.empty_like(beliefs)
        predict(self._program.ops, self._program.parts, beliefs, action, prediction, self._work)
        return prediction

    def start(self, beliefs: Vector) -> None:
        """Forget the histories of the search before."""
        begin(self._program.parts, beliefs, self._work)

    def search(self, tree: Tree, iterations: int, exp_const: float) -> None:
        """So many iterations more."""
        self._work = grown_workspace(self._program, self._work, len(tree.expanded))
        self._portions.search(tree, Model(self._program.ops, self._program.parts, self._work), iterations, exp_const)


class Portions:
    """The compiled search, in portions short enough for an interrupt to come through between them."""

    def __init__(self, first: int) -> None:
        self._size = first

    def search(self, tree: Tree, model: Model | VmpModel, iterations: int, exp_const: float) -> None:
        """So many iterations more."""
        constant = float(exp_const)  # a kernel is compiled for each type it is given
        while iterations > 0:
            # The deeper the tree, the longer an iteration takes. No portion is longer than all before it together, so
            # within it the pace cannot change much.
            done = int(tree.counts[ITERATIONS])
            portion = min(iterations, self._size, max(FIRST_PORTION, done))
            before = time.perf_counter()
            kernels.search(tree, model, portion, constant)
            iterations -= portion
            pace = portion / max(time.perf_counter() - before, 1e-9)
            self._size = max(1, int(PORTION_SECONDS * pace))


def first_portion(operations: int) -> int:
    """How many planning iterations of so many operations take some PORTION_SECONDS, before any has been timed."""
    return max(1, int(PORTION_SECONDS / (operations * SECONDS_PER_OPERATION + SECONDS_PER_ITERATION)))
