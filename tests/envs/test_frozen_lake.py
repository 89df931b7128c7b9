"""FrozenLake: the model is what Gymnasium's environment does."""

from __future__ import annotations

from collections import Counter

import numpy as np

from btai.envs import frozen_lake, frozen_lake_slice
from btai.experiments import run

MAP = "SFFFFHFHFFFHHFFG"
LEFT, DOWN, RIGHT, UP = range(4)
HOLES = [cell for cell, kind in enumerate(MAP) if kind == "H"]


def test_model_moves_as_the_environment_does() -> None:
    env = frozen_lake()
    table = frozen_lake_slice().transitions["S_cell"].table  # [next, cell, action]
    for action in (LEFT, UP):
        counts: Counter[int] = Counter()
        env.reset(seed=action)
        for _ in range(1500):
            env.reset()
            counts[env.step(action)[0]] += 1
        expected = dict(enumerate(table[:, 0, action].tolist()))
        assert set(counts) == {cell for cell, p in expected.items() if p > 0}
        for cell, p in expected.items():
            assert abs(counts[cell] / 1500 - p) <= 5 * np.sqrt(p * (1 - p) / 1500)


def test_without_slipping_each_action_has_one_target() -> None:
    table = frozen_lake_slice(is_slippery=False).transitions["S_cell"].table
    assert [int(table[:, 0, action].argmax()) for action in (LEFT, DOWN, RIGHT, UP)] == [0, 4, 1, 0]
    assert set(np.unique(table)) == {0.0, 1.0}


def test_holes_and_the_goal_hold_for_ever() -> None:
    table = frozen_lake_slice().transitions["S_cell"].table
    for cell in [*HOLES, 15]:
        assert table[cell, cell].tolist() == [1.0] * 4


def test_cells_nearer_to_the_goal_are_preferred_and_holes_are_liked_as_told() -> None:
    (preference,) = frozen_lake_slice(hole=-7.0, precision=1.0).preferences
    scores = np.zeros(16)
    scores[[15, 14, 13, 10, 9, 6, 8, 2, 4, 3, 1, 0]] = np.array([6, 5, 4, 4, 3, 3, 2, 2, 1, 1, 1, 0])  # counted
    scores[HOLES] = -7
    odds = np.exp(scores)
    np.testing.assert_allclose(preference.table, odds / odds.sum(), rtol=1e-12)


def ended(*way: int) -> tuple[float, bool, bool]:
    """What the last step of a way earns, and how it ends, on ice that does not slip."""
    env = frozen_lake(is_slippery=False)
    env.reset(seed=0)
    rewards = [env.step(action)[1:4] for action in way]
    assert all(step == (0.0, False, False) for step in rewards[:-1])
    reward, terminated, truncated = rewards[-1]
    return float(reward), terminated, truncated


def test_goal_is_won_and_holes_and_time_are_lost() -> None:
    assert ended(DOWN, DOWN, RIGHT, RIGHT, DOWN, RIGHT) == (1.0, True, False)
    assert ended(DOWN, RIGHT) == (-1.0, True, False)
    assert ended(*[LEFT] * 100) == (-1.0, False, True)


def test_large_lake_has_its_own_limit_of_time() -> None:
    for name, cells, steps in (("4x4", 16, 100), ("8x8", 64, 200)):
        spec = frozen_lake(name).spec
        assert spec is not None
        assert spec.max_episode_steps == steps
        assert frozen_lake_slice(name).states["S_cell"].size == cells


def test_agent_crosses_the_lake_that_is_not_slippery() -> None:
    from btai import BTAI_3MF

    agent = BTAI_3MF(frozen_lake_slice(is_slippery=False), max_planning_steps=150)
    (trial,) = run(agent, frozen_lake(is_slippery=False), trials=1).trials
    assert (trial.reward, trial.cycles) == (1.0, 6)  # the shortest way
