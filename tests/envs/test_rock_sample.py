"""RockSample: its rules, its sensor, the size of its model."""

from __future__ import annotations

from math import dist
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from btai import BTAI_3MF
from btai.envs import RockSampleEnv, rock_sample_slice
from btai.envs.rock_sample import rock_cells
from btai.errors import EnvError
from btai.experiments import run

NORTH, SOUTH, EAST, WEST, SAMPLE, CHECK_1, CHECK_2 = range(7)
NOTHING, LOOKS_WORTHLESS, LOOKS_GOOD, SEEN_WORTHLESS, SEEN_GOOD = range(5)
WORTHLESS, GOOD, TAKEN_WORTHLESS, TAKEN_GOOD = range(4)


def env_at(cell: tuple[int, int], *rocks: int, **options: Any) -> RockSampleEnv:
    """RockSample(3, 2) with the rover at a cell, and its rocks as told."""
    env = RockSampleEnv(3, 2, **options)
    position = {"S_position": cell[0] + 3 * cell[1], "S_sensor": 0}
    env.reset(seed=0, options={"state": position | {f"S_rock_{i + 1}": rock for i, rock in enumerate(rocks)}})
    return env


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("size", "rocks"), [(1, 1), (3, 2), (7, 8)])
def test_passes_gymnasiums_own_check(size: int, rocks: int) -> None:
    check_env(RockSampleEnv(size, rocks), skip_render_check=True)


@pytest.mark.parametrize(("size", "rocks"), [(1, 1), (2, 4), (3, 2), (4, 4), (5, 7), (7, 8), (20, 20), (4, 16)])
def test_every_rock_has_a_cell_of_its_own_on_the_map(size: int, rocks: int) -> None:
    cells = rock_cells(size, rocks)
    assert len(set(cells)) == rocks
    assert all(0 <= x < size and 0 <= y < size for x, y in cells)


def test_rover_starts_in_the_middle_of_the_west_and_stays_on_the_map_but_for_the_east() -> None:
    env = RockSampleEnv(3, 2)
    assert env.reset(seed=0)[0]["O_position"] == 3
    ways = {WEST: 3, NORTH: 0, SOUTH: 6, EAST: 4}
    for action, position in ways.items():
        env.reset(seed=0)
        assert env.step(action)[0]["O_position"] == position
    assert env_at((0, 0), 0, 0).step(NORTH)[0]["O_position"] == 0
    assert env_at((2, 2), 0, 0).step(SOUTH)[0]["O_position"] == 8


def test_leaving_by_the_east_earns_ten_and_ends_the_trial() -> None:
    obs, reward, terminated, truncated, _ = env_at((2, 1), GOOD, GOOD).step(EAST)
    assert (obs["O_position"], reward, terminated, truncated) == (9, 10.0, True, False)


@pytest.mark.parametrize(("rock", "reward", "seen"), [(GOOD, 10.0, SEEN_GOOD), (WORTHLESS, -10.0, SEEN_WORTHLESS)])
def test_a_rock_can_be_taken_once(rock: int, reward: float, seen: int) -> None:
    env = env_at(rock_cells(3, 2)[1], GOOD, rock)
    obs, earned, terminated, _, _ = env.step(SAMPLE)
    assert (obs["O_rock_1"], obs["O_rock_2"], earned, terminated) == (NOTHING, seen, reward, False)
    obs, earned, *_ = env.step(SAMPLE)
    assert (obs["O_rock_2"], earned) == (seen, 0.0)


def test_sampling_where_no_rock_lies_does_nothing() -> None:
    free = next(cell for cell in ((0, 0), (1, 0), (2, 0)) if cell not in rock_cells(3, 2))
    obs, reward, *_ = env_at(free, GOOD, GOOD).step(SAMPLE)
    assert (obs["O_rock_1"], obs["O_rock_2"], reward) == (NOTHING, NOTHING, 0.0)


