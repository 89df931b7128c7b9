"""The paper's interface."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from envs.fake_screen import FakeScreen

from btai.envs import dSpritesEnv, dSpritesPreProcessingWrapper
from btai.errors import EnvError

DOWN, UP, LEFT, RIGHT = range(4)


def wrapped(granularity: int = 1, repeat: int = 8, max_cycles: int = 50) -> dSpritesPreProcessingWrapper:
    return dSpritesPreProcessingWrapper(dSpritesEnv(granularity, repeat, max_cycles=max_cycles))


def test_a_trial_runs_through_the_interface_of_the_paper() -> None:
    env = wrapped(granularity=8)
    assert env.done()  # no trial is running
    obs = env.reset(state=(1, 2, 3, 20, 20))
    assert obs == {"O_shape": 1, "O_scale": 2, "O_orientation": 3, "O_pos_x": 2, "O_pos_y": 2}
    assert env.state == (1, 2, 3, 20, 20)
    assert (env.done(), env.get_reward()) == (False, 0.0)
    assert env.execute(RIGHT) | env.execute(DOWN) == obs | {"O_pos_x": 3, "O_pos_y": 3}
    assert (env.done(), env.get_reward()) == (False, 0.0)
    env.execute(DOWN)
    assert (env.done(), env.get_reward()) == (True, (28 - 15) / 16)


def test_a_trial_that_never_enters_ends_with_minus_one() -> None:
    env = wrapped(max_cycles=2)
    env.reset(state=(0, 0, 0, 0, 0))
    env.execute(UP)
    assert not env.done()
    env.execute(UP)
    assert (env.done(), env.get_reward()) == (True, -1.0)


def test_a_new_trial_forgets_the_outcome_of_the_last() -> None:
    env = wrapped()
    env.reset(state=(0, 0, 0, 0, 31))
    env.execute(DOWN)
    env.reset(state=(0, 0, 0, 0, 0))
    assert (env.done(), env.get_reward()) == (False, 0.0)


def test_the_same_seed_gives_the_same_starts() -> None:
    first, second = wrapped(), wrapped()
    assert [first.reset(seed=5), first.reset()] == [second.reset(seed=5), second.reset()]


def test_every_start_can_be_set() -> None:
    env = wrapped()
    starts = env.initial_states()
    assert starts.shape == (3072, 5)
    for start in starts[::97]:
        obs = env.reset(state=start)
        assert [obs["O_shape"], obs["O_pos_x"], obs["O_pos_y"]] == start[[0, 3, 4]].tolist()


def perceived_step(obs: dict[str, int], goal: int) -> int:
    """The action of one who moves to the goal's column as far as it can be perceived, then down."""
    if obs["O_pos_x"] == goal:
        return DOWN
    return LEFT if obs["O_pos_x"] > goal else RIGHT


@pytest.mark.parametrize(("granularity", "solved"), [(8, 0.890625), (4, 0.9765625), (2, 0.99609375), (1, 1.0)])
def test_who_always_reaches_the_goal_perceived_solves_so_much_of_the_task(granularity: int, solved: float) -> None:
    env = wrapped(granularity)
    rewards, cycles = [], 0
    for start in env.initial_states():
        obs = env.reset(state=start)
        goal = 0 if start[0] == 0 else 32 // granularity - 1
        while not env.done():
            obs = env.execute(perceived_step(obs, goal))
            cycles += 1
        rewards.append(env.get_reward())
    assert (sum(rewards) + len(rewards)) / (2 * len(rewards)) == solved
    if granularity == 1:
        assert cycles / len(rewards) == 4.875


def test_the_tables_are_those_of_its_granularity_and_repeat() -> None:
    env = wrapped(granularity=4, repeat=4)
    assert env.n_actions == 4
    assert env.a()["O_pos_x"].shape == (8, 8)
    assert env.b()["S_pos_x"][:, 3, RIGHT].argmax() == 4
    assert env.c()["O_shape_pos_x_y"].shape == (8, 9, 3)
    assert env.d()["S_pos_y"].tolist() == [1 / 9] * 9


