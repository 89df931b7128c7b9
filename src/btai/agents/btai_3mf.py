"""BTAI_3MF: infers, predicts, plans and acts with a declared temporal slice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from btai.agents.options import Options, check_slice
from btai.agents.tree_agent import TreeAgent, read_only
from btai.inference import Beliefs, Inference, i_step, prior_factors, write_evidence
from btai.model import TemporalSlice
from btai.planning import Backend, NumpyBackend, Tree

__all__ = ["BTAI_3MF"]

Vector = NDArray[np.float64]


class BTAI_3MF(TreeAgent):
    """Branching time active inference with many modalities and many factors.

    `reset(obs)`, then `step()` for an action and `update(action, obs)` for what came of it, over and over. Between
    them everything can be looked at: `beliefs`, `inference`, `tree`, `explain()`.

    Args:
        ts: the slice, from `TemporalSliceBuilder`.
        max_planning_steps: planning iterations per action; 150 if neither this nor `time_limit` is given.
        exp_const: the exploration constant of the UCT criterion (eq:UCT).
        time_limit: seconds of planning per action; what comes out then depends on the clock, see `reproducible`.
        action_selection: `"most_visited"` (eq:action_selection), `"lowest_cost"`, or `"softmax"` over minus
            `precision` times the mean costs, drawn with `rng`.
        ties: among the most visited, `"cost"` takes the lower mean cost, then the lower index; `"first"` the lower
            index alone.
        inference: `"exact"` or `"loopy"`; what the slice was built for, if absent.
        root: how the search begins after an action: `"fresh"`, the root visited once at no cost, or `"kept"`, the root
            with the visits and the cost that it had as a child in the tree before.
        engine: `"compiled"`, or `"numpy"` for the readable path: the same results, several hundred
            times slower.
    """

    def __init__(
        self,
        ts: TemporalSlice,
        max_planning_steps: int | None = None,
        exp_const: float = 2.4,
        *,
        time_limit: float | None = None,
        action_selection: str = "most_visited",
        ties: str = "cost",
        precision: float = 1.0,
        rng: Generator | None = None,
        inference: str | None = None,
        root: str = "fresh",
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
            ts.inference if inference is None else inference,
            engine,
            root,
        )
        self._backend = _backend(ts, options)
        super().__init__(ts, options, self._backend)

    def reset(
        self,
        obs: Mapping[str, Any],
        prior: Mapping[str, Vector] | None = None,
        root: tuple[int, float] | None = None,
    ) -> None:
        """Begin a trial with the first observations, from the declared prior, or from `prior`: `[n_S]` each.

        With `root`, the visits and the cost that the root of the first search begins with, a trial can be taken up in
        the middle, also by an agent that keeps its root.
        """
        priors = {factor.scope[0]: factor.table for factor in prior_factors(self.ts, prior)}
        self._perceive(self.ts.state_layout.flat(priors), obs, self._new_tree(root=root))

    def update(self, action: int | str, obs: Mapping[str, Any]) -> None:
        """Take in that `action` (any, planned or not) was executed and what was observed then.

        The prediction for the action becomes the prior (the empirical prior of the paper). If the observations are
        impossible or malformed an error is raised and the agent stays exactly as it was.
        """
        self._require_reset("update")
        executed = self.ts.action.index(action)
        self._perceive(self._backend.predict(self._posterior, executed), obs, self._new_tree(executed))

    @property
    def prior(self) -> Beliefs:
        """The prior over the present states: as declared after `reset`, predicted after `update`."""
        self._require_reset("prior")
        return Beliefs(self.ts, self.ts.state_layout.views(read_only(self._prior)))

    @property
    def evidence(self) -> Mapping[str, Vector]:
        """What was observed last, as vectors `[n_O]`; observations that were not made are left out."""
        self._require_reset("evidence")
        vectors = self.ts.observation_layout.views(read_only(self._evidence))
        return {name: vectors[name] for name in self._observed}

    @property
    def inference(self) -> Inference:
        """The I-step of the present slice: exact or not and why, evidence, messages. Computed when asked for."""
        self._require_reset("inference")
        return i_step(self.ts, self.evidence, self.prior, method=self.options.inference)

    def _perceive(self, prior: Vector, obs: Mapping[str, Any], tree: Tree) -> None:
        """I-step; nothing is assigned before everything has succeeded."""
        evidence = np.empty(self.ts.observation_layout.size)
        write_evidence(self.ts, obs, evidence)
        observed = tuple(obs)
        posterior = self._backend.infer(prior, evidence, observed)
        self._begin(posterior, tree)
        self._prior, self._evidence, self._observed = prior, evidence, observed


def _backend(ts: TemporalSlice, options: Options) -> Backend:
    if options.engine == "numpy":
        return NumpyBackend(ts, options.inference)
    from btai.planning.compiled import EngineBackend  # imports Numba, which takes a moment: not before it is needed

    return EngineBackend(ts, options.inference)
