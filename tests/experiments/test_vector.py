"""A vector environment of Gymnasium as the environments of a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from experiments.corridor import LENGTH, Corridor, compiled_planner, contents
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import ClipReward

from btai.agents import BTAI_3MF
from btai.envs.dsprites import dSpritesEnv, initial_states
from btai.errors import EnvError, RunFileError
from btai.experiments import RunResult, Summary, run
from btai.experiments.environments import make_agent, make_env
from btai.model import TemporalSliceBuilder

DISABLED: dict[str, Any] = {"autoreset_mode": AutoresetMode.DISABLED}
coarse_agent = partial(make_agent, "dsprites", 10, granularity=8)
coarse_env = partial(make_env, "dsprites", granularity=8)


def dsprites(n: int, **options: Any) -> VectorEnv[Any, Any, Any]:
    return gymnasium.make_vec("btai/dSprites-v0", num_envs=n, vector_kwargs=DISABLED, **options)


# --- dSprites ---------------------------------------------------------------------------------------------

oscillating = partial(make_agent, "dsprites", 60, ties="first")  # some of its trials are truncated


@pytest.fixture(scope="module")
def alone() -> list[dict[str, Any]]:
    return contents(run(oscillating, partial(make_env, "dsprites"), trials=40))


@pytest.mark.parametrize("n", [1, 7, 64])
def test_any_number_of_sub_environments_gives_the_same_trials(n: int, alone: list[dict[str, Any]]) -> None:
    assert 0 < sum(trial["finished"] for trial in alone) < 40
    assert contents(run(oscillating, dsprites(n), trials=40, batch=n)) == alone


def test_chosen_starts_give_the_same_trials() -> None:
    starts = list(initial_states()[::300])
    alone = contents(run(coarse_agent, coarse_env, starts=starts))
    assert contents(run(coarse_agent, partial(dsprites, 4, granularity=8), starts=starts, batch=4)) == alone


def test_sub_environments_in_processes_give_the_same_trials() -> None:
    alone = contents(run(coarse_agent, coarse_env, trials=5))
    env = AsyncVectorEnv([partial(dSpritesEnv, 8)] * 2, context="spawn", **DISABLED)
    try:
        assert contents(run(coarse_agent, env, trials=5, batch=2)) == alone
    finally:
        env.close()


class Stop(Exception):
    """Raised in the midst of a run."""


def test_run_goes_on_with_another_number_of_sub_environments_and_not_with_others(tmp_path: Path) -> None:
    out = tmp_path / "run.sqlite"

    def stop(summary: Summary, _total: int) -> None:
        if summary.trials == 2:
            raise Stop

    def go_on(env: VectorEnv[Any, Any, Any], **options: Any) -> RunResult:
        return run(coarse_agent, env, trials=6, batch=env.num_envs, out=out, **options)

    with pytest.raises(Stop):
        go_on(dsprites(2, granularity=8), progress=stop)
    result = go_on(dsprites(3, granularity=8))
    assert contents(result) == contents(run(coarse_agent, coarse_env, trials=6))
    with pytest.raises(RunFileError, match=r"environment\.gymnasium\.repeat is None there and 4 now"):
        go_on(dsprites(3, granularity=8, repeat=4))
    with pytest.raises(RunFileError, match=r"environment\.wrappers is \[\] there and \['ClipReward'\] now"):
        go_on(ClipReward(dsprites(3, granularity=8), 0, 1))


def test_environments_without_a_specification_are_told_apart_by_what_made_them() -> None:
    env = SyncVectorEnv([partial(dSpritesEnv, 8)] * 2, **DISABLED)
    described = run(coarse_agent, env, trials=1, batch=2).configuration["environment"]["gymnasium"]
    assert (described["class"], described["granularity"]) == ("btai.envs.dsprites.env.dSpritesEnv", 8)


# --- small environments -----------------------------------------------------------------------------------


class GymCorridor(gymnasium.Env[dict[str, Any], np.int64]):
    """The corridor in Gymnasium's terms: every step costs 1/16, and after `patience` steps it is truncated."""

    def __init__(self, patience: int = 100, obedient: bool = True, first: int = 0) -> None:
        self.corridor = Corridor()
        self.patience = patience
        self.obedient = obedient
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Dict({"O_cell": spaces.Discrete(LENGTH + 2, start=first)})

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        state = (options or {}).get("state") if self.obedient else None
        return self.corridor.reset(seed, state), {"state": np.array(self.corridor.state)}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        obs = self.corridor.execute(int(action))
        self.steps += 1
        over = self.corridor.done()
        return obs, self.corridor.get_reward() - 1 / 16, over, self.steps >= self.patience, {}


class ListedCorridor(GymCorridor):
    """Lists its starts as well."""

    def initial_states(self) -> list[tuple[int]]:
        return self.corridor.initial_states()


