"""BTAI_VMP: branching time active inference with variational message passing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from btai.agents.options import Options, check_positive, check_slice, checked_whole
from btai.agents.tree_agent import TreeAgent, read_only
from btai.inference import Beliefs, Inference, Prediction, evidence_vectors, prior_factors
from btai.inference.vmp import LogTables, Stopping, arrivals, branches
from btai.model import TemporalSlice
from btai.planning.vmp import NumpyVmp, PastBeliefs, VmpBackend

__all__ = ["BTAI_VMP"]

Vector = NDArray[np.float64]


class BTAI_VMP(TreeAgent):
    """The first of the paper's agents: it infers by variational message passing.

    Everything since the trial began is kept, and inferred anew in every cycle: the states and the actions of the past
    are beliefs that what comes later may correct, see `past`. The search infers each slice to come in the same way, its
    observations hidden, from the beliefs of the slice before, which stay as they are. So a cycle's inference takes
    longer the longer the trial, and no table may hold a zero.

    `reset(obs)`, then `step()` for an action and `update(action, obs)` for what came of it, as with `BTAI_3MF`; here,
    too, a slice may have several states and observations.

    Costs are rounded to a multiple of 2^-20 (`btai.planning.vmp.COST_RESOLUTION`), so that actions which cost the same
    but for rounding errors do so exactly; of equals, the search takes the first.

    Args:
        ts: the slice; every table positive.
        max_planning_steps, exp_const, time_limit, ties, engine: as for `BTAI_3MF`.
        action_selection, precision: as for `BTAI_3MF`; by default drawn, with precision 100.
        rng: where the draws come from: `numpy.random.default_rng(seed)`.
        tolerance: a sweep over the variables in which the free energy falls by less is the last.
        max_sweeps: how many sweeps there are at most. Beliefs that have not settled by then are used as they are;
            `inference` and `unsettled` say so.
    """

    def __init__(
        self,
        ts: TemporalSlice,
        max_planning_steps: int | None = None,
        exp_const: float = 2.4,
        *,
        time_limit: float | None = None,
        action_selection: str = "softmax",
        ties: str = "cost",
        precision: float = 100.0,
        rng: Generator | None = None,
        tolerance: float = 0.01,
        max_sweeps: int = 100,
        engine: str = "compiled",
    ) -> None:
        check_slice(ts)
        options = Options(
            max_planning_steps,
            exp_const,
            time_limit,
            action_selection,
            ties,
            precision,
            rng,
            ts.inference,
            engine,
            root="unvisited",
        )
        check_positive("tolerance", tolerance)
        self._stopping = Stopping(float(tolerance), checked_whole("max_sweeps", max_sweeps, least=2))
        self._tables = LogTables(ts)
        self._backend = _backend(self._tables, self._stopping, engine)
        super().__init__(ts, options, self._backend)
        self._past: PastBeliefs

    def reset(self, obs: Mapping[str, Any], prior: Mapping[str, Vector] | None = None) -> None:
        """Begin a trial with the first observations, from the declared prior, or from `prior`: `[n_S]` each."""
        priors = {factor.scope[0]: factor.table for factor in prior_factors(self.ts, prior)}
        evidence = evidence_vectors(self.ts, obs)
        self._live_on(self._backend.begin(evidence, priors), evidence)
        self._first_prior = priors

    def update(self, action: int | str, obs: Mapping[str, Any]) -> None:
        """Take in that `action` (any, planned or not) was executed and what was observed then.

        Both join the past, and all of it is inferred anew. If the observations are malformed an error is raised and
        the agent stays exactly as it was.
        """
        self._require_reset("update")
        executed = self.ts.action.index(action)
        evidence = evidence_vectors(self.ts, obs)
        self._live_on(self._backend.extended(self._past, executed, evidence), evidence)

    @property
    def past(self) -> PastBeliefs:
        """The beliefs over everything since the trial began: `states(time)` and `action(time)`."""
        self._require_reset("past")
        return self._past

    @property
    def prior(self) -> Beliefs:
        """What the past alone says of the present states, `[n_S]` each; after `reset`, the prior of the trial."""
        self._require_reset("prior")
        if self._past.time == 0:
            return Beliefs(self.ts, self._first_prior)
        before = self._past.time - 1
        return Beliefs(self.ts, arrivals(self._tables, self._past.states(before), self._past.action(before)))

    @property
    def evidence(self) -> Mapping[str, Vector]:
        """What was observed last, as vectors `[n_O]`; observations that were not made are left out."""
        self._require_reset("evidence")
        return {name: read_only(vector) for name, vector in self._evidence.items()}

    @property
    def inference(self) -> Inference:
        """How the last inference of everything since the trial began ended, and whether it settled."""
        self._require_reset("inference")
        settling = self._past.settling
        verdict = "they settled" if settling.settled else "they did not settle, raise max_sweeps;"
        return Inference(
            self.beliefs,
            -settling.free_energy,
            exact=False,
            reason=(
                "variational message passing takes all beliefs for independent of each other;"
                f" {verdict} after {settling.sweeps} sweeps, in the last of which the free energy fell by"
                f" {settling.decrease:.3g} (tolerance {self._stopping.tolerance:g})"
            ),
            residual=settling.decrease,
            iterations=settling.sweeps,
        )

    @property
    def unsettled(self) -> int:
        """How many expansions of the present tree were broken off, at `max_sweeps`, before their beliefs settled."""
        self._require_reset("unsettled")
        return self._backend.unsettled

    def _live_on(self, past: PastBeliefs, evidence: Mapping[str, Vector]) -> None:
        """Plan from the last of these beliefs; nothing is assigned before all inference has succeeded."""
        self._begin(self.ts.state_layout.flat(past.states(past.time)), self._new_tree())
        self._past, self._evidence = past, evidence

    def _predict(self, beliefs: Mapping[str, Vector], action: int) -> Prediction:
        """The slice that follows `action`, inferred as the search did."""
        return branches(self._tables, beliefs, self._stopping)[0][action]


def _backend(tables: LogTables, stopping: Stopping, engine: str) -> VmpBackend:
    if engine == "numpy":
        return NumpyVmp(tables, stopping)
    from btai.planning.compiled_vmp import CompiledVmp  # imports Numba, which takes a moment: not before it is needed

    return CompiledVmp(tables, stopping)
