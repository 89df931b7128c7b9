"""Search over slices that variational message passing infers: what BTAI_VMP asks of an engine, and the readable one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from btai.inference import expected_free_energy
from btai.inference.vmp import Chain, LogTables, Settling, Stopping, branches
from btai.planning.reference import MEMORY_LIMIT, ReadableSearch, Searcher

__all__ = ["COST_RESOLUTION", "NumpyVmp", "PastBeliefs", "VmpBackend"]

Vector = NDArray[np.float64]

COST_RESOLUTION = 2.0**-20
"""Costs are multiples of this, some 1e-6: the tie rule of VMP.

Far from the goal all actions cost the same but for some 1e-11, an echo of where the walls are, and below that,
rounding. Neither means anything, and yet the search would follow it. To this resolution such costs are equal, and so
are their sums, which are exact; of equals the search takes the first.
"""


class PastBeliefs(Protocol):
    """The beliefs over everything since the trial began."""

    @property
    def time(self) -> int:
        """Of the present slice; the first is 0."""

    @property
    def settling(self) -> Settling:
        """How inference ended."""

    def states(self, time: int) -> dict[str, Vector]:
        """The beliefs over the states of one time step, `[n_S]` each."""

    def action(self, time: int) -> Vector:
        """The beliefs over the action between `time` and `time + 1`, `[A]`."""


class VmpBackend(Searcher, Protocol):
    """How BTAI_VMP infers and searches."""

    @property
    def unsettled(self) -> int:
        """How many expansions of the present search were broken off before their beliefs had settled."""

    def begin(self, evidence: Mapping[str, Any], prior: Mapping[str, Vector]) -> PastBeliefs:
        """The first slice of a trial."""

    def extended(self, past: Any, action: int, evidence: Mapping[str, Any]) -> PastBeliefs:
        """One action and one slice more; `past` stays as it is."""


class NumpyVmp(ReadableSearch):
    """Everything by the functions of `btai.inference.vmp`."""

    def __init__(self, tables: LogTables, stopping: Stopping) -> None:
        ts = tables.ts
        self._tables = tables
        self._stopping = stopping
        self._beliefs: list[Mapping[str, Vector]] = []  # of each node, in the order of creation
        node = 40 + 64 + 200 * len(ts.states) + 8 * ts.state_layout.size  # as for NumpyBackend
        self.most_iterations = MEMORY_LIMIT // (node * ts.action.size)
        self.unsettled = 0

    def begin(self, evidence: Mapping[str, Any], prior: Mapping[str, Vector]) -> Chain:
        """The first slice of a trial."""
        return Chain.begin(self._tables, evidence, prior, self._stopping)

    def extended(self, past: Chain, action: int, evidence: Mapping[str, Any]) -> Chain:
        """One action and one slice more."""
        return past.extended(action, evidence)

    def start(self, beliefs: Vector) -> None:
        """Forget the nodes of the search before."""
        self._beliefs = [self._tables.ts.state_layout.views(beliefs)]
        self.unsettled = 0

    def score(self, node: int, first: int, efe: Vector) -> None:
        """Infer the children of `node` and write their expected free energies into `efe` `[A]`."""
        del self._beliefs[first:]  # an interrupted iteration may have left some behind
        predictions, settling = branches(self._tables, self._beliefs[node], self._stopping)
        self._beliefs += [prediction.states for prediction in predictions]
        costs = [expected_free_energy(self._tables.ts, prediction).total for prediction in predictions]
        efe[:] = np.rint(np.array(costs) / COST_RESOLUTION) * COST_RESOLUTION
        self.unsettled += not settling.settled
