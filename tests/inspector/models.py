"""A model with everything an inspector can stumble over, and an environment that behaves as it says.

A rover crosses a field: three actions, seven states, observations and transitions of several parents, a loop in the
factor graph (`O_camera` and `O_echo` see the column and the row together), two preference groups, named values, long
names, and observations that say nothing of any preference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.model import TemporalSlice, TemporalSliceBuilder

COLUMNS, ROWS, CYCLES = 5, 4, 4
ACTIONS = ("wait", "drive_on", "change_row")
LONG = "S_how_wet_the_ground_under_the_rover_is"
PIXELS = 8  # of a cell of the picture

Table = NDArray[np.float64]


def seven_states(seed: int = 7) -> TemporalSlice:
    """The rover's model; the numbers that do not matter are drawn from `seed`."""
    draw = _Tables(np.random.default_rng(seed))
    priors = {"S_column": COLUMNS, "S_row": ROWS, "S_gate": 2, "S_light": 2, "S_battery": 4, "S_weather": 3, LONG: 3}
    named = {"S_gate": ["open", "shut"], "S_light": ["dark", "bright"], "S_weather": ["dry", "drizzle", "rain"]}
    builder = TemporalSliceBuilder("A_drive", len(ACTIONS), values=ACTIONS)
    for name, size in priors.items():
        builder.add_state(name, draw.columns(size), values=named.get(name))
    builder.add_observation("O_column", draw.nearly(COLUMNS, COLUMNS), ["S_column"])
    builder.add_observation("O_row", draw.nearly(ROWS, ROWS), ["S_row"])
    builder.add_observation("O_camera", draw.columns(4, COLUMNS, ROWS), ["S_column", "S_row"])
    builder.add_observation("O_echo", draw.columns(3, ROWS, 2, COLUMNS), ["S_row", "S_gate", "S_column"])
    builder.add_observation("O_battery", draw.nearly(4, 4), ["S_battery"])
    builder.add_observation("O_sky", draw.columns(3, 3, 2), ["S_weather", "S_light"], values=["blue", "grey", "black"])
    builder.add_observation("O_ground", draw.nearly(3, 3), [LONG])
    builder.add_transition("S_column", _moves(COLUMNS, 1), ["S_column", "A_drive"])
    builder.add_transition("S_row", _moves_unless_shut(), ["S_row", "A_drive", "S_gate"])
    builder.add_transition("S_gate", draw.columns(2, 2, 2), ["S_gate", "S_light"])
    builder.add_transition("S_light", draw.nearly(2, 2), ["S_light"])
    builder.add_transition("S_battery", draw.columns(4, 3, 4, 2), ["A_drive", "S_battery", "S_light"])
    builder.add_transition("S_weather", draw.nearly(3, 3), ["S_weather"])
    builder.add_transition(LONG, draw.columns(3, 3, 3), [LONG, "S_weather"])
    builder.add_preference(["O_row", "O_column"], draw.columns(ROWS * COLUMNS).reshape(ROWS, COLUMNS))
    builder.add_preference(["O_battery"], np.array([0.1, 0.2, 0.3, 0.4]))
    return builder.build()


class SevenStatesEnv:
    """The field: what happens and what is seen is drawn from the model. A trial ends after four cycles."""

    def __init__(self) -> None:
        self._ts = seven_states()
        self._trials = 0
        self._cycles = 0
        self._rng = np.random.default_rng(0)
        self._state: dict[str, int] = {}

    def reset(self, seed: int | None = None) -> dict[str, int]:
        """Start a trial: the first of all is the same in every environment of this kind, and so is the second, ..."""
        self._rng = np.random.default_rng(self._trials if seed is None else seed)
        self._trials, self._cycles = self._trials + 1, 0
        self._state = {name: self._drawn(state.prior) for name, state in self._ts.states.items()}
        return self._seen()

    def execute(self, action: int) -> dict[str, int]:
        """Let an action happen."""
        before = self._state | {self._ts.action.name: action}
        self._state = {
            name: self._drawn(_column(t.table, [before[parent] for parent in t.parents]))
            for name, t in self._ts.transitions.items()
        }
        self._cycles += 1
        return self._seen()

    def done(self) -> bool:
        """Whether the trial is over."""
        return self._cycles >= CYCLES

    def get_reward(self) -> float:
        """The nearer to the end of the row the better."""
        return self._state["S_column"] / (COLUMNS - 1)

    def render(self) -> NDArray[np.uint8]:
        """The field with the rover in it."""
        picture = np.full((ROWS * PIXELS, COLUMNS * PIXELS, 3), 200, np.uint8)
        row, column = (PIXELS * self._state[name] for name in ("S_row", "S_column"))
        picture[row : row + PIXELS, column : column + PIXELS] = (30, 90, 160)
        return picture

    def _seen(self) -> dict[str, int]:
        return {
            name: self._drawn(_column(o.likelihood, [self._state[parent] for parent in o.parents]))
            for name, o in self._ts.observations.items()
            if name != "O_sky" or self._cycles != 1  # once it is not seen
        }

    def _drawn(self, distribution: Table) -> int:
        return int(self._rng.choice(len(distribution), p=distribution))


def _column(table: Table, parents: Sequence[int]) -> Table:
    """The distribution over axis 0 where the parents have these values."""
    place: tuple[Any, ...] = (slice(None), *parents)
    return np.asarray(table[place])


class _Tables:
    """Random tables."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def columns(self, *shape: int) -> Table:
        """Any distributions over axis 0."""
        weights = self._rng.uniform(0.05, 1.0, size=shape)
        return np.asarray(weights / weights.sum(axis=0))

    def nearly(self, size: int, parents: int) -> Table:
        """Nearly the parent's own value."""
        weights = np.eye(size, parents) + self._rng.uniform(0.02, 0.1, size=(size, parents))
        return np.asarray(weights / weights.sum(axis=0))


def _moves(size: int, moving: int) -> Table:
    """One further under the action `moving`, else where it was, nearly: [size, size, actions]."""
    table = np.full((size, size, len(ACTIONS)), 0.02)
    for value in range(size):
        for action in range(len(ACTIONS)):
            table[min(value + (action == moving), size - 1), value, action] += 1
    return np.asarray(table / table.sum(axis=0))


def _moves_unless_shut() -> Table:
    """Rows change under action 2, unless the gate is shut: [rows, rows, actions, gate]."""
    return np.stack([_moves(ROWS, 2), _moves(ROWS, -1)], axis=-1)
