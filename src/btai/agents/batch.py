"""Thousands of agents of one model, with the verbs of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.agents.options import Options, check_room, check_slice, checked_whole
from btai.errors import EvidenceError, ImpossibleObservationError, PlanningError
from btai.inference import check_observations, i_step
from btai.model import Observation, TemporalSlice

if TYPE_CHECKING:
    from btai.planning.batch import BatchEngine

__all__ = ["BatchAgent"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class BatchAgent:
    """`batch_size` agents of one slice: `reset`, `step` and `update` with a leading batch axis.

    Each does exactly what a `BTAI_3MF` of the same slice and options would do, whatever the number of threads. Agents
    that have finished (`finish`) are passed over until they are reset.

    Args:
        ts: the slice, built for exact inference.
        batch_size: the number of agents B.
        max_planning_steps, exp_const, action_selection, ties: as for `BTAI_3MF`; no `"softmax"`.
        threads: how many at most; as many as Numba uses (`NUMBA_NUM_THREADS`) if absent.
    """

    def __init__(
        self,
        ts: TemporalSlice,
        batch_size: int,
        max_planning_steps: int = 150,
        exp_const: float = 2.4,
        *,
        action_selection: str = "most_visited",
        ties: str = "cost",
        threads: int | None = None,
    ) -> None:
        check_slice(ts)
        _check_supported(ts, action_selection)
        self.ts = ts
        self.options = Options(
            max_planning_steps, exp_const, None, action_selection, ties, 1.0, None, ts.inference, "compiled"
        )
        self._n = checked_whole("batch_size", batch_size, least=1)
        shape = (self._n, ts.state_layout.size)
        self._prior, self._posterior = np.zeros(shape), np.zeros(shape)
        self._active = np.zeros(self._n, bool)
        self._ready = False
        self._engine = _engine(ts, None if threads is None else checked_whole("threads", threads, least=1))

    def reset(self, obs: Mapping[str, ArrayLike], which: ArrayLike | None = None) -> None:
        """Begin a trial for all agents, or for those of `which`, a mask `[B]`.

        The observations of the others are ignored.
        """
        chosen = self._mask(which, "reset")
        declared = self.ts.state_layout.flat({name: s.prior for name, s in self.ts.states.items()})
        prior = np.where(chosen[:, None], declared, self._prior)
        self._perceive(np.full(self._n, -1), obs, prior, chosen)
        self._active |= chosen
        self._ready = True

    def step(self, budgets: ArrayLike | None = None) -> Ints:
        """An action for each agent, `[B]`; -1 for those that have finished.

        `budgets` `[B]` gives each agent its own number of planning iterations.
        """
        self._require_reset("step")
        o = self.options
        given = np.full(self._n, o.iterations) if budgets is None else self._budgets(budgets)
        iterations = np.where(self._active, given, 0)
        check_room(int(iterations.max()), self._engine.most_iterations)
        by_visits = o.action_selection == "most_visited"
        return self._engine.plan(
            self._posterior,
            iterations,
            o.exp_const,
            by_visits=by_visits,
            by_cost=o.ties == "cost" or not by_visits,
        )

    def update(self, actions: ArrayLike, obs: Mapping[str, ArrayLike]) -> None:
        """Take in the actions executed and what came of them; finished agents are passed over."""
        self._require_reset("update")
        taken = _array(actions)
        if taken.shape != (self._n,) or taken.dtype.kind not in "iu":
            raise self._action_error(f"{taken.dtype} of shape {taken.shape}")
        wrong = np.flatnonzero(self._active & ((taken < 0) | (taken >= self.ts.action.size)))
        if len(wrong):
            raise self._action_error(f"{taken[wrong[0]]} for agent {wrong[0]}")
        self._perceive(taken.astype(np.int64), obs, self._prior.copy(), self._active)

    def finish(self, which: ArrayLike) -> None:
        """Pass over the agents of `which` (a mask `[B]`) until they are reset."""
        self._active &= ~self._mask(which, "finish")

    @property
    def active(self) -> Flags:
        """The agents that have not finished, `[B]`."""
        return self._active.copy()

    @property
    def beliefs(self) -> Mapping[str, Floats]:
        """The posterior beliefs over the present states, `[B, n_S]` each; 0 for an agent that was never reset."""
        self._require_reset("beliefs")
        posterior = self._posterior.view()
        posterior.flags.writeable = False
        return {name: posterior[:, span] for name, span in self.ts.state_layout.spans.items()}

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        return f"BatchAgent({self._n} agents; {self.options.budget}, exp_const={self.options.exp_const})"

    def _perceive(self, actions: Ints, obs: Mapping[str, ArrayLike], prior: Floats, active: Flags) -> None:
        """Predict where there is an action, infer; nothing is assigned before all has succeeded."""
        evidence = self._evidence(obs, active)
        posterior = self._posterior.copy()
        possible = self._engine.perceive(self._posterior, actions, evidence, prior, posterior, active)
        for agent in np.flatnonzero(active & ~possible).tolist():
            posterior[agent] = self._inferred_with_care(agent, obs, evidence[agent], prior[agent])
        self._prior, self._posterior = prior, posterior

    def _evidence(self, obs: Mapping[str, ArrayLike], active: Flags) -> Floats:
        """The evidence as vectors, `[B, sum of n_O]`; ones where nothing was observed."""
        check_observations(self.ts, obs)
        evidence = np.ones((self._n, self.ts.observation_layout.size))
        for name, values in obs.items():
            span = self.ts.observation_layout.spans[name]
            evidence[active, span] = _vectors(self.ts.observations[name], _array(values), active)
        return evidence

    def _inferred_with_care(self, agent: int, obs: Mapping[str, ArrayLike], evidence: Floats, prior: Floats) -> Floats:
        """The posterior of an agent with which the engine came to an end: an error where its evidence is impossible."""
        vectors, layout = self.ts.observation_layout.views(evidence), self.ts.state_layout
        try:
            result = i_step(self.ts, {name: vectors[name] for name in obs}, layout.views(prior))
        except ImpossibleObservationError as error:
            raise ImpossibleObservationError(f"agent {agent}: {error}") from None
        return layout.flat(result.posteriors)

    def _action_error(self, given: str) -> PlanningError:
        return PlanningError(
            f"{self.ts.action.name}: {given} was given; {self._n} whole numbers from 0 to {self.ts.action.size - 1} are"
            " required (for finished agents, anything)."
        )

    def _mask(self, which: ArrayLike | None, what: str) -> Flags:
        mask = np.ones(self._n, bool) if which is None else _array(which)
        if mask.shape != (self._n,) or mask.dtype != bool:
            raise PlanningError(
                f"{what}: {mask.dtype} of shape {mask.shape} was given; a mask of {self._n} booleans is required."
            )
        return mask

    def _budgets(self, budgets: ArrayLike) -> Ints:
        wanted = _array(budgets)
        whole = wanted.shape == (self._n,) and wanted.dtype.kind in "iu"
        if not whole or (wanted[self._active] < 1).any():
            raise PlanningError(
                f"budgets: {wanted} was given; {self._n} whole numbers of at least 1 are required (for finished"
                " agents, anything)."
            )
        return wanted.astype(np.int64)

    def _require_reset(self, what: str) -> None:
        if not self._ready:
            raise PlanningError(f"{what}: the agents have observed nothing yet; call reset(obs) first.")


def _check_supported(ts: TemporalSlice, action_selection: str) -> None:
    if action_selection == "softmax":
        raise PlanningError(
            "action_selection: 'softmax' was given; a batch offers 'most_visited' and 'lowest_cost'. A BTAI_3MF draws"
            " at random."
        )
    if ts.inference == "loopy":
        raise PlanningError(
            "inference: the slice was built for loopy propagation; a batch infers exactly. Use build()."
        )


def _engine(ts: TemporalSlice, threads: int | None) -> BatchEngine:
    from btai.planning.batch import BatchEngine  # imports Numba, which takes a moment: not before it is needed

    return BatchEngine(ts, threads)


def _array(values: ArrayLike) -> NDArray[Any]:
    """`values` as an array; of objects, which every check refuses, where they make none."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return np.asarray(None)


