"""BTAI_BF: branching time active inference with Bayesian filtering, over one state and one observation."""

from __future__ import annotations

from numpy.random import Generator

from btai.agents.btai_3mf import BTAI_3MF
from btai.agents.options import check_slice
from btai.errors import PlanningError
from btai.model import TemporalSlice

__all__ = ["BTAI_BF"]


class BTAI_BF(BTAI_3MF):
    """The paper's predecessor of BTAI_3MF, with its choices: the root keeps its visits and its cost from one tree to
    the next, and the action is drawn from softmax(-100 * mean cost).

    Its filter is Bayes' theorem on one state and one observation. A slice of several is a BTAI_3MF's; or
    `btai.model.flatten` merges them into one.

    Args:
        ts: a slice of one state and one observation.
        max_planning_steps, exp_const, time_limit, ties, engine: as for `BTAI_3MF`.
        action_selection, precision: as for `BTAI_3MF`; by default drawn, with precision 100.
        rng: where the draws come from: `numpy.random.default_rng(seed)`.
        root: as for `BTAI_3MF`; by default kept.
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
        root: str = "kept",
        engine: str = "compiled",
    ) -> None:
        check_slice(ts)
        for what, variables in (("states", ts.states), ("observations", ts.observations)):
            if len(variables) != 1:
                raise PlanningError(
                    f"ts: the slice has {len(variables)} {what} ({', '.join(variables) or 'none'}); BTAI_BF filters one"
                    " state by one observation. Merge them with btai.model.flatten(ts), or use BTAI_3MF, which takes"
                    " the slice as it is."
                )
        super().__init__(
            ts,
            max_planning_steps,
            exp_const,
            time_limit=time_limit,
            action_selection=action_selection,
            ties=ties,
            precision=precision,
            rng=rng,
            root=root,
            engine=engine,
        )
