"""Gymnasium's environments with our agents: names, sizes, starts, rewards and ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from btai import BTAI_3MF, TemporalSlice, TemporalSliceBuilder
from btai.errors import EnvError
from btai.experiments import RunFile, run
from btai.experiments.configuration import describe
from btai.interop.gymnasium import FromGymnasium


class Scripted(gymnasium.Env[Any, Any]):
    """Shows given observations one after the other, rewards the action's number, and ends as told."""

    def __init__(self, space: spaces.Space[Any], shown: list[Any], end: str = "terminated", first_action: int = 0):
        self.observation_space = space
        self.action_space = spaces.Discrete(3, start=first_action)
        self.shown, self.end = shown, end
        self.seed: int | None = None
        self.actions: list[Any] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.seed, self.actions = seed, []
        return self.shown[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.actions.append(action)
        over = len(self.actions) == len(self.shown) - 1
        ends = [over and what in self.end for what in ("terminated", "truncated")]
        return self.shown[len(self.actions)], 0.5, ends[0], ends[1], {}


def model(sizes: Mapping[str, int], n_actions: int = 3) -> TemporalSlice:
    """Observations of these sizes, all of one state."""
    builder = TemporalSliceBuilder("A_go", n_actions).add_state("S_x", [1.0]).add_transition("S_x", [[1.0]], ["S_x"])
    for name, size in sizes.items():
        builder.add_observation(name, np.full((size, 1), 1 / size), ["S_x"])
    return builder.build()


# --- observations and names ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "shown", "ts", "names", "expected"),
    [
        (spaces.Discrete(5), 4, None, None, {"O_0": 4}),
        (spaces.Discrete(5), np.int64(4), model({"O_cell": 5}), None, {"O_cell": 4}),
        (spaces.Discrete(5, start=-2), 2, model({"O_cell": 5}), None, {"O_cell": 4}),
        (spaces.Discrete(5), 4, model({"O_a": 2, "O_b": 5}), {0: "O_b"}, {"O_b": 4}),
        (spaces.MultiDiscrete([2, 3]), np.array([1, 2]), None, None, {"O_0": 1, "O_1": 2}),
        (spaces.MultiDiscrete([2, 3]), np.array([1, 2]), model({"O_b": 2, "O_a": 3}), None, {"O_b": 1, "O_a": 2}),
        (spaces.MultiDiscrete([2, 3], start=[5, 7]), np.array([6, 9]), None, None, {"O_0": 1, "O_1": 2}),
        (
            spaces.MultiDiscrete(np.array([[2, 3], [4, 5]])),
            np.array([[1, 2], [3, 4]]),
            None,
            {3: "O_last"},
            {"O_last": 4},
        ),
        (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(3)]), (1, 2), None, None, {"O_0": 1, "O_1": 2}),
        (
            spaces.Dict([("O_x", spaces.Discrete(4)), ("hue", spaces.Discrete(2, start=1))]),
            {"O_x": 3, "hue": 1},
            model({"O_hue": 2, "O_x": 4}),
            None,
            {"O_x": 3, "O_hue": 0},
        ),
        (
            spaces.Dict({"x": spaces.Discrete(4), "hue": spaces.Discrete(2)}),
            {"x": 3, "hue": 1},
            model({"O_column": 4, "O_y": 4}),
            {"x": "O_column"},
            {"O_column": 3},
        ),
    ],
)
def test_every_part_becomes_the_index_of_an_observation(
    space: spaces.Space[Any], shown: Any, ts: TemporalSlice | None, names: Any, expected: dict[str, int]
) -> None:
    env = FromGymnasium(Scripted(space, [shown, shown]), ts, names)
    assert env.reset() == expected
    assert env.execute(0) == expected
    assert all(type(value) is int for value in expected.values())


