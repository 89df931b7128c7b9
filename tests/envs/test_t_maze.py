"""The T-maze: its rules; what an agent does in it is told by tests/test_examples.py."""

from __future__ import annotations

from typing import Any

import pytest
from gymnasium.utils.env_checker import check_env

from btai import BTAI_3MF
from btai.envs import TMazeEnv, t_maze_slice
from btai.errors import EnvError
from btai.experiments import run

CENTRE, CUE, LEFT, RIGHT = range(4)


def walked(maze: str, context: int, *way: int) -> list[tuple[Any, ...]]:
    """What each step of a way shows and earns: outcome, screen, reward, terminated, truncated."""
    env = TMazeEnv(maze)
    env.reset(seed=0, options={"state": {"S_place": CENTRE, "S_context": context}})
    steps = [env.step(place) for place in way]
    return [(obs["O_outcome"], obs["O_screen"], *ends) for obs, *ends, _ in steps]


@pytest.mark.filterwarnings("error")
def test_passes_gymnasiums_own_check() -> None:
    check_env(TMazeEnv(), skip_render_check=True)


def test_cue_tells_the_arm_and_the_arm_has_the_reward() -> None:
    assert walked("blank screen", 0, CUE, LEFT) == [(0, 0, 0.0, False, False), (1, 2, 1.0, True, False)]
    assert walked("blank screen", 1, CUE, RIGHT) == [(0, 1, 0.0, False, False), (1, 2, 1.0, True, False)]


def test_other_arm_shocks() -> None:
    assert walked("blank screen", 0, RIGHT) == walked("blank screen", 1, LEFT) == [(2, 2, -1.0, True, False)]


def test_useless_cue_shows_the_same_picture_in_both_contexts() -> None:
    assert walked("useless cue", 0, CUE) == walked("useless cue", 1, CUE) == [(0, 0, 0.0, False, False)]


def test_screens_away_from_the_cue_snow() -> None:
    env = TMazeEnv("snow", max_cycles=200)
    env.reset(seed=3)
    shown = [env.step(CENTRE)[0]["O_screen"] for _ in range(200)]
    assert set(shown) == {0, 1}
    assert 65 <= sum(shown) <= 135  # five standard deviations around 100


def test_who_never_enters_an_arm_has_failed() -> None:
    assert walked("snow", 0, CUE, CENTRE, CUE, CUE)[-1][2:] == (-1.0, False, True)


def test_arm_entered_in_the_last_cycle_counts() -> None:
    assert walked("snow", 0, CUE, CENTRE, CUE, LEFT)[-1][2:] == (1.0, True, False)


def test_curiosity_is_a_flat_preference_for_the_screen() -> None:
    plain, curious = t_maze_slice(), t_maze_slice(curious=True)
    assert curious.preferences[0] == plain.preferences[0]
    assert [p.observations for p in curious.preferences] == [("O_outcome",), ("O_screen",)]
    assert len(set(curious.preferences[1].table.tolist())) == 1
    assert (curious.observations, curious.transitions) == (plain.observations, plain.transitions)


@pytest.mark.parametrize("maze", ["snow", "blank screen"])
def test_curious_agent_reads_a_cue_that_tells_and_finds_every_reward(maze: str) -> None:
    trials = run(BTAI_3MF(t_maze_slice(maze, curious=True)), TMazeEnv(maze), exhaustive=True).trials
    assert [(trial.actions, trial.reward) for trial in trials] == [((CUE, LEFT), 1.0), ((CUE, RIGHT), 1.0)]


def test_curious_agent_does_not_stay_at_a_cue_that_tells_nothing() -> None:
    maze = "useless cue"
    trials = run(BTAI_3MF(t_maze_slice(maze, curious=True)), TMazeEnv(maze), exhaustive=True).trials
    assert sorted(trial.reward for trial in trials) == [-1.0, 1.0]


def test_unknown_maze_is_refused() -> None:
    with pytest.raises(EnvError, match=r"^maze is 'fog': it must be 'snow', 'blank screen', 'useless cue'\.$"):
        TMazeEnv("fog")
