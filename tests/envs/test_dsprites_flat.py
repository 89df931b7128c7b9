"""The flat tables that the baselines were published with, and the environment as those agents see it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from btai.envs import dsprites_flat, dSpritesEnv, dSpritesFlatWrapper
from btai.envs.dsprites import FLAT_ACTIONS, flat_prior
from btai.errors import EnvError
from btai.model import TemporalSlice

UP, DOWN, LEFT, RIGHT = range(4)
SQUARE, ELLIPSE, HEART = range(3)


def wrapped(granularity: int = 8, max_cycles: int = 30, unfinished: float = -1.0) -> dSpritesFlatWrapper:
    return dSpritesFlatWrapper(dSpritesEnv(granularity, max_cycles=max_cycles), unfinished)


def index(shape: int, x: int, y: int, granularity: int = 8) -> int:
    n = 32 // granularity
    return shape * n * (n + 1) + x // granularity * (n + 1) + y // granularity


@pytest.fixture(scope="module", params=[8, 4])
def ts(request: pytest.FixtureRequest) -> TemporalSlice:
    return dsprites_flat(request.param)


# --- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("granularity", "size"), [(8, 60), (4, 216), (2, 816)])
def test_there_is_one_state_with_a_value_for_every_shape_and_cell(granularity: int, size: int) -> None:
    ts = dsprites_flat(granularity)
    assert {name: s.size for name, s in ts.states.items()} == {"S_sprite": size}
    assert {name: o.size for name, o in ts.observations.items()} == {"O_sprite": size}
    assert ts.action.values == FLAT_ACTIONS == ("UP", "DOWN", "LEFT", "RIGHT")


def test_papers_figure_numbers_the_cells(ts: TemporalSlice) -> None:
    # The figure at granularity 8: the square's column 1 is 5 to 9, the heart's first cell 40 (the paper draws the
    # heart second, and the data set numbers it third).
    labels = dsprites_flat(8).states["S_sprite"].values or ()
    assert [labels[i] for i in (0, 4, 5, 19, 20, 40, 59)] == [
        "square, 0, 0",
        "square, 0, 4",
        "square, 1, 0",
        "square, 3, 4",
        "ellipse, 0, 0",
        "heart, 0, 0",
        "heart, 3, 4",
    ]


def test_likelihood_is_a_noisy_identity(ts: TemporalSlice) -> None:
    table = ts.observations["O_sprite"].likelihood
    n = len(table)
    assert_allclose(table, np.where(np.eye(n) == 1, 0.99, 0.01 / (n - 1)), rtol=1e-15)


@pytest.mark.parametrize(
    ("start", "action", "end"),
    [
        ((0, 0), UP, (0, 0)),
        ((0, 8), UP, (0, 0)),
        ((0, 0), DOWN, (0, 8)),
        ((0, 24), DOWN, (0, 32)),
        ((8, 8), LEFT, (0, 8)),
        ((0, 8), LEFT, (0, 8)),
        ((8, 8), RIGHT, (16, 8)),
        ((28, 8), RIGHT, (31, 8)),
        ((8, 32), UP, (8, 32)),  # the absorbing row
        ((8, 32), RIGHT, (8, 32)),
    ],
)
def test_transition_moves_from_the_first_pixel_of_a_cell(
    ts: TemporalSlice, start: tuple[int, int], action: int, end: tuple[int, int]
) -> None:
    table = ts.transitions["S_sprite"].table
    n, granularity = len(table), 8 if len(table) == 60 else 4
    for shape in (SQUARE, ELLIPSE, HEART):
        column = table[:, index(shape, *start, granularity), action]
        target = index(shape, *end, granularity)
        assert column[target] == pytest.approx(0.9)
        assert_allclose(np.delete(column, target), 0.1 / (n - 1), rtol=1e-12)


@pytest.mark.parametrize("precision", [1.0, 2.0])
def test_preference_is_the_softmax_of_the_scores(precision: float) -> None:
    table = dsprites_flat(8, precision).preferences[0].table
    goals = {index(SQUARE, 0, 32), index(ELLIPSE, 31, 32), index(HEART, 31, 32)}
    weights = {i: math.exp(precision * (5 if i in goals else -5 if i % 5 == 4 else 0)) for i in range(60)}
    total = sum(weights.values())
    for i, weight in weights.items():
        assert table[i] == pytest.approx(weight / total, rel=1e-12)


def test_prior_is_nearly_certain_of_the_first_cell() -> None:
    prior = flat_prior(8, 7)
    assert prior[7] == 0.9
    assert_allclose(np.delete(prior, 7), 0.1 / 59, rtol=1e-12)
    with pytest.raises(EnvError, match="first is 60: it must be a whole number from 0 to 59"):
        flat_prior(8, 60)


# --- the environment ------------------------------------------------------------------------------------------------


def test_trial_runs_in_one_observation_and_the_baselines_order_of_actions() -> None:
    env = wrapped()
    assert env.n_actions == len(FLAT_ACTIONS)
    assert env.done()
    assert env.reset(state=(HEART, 2, 3, 20, 20)) == {"O_sprite": index(HEART, 20, 20)}
    assert env.execute(UP) == {"O_sprite": index(HEART, 20, 12)}
    assert env.execute(DOWN) == {"O_sprite": index(HEART, 20, 20)}
    assert env.execute(LEFT) == {"O_sprite": index(HEART, 12, 20)}
    assert env.execute(RIGHT) == {"O_sprite": index(HEART, 20, 20)}
    env.execute(DOWN)
    assert (env.done(), env.get_reward()) == (False, 0.0)
    assert env.execute(DOWN) == {"O_sprite": index(HEART, 20, 32)}
    assert (env.done(), env.truncated, env.get_reward()) == (True, False, (20 - 15) / 16)
    assert env.state == (HEART, 2, 3, 20, 32)


@pytest.mark.parametrize("unfinished", [-1.0, 0.0])
def test_unfinished_trial_is_scored_as_asked(unfinished: float) -> None:
    env = wrapped(max_cycles=2, unfinished=unfinished)
    env.reset(state=(0, 0, 0, 0, 0))
    env.execute(UP)
    assert not env.done()
    env.execute(UP)
    assert (env.done(), env.truncated, env.get_reward()) == (True, True, unfinished)
    env.reset(state=(0, 0, 0, 31, 31))
    env.execute(DOWN)
    assert env.get_reward() == -1.0  # the wrong corner, whatever an unfinished trial counts


def test_actions_that_are_none_are_refused_by_the_flat_names() -> None:
    env = wrapped()
    env.reset(seed=0)
    with pytest.raises(EnvError, match="action is 4: it must be 0 UP, 1 DOWN, 2 LEFT or 3 RIGHT"):
        env.execute(4)


def test_starts_and_seeds_are_those_of_the_factored_wrapper() -> None:
    first, second = wrapped(), wrapped()
    assert first.reset(seed=5) == second.reset(seed=5)
    assert first.state == second.state
    assert first.initial_states().shape == (3072, 5)
    image = first.render()
    assert image is not None
    assert image.shape == (64, 64, 3)
    first.close()
