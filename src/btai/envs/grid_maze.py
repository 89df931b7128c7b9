"""A maze on a grid, of any map: find the exit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.envs.checks import cycles, one_of, probability
from btai.envs.tables import certain, steps_to
from btai.errors import EnvError
from btai.interop.gymnasium import AsGymnasium
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["MAZES", "GridMazeEnv", "grid_maze_slice"]

ACTIONS = ("up", "down", "left", "right")
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # (row, column) of each action

WALL, FREE, START, EXIT = "#", ".", "S", "E"
MOST_CELLS = 2048  # the table of transitions then has 2^24 entries

MAZES = {
    "small": """
        #######
        #S....#
        #.###.#
        #...#E#
        #######
    """,
    "trap": """
        #########
        #.......#
        #.#####.#
        #.....#.#
        #S....#E#
        #.....#.#
        #.#####.#
        #.......#
        #########
    """,
    "labyrinth": """
        ###############
        #S..#.....#...#
        ###.#.###.#.#.#
        #...#.#.#...#.#
        #.###.#.#####.#
        #.#...#.......#
        #.#.###.#####.#
        #.#...#.#.....#
        #.###.#.#.#####
        #...#...#.....#
        ###.#########.#
        #...#.....#...#
        #.###.###.#.###
        #.......#....E#
        ###############
    """,
}
GUIDES = ("exit", "manhattan", "path")
EXIT_SCORE = 5.0  # of the guide "exit"; any other cell scores 0


class Place(NamedTuple):
    """A cell that is no wall."""

    row: int
    column: int


class Maze:
    """A map in terms of its free cells, by number: row by row.

    Attributes:
        places: [n].
        starts: their numbers.
        exits: their numbers.
        targets: where each action leads from each cell, [n, 4]; against a wall it leads nowhere.
    """

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in MAZES.get(text, text).strip().splitlines()]
        self.places: list[Place] = []
        marks = []
        for row, line in enumerate(lines):
            for column, mark in enumerate(line):
                if mark not in WALL + FREE + START + EXIT:
                    raise EnvError(
                        f"maze: {mark!r} stands in line {row + 1}, column {column + 1} of the map; it must be '#'"
                        " (wall), '.' (free), 'S' (start) or 'E' (exit), or the map one of"
                        f" {', '.join(map(repr, MAZES))}."
                    )
                if mark != WALL:
                    self.places.append(Place(row, column))
                    marks.append(mark)
        if len(marks) > MOST_CELLS:
            raise EnvError(f"maze: the map has {len(marks):,} free cells; at most {MOST_CELLS:,} can be declared.")
        if EXIT not in marks or {*marks} == {EXIT}:
            raise EnvError("maze: the map needs an exit 'E' and another free cell.")
        self.exits = [cell for cell, mark in enumerate(marks) if mark == EXIT]
        self.starts = [cell for cell, mark in enumerate(marks) if mark == (START if START in marks else FREE)]
        number = {place: cell for cell, place in enumerate(self.places)}
        self.targets = np.array(
            [
                [number.get(Place(row + down, column + right), cell) for down, right in STEPS]
                for cell, (row, column) in enumerate(self.places)
            ]
        )
        self.targets[self.exits] = np.array(self.exits)[:, None]  # who has left stays outside

    def as_the_crow_flies(self) -> NDArray[np.float64]:
        """Rows and columns between each cell and the nearest exit, [n]."""
        places = np.array(self.places)
        return np.asarray(np.abs(places[:, None] - places[self.exits]).sum(axis=2).min(axis=1), np.float64)


def grid_maze_slice(
    maze: str = "small", guide: str = "path", slip: float = 0.0, precision: float = 2.0
) -> TemporalSlice:
    """A maze as a model, which is also how the environment works: one state, the cell, which is seen as it is.

    Args:
        maze: "small", "trap", "labyrinth", or a map: lines of '#' (wall), '.' (free), 'S' (start) and 'E' (exit). A
            trial begins in any of the starts; in any free cell where there are none.
        guide: what is preferred: "exit" alone; "manhattan", every cell the more the fewer rows and columns it is from
            an exit, walls or not; or "path", the more the fewer steps.
        slip: how probable it is that a step goes to a side instead, to either one alike.
        precision: of the preference, softmax(precision * score). Where steps may slip a low one makes the agent
            dawdle: to be unsure of its place is then as good as to be at the exit.
    """
    one_of("guide", guide, GUIDES, ", ".join(map(repr, GUIDES)))
    known = Maze(maze)
    n = len(known.places)
    sides = known.targets[:, [(2, 3), (2, 3), (0, 1), (0, 1)]]  # [n, 4, 2]
    moves = (1 - probability("slip", slip)) * certain(known.targets, n) + slip * certain(sides, n).mean(axis=3)
    scores = {
        "exit": EXIT_SCORE * certain(known.exits, n).any(axis=1),
        "manhattan": -known.as_the_crow_flies(),
        "path": -steps_to(known.exits, moves),
    }[guide]
    names = [f"{row}, {column}" for row, column in known.places]
    return (
        TemporalSliceBuilder("A_go", len(ACTIONS), values=ACTIONS)
        .add_state("S_cell", certain(known.starts, n).mean(axis=1), values=names)
        .add_observation("O_cell", np.eye(n), ["S_cell"], values=names)
        .add_transition("S_cell", moves, ["S_cell", "A_go"])
        .add_preference(["O_cell"], scores=scores, precision=precision)
        .build()
    )


class GridMazeEnv(AsGymnasium):
    """Find the exit of a maze.

    The observation is O_cell, the number of the cell, row by row and without the walls. Actions are 0 up, 1 down, 2
    left, 3 right. A trial terminates at an exit, with reward 1, and is truncated, with reward -1, after `max_cycles`.
    All other rewards are 0.

    Args:
        maze: a map, or the name of one, as for `grid_maze_slice`.
        slip: how probable it is that a step goes to a side instead.
        max_cycles: cycles after which a trial is truncated.
    """

    metadata: dict[str, Any] = {**AsGymnasium.metadata, "trial_rewards": (-1.0, 1.0)}  # noqa: RUF012 - as there

    def __init__(self, maze: str = "small", slip: float = 0.0, *, max_cycles: int = 100) -> None:
        super().__init__(grid_maze_slice(maze, slip=slip), cycles(max_cycles))
        self.maze, self.slip, self.max_cycles = maze, slip, max_cycles
        self._exits = frozenset(Maze(maze).exits)

    def ended(self) -> bool:
        """Whether it is outside."""
        return self.state["S_cell"] in self._exits

    def reward(self, before: Mapping[str, int], obs: dict[str, Any], truncated: bool) -> float:
        """1 for an exit, -1 for being late."""
        return -1.0 if truncated else float(self.ended())
