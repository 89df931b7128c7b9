"""The Gymnasium environment."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from envs.fake_screen import FakeScreen
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from btai.envs import dSpritesEnv
from btai.envs.dsprites import env as env_module
from btai.envs.dsprites import render_classes
from btai.envs.dsprites.dataset import ImageFile
from btai.errors import EnvError

DOWN, UP, LEFT, RIGHT = range(4)


def at(env: dSpritesEnv, *state: int) -> dict[str, Any]:
    """Start a trial at (shape, scale, orientation, x, y)."""
    observation, _ = env.reset(options={"state": state})
    return observation


@pytest.mark.parametrize("granularity", [1, 8])
def test_gymnasium_finds_nothing_to_warn_of(granularity: int, screen: FakeScreen) -> None:
    env = gymnasium.make("btai/dSprites-v0", granularity=granularity).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)
    assert screen.pictures  # the checker looked at the window too
    assert screen.open_windows == 0


def test_it_is_registered_under_its_name_with_its_options() -> None:
    env = gymnasium.make("btai/dSprites-v0", granularity=4, repeat=2, max_cycles=7)
    assert isinstance(env.unwrapped, dSpritesEnv)
    assert (env.unwrapped.task.granularity, env.unwrapped.task.repeat) == (4, 2)
    env.reset(options={"state": (0, 0, 0, 0, 0)})
    assert [env.step(UP)[3] for _ in range(7)] == [False] * 6 + [True]


def test_observations_are_named_indices_of_the_spaces() -> None:
    env = dSpritesEnv(granularity=4)
    sizes = {"O_shape": 3, "O_scale": 6, "O_orientation": 40, "O_pos_x": 8, "O_pos_y": 9}
    assert env.observation_space == spaces.Dict({name: spaces.Discrete(n) for name, n in sizes.items()})
    assert env.action_space == spaces.Discrete(4)
    observation = at(env, 1, 5, 39, 31, 6)
    assert observation == {"O_shape": 1, "O_scale": 5, "O_orientation": 39, "O_pos_x": 7, "O_pos_y": 1}
    assert {type(value) for value in observation.values()} == {int}
    assert env.observation_space.contains(observation)


def test_a_step_repeats_its_action_and_leaves_shape_scale_and_orientation() -> None:
    env = dSpritesEnv()
    at(env, 2, 4, 17, 3, 9)
    for action, end in [(RIGHT, (11, 9)), (UP, (11, 1)), (LEFT, (3, 1)), (DOWN, (3, 9))]:
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.state == (2, 4, 17, *end)
        assert info["state"].tolist() == [2, 4, 17, *end]
        assert (observation["O_pos_x"], observation["O_pos_y"]) == end
        assert (reward, terminated, truncated) == (0.0, False, False)


@pytest.mark.parametrize(
    ("shape", "x", "reward"), [(0, 0, 1.0), (0, 31, -1.0), (0, 12, 0.25), (1, 31, 1.0), (2, 0, -1.0)]
)
def test_entering_the_absorbing_row_terminates_with_its_reward(shape: int, x: int, reward: float) -> None:
    env = dSpritesEnv()
    at(env, shape, 0, 0, x, 24)
    observation, *rest, _ = env.step(DOWN)
    assert rest == [reward, True, False]
    assert observation["O_pos_y"] == 32
    assert env.state == (shape, 0, 0, x, 32)


def test_after_fifty_calls_without_entry_a_trial_is_truncated_with_reward_minus_one() -> None:
    env = dSpritesEnv()
    at(env, 0, 0, 0, 0, 0)
    outcomes = [env.step(UP)[1:4] for _ in range(50)]
    assert outcomes == [(0.0, False, False)] * 49 + [(-1.0, False, True)]


def test_an_entry_on_the_fiftieth_call_is_an_entry() -> None:
    env = dSpritesEnv()
    at(env, 0, 0, 0, 0, 31)
    for _ in range(49):
        assert env.step(LEFT)[1:4] == (0.0, False, False)
    assert env.step(DOWN)[1:4] == (1.0, True, False)


def test_the_count_of_calls_starts_anew_with_a_trial() -> None:
    env = dSpritesEnv(max_cycles=2)
    for _ in range(2):
        at(env, 0, 0, 0, 0, 0)
        assert [env.step(UP)[3], env.step(UP)[3]] == [False, True]


@pytest.mark.parametrize(("state", "action"), [((0, 0, 0, 0, 31), DOWN), ((0, 0, 0, 0, 5), UP)])
def test_a_finished_trial_goes_no_further(state: tuple[int, ...], action: int) -> None:
    env = dSpritesEnv(max_cycles=1)
    at(env, *state)
    env.step(action)
    with pytest.raises(EnvError, match=r"^the trial is over: call reset\(\) before the next step\(\)\.$"):
        env.step(action)


@pytest.mark.parametrize("verb", ["step", "image"])
def test_nothing_happens_before_the_first_reset(verb: str) -> None:
    env = dSpritesEnv()
    with pytest.raises(EnvError, match=r"^no trial has started: call reset\(\) first\.$"):
        env.step(DOWN) if verb == "step" else env.image()


@pytest.mark.parametrize("action", [4, -1, 1.5, None, "DOWN"])
def test_an_action_that_is_none_is_refused_and_changes_nothing(action: Any) -> None:
    env = dSpritesEnv()
    at(env, 0, 0, 0, 5, 5)
    with pytest.raises(EnvError) as error:
        env.step(action)
    assert str(error.value) == f"action is {action!r}: it must be 0 DOWN, 1 UP, 2 LEFT or 3 RIGHT."
    assert env.state == (0, 0, 0, 5, 5)


def test_the_same_seed_gives_the_same_starts() -> None:
    first, second = dSpritesEnv(), dSpritesEnv()
    starts = []
    for env in (first, second):
        env.reset(seed=7)
        starts.append(env.state)
        env.reset()
        starts.append(env.state)
    assert starts[:2] == starts[2:]
    assert starts[0] != starts[1]
    first.reset(seed=8)
    assert first.state != starts[0]


def test_a_given_state_does_not_shift_the_later_draws() -> None:
    drawn, given = dSpritesEnv(), dSpritesEnv()
    drawn.reset(seed=3)
    given.reset(seed=3, options={"state": (0, 0, 0, 0, 0)})
    assert drawn.reset()[1]["state"].tolist() == given.reset()[1]["state"].tolist()


def test_starts_are_uniform_over_all_five_latents() -> None:
    env = dSpritesEnv()
    env.reset(seed=0)
    n = 8000
    starts = np.array([env.reset()[1]["state"] for _ in range(n)])
    for column, size in enumerate([3, 6, 40, 32, 32]):
        counts = np.bincount(starts[:, column], minlength=size)
        assert len(counts) == size
        # Chi-squared with size - 1 degrees of freedom: mean size - 1, variance 2 (size - 1).
        chi_squared = ((counts - n / size) ** 2 / (n / size)).sum()
        assert abs(chi_squared - (size - 1)) < 4 * np.sqrt(2 * (size - 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"state": (0, 0, 0, 32, 0)}, "x of state is 32: it must be a whole number from 0 to 31."),
        ({"state": (0, 0, 0, 0, 32)}, "y of state is 32: it must be a whole number from 0 to 31."),
        ({"state": (3, 0, 0, 0, 0)}, "shape of state is 3: it must be a whole number from 0 to 2."),
        ({"state": (0, 6, 0, 0, 0)}, "scale of state is 6: it must be a whole number from 0 to 5."),
        ({"state": (0, 0, 1.5, 0, 0)}, "orientation of state is 1.5: it must be a whole number from 0 to 39."),
        ({"state": (0, 0)}, "state is (0, 0): it must be (shape, scale, orientation, x, y)."),
        ({"state": None}, "state is None: it must be (shape, scale, orientation, x, y)."),
        ({"start": 1}, "options has the key 'start': the only option of reset is 'state'."),
    ],
)
def test_a_start_that_is_none_is_refused_and_changes_nothing(options: dict[str, Any], message: str) -> None:
    env = dSpritesEnv()
    at(env, 1, 2, 3, 4, 5)
    with pytest.raises(EnvError) as error:
        env.reset(options=options)
    assert str(error.value) == message
    assert env.state == (1, 2, 3, 4, 5)


def test_many_environments_step_as_each_would_alone() -> None:
    many = gymnasium.make_vec("btai/dSprites-v0", num_envs=3, vectorization_mode="sync", granularity=2)
    alone = [dSpritesEnv(granularity=2) for _ in range(3)]
    seen, info = many.reset(seed=11)  # the next ones get 12 and 13
    expected = [env.reset(seed=11 + i)[0] for i, env in enumerate(alone)]
    for action in (LEFT, UP, RIGHT):
        assert [{name: values[i] for name, values in seen.items()} for i in range(3)] == expected
        np.testing.assert_array_equal(info["state"], [env.state for env in alone])
        seen, _, _, _, info = many.step(np.full(3, action))
        expected = [env.step(action)[0] for env in alone]
    many.close()


def test_the_image_is_that_of_the_state_and_empty_below_the_last_row() -> None:
    env = dSpritesEnv(render_mode="rgb_array")
    at(env, 2, 4, 17, 3, 25)
    image = render_classes([(0, 2, 4, 17, 3, 25)])[0]
    np.testing.assert_array_equal(env.image(), image)
    frame = env.render()
    assert frame is not None
    assert frame.shape == (64, 64, 3)
    assert frame.dtype == np.uint8
    for colour in range(3):
        np.testing.assert_array_equal(frame[:, :, colour], 255 * image)
    env.step(DOWN)
    assert not env.image().any()


def test_nothing_is_rendered_unless_asked_for() -> None:
    env = dSpritesEnv()
    at(env, 0, 0, 0, 0, 0)
    assert env.render() is None


def test_a_person_sees_every_state_once_in_a_window_that_close_closes(screen: FakeScreen) -> None:
    env = dSpritesEnv(render_mode="human")
    at(env, 0, 5, 0, 10, 20)
    assert env.render() is None
    env.step(LEFT)
    expected = [255 * render_classes([(0, 0, 5, 0, x, 20)])[0] for x in (10, 2)]
    assert [picture[-64 * 64 * 3 :: 3] for picture in screen.pictures] == [e.tobytes() for e in expected]
    assert screen.open_windows == 1
    env.close()
    env.close()
    assert screen.open_windows == 0


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(EnvError) as error:
        dSpritesEnv(render_mode="ansi")
    assert str(error.value) == "render_mode is 'ansi': it must be None, 'human' or 'rgb_array'."


def test_images_of_a_file_are_shown_in_place_of_computed_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packed = np.zeros((737_280, 64, 8), dtype=np.uint8)  # untouched memory: it takes no room
    packed[(((2 * 6 + 4) * 40 + 17) * 32 + 3) * 32 + 25, 0, 0] = 0b0110_0000
    opened = []

    def open_images(path: Path) -> ImageFile:
        opened.append(path)
        return ImageFile(packed, (1, 3, 6, 40, 32, 32))

    monkeypatch.setattr(env_module, "open_images", open_images)
    env = dSpritesEnv(images=tmp_path / "dsprites.npz")
    assert opened == [tmp_path / "dsprites.npz"]
    at(env, 2, 4, 17, 3, 25)
    assert np.argwhere(env.image()).tolist() == [[0, 1], [0, 2]]