def _vectors(observation: Observation, values: NDArray[Any], active: Flags) -> Floats:
    """The evidence of the active agents, `[active, n_O]`, from indices `[B]` or vectors `[B, n_O]`."""
    name, size, n = observation.name, observation.size, len(active)
    agents = np.flatnonzero(active)
    if values.shape == (n,) and values.dtype.kind in "iu":
        indices = values[active]
        wrong = np.flatnonzero((indices < 0) | (indices >= size))
        if len(wrong):
            raise EvidenceError(
                f"{name}: index {indices[wrong[0]]} was given for agent {agents[wrong[0]]}; it must lie from 0 to"
                f" {size - 1}."
            )
        one_hot = np.zeros((len(agents), size))
        one_hot[np.arange(len(agents)), indices] = 1.0
        return one_hot
    if values.shape != (n, size) or values.dtype.kind not in "iuf":
        raise EvidenceError(
            f"{name}: {values.dtype} of shape {values.shape} was given; {n} indices (whole numbers) or vectors of"
            f" shape {(n, size)} are required."
        )
    vectors = values[active].astype(np.float64)
    usable = np.isfinite(vectors).all(axis=1) & (vectors >= 0).all(axis=1) & vectors.any(axis=1)
    if not usable.all():
        agent = int(np.argmin(usable))
        raise EvidenceError(
            f"{name}: the evidence {vectors[agent]} was given for agent {agents[agent]}; its entries must be finite, at"
            " least 0 and not all 0. Vectors of ones say that nothing was observed."
        )
    return vectors