def test_sensor_is_certain_at_the_rock() -> None:
    for rock, looks in ((GOOD, LOOKS_GOOD), (WORTHLESS, LOOKS_WORTHLESS)):
        env = env_at(rock_cells(3, 2)[0], rock, GOOD)
        assert {env.step(CHECK_1)[0]["O_rock_1"] for _ in range(20)} == {looks}


def test_sensor_is_right_as_often_as_its_distance_says() -> None:
    cell = (0, 0)
    env = env_at(cell, WORTHLESS, GOOD, half_distance=1.5, max_cycles=3000)
    readings = [env.step(CHECK_2)[0] for _ in range(3000)]
    right = (1 + 2 ** (-dist(cell, rock_cells(3, 2)[1]) / 1.5)) / 2
    assert 0.6 < right < 0.9
    share = np.mean([obs["O_rock_2"] == LOOKS_GOOD for obs in readings])
    assert abs(share - right) < 5 * np.sqrt(right * (1 - right) / 3000)
    assert {obs["O_rock_1"] for obs in readings} == {NOTHING}


def test_half_of_the_rocks_are_good() -> None:
    assert len(RockSampleEnv(3, 2).initial_states()) == 4
    env = RockSampleEnv(3, 2)
    env.reset(seed=0)
    good = np.mean([env.reset()[1]["states"]["S_rock_2"] == GOOD for _ in range(2000)])
    assert abs(good - 0.5) < 5 * np.sqrt(0.25 / 2000)


def test_model_is_factored() -> None:
    ts = rock_sample_slice(7, 8)
    assert [*ts.states] == ["S_position", "S_sensor", *(f"S_rock_{i}" for i in range(1, 9))]
    entries = sum(t.table.size for t in ts.transitions.values()) + sum(
        o.likelihood.size for o in ts.observations.values()
    )
    assert entries < 200_000  # flat, the states alone would be 50 * 9 * 4^8 = 29 million


def test_preferences_are_for_good_rocks_and_to_be_outside() -> None:
    position, *rocks = rock_sample_slice(3, 2, caution=4.0, haste=0.75, precision=2.0).preferences
    odds = np.exp([0.0] * 9 + [1.5])
    np.testing.assert_allclose(position.table, odds / odds.sum(), rtol=1e-12)
    for rock in rocks:
        odds = np.exp([0.0, 0.0, 0.0, -8.0, 2.0])
        np.testing.assert_allclose(rock.table, odds / odds.sum(), rtol=1e-12)


def test_cautious_rover_checks_a_rock_before_it_takes_it() -> None:
    """At the rock the sensor is certain, and from elsewhere right with 0.98 or more."""
    agent = BTAI_3MF(rock_sample_slice(2, 1), max_planning_steps=50)
    trials = run(agent, RockSampleEnv(2, 1), exhaustive=True).trials
    assert [(CHECK_1 in trial.actions, SAMPLE in trial.actions) for trial in trials] == [(True, False), (True, True)]
    assert [trial.reward for trial in trials] == [10.0, 20.0]


def test_rover_without_caution_takes_rocks_unseen() -> None:
    agent = BTAI_3MF(rock_sample_slice(2, 1, caution=1.0), max_planning_steps=50)
    trials = run(agent, RockSampleEnv(2, 1), exhaustive=True).trials
    assert [trial.reward for trial in trials] == [0.0, 20.0]
    assert {action for trial in trials for action in trial.actions} <= {NORTH, SOUTH, EAST, WEST, SAMPLE}


@pytest.mark.parametrize(
    ("size", "rocks", "message"),
    [
        (0, 1, "size is 0: it must be a whole number from 1 to 20."),
        (2, 5, "rocks is 5: it must be a whole number from 1 to 4, with size 2."),
        (4, 0, "rocks is 0: it must be a whole number from 1 to 16, with size 4."),
    ],
)
def test_map_that_cannot_be_is_refused(size: int, rocks: int, message: str) -> None:
    with pytest.raises(EnvError) as error:
        RockSampleEnv(size, rocks)
    assert str(error.value) == message