def test_the_prior_can_be_nearly_certain_of_the_present_state() -> None:
    env = wrapped(granularity=4)
    env.reset(state=(2, 0, 0, 31, 5))
    prior = env.d(uniform=False)
    np.testing.assert_allclose(prior["S_shape"], [0.0005, 0.0005, 0.999], rtol=1e-15)
    assert prior["S_pos_x"].argmax() == 7
    assert prior["S_pos_y"].argmax() == 1


def test_the_certain_prior_needs_a_state() -> None:
    with pytest.raises(EnvError, match=r"^no trial has started: call reset\(\) first\.$"):
        wrapped().d(uniform=False)


def test_actions_and_shapes_have_words() -> None:
    assert wrapped().labels["A_move"] == ("DOWN", "UP", "LEFT", "RIGHT")
    assert wrapped().labels["S_shape"] == ("square", "ellipse", "heart")


def test_it_renders_the_present_image_whatever_the_mode() -> None:
    env = wrapped()
    env.reset(state=(0, 5, 0, 10, 20))
    frame = env.render()
    assert frame is not None
    assert frame.shape == (64, 64, 3)
    assert frame.any()


def test_in_a_window_every_state_is_drawn_once(screen: FakeScreen) -> None:
    env = dSpritesPreProcessingWrapper(dSpritesEnv(render_mode="human"))
    env.reset(state=(0, 5, 0, 10, 20))
    assert env.render() is None
    env.execute(UP)
    assert env.render() is None
    assert len(screen.pictures) == 2
    env.close()
    assert screen.open_windows == 0


def test_it_takes_an_environment_that_gymnasium_made_and_minds_its_wrappers() -> None:
    made = gymnasium.make("btai/dSprites-v0", granularity=8, max_episode_steps=3)
    env = dSpritesPreProcessingWrapper(made)
    env.reset(state=(0, 0, 0, 0, 0))
    outcomes = []
    for _ in range(3):
        env.execute(UP)
        outcomes.append(env.done())
    assert outcomes == [False, False, True]  # Gymnasium's time limit


def test_it_is_no_gymnasium_environment_itself() -> None:
    assert not isinstance(wrapped(), gymnasium.Env)
    assert not hasattr(wrapped(), "step")


def test_another_environment_is_refused() -> None:
    with pytest.raises(EnvError, match=r"^env is a CartPoleEnv: it must be a dSpritesEnv, wrapped or not\.$"):
        dSpritesPreProcessingWrapper(gymnasium.make("CartPole-v1"))
    with pytest.raises(EnvError, match=r"^env is a int: it must be a dSpritesEnv, wrapped or not\.$"):
        dSpritesPreProcessingWrapper(3)  # type: ignore[arg-type]


def test_trial_that_takes_too_long_is_truncated_and_an_entry_is_not() -> None:
    env = dSpritesPreProcessingWrapper(dSpritesEnv(granularity=1, repeat=8))
    env.reset(state=(0, 0, 0, 5, 5))
    assert not env.truncated
    while not env.done():
        env.execute(UP)
    assert env.truncated
    env.reset(state=(0, 0, 0, 5, 31))
    assert not env.truncated
    env.execute(DOWN)
    assert env.done()
    assert not env.truncated


@pytest.mark.parametrize("granularity", [1, 4, 8])
def test_the_area_of_the_positions_is_where_the_shapes_are_in_the_image(granularity: int) -> None:
    env = wrapped(granularity)
    left, top, right, bottom = env.picture_area("S_pos_x", "S_pos_y") or pytest.fail("there is none")
    columns, rows = 32 // granularity, 32 // granularity + 1
    for x, y in ((0, 0), (31, 31), (5, 20), (24, 11)):
        obs = env.reset(state=(0, 5, 0, x, y))
        lit = np.argwhere(np.asarray(env.render())[:, :, 0])
        row, column = (lit.mean(axis=0) + 0.5) / 64  # the middle of a square
        assert obs["O_pos_x"] == int((column - left) / (right - left) * columns)
        assert obs["O_pos_y"] == int((row - top) / (bottom - top) * rows)


def test_states_that_are_no_positions_have_no_area() -> None:
    assert wrapped().picture_area("S_pos_y", "S_pos_x") is None
