"""The tiger: its rules, and its model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from btai.envs import TigerEnv, tiger_slice
from btai.errors import EnvError

LISTEN, OPEN_LEFT, OPEN_RIGHT = range(3)


def opened(tiger: int, action: int) -> tuple[int, float, bool, bool]:
    """The outcome, reward and ends of opening a door at once."""
    env = TigerEnv()
    env.reset(seed=0, options={"state": {"S_tiger": tiger, "S_scene": 0}})
    obs, reward, terminated, truncated, _ = env.step(action)
    return obs["O_outcome"], reward, terminated, truncated


@pytest.mark.filterwarnings("error")
def test_passes_gymnasiums_own_check() -> None:
    check_env(TigerEnv(), skip_render_check=True)


@pytest.mark.parametrize(("tiger", "action"), list(product((0, 1), (OPEN_LEFT, OPEN_RIGHT))))
def test_tiger_is_behind_its_door_and_treasure_behind_the_other(tiger: int, action: int) -> None:
    treasure = tiger != action - OPEN_LEFT
    assert opened(tiger, action) == (1, 10.0, True, False) if treasure else (2, -100.0, True, False)


def test_a_growl_is_heard_from_the_tigers_side_as_often_as_told() -> None:
    env = TigerEnv(accuracy=0.8, max_cycles=4000)
    obs, _ = env.reset(seed=1, options={"state": {"S_tiger": 1, "S_scene": 0}})
    assert obs == {"O_growl": 2, "O_outcome": 0}  # nothing is heard for nothing
    steps = [env.step(LISTEN) for _ in range(4000)]
    heard = np.mean([obs["O_growl"] for obs, *_ in steps])
    assert abs(heard - 0.8) < 5 * np.sqrt(0.8 * 0.2 / 4000)
    assert {reward for _, reward, *_ in steps} == {-1.0}
    assert [ends for *_, t, u, _ in steps for ends in [(t, u)]] == [(False, False)] * 3999 + [(False, True)]


def test_rewards_are_those_asked_for() -> None:
    env = TigerEnv(treasure=2.0, tiger=-3.0, listening=-0.5)
    rewards = []
    for action in (LISTEN, OPEN_LEFT, OPEN_RIGHT):
        env.reset(seed=0, options={"state": {"S_tiger": 0, "S_scene": 0}})
        rewards.append(env.step(action)[1])
    assert rewards == [-0.5, -3.0, 2.0]


def test_preference_is_the_softmax_of_the_rewards_with_caution() -> None:
    (preference,) = tiger_slice(caution=3.0, precision=0.1).preferences
    odds = np.exp([-0.1, 1.0, -30.0])  # the tiger counts three times over
    np.testing.assert_allclose(preference.table, odds / odds.sum(), rtol=1e-12)


def test_listening_makes_the_belief_that_bayes_rule_makes() -> None:
    from btai import BTAI_3MF

    agent = BTAI_3MF(tiger_slice(accuracy=0.7), engine="numpy")
    agent.reset({"O_growl": 2, "O_outcome": 0})
    for growl in (0, 0, 1):
        agent.update(LISTEN, {"O_growl": growl, "O_outcome": 0})
    np.testing.assert_allclose(agent.beliefs["S_tiger"], [0.7, 0.3], rtol=1e-12)  # one growl more from the left


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracy": 1.5}, "accuracy is 1.5: it must be a probability, from 0 to 1."),
        ({"tiger": float("-inf")}, "tiger is -inf: it must be a finite number."),
        ({"tiger": "cub"}, "tiger is 'cub': it must be a finite number."),
        ({"max_cycles": 0}, "max_cycles is 0: it must be a whole number of at least 1."),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(EnvError) as error:
        TigerEnv(**options)  # type: ignore[arg-type]
    assert str(error.value) == message


@pytest.mark.parametrize("caution", [-1.0, float("nan")])
def test_caution_that_is_none_is_refused(caution: float) -> None:
    with pytest.raises(EnvError, match=r"^caution is (-1\.0|nan): it must be a finite number of at least 0\.$"):
        tiger_slice(caution=caution)
