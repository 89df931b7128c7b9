"""The optimum of a task: that of every policy tried out, reached by who plays it, and what arguments say it is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from benchmarks.optimum import Belief, Outcome, Solver, Task
from benchmarks.worlds import OPTIMA, frozen_lake_task, maze_task, rock_sample_optimum, t_maze_task, tiger_task
from btai import TemporalSliceBuilder
from btai.envs import environment, rock_sample_slice
from btai.experiments import run

# --- every policy ----------------------------------------------------------------------------------------------------


def random_task(seed: int) -> Task:
    """Three states of which the last is the end, two outcomes, two actions, two steps."""
    rng = np.random.default_rng(seed)

    def columns(n: int, *parents: int) -> Any:
        return np.moveaxis(rng.dirichlet(np.ones(n), size=parents), -1, 0)

    ts = (
        TemporalSliceBuilder("A_go", 2)
        .add_state("S_x", columns(3))
        .add_observation("O_x", columns(2, 3), ["S_x"])
        .add_transition("S_x", columns(3, 3, 2), ["S_x", "A_go"])
        .build()
    )
    rewards = rng.normal(size=(3, 3))

    def reward(before: Mapping[str, int], now: Mapping[str, int]) -> float:
        return float(rewards[before["S_x"], now["S_x"]])

    return Task(ts, reward, lambda now: now["S_x"] == 2, steps=2, late=float(rng.normal()))


def earned(task: Task, policy: Mapping[tuple[int, ...], int]) -> float:
    """What a policy, the action after each history of outcomes, earns in the mean: the sum over all that may happen."""
    prior, moves = task.ts.states["S_x"].prior, task.ts.transitions["S_x"].table
    seen = task.ts.observations["O_x"].likelihood
    total = 0.0
    for (x, y, z), (first, second) in product(product(range(3), repeat=3), product(range(2), repeat=2)):
        a, b = policy[(first,)], policy[(first, second)]
        weight = prior[x] * seen[first, x] * moves[y, x, a] * seen[second, y] * moves[z, y, b]
        gain = task.reward({"S_x": x}, {"S_x": y})
        if y != 2:
            gain += task.reward({"S_x": y}, {"S_x": z}) + (task.late if z != 2 else 0)
        total += weight * gain
    return total


@pytest.mark.parametrize("seed", range(10))
def test_optimum_is_that_of_the_best_of_all_policies(seed: int) -> None:
    task = random_task(seed)
    histories = [(0,), (1,), *product(range(2), repeat=2)]
    policies = (dict(zip(histories, actions, strict=True)) for actions in product(range(2), repeat=6))
    assert Solver(task).optimum == pytest.approx(max(earned(task, policy) for policy in policies), rel=1e-9)


# --- played ----------------------------------------------------------------------------------------------------------


class Player:
    """Acts by the policy of a solver."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.beliefs: list[Belief] = []
        self.last: tuple[int, Outcome] | None = None

    def reset(self, obs: Mapping[str, int]) -> None:
        self.beliefs, self.last = [self.solver.first()[tuple(obs.values())][0]], None

    def step(self) -> int:
        if self.last is not None:  # not before: at the end there is no belief to act upon
            self.beliefs.append(self.solver.updated(self.beliefs[-1], *self.last))
        return self.solver.policy[len(self.beliefs) - 1][self.beliefs[-1]]

    def update(self, action: int, obs: Mapping[str, int]) -> None:
        self.last = action, tuple(obs.values())


@pytest.mark.parametrize(
    ("name", "make_task", "options", "optimum"),
    [
        ("tmaze", t_maze_task, {"maze": "blank screen"}, 1.0),
        ("tmaze", t_maze_task, {"maze": "useless cue"}, 0.0),
        ("maze", maze_task, {"max_cycles": 6}, 1.0),
        # Opening at a difference of three growls, worked out on the difference alone.
        ("tiger", tiger_task, {}, 5.1586842),
        # Value iteration on Gymnasium's own table: 0.7441903 of the trials.
        ("frozenlake", frozen_lake_task, {}, 2 * 0.7441903 - 1),
    ],
)
def test_optimum_is_earned_by_who_plays_its_policy(
    name: str, make_task: Any, options: dict[str, Any], optimum: float
) -> None:
    entry = environment(name)
    solver = Solver(make_task(entry.options | options))
    assert solver.optimum == pytest.approx(optimum, abs=1e-6)
    rewards = [trial.reward for trial in run(Player(solver), entry.env(**options), trials=400).trials]
    assert abs(np.mean(rewards) - optimum) <= 4 * np.std(rewards) / 20


# --- RockSample ------------------------------------------------------------------------------------------------------


def rock_sample_task(size: int, rocks: int, steps: int) -> Task:
    """By the rules, with the worth of each rock in the state before it is taken."""

    def reward(before: Mapping[str, int], now: Mapping[str, int]) -> float:
        taken = {(1, 3): 10.0, (0, 2): -10.0}
        names = [f"S_rock_{i + 1}" for i in range(rocks)]
        left = 10.0 * (now["S_position"] == size**2)
        return left + sum(taken.get((before[name], now[name]), 0.0) for name in names)

    return Task(rock_sample_slice(size, rocks), reward, lambda now: now["S_position"] == size**2, steps)


@pytest.mark.parametrize(("size", "rocks", "steps"), [(2, 1, 5), (2, 1, 4), (2, 1, 3), (2, 2, 6)])
def test_rock_sample_earns_what_the_argument_says_and_no_more(size: int, rocks: int, steps: int) -> None:
    most = 10.0 + 5.0 * rocks
    argument = rock_sample_optimum({"size": size, "rocks": rocks, "max_cycles": steps})
    optimum = Solver(rock_sample_task(size, rocks, steps)).optimum
    if argument is None:
        assert optimum < most
    else:
        assert argument == most == pytest.approx(optimum)


def test_every_environment_but_dsprites_has_an_optimum() -> None:
    assert set(OPTIMA) == {"frozenlake", "maze", "rocksample", "tiger", "tmaze"}