class Silent(GymCorridor):
    """Does not tell its state."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        return super().reset(seed=seed, options=options)[0], {}


class Golden(GymCorridor):
    """Pays without limit."""

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        obs, _, *rest = super().step(action)
        return obs, np.inf, *rest  # type: ignore[return-value]


class Unnamed(GymCorridor):
    """Shows its cell without a name."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Discrete(LENGTH + 2)  # type: ignore[assignment]


def vector(n: int, make: Callable[[], gymnasium.Env[Any, Any]] = GymCorridor) -> VectorEnv[Any, Any, Any]:
    return SyncVectorEnv([make] * n, **DISABLED)


def test_reward_is_the_sum_and_truncation_is_no_end() -> None:
    env = vector(3, partial(ListedCorridor, 4))
    result = run(compiled_planner(60), env, exhaustive=True, batch=3)
    # The agent goes right: from cell c the way out takes 8 - c steps; with patience for 4 only cells 4 .. 7 get there.
    assert [trial.initial_state for trial in result.trials] == [(cell,) for cell in range(1, 8)]
    assert [trial.cycles for trial in result.trials] == [4, 4, 4, 4, 3, 2, 1]
    assert [trial.finished for trial in result.trials] == [False] * 3 + [True] * 4
    assert [trial.reward for trial in result.trials] == [-4 / 16] * 3 + [1 - k / 16 for k in (4, 3, 2, 1)]


def test_how_much_is_solved_is_told_where_the_sub_environments_say_what_a_trial_can_earn() -> None:
    assert run(compiled_planner(9), vector(2), trials=2, batch=2).summary.p_solved is None
    solved = run(coarse_agent, dsprites(2, granularity=8), trials=2, batch=2).summary
    assert solved.reward_mean is not None
    assert solved.p_solved == (solved.reward_mean + 1) / 2


def test_sub_environments_that_tell_no_state_can_be_run_from_drawn_starts_only() -> None:
    trials = run(compiled_planner(), vector(2, Silent), trials=3, batch=2).trials
    assert [trial.initial_state for trial in trials] == [None] * 3
    assert [trial.actions for trial in trials] == [
        trial.actions for trial in run(compiled_planner(), Corridor(), trials=3).trials
    ]
    with pytest.raises(EnvError, match=r"a trial shall begin at \(2,\), .* info\['state'\] is None"):
        run(compiled_planner(), vector(2, Silent), starts=[(2,)], batch=2)


def test_reward_that_is_no_number_is_refused() -> None:
    with pytest.raises(EnvError, match=r"rewards of a trial in .* add up to inf") as caught:
        run(compiled_planner(), vector(2, Golden), starts=[(7,), (7,)], batch=2)
    assert caught.value.__notes__[0].startswith("In trial 0 (seed ")


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (partial(vector, 3), {"batch": 4}, "batch: 4 was given; the vector environment has 3. Make them the same"),
        (partial(vector, 3), {}, "a vector environment was given without batch"),
        (
            partial(SyncVectorEnv, [GymCorridor] * 2),
            {"batch": 2},
            "autoreset mode of .* is AutoresetMode.NEXT_STEP; AutoresetMode.DISABLED is required",
        ),
        (
            partial(vector, 2, partial(GymCorridor, first=1)),
            {"batch": 2},
            r"O_cell: the model's observation has 9 values, .*start=1\); Discrete\(9\) is required",
        ),
        (
            partial(vector, 2, partial(GymCorridor, obedient=False)),
            {"batch": 2, "starts": [(2,), (3,)]},
            r"a trial shall begin at \(2,\), but after reset\(options=.* info\['state'\] is \(",
        ),
        (
            partial(vector, 2, Unnamed),
            {"batch": 2},
            "a sub-environment is Discrete.* a Dict by the names of the model's observations .O_cell. is required",
        ),
        (
            partial(dsprites, 2),
            {"batch": 2},
            r"A_move: the model has 2 actions, the sub-environments Discrete\(4\)",
        ),
    ],
)
def test_vector_environment_that_does_not_fit_is_refused(
    env: Callable[[], Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(EnvError, match=message):
        run(compiled_planner(), env(), trials=3, **options)


def test_vector_environment_must_show_what_the_model_declares() -> None:
    env = dsprites(2)
    ts = (
        TemporalSliceBuilder("A_move", 4)
        .add_state("S_here", [1.0])
        .add_transition("S_here", [[1.0]], ["S_here"])
        .build()
    )
    with pytest.raises(EnvError, match=r"O_.*: the sub-environments show it; the model has no such observation"):
        run(BTAI_3MF(ts), env, batch=2)


def test_vector_environment_without_a_list_of_starts_cannot_be_exhausted() -> None:
    with pytest.raises(EnvError, match=r"have no initial_states\(\), so their starts cannot be tried exhaustively"):
        run(compiled_planner(), vector(2), exhaustive=True, batch=2)
