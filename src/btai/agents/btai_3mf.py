"""BTAI_3MF: infers, predicts, plans and acts with a declared temporal slice."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from btai.agents.explain import Explanation
from btai.agents.options import Options, check_room, checked_whole
from btai.errors import PlanningError
from btai.inference import Inference, i_step, write_evidence
from btai.model import TemporalSlice
from btai.planning import Backend, NumpyBackend, Tree, TreeView, choose_action, grown_tree, new_tree
from btai.planning.tree import ITERATIONS

__all__ = ["BTAI_3MF"]

Vector = NDArray[np.float64]

FIRST_ROOM = 1024  # planning iterations a new tree has room for at most; it grows as needed


class BTAI_3MF:
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
        engine: `"compiled"`, or `"numpy"` for the readable path: the same results, a hundred times slower.
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
        engine: str = "compiled",
    ) -> None:
        self.ts = ts
        self.options = Options(
            max_planning_steps,
            exp_const,
            time_limit,
            action_selection,
            ties,
            precision,
            rng,
            ts.inference if inference is None else inference,
            engine,
        )
        self._backend = _backend(ts, self.options)
        self._ready = False
        self._tree: Tree
        self._chosen: int | None  # so that `explain` and a second `choose` draw no other action than the first

    def reset(self, obs: Mapping[str, Any]) -> None:
        """Begin a trial: the declared prior, and the first observations."""
        self._perceive(self.ts.state_layout.flat({name: s.prior for name, s in self.ts.states.items()}), obs)

    def update(self, action: int, obs: Mapping[str, Any]) -> None:
        """Take in that `action` (any, planned or not) was executed and what was observed then.

        The prediction for the action becomes the prior (the empirical prior of the paper). If the observations are
        impossible or malformed an error is raised and the agent stays exactly as it was.
        """
        self._require_reset("update")
        executed = checked_whole(self.ts.action.name, action, 0, self.ts.action.size - 1)
        self._perceive(self._backend.predict(self._posterior, executed), obs)

    def step(self) -> int:
        """Plan as much as the budget still allows, and choose an action."""
        self._require_reset("step")
        if self.options.time_limit is not None:
            self._plan_for(self.options.time_limit)
        else:
            remaining = self.options.iterations - int(self._tree.counts[ITERATIONS])
            if remaining > 0:
                self.plan(remaining)
        return self.choose()

    def plan(self, iterations: int) -> None:
        """So many planning iterations more."""
        self._require_reset("plan")
        planned = checked_whole("planning iterations", iterations, least=1)
        check_room(int(self._tree.counts[ITERATIONS]) + planned, self._backend.most_iterations)
        self._chosen = None
        self._tree = grown_tree(self._tree, planned)
        self._backend.search(self._tree, planned, self.options.exp_const)

    def choose(self) -> int:
        """The action that the planning so far speaks for: one choice, however often it is asked for."""
        self._require_reset("choose")
        if self._chosen is None:
            o = self.options
            self._chosen = choose_action(self._tree, o.action_selection, o.ties, o.precision, o.rng)
        return self._chosen

    @property
    def max_planning_steps(self) -> int:
        """Planning iterations per action at most."""
        return self.options.iterations

    @property
    def exp_const(self) -> float:
        """The exploration constant."""
        return self.options.exp_const

    @property
    def reproducible(self) -> bool:
        """Whether the same model, options and observations give the same actions: not under a time limit."""
        return self.options.time_limit is None

    @property
    def beliefs(self) -> Mapping[str, Vector]:
        """The posterior beliefs over the present states, `[n_S]` each."""
        self._require_reset("beliefs")
        return self.ts.state_layout.views(_read_only(self._posterior))

    @property
    def prior(self) -> Mapping[str, Vector]:
        """The prior over the present states: as declared after `reset`, predicted after `update`."""
        self._require_reset("prior")
        return self.ts.state_layout.views(_read_only(self._prior))

    @property
    def inference(self) -> Inference:
        """The I-step of the present slice: exact or not and why, evidence, messages. Computed when asked for."""
        self._require_reset("inference")
        vectors = self.ts.observation_layout.views(self._evidence)
        evidence = {name: vectors[name] for name in self._observed}
        return i_step(self.ts, evidence, self.prior, method=self.options.inference)

    @property
    def tree(self) -> TreeView:
        """The search tree as it is now."""
        self._require_reset("tree")
        return TreeView(self.ts, self._tree, self.beliefs, self.options.exp_const)

    def explain(self) -> Explanation:
        """Why the action that `choose()` gives, against each other one."""
        return Explanation.of(self.tree, self.choose(), self.reproducible)

    def __repr__(self) -> str:
        states = ", ".join(self.ts.states)
        return f"{type(self).__name__}({states}; {self.options.budget}, exp_const={self.options.exp_const})"

    def _perceive(self, prior: Vector, obs: Mapping[str, Any]) -> None:
        """I-step and a new tree; nothing is assigned before everything has succeeded."""
        evidence = np.empty(self.ts.observation_layout.size)
        write_evidence(self.ts, obs, evidence)
        observed = tuple(obs)
        posterior = self._backend.infer(prior, evidence, observed)
        tree = new_tree(self.ts.action.size, min(self.options.iterations, FIRST_ROOM))
        self._backend.start(posterior)
        self._prior, self._evidence, self._observed, self._posterior = prior, evidence, observed, posterior
        self._tree, self._chosen, self._ready = tree, None, True

    def _plan_for(self, seconds: float) -> None:
        """Plan in small portions until the time is over."""
        end = time.perf_counter() + seconds
        portion = 1
        most = min(self.options.iterations, self._backend.most_iterations)
        while (room := most - int(self._tree.counts[ITERATIONS])) > 0:
            before = time.perf_counter()
            self.plan(min(portion, room))
            now = time.perf_counter()
            if now >= end:
                return
            # As many as fit into a tenth of what is left, judged by the pace of the portion before.
            portion = max(1, min(2 * portion, int(portion * 0.1 * (end - now) / max(now - before, 1e-9))))

    def _require_reset(self, what: str) -> None:
        if not self._ready:
            raise PlanningError(f"{what}: the agent has observed nothing yet; call reset(obs) first.")

    def seeded(self, seed: int) -> Self:
        """This agent, its random choices (of `action_selection="softmax"`) begun anew from `seed`."""
        self.options = self.options.with_rng(np.random.default_rng(seed))
        return self


def _backend(ts: TemporalSlice, options: Options) -> Backend:
    if options.engine == "numpy":
        return NumpyBackend(ts, options.inference)
    from btai.planning.compiled import EngineBackend  # imports Numba, which takes a moment: not before it is needed

    return EngineBackend(ts, options.inference)


def _read_only(vector: Vector) -> Vector:
    view = vector.view()
    view.flags.writeable = False
    return view
