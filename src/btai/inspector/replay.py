"""A run file as a trace."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from btai.agents.options import Options
from btai.errors import BtaiError, RunFileError
from btai.experiments import Cycle, RunFile, StoredRun
from btai.experiments.workers import adapted
from btai.inference import expected_free_energy, p_step
from btai.inspector.cursor import Cursor, CursorError
from btai.inspector.known import known_environment
from btai.inspector.recipes import RunRecipe
from btai.inspector.scenes import scenes_of
from btai.inspector.trace import Moment, Trace, TrialRow
from btai.model import TemporalSlice

__all__ = ["RunTrace"]

KEPT_TRIALS = 4
UNKNOWN_AGENT = "agent"
Configuration = Mapping[str, Any]


class RunTrace(Trace):
    """The recorded trials of a run file, which may still be being written.

    A run file holds the model of its agent, but no pictures of the environment: for these the trial is acted out again,
    in `env`.

    Args:
        path: the run file.
        env: the environment, or one like it, if its pictures are wanted; btai's own are known.
        run: which run, by its number, of a file that holds several.
    """

    mode = "replay"

    def __init__(
        self,
        path: str | os.PathLike[str],
        env: Any = None,
        run: int | None = None,
    ) -> None:
        self._file = RunFile.open(path)
        self._moments: dict[int, Sequence[Moment]] = {}
        try:
            self._run = _chosen(self._file, run)
            ts = self._run.model
            known = known_environment(self._run.config.get("environment"), ts) if env is None else adapted(env, ts)
            super().__init__(known)
            self._describe()
            if start := self.start():
                self.moments(start.trial)  # what is wrong with a search is said now
        except BaseException:
            self._file.close()
            raise

    def _describe(self) -> None:
        """What the file says of the agent."""
        path, agent = self._file.path, self._run.config.get("agent")
        agent = agent if isinstance(agent, dict) else {}  # One with its own `configuration()` may say what it likes.
        self.title = path.name if len(self._file.runs) == 1 else f"{path.name}, run {self._run.number}"
        self.agent_class = str(agent.get("class", UNKNOWN_AGENT)).rpartition(".")[2]
        self.ts = self._run.model
        try:
            self.options = _options(agent, self.ts)
        except (BtaiError, TypeError, ValueError) as error:
            raise RunFileError(f"{path}: the options of the agent of run {self._run.number}: {error}") from error
        self.recipe = RunRecipe(path.absolute(), self._run.number, self.options)

    @property
    def count(self) -> int:
        """The trials that are in the file by now."""
        return len(self._run.done())

    @property
    def expected(self) -> int | None:
        """The trials of the whole run."""
        trials: int = self._run.config["trials"]
        return trials

    def summary(self) -> dict[str, Any] | None:
        """The figures of the trials so far."""
        return self._run.summary().as_dict()

    def start(self) -> Cursor | None:
        """The first decision."""
        done = self._run.done()
        return Cursor(min(done)) if done else None

    def trials(self) -> Sequence[TrialRow]:
        """The trials that are in the file by now."""
        return [
            TrialRow(
                trial=t.index,
                seed=t.seed,
                initial_state=t.initial_state,
                reward=t.reward,
                cycles=t.cycles,
                finished=t.finished,
                over=True,
                seconds=t.seconds,
                planning_iterations=t.planning_iterations,
                actions=t.actions,
            )
            for t in self._run.trials()
        ]

    def moments(self, trial: int) -> Sequence[Moment]:
        """The cycles of a trial, the last one being how it ended."""
        if trial not in self._moments:
            while len(self._moments) >= KEPT_TRIALS:
                del self._moments[next(iter(self._moments))]
            self._moments[trial] = self._read(trial)
        return self._moments[trial]

    def is_over(self, trial: int) -> bool:
        """A trial is in the file only when it is over."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, trial: int) -> Sequence[Moment]:
        row = self._run.trial(trial)
        if row is None:
            done = self._run.done()
            raise CursorError(
                f"trial {trial} was asked for; the run has {len(done)} trials by now, the first of them"
                f" {min(done, default=None)}, the last {max(done, default=None)}."
            )
        cycles = self._run.cycles(trial)
        if [cycle.action for cycle in cycles] != [*row.actions, None]:
            raise RunFileError(
                f"{self._file.path}: the cycles of trial {trial} are not those of its actions: the file is damaged."
                " Restore it from a copy."
            )
        self._check_cost(cycles)
        scenes = scenes_of(self._env, row, cycles, self._run.config)
        return [Moment(cycle, *scene) for cycle, scene in zip(cycles, scenes, strict=True)]

    def _check_cost(self, cycles: Sequence[Cycle]) -> None:
        """Refuse a search by other equations than those that beliefs and costs are shown by."""
        searched = next((cycle for cycle in cycles if len(cycle.expanded)), None)
        if searched is None:
            return
        recorded = float(searched.efe[1])  # the first iteration expands the root, so this is the first action's
        computed = expected_free_energy(self.ts, p_step(self.ts, searched.posterior, 0)).total
        if not math.isclose(recorded, computed, rel_tol=1e-9, abs_tol=1e-9):
            raise RunFileError(
                f"{self._file.path}: {self.agent_class} expected its first action to cost {recorded}; by the equations"
                f" of BTAI_3MF, which the inspector shows, that is {computed}. Record a BTAI_3MF, or an agent derived"
                " from it such as BTAI_BF."
            )


def _chosen(file: RunFile, number: int | None) -> StoredRun:
    """The run to look into, if it can be."""
    runs = len(file.runs)
    if number is None and runs != 1:
        raise RunFileError(f"{file.path} holds {runs} runs. Choose one: --run 0 to {runs - 1} (in Python: run=...).")
    if not 0 <= (number or 0) < runs:
        raise RunFileError(f"{file.path}: run {number} was asked for; the file has the runs 0 to {runs - 1}.")
    run = file.runs[number or 0]
    if not run.config.get("record"):
        raise RunFileError(
            f"{file.path} holds the results of its trials, but no cycles to look into. Run it again, into another file,"
            " with --record (record=True)."
        )
    if "model" not in run.config:
        raise RunFileError(f"{file.path}: run {run.number} has not begun yet. Look again when it has a trial.")
    return run


def _options(agent: Configuration, ts: TemporalSlice) -> Options:
    """The options of the agent that was recorded; the paper's where it has others."""
    options: dict[str, Any] = {
        "max_planning_steps": None,
        "exp_const": 2.4,
        "time_limit": None,
        "action_selection": "most_visited",
        "ties": "cost",
        "precision": 1.0,
        "inference": ts.inference,
        "engine": "compiled",
        "root": "fresh",
    }
    options |= {f.name: agent[f.name] for f in fields(Options) if f.name in agent and f.name in options}
    return Options(**options, rng=np.random.default_rng(0) if options["action_selection"] == "softmax" else None)