@pytest.mark.parametrize(
    ("space", "ts", "names", "message"),
    [
        (
            spaces.Box(0, 1),
            None,
            None,
            "part 0 of the observation space is Box(0.0, 1.0, (1,), float32); a Discrete",
        ),
        (
            spaces.Dict({"x": spaces.MultiDiscrete([2, 2])}),
            None,
            None,
            "part 'x' of the observation space is MultiDiscrete([2 2]); a Discrete is required; so is a MultiDiscrete",
        ),
        (spaces.Discrete(5), model({"O_x": 5}, 4), None, "A_go: the model has 4 actions and the environment 3; they"),
        (
            spaces.Discrete(5),
            model({"O_x": 5, "O_y": 5}),
            None,
            "O_0: the model has no such observation for the environment's part 0; it has O_x, O_y. Say which it is:"
            " names={0: 'O_...'}.",
        ),
        (
            spaces.Discrete(5),
            model({"O_x": 6}),
            None,
            "O_x: the model's observation has 6 values and the environment's part 0 has 5; they must be as many.",
        ),
        (
            spaces.Discrete(5),
            None,
            {1: "O_x"},
            "names: 1 was given; the parts of the environment's observation are [0]",
        ),
        (
            spaces.MultiDiscrete([5, 5]),
            None,
            {0: "O_x", 1: "O_x"},
            "names: {0: 'O_x', 1: 'O_x'} gives two parts one name;",
        ),
    ],
)
def test_what_does_not_fit_is_refused_at_once(
    space: spaces.Space[Any], ts: TemporalSlice | None, names: Any, message: str
) -> None:
    with pytest.raises(EnvError, match=f"^{re.escape(message)}"):
        FromGymnasium(Scripted(space, []), ts, names)


def test_an_action_space_that_is_not_discrete_is_refused() -> None:
    env: gymnasium.Env[Any, Any] = Scripted(spaces.Discrete(5), [])
    env.action_space = spaces.MultiDiscrete([2, 2])
    with pytest.raises(EnvError, match=r"^the action space is MultiDiscrete\(\[2 2\]\); a Discrete is required\. Wrap"):
        FromGymnasium(env)


# --- a trial ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "truncated"), [("terminated", False), ("truncated", True), ("terminated and truncated", False)]
)
def test_a_trial_adds_its_rewards_and_says_how_it_ended(end: str, truncated: bool) -> None:
    env = FromGymnasium(Scripted(spaces.Discrete(3), [0, 1, 2], end))
    assert env.done()
    for _ in range(2):
        assert env.reset(seed=3) == {"O_0": 0}
        assert (env.done(), env.get_reward()) == (False, 0.0)
        assert env.execute(1) == {"O_0": 1}
        assert (env.done(), env.get_reward()) == (False, 0.5)
        assert env.execute(2) == {"O_0": 2}
        assert (env.done(), env.truncated, env.get_reward()) == (True, truncated, 1.0)
    env.close()


def test_actions_count_from_where_the_space_starts_and_seeds_arrive() -> None:
    scripted = Scripted(spaces.Discrete(3), [0, 1, 2], first_action=-1)
    env = FromGymnasium(scripted)
    env.reset(seed=7)
    assert env.n_actions == 3
    env.execute(0)
    env.execute(2)
    assert scripted.actions == [-1, 1]
    assert scripted.seed == 7


@pytest.mark.parametrize("action", [-1, 3])
def test_an_action_that_is_none_is_refused(action: int) -> None:
    env = FromGymnasium(Scripted(spaces.Discrete(3), [0, 1]))
    env.reset()
    with pytest.raises(EnvError, match=rf"^action {action} was given; required is one from 0 to 2\."):
        env.execute(action)


# --- experiments --------------------------------------------------------------------------------------


