"""The fast path of variational message passing: the search of `btai.planning.search` over the kernels of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.engine import MessageProgram, Past, VmpModel, compile_messages, new_vmp_work, settle_chain
from btai.inference.vmp import LogTables, Settling, Stopping, action_prior, checked_log, log_likelihoods
from btai.planning.compiled import Portions, first_portion
from btai.planning.reference import MEMORY_LIMIT
from btai.planning.tree import Tree
from btai.planning.vmp import COST_RESOLUTION

__all__ = ["CompiledChain", "CompiledVmp"]

Vector = NDArray[np.float64]

SWEEPS = 3  # that the beliefs of an expansion usually take to settle


class CompiledVmp:
    """Inference and search on a compiled program; the same results as `NumpyVmp`."""

    def __init__(self, tables: LogTables, stopping: Stopping) -> None:
        self._ts = tables.ts
        self._stopping = stopping
        self._program = compile_messages(tables.ts, tables.likelihoods, tables.transitions)
        self.most_iterations = MEMORY_LIMIT // (tables.ts.action.size * (8 * self._program.wires.width + 40))
        self._work = new_vmp_work(self._program, 1)
        self._room = 1
        self._portions = Portions(first_portion(SWEEPS * self._program.operations))

    @property
    def unsettled(self) -> int:
        """How many expansions of the present search were broken off before their beliefs had settled."""
        return int(self._work.unsettled[0])

    def begin(self, evidence: Mapping[str, Any], prior: Mapping[str, Vector]) -> CompiledChain:
        """The first slice of a trial."""
        past = Past(
            rows=self._uniform_row(),
            priors=self._ts.state_layout.flat({s: checked_log(s, "prior", prior[s]) for s in self._ts.states}),
            actions=np.empty(0),
            seen=np.empty(0, np.int64),
            evidence=np.empty(0),
        )
        return self._settled(past, evidence, 0)

    def extended(self, past: CompiledChain, action: int, evidence: Mapping[str, Any]) -> CompiledChain:
        """One action and one slice more."""
        longer = past.arrays._replace(
            rows=np.concatenate([past.arrays.rows, self._uniform_row()]),
            actions=np.concatenate([past.arrays.actions, np.log(action_prior(self._ts.action.size, action))]),
        )
        return self._settled(longer, evidence, past.time + 1)

    def start(self, beliefs: Vector) -> None:
        """Forget the nodes of the search before."""
        self._work.rows[: len(beliefs)] = beliefs
        self._work.unsettled[0] = 0

    def search(self, tree: Tree, iterations: int, exp_const: float) -> None:
        """So many iterations more."""
        if len(tree.expanded) > self._room:
            self._grow(len(tree.expanded))
        self._portions.search(tree, self._model(), iterations, exp_const)

    def _grow(self, iterations: int) -> None:
        larger = new_vmp_work(self._program, iterations)
        larger.rows[: len(self._work.rows)] = self._work.rows
        larger.unsettled[:] = self._work.unsettled
        self._work, self._room = larger, iterations

    def _model(self) -> VmpModel:
        tolerance, most = float(self._stopping.tolerance), int(self._stopping.max_sweeps)
        return VmpModel(self._program.ops, self._program.wires, self._work, tolerance, most, COST_RESOLUTION)

    def _settled(self, past: Past, evidence: Mapping[str, Any], time: int) -> CompiledChain:
        """Add what was seen at `time`, and infer."""
        wires = self._program.wires
        logs = log_likelihoods(self._ts, evidence)
        tables = np.zeros(wires.table_start[-1])
        for o, name in enumerate(self._ts.observations):
            if name in logs:
                tables[wires.table_start[o] : wires.table_start[o + 1]] = logs[name].ravel()
        longer = past._replace(
            seen=np.concatenate([past.seen, [name in logs for name in self._ts.observations]]).astype(np.int64),
            evidence=np.concatenate([past.evidence, tables]),
        )
        sweeps, free_energy, decrease = settle_chain(self._model(), longer, time + 1)
        longer.rows.flags.writeable = False
        settled = sweeps > 1 and decrease < self._stopping.tolerance
        return CompiledChain(self._program, longer, Settling(sweeps, free_energy, decrease, settled), time)

    def _uniform_row(self) -> Vector:
        """What new hidden variables start from."""
        size = self._program.wires.size
        return np.repeat(1 / size, size)


@dataclass(frozen=True, eq=False)
class CompiledChain:
    """The beliefs over everything since the trial began, in flat arrays."""

    program: MessageProgram
    arrays: Past
    settling: Settling
    time: int

    def states(self, time: int) -> dict[str, Vector]:
        """The beliefs over the states of one time step, `[n_S]` each."""
        layout = self.program.ts.state_layout
        first = time * self.program.wires.width
        return layout.views(self.arrays.rows[first : first + layout.size])

    def action(self, time: int) -> Vector:
        """The beliefs over the action between `time` and `time + 1`, `[A]`: the last variable of a row."""
        end = (time + 1) * self.program.wires.width
        return self.arrays.rows[end - self.program.ts.action.size : end]
