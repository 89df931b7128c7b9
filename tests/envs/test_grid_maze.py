"""Grid mazes: maps, moves, ends, what is preferred."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from btai.envs import GridMazeEnv, grid_maze_slice
from btai.errors import EnvError

UP, DOWN, LEFT, RIGHT = range(4)

# Cells by number: 0 1 2 in the first row, 3 (start) 4 (exit) in the second.
MAP = """
    ...
    S#E
"""


def walked(*way: int, slip: float = 0.0) -> list[tuple[int, float, bool, bool]]:
    env = GridMazeEnv(MAP, slip, max_cycles=5)
    env.reset(seed=0)
    steps = [env.step(action) for action in way]
    return [(obs["O_cell"], reward, terminated, truncated) for obs, reward, terminated, truncated, _ in steps]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("maze", ["small", "trap", "labyrinth", MAP])
def test_passes_gymnasiums_own_check(maze: str) -> None:
    check_env(GridMazeEnv(maze, 0.1), skip_render_check=True)


def test_ways_lead_around_the_wall_to_the_exit() -> None:
    assert [cell for cell, *_ in walked(UP, RIGHT, RIGHT)] == [0, 1, 2]
    assert walked(UP, RIGHT, RIGHT, DOWN)[-1] == (4, 1.0, True, False)


def test_walls_and_the_rim_hold() -> None:
    assert [cell for cell, *_ in walked(RIGHT, LEFT, DOWN, UP)] == [3, 3, 3, 0]


def test_time_runs_out_with_a_reward_of_minus_one() -> None:
    assert walked(UP, UP, UP, UP, UP)[-1] == (0, -1.0, False, True)
    assert {reward for _, reward, *_ in walked(UP, UP, UP, UP)} == {0.0}


def test_a_step_slips_to_either_side_alike() -> None:
    env = GridMazeEnv("...\n...\n..E", slip=0.4)
    env.reset(seed=0)
    counts: Counter[int] = Counter()
    for _ in range(2000):
        env.reset(options={"state": {"S_cell": 4}})
        counts[env.step(UP)[0]["O_cell"]] += 1
    for cell, p in ((1, 0.6), (3, 0.2), (5, 0.2)):
        assert abs(counts[cell] / 2000 - p) < 5 * np.sqrt(p * (1 - p) / 2000)
    assert counts.total() == counts[1] + counts[3] + counts[5]


def test_starts_are_those_of_the_map_or_any_free_cell() -> None:
    assert GridMazeEnv(MAP).initial_states() == [{"S_cell": 3}]
    assert GridMazeEnv("..\n#E").initial_states() == [{"S_cell": 0}, {"S_cell": 1}]


@pytest.mark.parametrize(
    ("guide", "scores"),
    [("exit", [0, 0, 0, 0, 5]), ("manhattan", [-3, -2, -1, -2, 0]), ("path", [-3, -2, -1, -4, 0])],
)
def test_preference_follows_the_guide(guide: str, scores: list[float]) -> None:
    (preference,) = grid_maze_slice(MAP, guide, precision=2.0).preferences
    odds = np.exp(2.0 * np.array(scores))
    np.testing.assert_allclose(preference.table, odds / odds.sum(), rtol=1e-12)


def test_cell_without_a_way_out_is_liked_least() -> None:
    (preference,) = grid_maze_slice("E.#.", "path", precision=1.0).preferences
    odds = np.exp([0.0, -1.0, -3.0])
    np.testing.assert_allclose(preference.table, odds / odds.sum(), rtol=1e-12)


def test_any_size_can_be_declared_up_to_the_limit() -> None:
    row = "." * 40
    assert grid_maze_slice("\n".join([row] * 12 + [row[1:] + "E"])).states["S_cell"].size == 520
    with pytest.raises(EnvError, match=r"^maze: the map has 2,049 free cells; at most 2,048 can be declared\.$"):
        GridMazeEnv("." * 2048 + "E")


@pytest.mark.parametrize(
    ("maze", "message"),
    [
        ("S.\n.x", "maze: 'x' stands in line 2, column 2 of the map; it must be '#' (wall), '.' (free), "),
        ("smal", "maze: 's' stands in line 1, column 1 of the map;"),
        ("S..", "maze: the map needs an exit 'E' and another free cell."),
        ("#E#", "maze: the map needs an exit 'E' and another free cell."),
        ("", "maze: the map needs an exit"),
    ],
)
def test_map_that_is_none_is_refused_with_the_place(maze: str, message: str) -> None:
    with pytest.raises(EnvError, match="^" + re.escape(message)):
        GridMazeEnv(maze)


def test_unknown_guide_is_refused() -> None:
    with pytest.raises(EnvError, match=r"^guide is 'nose': it must be 'exit', 'manhattan', 'path'\.$"):
        grid_maze_slice(MAP, "nose")