def frozen_lake() -> tuple[TemporalSlice, FromGymnasium]:
    """Gymnasium's own lake of 4 times 4, not slippery, with a model read off its table of transitions."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=20)
    lake: Any = env.unwrapped
    transition = np.zeros((16, 16, 4))
    for cell in range(16):
        for action in range(4):
            for p, after, _, _ in lake.P[cell][action]:
                transition[after, cell, action] += p
    holes, goal = [5, 7, 11, 12], 15
    scores = [-4.0 if cell in holes else 8.0 if cell == goal else cell / 15 for cell in range(16)]
    ts = (
        TemporalSliceBuilder("A_step", 4, ["left", "down", "right", "up"])
        .add_state("S_cell", np.eye(16)[0])
        .add_transition("S_cell", transition, ["S_cell", "A_step"])
        .add_observation("O_cell", np.eye(16), ["S_cell"])
        .add_preference(["O_cell"], scores=scores)
        .build()
    )
    return ts, FromGymnasium(env, ts)


def test_an_agent_crosses_the_frozen_lake() -> None:
    ts, env = frozen_lake()
    result = run(BTAI_3MF(ts, max_planning_steps=100), env, trials=1, seed=1)
    (trial,) = result.trials
    assert (trial.reward, trial.finished) == (1.0, True)
    assert trial.cycles == 6  # the shortest way


def test_a_run_file_tells_environments_apart_by_their_making() -> None:
    _, env = frozen_lake()
    assert describe(env) == {
        "gymnasium": {"id": "FrozenLake-v1", "max_steps": 20, "is_slippery": False, "map_name": "4x4"},
        "names": {"0": "O_cell"},
    }
    wrapped = FromGymnasium(gymnasium.wrappers.TransformReward(gymnasium.make("FrozenLake-v1"), lambda reward: reward))
    assert describe(wrapped)["gymnasium"]["wrappers"] == ["TransformReward"]
    nameless = FromGymnasium(Scripted(spaces.Discrete(3), [0, 1], "truncated", first_action=4))
    described = describe(nameless)["gymnasium"]
    assert (described["shown"], described["end"]) == ([0, 1], "truncated")


def test_the_state_is_the_environments_own() -> None:
    scripted = Scripted(spaces.Discrete(3), [0, 1])
    assert FromGymnasium(scripted).state is None
    stateful: Any = scripted
    stateful.state = (1, 2)
    assert FromGymnasium(stateful).state == (1, 2)


# --- starts -------------------------------------------------------------------------------------------


class Listed(Scripted):
    """Starts in the state it is told to, and lists three."""

    state: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.state = np.array((options or {"state": (0, 0)})["state"])
        return super().reset(seed=seed)

    def initial_states(self) -> list[tuple[int, int]]:
        return [(0, 0), (0, 1), (1, 0)]


def test_every_start_of_the_environment_is_tried() -> None:
    ts = model({"O_x": 2})
    env = FromGymnasium(Listed(spaces.Discrete(2), [0, 1]), ts)
    result = run(BTAI_3MF(ts, max_planning_steps=1, engine="numpy"), env, exhaustive=True)
    assert [trial.initial_state for trial in result.trials] == [(0, 0), (0, 1), (1, 0)]


def test_an_environment_that_ignores_its_start_is_found_out() -> None:
    with pytest.raises(EnvError, match=r"^state: a trial shall begin at \(0, 1\), but after reset"):
        FromGymnasium(Scripted(spaces.Discrete(2), [0, 1])).reset(state=(0, 1))


def test_an_environment_without_a_list_of_starts_says_so() -> None:
    with pytest.raises(EnvError, match=r"^Scripted has no initial_states\(\), so its starts cannot be tried"):
        FromGymnasium(Scripted(spaces.Discrete(2), [0, 1])).initial_states()


# --- given as it is -----------------------------------------------------------------------------------


def scripted() -> Scripted:
    return Scripted(spaces.Discrete(2), [0, 1, 1])


def test_run_takes_an_environment_of_gymnasium_as_it_is() -> None:
    ts = model({"O_x": 2})
    agent = BTAI_3MF(ts, max_planning_steps=1)
    adapted = run(agent, FromGymnasium(scripted(), ts), trials=2)
    for given in (run(agent, scripted(), trials=2), run(agent, scripted, trials=2), run(agent, scripted, 2, batch=2)):
        assert [trial.actions for trial in given.trials] == [trial.actions for trial in adapted.trials]
        assert [trial.reward for trial in given.trials] == [1.0, 1.0]
        assert given.configuration == adapted.configuration


def test_how_much_is_solved_is_told_only_where_the_metadata_say_what_a_trial_can_earn(tmp_path: Path) -> None:
    class Open(Scripted):
        def configuration(self) -> dict[str, Any]:
            return {"shown": self.shown}

    class Scored(Open):
        metadata: dict[str, Any] = {"trial_rewards": (0, 2)}  # noqa: RUF012

    agent = BTAI_3MF(model({"O_0": 5}), max_planning_steps=1, engine="numpy")
    for kind, rewards, p_solved in ((Open, None, None), (Scored, [0.0, 2.0], 0.25)):
        env = kind(spaces.Discrete(5), [0, 1])
        path = tmp_path / f"{kind.__name__}.sqlite"
        result = run(agent, env, trials=3, out=path)
        assert (result.summary.p_solved, result.summary.reward_mean) == (p_solved, 0.5)
        with RunFile.open(path) as file:
            assert file.config["rewards"] == rewards
            assert file.summary() == result.summary


def test_an_environment_of_gymnasium_that_does_not_fit_is_refused_by_name() -> None:
    with pytest.raises(
        EnvError, match=r"^O_x: the model's observation has 3 values and the environment's part 0 has 2"
    ):
        run(BTAI_3MF(model({"O_x": 3}), engine="numpy"), scripted(), trials=1)


def test_two_environments_of_a_batch_must_be_two() -> None:
    env = scripted()
    with pytest.raises(EnvError, match="gave the same object twice"):
        run(BTAI_3MF(model({"O_x": 2}), max_planning_steps=1), lambda: env, trials=2, batch=2)
