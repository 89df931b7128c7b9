"""Trials and cycles as the rows of a run file, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.experiments.recording import Cycle
from btai.experiments.trial import Trial, as_state
from btai.model import Layout, TemporalSlice

__all__ = ["CYCLE_COLUMNS", "TRIAL_COLUMNS", "CycleRows", "as_trial", "trial_row"]

TRIAL_COLUMNS = (
    "trial, seed, initial_state, reward, cycles, finished, "
    "planning_seconds, inference_seconds, environment_seconds, planning_iterations, actions"
)
CYCLE_COLUMNS = "trial, cycle, action, evidence, prior, posterior, expanded, efe"
MOST_SECONDS = 1e12  # of a trial

Row = tuple[Any, ...]


def trial_row(trial: Trial) -> Row:
    """The `TRIAL_COLUMNS` of a trial."""
    return (
        trial.index,
        trial.seed,
        json.dumps(trial.initial_state),
        trial.reward,
        trial.cycles,
        trial.finished,
        trial.planning_seconds,
        trial.inference_seconds,
        trial.environment_seconds,
        trial.planning_iterations,
        json.dumps(trial.actions),
    )


def as_trial(row: Row) -> Trial:
    """The trial of a row; ValueError where the row holds none."""
    index, seed, state, reward, cycles, finished, *clocks, iterations, actions = row
    actions = tuple(json.loads(actions))
    if not all(isinstance(number, int) and number >= 0 for number in (index, seed, cycles, iterations, *actions)):
        raise ValueError("what is counted is no number")
    if not all(isinstance(seconds, float) and 0 <= seconds < MOST_SECONDS for seconds in clocks) or not isfinite(
        reward
    ):
        raise ValueError("what is measured is no number")
    return Trial(
        index=index,
        seed=seed,
        initial_state=as_state(json.loads(state)),
        reward=reward,
        cycles=cycles,
        finished=bool(finished),
        planning_seconds=clocks[0],
        inference_seconds=clocks[1],
        environment_seconds=clocks[2],
        planning_iterations=iterations,
        actions=actions,
    )


class CycleRows:
    """Cycles and their rows; the model of their agent says where each variable's vector lies in the blobs."""

    def __init__(self, ts: TemporalSlice) -> None:
        self._n_actions = ts.action.size
        self._observations = ts.observation_layout
        self._states = ts.state_layout

    def row(self, cycle: Cycle) -> Row:
        """The `CYCLE_COLUMNS` of a cycle."""
        return (
            cycle.trial,
            cycle.cycle,
            cycle.action,
            self._observations.flat(cycle.evidence).astype("<f8").tobytes(),
            self._states.flat(cycle.prior).astype("<f8").tobytes(),
            self._states.flat(cycle.posterior).astype("<f8").tobytes(),
            cycle.expanded.astype("<i4").tobytes(),
            cycle.efe.astype("<f8").tobytes(),
        )

    def cycle(self, row: Row) -> Cycle:
        """The cycle of a row; ValueError where the row holds none."""
        trial, cycle, action, evidence, prior, posterior, expanded, efe = row
        nodes = np.frombuffer(expanded, "<i4").astype(np.int32)
        costs = np.frombuffer(efe, "<f8").astype(np.float64)
        _check_search(nodes, costs, self._n_actions)
        if action not in (None, *range(self._n_actions)):
            raise ValueError(f"{action} is no action")
        return Cycle(
            trial=trial,
            cycle=cycle,
            action=action,
            evidence=_vectors(self._observations, evidence),
            prior=_vectors(self._states, prior),
            posterior=_vectors(self._states, posterior),
            expanded=nodes,
            efe=costs,
        )


def _vectors(layout: Layout, blob: bytes) -> Mapping[str, Any]:
    flat = np.frombuffer(blob, "<f8").astype(np.float64)
    if len(flat) != layout.size:
        raise ValueError(f"{len(flat)} numbers where {layout.size} are required")
    if not (np.isfinite(flat) & (flat >= 0)).all():
        raise ValueError("neither probabilities nor likelihoods")
    return layout.views(flat)


def _check_search(expanded: NDArray[np.int32], efe: NDArray[np.float64], n_actions: int) -> None:
    """Refuse what no search can have left behind: iteration i expands one of the 1 + i A nodes there are, a leaf."""
    iterations = np.arange(len(expanded))
    is_search = (expanded >= 0) & (expanded <= iterations * n_actions)
    is_whole = len(efe) == 1 + len(expanded) * n_actions and np.isfinite(efe[1:]).all()
    if not is_whole or not is_search.all() or len(set(expanded.tolist())) < len(expanded):
        raise ValueError("the recorded search is not one")
