"""A run file as a trace."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from btai.agents.options import Options
from btai.envs.dsprites import dsprites_slice, dSpritesEnv, dSpritesPreProcessingWrapper
from btai.errors import BtaiError, RunFileError
from btai.experiments import Cycle, Job, RunFile, Trial, run_trial
from btai.experiments.configuration import describe
from btai.experiments.schema import RANDOM
from btai.inspector.cursor import Cursor, CursorError
from btai.inspector.png import picture_of
from btai.inspector.recipes import ModelSource, RunRecipe
from btai.inspector.trace import Moment, Trace, TrialRow
from btai.model import TemporalSlice

__all__ = ["RunTrace"]

KEPT_TRIALS = 4
DSPRITES = f"{dSpritesPreProcessingWrapper.__module__}.{dSpritesPreProcessingWrapper.__qualname__}"
UNKNOWN_MODEL = ModelSource("...  # the slice of the agent that was recorded")
Configuration = Mapping[str, Any]


class RunTrace(Trace):
    """The recorded trials of a run file, which may still be being written.

    A run file says which model its agent had, but does not hold it: it is made again for dSprites, and must be given
    otherwise. So must an environment, if its pictures are wanted: the trial is then acted out in it again.

    Args:
        path: the run file.
        ts: the agent's model.
        env: the environment, or one like it.
        model: how to write the model in Python, for the recipes.
    """

    mode = "replay"

    def __init__(
        self,
        path: str | os.PathLike[str],
        ts: TemporalSlice | None = None,
        env: Any = None,
        model: ModelSource = UNKNOWN_MODEL,
    ) -> None:
        self._file = RunFile.open(path)
        try:
            configuration = self._file.config
            _check_recorded(self._file.path, configuration)
            if ts is None:
                ts, env, model = _known(self._file.path, configuration)
            elif describe(ts) != configuration["agent"].get("ts"):
                raise _other_model(self._file.path, f"the one given is {describe(ts)}", configuration)
        except BaseException:
            self._file.close()
            raise
        super().__init__(env)
        self.title = self._file.path.name
        self.agent_class = configuration["agent"]["class"].rpartition(".")[2]
        self.ts = ts
        self.options = _options(configuration["agent"], ts)
        self.recipe = RunRecipe(self._file.path.absolute(), model, self.options)
        self._moments: dict[int, Sequence[Moment]] = {}

    @property
    def expected(self) -> int | None:
        """The trials of the whole run."""
        return int(self._file.config["trials"])

    def summary(self) -> dict[str, Any] | None:
        """The figures of the trials so far."""
        return self._file.summary().as_dict()

    def start(self) -> Cursor | None:
        """The first decision."""
        return Cursor() if self._file.trials() else None

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
            for t in self._file.trials()
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
        rows = self._file.trials()
        if not 0 <= trial < len(rows):
            raise CursorError(f"trial {trial} was asked for; the run file has the trials 0 to {len(rows) - 1}.")
        cycles = self._file.cycles(trial)
        scenes = _scenes(self._env, rows[trial], cycles, self._file.config)
        return [Moment(cycle, *scene) for cycle, scene in zip(cycles, scenes, strict=True)]


Scene = tuple[float | None, bytes | None]  # reward and picture


def _scenes(env: Any, trial: Trial, cycles: Sequence[Cycle], configuration: Configuration) -> Sequence[Scene]:
    """What the environment gave and showed in each cycle, by acting out the trial again; the reward alone if it can't.

    An environment that then shows the agent something else than it did, for it draws random numbers of its own, has no
    say.
    """
    unknown: list[Scene] = [(None, None)] * len(cycles)
    if cycles:
        unknown[-1] = trial.reward, None
    if env is None:
        return unknown
    job = Job(trial.index, trial.seed, None if configuration["starts"] == RANDOM else trial.initial_state)
    actor = _Actor(env, trial.actions, cycles)
    try:
        run_trial(actor, env, job, len(trial.actions), actor)
    except (_OtherObservationsError, BtaiError):
        return unknown
    return actor.scenes if len(actor.scenes) == len(cycles) else unknown


class _OtherObservationsError(Exception):
    """The environment shows something else than it did when the trial was recorded."""


class _Actor:
    """Does what was done, and looks at what comes of it."""

    def __init__(self, env: Any, actions: Sequence[int], cycles: Sequence[Cycle]) -> None:
        self.scenes: list[Scene] = []
        self._env = env
        self._actions = iter(actions)
        self._cycles = cycles

    def reset(self, obs: Any, /) -> None:
        """Nothing to perceive."""

    def update(self, action: int, obs: Any, /) -> None:
        """Nothing to learn."""

    def step(self) -> int:
        """The action that was performed."""
        return next(self._actions)

    def decided(self, obs: Any, action: int) -> None:
        """Look, before the action."""
        self.ended(obs)

    def ended(self, obs: Any) -> None:
        """Look."""
        number = len(self.scenes)
        evidence = self._cycles[number].evidence
        if any(isinstance(value, int) and evidence[name][value] != 1 for name, value in obs.items()):
            raise _OtherObservationsError
        reward = float(self._env.get_reward()) if number else None
        self.scenes.append((reward, picture_of(self._env)))


def _check_recorded(path: Path, configuration: Configuration) -> None:
    if not configuration.get("record"):
        raise RunFileError(
            f"{path} holds the results of its trials, but no cycles to look into. Run it again, into another file,"
            " with --record (record=True)."
        )


def _known(path: Path, configuration: Configuration) -> tuple[TemporalSlice, Any, ModelSource]:
    """Model, environment and recipe of what btai brings along itself."""
    given = configuration["environment"]
    if not isinstance(given, dict) or given.get("class") != DSPRITES:
        raise _other_model(path, "the file does not hold it", configuration)
    task = {name: given["env"][name] for name in ("granularity", "repeat", "max_cycles")}
    ts = dsprites_slice(task["granularity"], task["repeat"])
    if describe(ts) != configuration["agent"].get("ts"):
        raise _other_model(path, "it is not the one that btai has for dSprites", configuration)
    source = ModelSource(
        f"dsprites_slice(granularity={task['granularity']}, repeat={task['repeat']})",
        "from btai.envs import dsprites_slice",
    )
    return ts, dSpritesPreProcessingWrapper(dSpritesEnv(**task)), source


def _other_model(path: Path, reason: str, configuration: Configuration) -> RunFileError:
    return RunFileError(
        f"{path}: the agent's model was {configuration['agent'].get('ts')}; {reason}. Give that model: --model"
        " FILE, where ts.save(FILE) has written it (in Python: ts=...)."
    )


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
