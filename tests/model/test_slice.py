"""A slice as an object: equality, hash, text, sizes and layouts."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from btai.errors import PlanningError
from btai.model import Layout, TemporalSlice, TemporalSliceBuilder


def builder(n_actions: int = 2, prior: tuple[float, float] = (0.25, 0.75)) -> TemporalSliceBuilder:
    return (
        TemporalSliceBuilder("A_move", n_actions, ["left", "right"][:n_actions])
        .add_state("S_x", prior, ["l", "r"])
        .add_state("S_place_long_ago", np.full(12, 1 / 12))
        .add_transition("S_x", np.full((2, 2, n_actions), 0.5), ["S_x", "A_move"])
        .add_transition("S_place_long_ago", np.full(12, 1 / 12), [])
    )


def observing(declared: TemporalSliceBuilder, noise: float = 0.0) -> TemporalSliceBuilder:
    return (
        declared.add_observation("O_x", [[1 - noise, 0.0], [noise, 1.0]], ["S_x"])
        .add_observation("O_both", np.full((3, 2, 12), 1 / 3), ["S_x", "S_place_long_ago"])
        .add_observation("O_free", np.eye(2), ["S_x"])
        .add_preference(["O_free"], [0.5, 0.5])
        .add_preference(["O_both", "O_x"], np.full((3, 2), 1 / 6))
    )


def declared() -> TemporalSlice:
    return observing(builder()).build()


# --- equality and hash --------------------------------------------------------------------------------


def test_slices_declared_alike_are_equal_and_have_one_hash() -> None:
    one, other = declared(), declared()
    assert one is not other
    assert one == other
    assert hash(one) == hash(other)
    assert {one: "found"}[other] == "found"
    for left, right in (
        (one.action, other.action),
        (one.states["S_x"], other.states["S_x"]),
        (one.observations["O_both"], other.observations["O_both"]),
        (one.transitions["S_x"], other.transitions["S_x"]),
        (one.preferences[0], other.preferences[0]),
    ):
        assert left is not right
        assert left == right
        assert hash(left) == hash(right)


def in_other_order() -> TemporalSliceBuilder:
    return (
        TemporalSliceBuilder("A_move", 2, ["left", "right"])
        .add_state("S_place_long_ago", np.full(12, 1 / 12))
        .add_state("S_x", (0.25, 0.75), ["l", "r"])
        .add_transition("S_x", np.full((2, 2, 2), 0.5), ["S_x", "A_move"])
        .add_transition("S_place_long_ago", np.full(12, 1 / 12), [])
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda: observing(builder(prior=(0.75, 0.25))).build(),
        lambda: observing(builder(n_actions=1)).build(),
        lambda: observing(builder(), noise=0.125).build(),
        lambda: observing(builder()).build(inference="loopy"),
        lambda: observing(builder()).add_observation("O_new", np.eye(2), ["S_x"]).build(),
        lambda: observing(in_other_order()).build(),
        lambda: declared().replace("S_x", transition=np.stack([np.eye(2), np.eye(2)], axis=2)),
        lambda: declared().replace("O_free", preference=[0.25, 0.75]),
    ],
    ids=["prior", "actions", "likelihood", "inference", "one more", "order", "transition", "preference"],
)
def test_slices_that_differ_in_anything_are_not_equal(change: Callable[[], TemporalSlice]) -> None:
    assert change() != declared()


def test_slice_equals_nothing_of_another_kind() -> None:
    ts = declared()
    assert ts != "a slice"
    assert ts.action != ts.states["S_x"]
    assert ts.states["S_x"] != (0.25, 0.75)

    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

    assert ts == Anything()  # what is compared with it has its say
    assert ts.action == Anything()


def test_slice_is_not_equal_to_one_whose_labels_differ() -> None:
    unnamed = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0]).add_transition("S_x", [[1.0]], ["S_x"])
    named = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0], ["a"]).add_transition("S_x", [[1.0]], ["S_x"])
    assert unnamed.build() != named.build()


# --- text ---------------------------------------------------------------------------------------------


def test_slice_shows_itself_as_a_table() -> None:
    assert repr(declared()) == (
        "TemporalSlice: 2 states, 3 observations, 2 actions (A_move), exact inference\n"
        "  state             values  follows from\n"
        "  S_x                    2  S_x, A_move\n"
        "  S_place_long_ago      12  nothing\n"
        "  observation       values  depends on             preference\n"
        "  O_x                    2  S_x                    2\n"
        "  O_both                 3  S_x, S_place_long_ago  2\n"
        "  O_free                 2  S_x                    1"
    )


def test_slice_without_observations_shows_no_empty_table() -> None:
    assert repr(builder(n_actions=1).build(inference="loopy")) == (
        "TemporalSlice: 2 states, 0 observations, 1 action (A_move), loopy inference\n"
        "  state             values  follows from\n"
        "  S_x                    2  S_x, A_move\n"
        "  S_place_long_ago      12  nothing"
    )


def test_observation_without_preference_shows_a_dash() -> None:
    ts = builder().add_observation("O_x", np.eye(2), ["S_x"]).build()
    assert repr(ts).splitlines()[-1] == "  O_x                    2  S_x           -"


# --- sizes and layouts --------------------------------------------------------------------------------


def test_sizes_of_all_variables() -> None:
    assert declared().sizes == {
        "S_x": 2,
        "S_place_long_ago": 12,
        "O_x": 2,
        "O_both": 3,
        "O_free": 2,
        "A_move": 2,
    }


def test_layouts_follow_the_order_of_declaration() -> None:
    ts = declared()
    assert ts.state_layout.spans == {"S_x": slice(0, 2), "S_place_long_ago": slice(2, 14)}
    assert ts.state_layout.size == 14
    assert ts.observation_layout.spans == {"O_x": slice(0, 2), "O_both": slice(2, 5), "O_free": slice(5, 7)}
    assert ts.observation_layout.size == 7


def test_vectors_go_into_one_array_and_come_back() -> None:
    layout = Layout({"S_a": 1, "S_b": 3})
    flat = layout.flat({"S_b": np.array([0.5, 0.25, 0.25]), "S_a": np.array([1.0])})
    assert_array_equal(flat, [1.0, 0.5, 0.25, 0.25])
    assert flat.dtype == np.float64
    views = layout.views(flat)
    assert_array_equal(views["S_a"], [1.0])
    views["S_b"][0] = 7.0  # a view: it writes into the array
    assert_array_equal(flat, [1.0, 7.0, 0.25, 0.25])


def test_layout_of_nothing_is_empty() -> None:
    layout = Layout({})
    assert layout.size == 0
    assert layout.views(layout.flat({})) == {}


def _sent(ts: TemporalSlice) -> TemporalSlice:
    received: TemporalSlice = ForkingPickler.loads(ForkingPickler.dumps(ts))
    return received


@pytest.mark.parametrize("copied", [copy.deepcopy, _sent], ids=["copied", "sent"])
def test_slice_that_was_copied_or_sent_to_another_process_is_equal_and_read_only(
    copied: Callable[[TemporalSlice], TemporalSlice],
) -> None:
    ts = observing(builder()).build()
    other = copied(ts)
    assert other == ts
    assert list(other.states) == list(ts.states)
    assert not other.observations["O_both"].likelihood.flags.writeable
    with pytest.raises(TypeError):
        other.states["S_x"] = other.states["S_place_long_ago"]  # type: ignore[index]


# --- actions by name ----------------------------------------------------------------------------------


def test_an_action_is_called_by_its_number_or_its_name() -> None:
    action = declared().action
    assert [action.index(called) for called in (0, "left", np.int32(1), "right")] == [0, 0, 1, 1]


@pytest.mark.parametrize("called", ["up", "", "1", 2, -1, 0.0, True, None, ["left"]])
def test_what_is_no_action_is_refused_with_the_names_there_are(called: object) -> None:
    message = f"A_move: action {called!r} was given; a whole number from 0 to 1, or one of the names left, right, is"
    with pytest.raises(PlanningError, match=re.escape(message)):
        declared().action.index(called)
