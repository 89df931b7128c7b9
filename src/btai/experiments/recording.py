"""What is kept of a decision, so that it can be looked into afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import PlanningError
from btai.inference import write_evidence
from btai.model import TemporalSlice
from btai.planning import Tree, replay

__all__ = ["Cycle", "Recorder", "recorded_model"]

Vectors = Mapping[str, NDArray[np.float64]]
NEEDED = ("ts", "prior", "beliefs", "tree")


@dataclass(frozen=True, eq=False)
class Cycle:
    """One action-perception cycle: what was observed, believed, searched and done.

    The last cycle of a trial has no action and no search: it is how the trial ended.
    """

    trial: int
    cycle: int
    action: int | None
    evidence: Vectors  # observation -> [n_O], all ones where it was not observed
    prior: Vectors  # state -> [n_S], before the evidence
    posterior: Vectors  # state -> [n_S]
    expanded: NDArray[np.int32]  # [N] the node that each planning iteration expanded
    efe: NDArray[np.float64]  # [1 + N A] expected free energy by node in order of creation, NaN at the root

    def tree(self, iterations: int | None = None, visits: int = 1, cost: float = 0.0) -> Tree:
        """The search tree after so many of its planning iterations, `0 .. N`; after all of them if absent.

        Nothing is searched again: `expanded` and `efe` replay every state of the search. Of an agent that keeps its
        root, `visits` and `cost` are those that the root began with.
        """
        recorded = len(self.expanded)
        wanted = recorded if iterations is None else iterations
        if not 0 <= wanted <= recorded:
            raise PlanningError(
                f"iterations: {wanted} was given; cycle {self.cycle} has {recorded}, so 0 to {recorded} is required."
            )
        n_actions = (len(self.efe) - 1) // recorded if recorded else 0
        return replay(n_actions, self.expanded, self.efe, visits, cost, wanted)


def recorded_model(agent: Any) -> TemporalSlice:
    """The model of an agent whose cycles can be recorded; any other is refused."""
    # By class: the properties of an agent that has observed nothing yet may refuse to answer.
    missing = [name for name in NEEDED if not (hasattr(type(agent), name) or name in vars(agent))]
    if missing:
        raise PlanningError(
            f"record: {type(agent).__name__} has no {', '.join(missing)}; recording needs an agent with "
            f"{', '.join(NEEDED)}, such as BTAI_3MF. Run it with record=False."
        )
    ts: TemporalSlice = agent.ts
    return ts


class Recorder:
    """Records the cycles of one trial, as the witness of `run_trial`."""

    def __init__(self, agent: Any, trial: int) -> None:
        self.cycles: list[Cycle] = []
        self._agent = agent
        self._trial = trial

    def decided(self, obs: Mapping[str, Any], action: int) -> None:
        """Record a decision."""
        tree = self._agent.tree
        # Copies: the arrays may be views into memory that the next search reuses.
        self._record(obs, int(action), np.array(tree.expanded, np.int32), np.array(tree.efe, np.float64))

    def ended(self, obs: Mapping[str, Any]) -> None:
        """Record the beliefs after the last action."""
        self._record(obs, None, np.empty(0, np.int32), np.full(1, np.nan))

    def _record(
        self,
        obs: Mapping[str, Any],
        action: int | None,
        expanded: NDArray[np.int32],
        efe: NDArray[np.float64],
    ) -> None:
        ts = self._agent.ts
        evidence = np.empty(ts.observation_layout.size)
        write_evidence(ts, obs, evidence)
        self.cycles.append(
            Cycle(
                trial=self._trial,
                cycle=len(self.cycles),
                action=action,
                evidence=ts.observation_layout.views(evidence),
                prior=_copied(self._agent.prior),
                posterior=_copied(self._agent.beliefs),
                expanded=expanded,
                efe=efe,
            )
        )


def _copied(vectors: Vectors) -> Vectors:
    return {name: np.array(vector) for name, vector in vectors.items()}
