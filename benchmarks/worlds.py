"""The tasks of btai's environments by their rules, and the most that can be earned in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise, permutations
from typing import Any

from benchmarks.optimum import Named, Solver, Task
from btai.envs import frozen_lake_slice, grid_maze_slice, t_maze_slice, tiger_slice
from btai.envs.grid_maze import Maze
from btai.envs.rock_sample import rock_cells

__all__ = ["OPTIMA", "rock_sample_optimum", "tiger_task"]

Options = Mapping[str, Any]  # of an environment and its model, all of them
Cell = tuple[int, int]


def t_maze_task(options: Options) -> Task:
    """The reward is in the arm of the context: 1, and -1 in the other arm or for being late."""
    arms = {2: 0, 3: 1}  # the context in which each has the reward

    def reward(_: Named, now: Named) -> float:
        if now["S_place"] not in arms:
            return 0.0
        return 1.0 if arms[now["S_place"]] == now["S_context"] else -1.0

    return Task(t_maze_slice(options["maze"]), reward, lambda now: now["S_place"] in arms, options["max_cycles"], -1.0)


def tiger_task(options: Options) -> Task:
    """The tiger is behind one door, the treasure behind the other, and listening costs."""
    doors = {2: 0, 3: 1}  # the side of each open door

    def reward(_: Named, now: Named) -> float:
        if now["S_scene"] not in doors:
            return float(options["listening"])
        return float(options["tiger" if doors[now["S_scene"]] == now["S_tiger"] else "treasure"])

    ts = tiger_slice(options["accuracy"])
    return Task(ts, reward, lambda now: now["S_scene"] in doors, options["max_cycles"])


def maze_task(options: Options) -> Task:
    """An exit is worth 1, being late -1."""
    ts, exits = grid_maze_slice(options["maze"], slip=options["slip"]), Maze(options["maze"]).exits
    return Task(
        ts,
        lambda _, now: float(now["S_cell"] in exits),
        lambda now: now["S_cell"] in exits,
        options["max_cycles"],
        -1.0,
    )


def frozen_lake_task(options: Options) -> Task:
    """The goal is worth 1, a hole -1, and so is being late."""
    ts = frozen_lake_slice(options["map_name"], options["is_slippery"])
    kinds = [name[0] for name in ts.states["S_cell"].values or ()]
    worth = {"G": 1.0, "H": -1.0}
    return Task(
        ts,
        lambda _, now: worth.get(kinds[now["S_cell"]], 0.0),
        lambda now: kinds[now["S_cell"]] in worth,
        steps={"4x4": 100, "8x8": 200}[options["map_name"]],
        late=-1.0,
    )


def rock_sample_optimum(options: Options) -> float | None:
    """The most that can be earned in RockSample in the mean; None where the following does not tell.

    Nobody earns more than 10 for every good rock and 10 for leaving, 10 + 5 k in the mean. Who walks to every rock,
    checks it there, where the sensor is never wrong, takes it if it is good, and leaves, earns just that, if there is
    time.
    """
    size, rocks = options["size"], options["rocks"]
    tours = ([(0, size // 2), *order] for order in permutations(rock_cells(size, rocks)))
    shortest = min(_moves(tour, size) for tour in tours)
    return 10.0 + 5.0 * rocks if shortest + 2 * rocks <= options["max_cycles"] else None


def _moves(way: list[Cell], size: int) -> int:
    """From cell to cell, and out by the east."""
    return sum(abs(x - u) + abs(y - v) for (x, y), (u, v) in pairwise(way)) + size - way[-1][0]


OPTIMA: Mapping[str, Callable[[Options], float | None]] = {
    "frozenlake": lambda options: Solver(frozen_lake_task(options)).optimum,
    "maze": lambda options: Solver(maze_task(options)).optimum,
    "rocksample": rock_sample_optimum,
    "tiger": lambda options: Solver(tiger_task(options)).optimum,
    "tmaze": lambda options: Solver(t_maze_task(options)).optimum,
}
"""The most that can be earned in the mean, by the name of the environment; None where it is not known."""
