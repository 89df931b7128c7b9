from __future__ import annotations

import math

import numpy as np
import pytest

from btai.experiments import Trial, summarise, wilson_interval


def trial(index: int = 0, **changes: object) -> Trial:
    values = {
        "index": index,
        "seed": 1,
        "initial_state": None,
        "reward": 1.0,
        "cycles": 2,
        "finished": True,
        "planning_seconds": 0.5,
        "inference_seconds": 0.25,
        "environment_seconds": 0.25,
        "planning_iterations": 10,
        "actions": (0, 1),
    }
    return Trial(**(values | changes))  # type: ignore[arg-type]


def test_figures_by_hand() -> None:
    trials = [
        trial(reward=1.0, cycles=4, planning_seconds=1.0, planning_iterations=100),
        trial(reward=-1.0, cycles=50, planning_seconds=3.0, planning_iterations=300, finished=False),
        trial(reward=0.5, cycles=6, planning_seconds=0.0, planning_iterations=0),
    ]
    s = summarise(trials)
    assert (s.trials, s.finished) == (3, 2)
    assert s.p_solved == pytest.approx((0.5 + 3) / 6)
    assert s.reward_mean == pytest.approx(0.5 / 3)
    assert s.cycles_mean == 20
    assert s.seconds_per_trial == pytest.approx((4 + 1.5) / 3)
    assert s.microseconds_per_planning_iteration == pytest.approx(4e6 / 400)


def test_wilson_interval_is_the_textbook_one() -> None:
    # Eight successes of ten, in many a textbook: 0.490 to 0.943.
    assert wilson_interval(0.8, 10) == pytest.approx((0.490162, 0.943318), abs=1e-6)
    # With z = 2, by hand: centre (1/2 + 4/8) / (1 + 4/4) = 1/2, half 2 sqrt(1/16 + 4/64) / 2 = sqrt(1/8).
    assert wilson_interval(0.5, 4, z=2) == pytest.approx((0.5 - math.sqrt(0.125), 0.5 + math.sqrt(0.125)))


def test_ends_of_the_interval_solve_the_equation_that_defines_it() -> None:
    # Wilson's interval holds the p whose own standard error puts the mean within z of it.
    for mean, n in [(0.3, 7), (0.93, 100), (0.5, 3072)]:
        for p in wilson_interval(mean, n):
            assert abs(mean - p) / math.sqrt(p * (1 - p) / n) == pytest.approx(1.959964, rel=1e-5)


def test_equal_results_leave_an_uncertainty() -> None:
    # All of n solved: n / (n + z^2) to 1.
    assert wilson_interval(1.0, 100) == pytest.approx((100 / (100 + 1.959964**2), 1.0), rel=1e-6)
    assert wilson_interval(0.0, 100) == pytest.approx((0.0, 1 - 100 / (100 + 1.959964**2)), rel=1e-6)


def test_interval_covers_graded_rewards_often_enough() -> None:
    rng = np.random.default_rng(7)
    levels, odds = np.array([-1.0, 0.25, 1.0]), [0.2, 0.3, 0.5]
    truth = (levels @ odds + 1) / 2
    inside = 0
    for _ in range(500):
        low, high = summarise([trial(reward=r) for r in rng.choice(levels, 40, p=odds)]).interval or (1.0, 0.0)
        inside += bool(low <= truth <= high)
    assert inside / 500 >= 0.95


def test_exhaustive_run_has_no_uncertainty_of_sampling() -> None:
    s = summarise([trial(reward=1.0), trial(reward=0.5)], exhaustive=True)
    assert (s.p_solved, s.interval) == (0.875, (0.875, 0.875))


def test_rewards_beyond_one_give_no_p_solved() -> None:
    s = summarise([trial(reward=1.0), trial(reward=3.0)])
    assert (s.p_solved, s.interval, s.reward_mean) == (None, None, 2.0)


def test_rewards_count_from_that_of_a_failure_to_that_of_a_success() -> None:
    s = summarise([trial(reward=r) for r in (0.0, 10.0, 10.0, 5.0)], rewards=(0, 10))
    assert s.p_solved == 0.625
    assert s.interval == wilson_interval(0.625, 4)
    assert summarise([trial(reward=-1.0)], rewards=(0, 10)).p_solved is None


def test_where_nothing_tells_failure_from_success_rewards_are_only_rewards() -> None:
    s = summarise([trial(reward=0.0), trial(reward=1.0)], rewards=None)
    assert (s.p_solved, s.interval, s.reward_mean) == (None, None, 0.5)


def test_no_trials_give_no_figures() -> None:
    s = summarise([])
    assert (s.trials, s.p_solved, s.interval, s.cycles_mean, s.seconds_per_trial) == (0, None, None, None, None)


def test_agent_that_does_not_plan_has_no_time_per_iteration() -> None:
    assert summarise([trial(planning_iterations=0)]).microseconds_per_planning_iteration is None
