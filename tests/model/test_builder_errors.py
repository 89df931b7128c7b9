"""What the builder refuses: each message names the variable, what was given, what is required and the fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from btai.errors import BtaiError, ModelError, PreferenceError, TableError, VariableError
from btai.model import TemporalSliceBuilder

THIRD = 1 / 3


def builder() -> TemporalSliceBuilder:
    """Three values of S_x seen as two of O_x; S_y has two values; nothing is preferred yet."""
    return (
        TemporalSliceBuilder("A_move", 2)
        .add_state("S_x", [THIRD, THIRD, THIRD])
        .add_state("S_y", [0.5, 0.5])
        .add_transition("S_x", np.eye(3), ["S_x"])
        .add_transition("S_y", np.eye(2), ["S_y"])
        .add_observation("O_x", [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]], ["S_x"])
        .add_observation("O_y", np.eye(2), ["S_y"])
    )


# --- names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: TemporalSliceBuilder("move", 2), r"^'move' was given as the name of an action; .*'A_'.*'A_move'"),
        (lambda: builder().add_state("x", [1.0]), r"^'x' was given as the name of a state; .*'S_'.*'S_x'"),
        (
            lambda: builder().add_observation("S_z", np.eye(2), ["S_y"]),
            r"^'S_z' was given as the name of an observation; .*'O_'.*'O_S_z'",
        ),
        (
            lambda: builder().add_state("S_", [1.0]),
            r"^'S_' was given as the name of a state; .*starts with 'S_'.*'S_name'",
        ),
        (lambda: builder().add_state(7, [1.0]), r"^7 was given as the name of a state; .*text.*'S_7'"),  # type: ignore[arg-type]
    ],
    ids=["action", "state", "observation", "prefix alone", "no text"],
)
def test_name_with_the_wrong_prefix(declare: Callable[[], object], message: str) -> None:
    with pytest.raises(VariableError, match=message):
        declare()


def test_state_declared_twice() -> None:
    with pytest.raises(VariableError, match=r"^S_x: this name is already declared; .*Rename"):
        builder().add_state("S_x", [1.0])


def test_observation_declared_twice() -> None:
    with pytest.raises(VariableError, match=r"^O_x: this name is already declared; .*Rename"):
        builder().add_observation("O_x", np.eye(2), ["S_y"])


def test_transition_declared_twice() -> None:
    with pytest.raises(VariableError, match=r"^S_x: a second transition was given; each state has one\. Remove"):
        builder().add_transition("S_x", np.eye(3), ["S_x"])


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "a"]], ids=["too few", "repeated"])
def test_value_names_that_do_not_name_each_value(labels: list[str]) -> None:
    with pytest.raises(VariableError, match=r"^S_z: the value names \['a', 'b'.*3 different names are required"):
        builder().add_state("S_z", [THIRD, THIRD, THIRD], labels)
    with pytest.raises(VariableError, match=r"^O_z: the value names .*3 different names are required"):
        builder().add_observation("O_z", np.eye(3), ["S_x"], labels)
    with pytest.raises(VariableError, match=r"^A_0: the value names .*3 different names are required"):
        TemporalSliceBuilder("A_0", 3, labels)


def test_missing_row_is_found_by_the_names_of_the_values_before_the_sums() -> None:
    with pytest.raises(VariableError, match=r"^S_z: the value names .*; 2 different names are required.*these are 3"):
        builder().add_state("S_z", [THIRD, THIRD], ["a", "b", "c"])
    with pytest.raises(VariableError, match=r"^O_z: the value names .*; 2 different names are required.*these are 3"):
        builder().add_observation("O_z", np.eye(3)[:2], ["S_x"], ["a", "b", "c"])


@pytest.mark.parametrize("labels", [3, "abc", ["a", "b", 3], [1, 0, 2]])
def test_value_names_that_are_no_list_of_texts(labels: object) -> None:
    with pytest.raises(VariableError, match=r"^S_z: the value names .* were given; a list of texts is required\.$"):
        builder().add_state("S_z", [THIRD, THIRD, THIRD], labels)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_actions", [0, -1, 2.0, True, "two", None])
def test_model_without_actions(n_actions: Any) -> None:
    with pytest.raises(ModelError, match=rf"^A_0: {n_actions!r} actions were given; a whole number of at least 1"):
        TemporalSliceBuilder("A_0", n_actions)


def test_model_of_more_actions_than_can_be_tried() -> None:
    most = 2**20
    TemporalSliceBuilder("A_0", most)
    message = r"^A_0: 1,048,577 actions were given; at most 1,048,576 are taken, as planning tries each of them\."
    with pytest.raises(ModelError, match=message):
        TemporalSliceBuilder("A_0", most + 1)


# --- parents ------------------------------------------------------------------------------------------


def test_observation_with_an_unknown_parent() -> None:
    bad = builder().add_observation("O_z", np.eye(2), ["S_other"])
    with pytest.raises(VariableError, match=r"^O_z: its parent 'S_other' is not declared\. Declared are S_x, S_y\.$"):
        bad.build()


def test_observation_that_depends_on_the_action() -> None:
    bad = builder().add_observation("O_z", np.eye(2), ["A_move"])
    message = r"^O_z: 'A_move' was given as its parent\. An observation depends on states alone\. Let a state keep it"
    with pytest.raises(VariableError, match=message):
        bad.build()


def test_variable_that_depends_on_an_observation() -> None:
    bad = builder().add_observation("O_z", np.eye(2), ["O_x"])
    with pytest.raises(
        VariableError, match=r"^O_z: 'O_x' was .*on states alone\. Name the states that O_x depends on\.$"
    ):
        bad.build()
    bad = builder().add_state("S_z", [0.5, 0.5]).add_transition("S_z", np.eye(2), ["O_x"])
    with pytest.raises(
        VariableError, match=r"^S_z: 'O_x' was .*the action alone\. Name the states that O_x depends on"
    ):
        bad.build()


def test_forgotten_parent_is_guessed_from_the_number_of_axes() -> None:
    with pytest.raises(TableError, match=r"2 axes \[O_z, S_x\].* Name the parent that the other axis is for\.$"):
        builder().add_observation("O_z", np.full((2, 3, 2), 0.5), ["S_x"])
    with pytest.raises(TableError, match=r"2 axes \[O_z, S_x\].* Leave out the parent that it does not depend on\.$"):
        builder().add_observation("O_z", [0.5, 0.5], ["S_x"])


def test_transition_with_an_unknown_parent() -> None:
    bad = builder().add_state("S_z", [0.5, 0.5]).add_transition("S_z", np.eye(2), ["A_other"])
    message = r"^S_z: its parent 'A_other' is not declared\. Declared are S_x, S_y, S_z, A_move\.$"
    with pytest.raises(VariableError, match=message):
        bad.build()


def test_parent_given_twice() -> None:
    with pytest.raises(VariableError, match=r"^O_z: the parent 'S_y' was given twice; .*once\. Remove one"):
        builder().add_observation("O_z", np.full((2, 2, 2), 0.5), ["S_y", "S_y"])
    with pytest.raises(VariableError, match=r"^S_z: the parent 'A_move' was given twice; .*once\. Remove one"):
        builder().add_transition("S_z", np.full((2, 2, 2), 0.5), ["A_move", "A_move"])


def test_parents_given_as_text() -> None:
    message = r"^O_z: the parents were given as the text 'S_y'; a list is required\. Write \['S_y'\]"
    with pytest.raises(VariableError, match=message):
        builder().add_observation("O_z", np.eye(2), "S_y")


@pytest.mark.parametrize("parents", [None, 3, [0], [["S_y"]]])
def test_parents_that_are_no_names(parents: Any) -> None:
    with pytest.raises(VariableError) as caught:
        builder().add_observation("O_z", np.eye(2), parents)
    assert str(caught.value) == f"O_z: the parents were given as {parents!r}; a list of names is required."


def test_parents_may_come_from_a_generator() -> None:
    ts = builder().add_observation("O_z", np.full((2, 3, 2), 0.5), (f"S_{axis}" for axis in "xy")).build()  # type: ignore[arg-type]
    assert ts.observations["O_z"].parents == ("S_x", "S_y")


def test_observation_without_parents() -> None:
    with pytest.raises(VariableError, match=r"^O_z: no parents were given; .*at least one state\. Name it"):
        builder().add_observation("O_z", [0.5, 0.5], [])


# --- tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (
            lambda b: b.add_state("S_z", [[0.5, 0.5]]),
            r"^S_z: the prior was given with shape \(1, 2\); required is a table with 1 axis \[S_z\]",
        ),
        (
            lambda b: b.add_state("S_z", []),
            r"^S_z: the prior was given with shape \(0,\); required is .*at least one value each",
        ),
        (
            lambda b: b.add_observation("O_z", np.eye(2), ["S_y", "S_x"]),
            r"^O_z: the likelihood was given with shape \(2, 2\); required is .* 3 axes"
            r" \[O_z, S_y, S_x\].*Axis 0 is O_z",
        ),
        (
            lambda b: b.add_transition("S_z", np.full((2, 2, 2), 0.5), ["S_z"]),
            r"^S_z: the transition was given with shape \(2, 2, 2\); required is .* 2 axes \[S_z, S_z\]",
        ),
    ],
    ids=["prior", "empty", "likelihood", "transition"],
)
def test_table_of_the_wrong_rank(declare: Callable[[TemporalSliceBuilder], object], message: str) -> None:
    with pytest.raises(TableError, match=message):
        declare(builder())


def test_likelihood_of_the_wrong_size() -> None:
    bad = builder().add_observation("O_z", np.full((2, 2, 3), 0.5), ["S_x", "S_y"])
    message = (
        r"^O_z: the likelihood was given with shape \(2, 2, 3\); required is \(2, 3, 2\) for the axes"
        r" \[O_z, S_x, S_y\]\. .*transpose the table or reorder the parents"
    )
    with pytest.raises(TableError, match=message):
        bad.build()


def test_transition_of_the_wrong_size() -> None:
    bad = builder().add_state("S_z", [0.5, 0.5]).add_transition("S_z", np.full((2, 3, 2), 0.5), ["A_move", "S_x"])
    message = (
        r"^S_z: the transition was given with shape \(2, 3, 2\); required is \(2, 2, 3\) for the axes"
        r" \[S_z, A_move, S_x\]"
    )
    with pytest.raises(TableError, match=message):
        bad.build()


def test_transition_to_another_number_of_values_than_the_state_has() -> None:
    bad = builder().add_state("S_z", [0.5, 0.5]).add_transition("S_z", np.full((3, 2), THIRD), ["S_z"])
    message = r"^S_z: the transition was given with shape \(3, 2\); required is \(2, 2\) for the axes \[S_z, S_z\]"
    with pytest.raises(TableError, match=message):
        bad.build()


@pytest.mark.parametrize("off", [1.1e-6, -1.1e-6, 0.5])
def test_prior_that_does_not_sum_to_one(off: float) -> None:
    total = f"{1 + off:.6g}"
    with pytest.raises(TableError, match=rf"^S_z: the prior's vector sums to {total}; .*must sum to 1\. Divide it"):
        builder().add_state("S_z", [0.5, 0.5 + off])


def test_column_that_does_not_sum_to_one_is_named_by_its_parents_values() -> None:
    likelihood = np.full((2, 3, 2), 0.5)
    likelihood[:, 2, 1] = 0.25
    message = (
        r"^O_z: the likelihood's column for S_x=2, S_y=1 sums to 0\.5; every column \(axis 0, over the values of O_z\)"
        r" must sum to 1\. Divide it by its sum, or check that axis 0 is O_z and not a parent"
    )
    with pytest.raises(TableError, match=message):
        builder().add_observation("O_z", likelihood, ["S_x", "S_y"])


def test_transition_given_with_its_axes_exchanged() -> None:
    from_rows = [[0.9, 0.1], [0.4, 0.6]]  # rows sum to 1, as other packages want it
    message = r"^S_z: the transition's column for S_z=0 sums to 1\.3; .*check that axis 0 is S_z"
    with pytest.raises(TableError, match=message):
        builder().add_transition("S_z", from_rows, ["S_z"])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (-0.5, r"^O_z: the likelihood holds -0\.5 at index \(1, 0\), which is negative\. Probabilities are at least 0"),
        (np.nan, r"^O_z: the likelihood holds nan at index \(1, 0\), which is not a finite number\. Replace it"),
        (np.inf, r"^O_z: the likelihood holds inf at index \(1, 0\), which is not a finite number\. Replace it"),
    ],
    ids=["negative", "nan", "infinite"],
)
def test_table_with_an_entry_that_is_no_probability(entry: float, message: str) -> None:
    with pytest.raises(TableError, match=message):
        builder().add_observation("O_z", [[1.0, 0.5], [entry, 0.5]], ["S_y"])


@pytest.mark.parametrize(
    ("values", "kind"),
    [("text", "str"), ([[0.5], [0.25, 0.25]], "list"), ({"a": 1.0}, "dict")],
    ids=["text", "ragged", "mapping"],
)
def test_table_that_is_no_array_of_numbers(values: Any, kind: str) -> None:
    message = rf"^S_z: the prior was given as {kind}, which is not a table of numbers .*numpy\.asarray"
    with pytest.raises(TableError, match=message):
        builder().add_state("S_z", values)


# --- the model as a whole -----------------------------------------------------------------------------


def test_model_without_a_state() -> None:
    with pytest.raises(VariableError, match=r"^the model has no state; declare at least one with add_state"):
        TemporalSliceBuilder("A_0", 1).build()


def test_parent_in_a_model_that_lacks_it_is_said_to_be_alone() -> None:
    bad = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0]).add_transition("S_x", [[1.0]], ["S_x"])
    bad.add_preference(["O_x"], [1.0])
    with pytest.raises(VariableError, match=r"^O_x: a preference was given over it, .*Declared are none\.$"):
        bad.build()


def test_state_without_a_transition() -> None:
    bad = builder().add_state("S_z", np.full(4, 0.25))
    message = (
        r"^S_z: no transition was given; each state needs one\."
        r" .*add_transition\('S_z', numpy\.eye\(4\), \['S_z'\]\)"
    )
    with pytest.raises(VariableError, match=message):
        bad.build()


def test_transition_of_no_state() -> None:
    bad = builder().add_transition("S_other", np.eye(2), ["S_y"])
    message = r"^S_other: a transition was given for it, but no such state is declared\. Declared are S_x, S_y\.$"
    with pytest.raises(VariableError, match=message):
        bad.build()


def test_unknown_kind_of_inference() -> None:
    with pytest.raises(ModelError, match=r"^inference: 'fast' was given; it must be 'exact' or 'loopy'"):
        builder().build(inference="fast")


@pytest.mark.parametrize(
    "declare",
    [
        lambda b: b.add_state("S_z", [0.5, 0.6]),
        lambda b: b.add_observation("O_z", [[0.5, 0.5], [0.6, 0.5]], ["S_y"]),
        lambda b: b.add_transition("S_z", [0.5, 0.6], []),
        lambda b: b.add_preference(["O_y"], [0.0, 1.0]),
    ],
    ids=["state", "observation", "transition", "preference"],
)
def test_what_was_refused_leaves_the_builder_as_it_was(declare: Callable[[TemporalSliceBuilder], object]) -> None:
    good = builder().add_preference(["O_x"], [0.5, 0.5])
    expected = good.build()
    with pytest.raises(ModelError):
        declare(good)
    assert good.build() == expected


@pytest.mark.parametrize("error", [VariableError, TableError, PreferenceError, ModelError])
def test_errors_of_a_declaration_are_value_errors_of_btai(error: type[Exception]) -> None:
    assert issubclass(error, BtaiError)
    assert issubclass(error, ValueError)
