"""The rules of the task, against hand calculation and a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

from btai.envs.dsprites import ACTIONS, SpriteState, Task, initial_states, reward_on_entry
from btai.errors import EnvError

DOWN, UP, LEFT, RIGHT = range(4)


def move_by_single_steps(x: int, y: int, action: int, repeat: int) -> tuple[int, int]:
    """One pixel at a time, stopping once the shape has left the image."""
    for _ in range(repeat):
        if y == 32:
            break
        if action == DOWN:
            y += 1
        elif action == UP and y > 0:
            y -= 1
        elif action == LEFT and x > 0:
            x -= 1
        elif action == RIGHT and x < 31:
            x += 1
    return x, y


def test_actions_are_numbered_as_in_the_paper() -> None:
    assert ACTIONS == ("DOWN", "UP", "LEFT", "RIGHT")


@pytest.mark.parametrize(
    ("start", "action", "end"),
    [
        ((10, 10), DOWN, (10, 18)),
        ((10, 10), UP, (10, 2)),
        ((10, 10), LEFT, (2, 10)),
        ((10, 10), RIGHT, (18, 10)),
        ((10, 23), DOWN, (10, 31)),
        ((10, 24), DOWN, (10, 32)),  # the last of eight steps enters the absorbing row
        ((10, 31), DOWN, (10, 32)),  # the first one does, and the other seven are not taken
        ((10, 7), UP, (10, 0)),
        ((10, 0), UP, (10, 0)),
        ((5, 31), LEFT, (0, 31)),
        ((0, 0), LEFT, (0, 0)),
        ((26, 3), RIGHT, (31, 3)),
        ((31, 31), RIGHT, (31, 31)),
        ((10, 32), UP, (10, 32)),  # nothing leaves the absorbing row
        ((10, 32), LEFT, (10, 32)),
        ((10, 32), RIGHT, (10, 32)),
        ((10, 32), DOWN, (10, 32)),
    ],
)
def test_an_action_moves_eight_cells_and_stops_at_the_borders(
    start: tuple[int, int], action: int, end: tuple[int, int]
) -> None:
    assert Task(repeat=8).move(*start, action) == end


@pytest.mark.parametrize("repeat", [1, 3, 8, 40])
def test_a_repeated_action_is_so_many_single_steps(repeat: int) -> None:
    task = Task(repeat=repeat)
    for x, y, action in np.ndindex(32, 33, 4):
        assert task.move(x, y, action) == move_by_single_steps(x, y, action, repeat)


@pytest.mark.parametrize(
    ("x", "square", "other"),
    [
        (0, 1.0, -1.0),
        (1, 15 / 16, -15 / 16),
        (8, 0.5, -0.5),
        (15, 1 / 16, -1 / 16),
        (16, -1 / 16, 1 / 16),
        (24, -9 / 16, 9 / 16),
        (30, -15 / 16, 15 / 16),
        (31, -1.0, 1.0),
    ],
)
def test_the_reward_on_entry_falls_with_the_distance_to_the_corner(x: int, square: float, other: float) -> None:
    assert [reward_on_entry(shape, x) for shape in range(3)] == [square, other, other]


def test_the_reward_on_entry_follows_the_published_formula_in_every_column() -> None:
    for x in range(32):
        assert reward_on_entry(0, x) == ((16 - x) / 16 if x <= 15 else (15 - x) / 16)
        for shape in (1, 2):
            assert reward_on_entry(shape, x) == ((x - 15) / 16 if x > 15 else (x - 16) / 16)


@pytest.mark.parametrize(
    ("granularity", "x_cell", "y_cell", "n_x", "n_y"),
    [(1, 31, 19, 32, 33), (2, 15, 9, 16, 17), (4, 7, 4, 8, 9), (8, 3, 2, 4, 5)],
)
def test_granularity_coarsens_the_positions_seen(
    granularity: int, x_cell: int, y_cell: int, n_x: int, n_y: int
) -> None:
    task = Task(granularity)
    seen = task.observe(SpriteState(shape=2, scale=5, orientation=39, x=31, y=19))
    assert seen == {"O_shape": 2, "O_scale": 5, "O_orientation": 39, "O_pos_x": x_cell, "O_pos_y": y_cell}
    assert task.sizes == {"shape": 3, "scale": 6, "orientation": 40, "pos_x": n_x, "pos_y": n_y}


@pytest.mark.parametrize("granularity", [1, 2, 4, 8])
def test_the_absorbing_row_is_seen_as_the_last_cell(granularity: int) -> None:
    task = Task(granularity)
    assert task.observe(SpriteState(0, 0, 0, 0, 32))["O_pos_y"] == task.sizes["pos_y"] - 1
    assert task.observe(SpriteState(0, 0, 0, 0, 31))["O_pos_y"] == task.sizes["pos_y"] - 2


def test_the_starts_are_all_shapes_and_cells_by_shape_then_x_then_y() -> None:
    starts = [tuple(start) for start in initial_states().tolist()]
    assert starts == [(shape, 0, 0, x, y) for shape in range(3) for x in range(32) for y in range(32)]
    assert len(starts) == 3072


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"granularity": 3}, "granularity is 3: it must be 1, 2, 4 or 8."),
        ({"granularity": "2"}, "granularity is '2': it must be 1, 2, 4 or 8."),
        ({"repeat": 0}, "repeat is 0: it must be a whole number of at least 1."),
        ({"repeat": 2.0}, "repeat is 2.0: it must be a whole number of at least 1."),
        ({"max_cycles": -1}, "max_cycles is -1: it must be a whole number of at least 1."),
    ],
)
def test_choices_that_make_no_task_are_refused(choices: dict[str, int], message: str) -> None:
    with pytest.raises(EnvError) as error:
        Task(**choices)
    assert str(error.value) == message
