"""RockSample(n, k): a rover takes the good ones of k rocks on an n x n map, and leaves by the east side."""

from __future__ import annotations

from collections.abc import Mapping
from math import dist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.envs.checks import cycles, finite, whole_number
from btai.envs.tables import certain
from btai.interop.gymnasium import AsGymnasium
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["RockSampleEnv", "rock_cells", "rock_sample_slice"]

MOVES = ("north", "south", "east", "west")
STEPS = ((0, -1), (0, 1), (1, 0), (-1, 0))  # (x, y) of each move, y = 0 at the north
SAMPLE = len(MOVES)
CONDITIONS = ("worthless", "good", "taken, worthless", "taken, good")
WORTHLESS, GOOD, TAKEN_WORTHLESS, TAKEN_GOOD = range(4)
SIGHTS = ("nothing", "looks worthless", "looks good", "taken, worthless", "taken, good")
NOTHING, LOOKS_WORTHLESS, LOOKS_GOOD, SEEN_WORTHLESS, SEEN_GOOD = range(5)

REWARD = 10.0  # for a good rock and for leaving; a worthless rock costs as much
MOST = 20  # columns, rows and rocks

Cell = tuple[int, int]


def rock_cells(size: int, rocks: int) -> list[Cell]:
    """Where the rocks lie, (x, y): spread evenly over the map, each in a cell of its own."""
    free = [(x, y) for y in range(size) for x in range(size)]
    step = round(len(free) / GOLDEN)
    return [free.pop((i + 1) * step % len(free)) for i in range(rocks)]


GOLDEN = (1 + 5**0.5) / 2  # multiples of it are spread evenly


def rock_sample_slice(
    size: int = 4,
    rocks: int = 4,
    half_distance: float = 20.0,
    caution: float = 5.0,
    haste: float = 0.5,
    precision: float = 1.0,
) -> TemporalSlice:
    """RockSample as a factored model, which is also how the environment works.

    "S_position" is the cell, x + n y, or outside, the last value; "S_sensor" the rock that the last action checked;
    "S_rock_1" ... what became of each rock. "O_position" is seen as it is; "O_rock_1" ... is the sensor's reading of
    the rock that was checked, or that it was taken and what it was. Preferred are good rocks taken, with a score of 1
    each, and to be outside.

    Args:
        size: n, columns and rows.
        rocks: k.
        half_distance: where a reading is right with probability 3/4; it is with (1 + 2^(-distance/half_distance))/2.
        caution: a worthless rock that was taken has a score of minus this. With 1, its reward, the rover takes rocks
            unseen; above, it checks them first.
        haste: the score of being outside. The higher it is, the more rocks are left behind.
        precision: of the preferences, softmax(precision * score).
    """
    cells = _checked(size, rocks)
    sensed = _sensed(size, cells, finite("half_distance", half_distance, least=1e-6))
    worthless, outside = finite("caution", caution, least=0), finite("haste", haste)
    n_positions = size**2 + 1
    positions = [f"{position % size}, {position // size}" for position in range(size**2)] + ["outside"]
    names = [f"rock {i + 1}" for i in range(rocks)]
    n_actions = SAMPLE + 1 + rocks
    sensor = np.zeros(n_actions, int)
    sensor[SAMPLE + 1 :] = np.arange(rocks) + 1
    builder = (
        TemporalSliceBuilder("A_do", n_actions, values=[*MOVES, "sample", *(f"check {name}" for name in names)])
        .add_state("S_position", certain(_start(size), n_positions), values=positions)
        .add_state("S_sensor", certain(0, rocks + 1), values=["off", *names])
        .add_observation("O_position", np.eye(n_positions), ["S_position"], values=positions)
        .add_transition("S_position", certain(_targets(size, n_actions), n_positions), ["S_position", "A_do"])
        .add_transition("S_sensor", certain(sensor, rocks + 1), ["A_do"])
        .add_preference(["O_position"], scores=outside * certain(size**2, n_positions), precision=precision)
    )
    for i, cell in enumerate(cells):
        state, seen = f"S_rock_{i + 1}", f"O_rock_{i + 1}"
        became = np.tile(np.arange(4)[:, None, None], (1, n_positions, n_actions))  # [condition, position, action]
        became[[WORTHLESS, GOOD], cell[0] + size * cell[1], SAMPLE] = TAKEN_WORTHLESS, TAKEN_GOOD
        builder.add_state(state, [0.5, 0.5, 0, 0], values=CONDITIONS)
        builder.add_observation(seen, sensed[i], [state, "S_position", "S_sensor"], values=SIGHTS)
        builder.add_transition(state, certain(became, 4), [state, "S_position", "A_do"])
        builder.add_preference([seen], scores=[0, 0, 0, -worthless, 1], precision=precision)
    return builder.build()


