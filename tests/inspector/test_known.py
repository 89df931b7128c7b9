"""Recorded runs of btai's own environments, which the inspector makes again, and of those that it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from inspector.models import SevenStatesEnv, seven_states

from btai import BTAI_3MF
from btai.envs import ENVIRONMENTS, dsprites_slice, dSpritesEnv, dSpritesPreProcessingWrapper
from btai.envs.dsprites import env as dsprites_module
from btai.experiments import run
from btai.experiments.environments import make_env
from btai.experiments.workers import adapted
from btai.inspector import RunTrace, views

OPTIONS: Mapping[str, dict[str, Any]] = {  # none of them the default
    "dsprites": {"granularity": 8, "repeat": 4, "max_cycles": 6},
    "dsprites-flat": {"granularity": 4, "max_cycles": 5, "unfinished": 0.0},
    "frozenlake": {"map_name": "8x8", "is_slippery": False},
    "maze": {"maze": "small", "slip": 0.1, "max_cycles": 5},
    "rocksample": {"size": 3, "rocks": 2, "max_cycles": 6},
    "tiger": {"accuracy": 0.7, "treasure": 5.0},
    "tmaze": {"maze": "blank screen", "max_cycles": 3},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_of_the_registry_is_known_again(name: str, tmp_path: Path) -> None:
    options, path = OPTIONS[name], tmp_path / "run.sqlite"
    agent = BTAI_3MF(ENVIRONMENTS[name].model(**options), 2, engine="numpy")
    env = adapted(make_env(name, **options), agent.ts)
    run(agent, env, 2, out=path, record=True, max_cycles=4)
    trace = RunTrace(path)
    for trial in trace.trials():
        env.reset(seed=trial.seed)
        rewards = [None]
        for action in trial.actions:
            env.execute(action)
            rewards.append(env.get_reward())
        moments = trace.moments(trial.trial)
        assert [moment.reward for moment in moments] == rewards
        assert {moment.image is not None for moment in moments} == {name.startswith("dsprites")}  # others have none
    trace.close()


@pytest.fixture
def no_window(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Windows that were asked for, none of which opens."""
    asked: list[Any] = []

    class Window:
        def __init__(self, *arguments: Any, **_: Any) -> None:
            asked.append(arguments)

        def show(self, frame: Any) -> None:
            pass

    monkeypatch.setattr(dsprites_module, "Window", Window)
    return asked


def test_run_that_was_watched_in_a_window_opens_none_in_the_inspector(tmp_path: Path, no_window: list[Any]) -> None:
    path = tmp_path / "run.sqlite"
    env = dSpritesPreProcessingWrapper(dSpritesEnv(8, render_mode="human"))
    run(BTAI_3MF(dsprites_slice(8), 2), env, 1, out=path, record=True)
    assert len(no_window) == 1
    trace = RunTrace(path)
    assert all(moment.image is not None for moment in trace.moments(0))
    assert len(no_window) == 1
    trace.close()


def test_environment_in_a_wrapper_is_unknown_and_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    env = dSpritesPreProcessingWrapper(gymnasium.wrappers.TimeLimit(dSpritesEnv(granularity=8), 3))
    result = run(BTAI_3MF(dsprites_slice(8), 2), env, 1, out=path, record=True)
    trace = RunTrace(path)
    moments = trace.moments(0)
    assert [moment.reward for moment in moments] == [None] * (len(moments) - 1) + [result.trials[0].reward]
    assert {moment.image for moment in moments} == {None}
    trace.close()
    trace = RunTrace(path, env=env)  # but it may be given
    assert all(moment.image is not None for moment in trace.moments(0))
    trace.close()


@pytest.mark.parametrize("said", [{"mine": 1}, "mine", ["mine"], {"class": ["mine"]}, {"exp_const": 0.5}])
def test_agent_that_describes_itself_can_be_looked_into(said: Any, tmp_path: Path) -> None:
    class Mine(BTAI_3MF):
        def configuration(self) -> Any:
            return said

    path = tmp_path / "run.sqlite"
    run(Mine(seven_states(), 5), SevenStatesEnv(), 1, out=path, record=True)
    trace = RunTrace(path)
    assert trace.options.exp_const == (0.5 if "exp_const" in said else 2.4)
    assert views.info(trace)["agent"]["class"]
    trace.close()