class RockSampleEnv(AsGymnasium):
    """Take the good rocks, and leave.

    The start is the middle of the west side; half of the rocks, drawn at random, are good on average. Observations are
    O_position, x + n y or n^2 outside, and for each rock O_rock_1 ...: 0 nothing, 1 looks worthless, 2 looks good, 3
    taken and worthless, 4 taken and good. Actions are 0 north, 1 south, 2 east, 3 west, 4 sample, which takes the rock
    of the present cell if it is there still, and 5 ... check a rock from afar.

    A good rock earns 10, a worthless one -10, leaving by the east side 10 and ends the trial. It is truncated after
    `max_cycles`.

    Args:
        size: n, columns and rows.
        rocks: k.
        half_distance: where a reading is right with probability 3/4, as for `rock_sample_slice`.
        max_cycles: cycles after which a trial is truncated.
    """

    def __init__(self, size: int = 4, rocks: int = 4, half_distance: float = 20.0, *, max_cycles: int = 30) -> None:
        super().__init__(rock_sample_slice(size, rocks, half_distance), cycles(max_cycles))
        self.size, self.rocks, self.half_distance, self.max_cycles = size, rocks, half_distance, max_cycles

    def ended(self) -> bool:
        """Whether the rover is outside."""
        return self.state["S_position"] == self.size**2

    def reward(self, before: Mapping[str, int], obs: dict[str, Any], truncated: bool) -> float:
        """10 for each good rock taken and for leaving, -10 for a worthless one."""
        now = self.state
        taken = [now[name] for name in now if name.startswith("S_rock") and now[name] != before[name]]
        return REWARD * (self.ended() + taken.count(TAKEN_GOOD) - taken.count(TAKEN_WORTHLESS))


def _checked(size: int, rocks: int) -> list[Cell]:
    """Where the rocks lie, if there can be so many."""
    whole_number("size", size, range(1, MOST + 1), f"a whole number from 1 to {MOST}")
    most = min(MOST, size**2)
    whole_number("rocks", rocks, range(1, most + 1), f"a whole number from 1 to {most}, with size {size}")
    return rock_cells(size, rocks)


def _start(size: int) -> int:
    return size * (size // 2)


def _targets(size: int, n_actions: int) -> NDArray[np.int64]:
    """Where each action leads from each position, [size^2 + 1, n_actions]; only the moves lead anywhere."""
    targets = np.tile(np.arange(size**2 + 1)[:, None], (1, n_actions))
    for position, (move, (dx, dy)) in ((p, m) for p in range(size**2) for m in enumerate(STEPS)):
        x, y = position % size + dx, position // size + dy
        if x == size:
            targets[position, move] = size**2
        elif x >= 0 and 0 <= y < size:
            targets[position, move] = x + size * y
    return targets


def _sensed(size: int, cells: list[Cell], half_distance: float) -> list[NDArray[np.float64]]:
    """How each rock is seen: [sight, condition, position, sensor] for each."""
    tables = []
    for i, cell in enumerate(cells):
        table = np.zeros((5, 4, size**2 + 1, len(cells) + 1))
        table[NOTHING, :TAKEN_WORTHLESS] = 1
        table[SEEN_WORTHLESS, TAKEN_WORTHLESS] = table[SEEN_GOOD, TAKEN_GOOD] = 1
        for position in range(size**2):
            right = (1 + 2 ** (-dist(cell, (position % size, position // size)) / half_distance)) / 2
            table[:3, WORTHLESS, position, i + 1] = 0, right, 1 - right
            table[:3, GOOD, position, i + 1] = 0, 1 - right, right
        tables.append(table)
    return tables
