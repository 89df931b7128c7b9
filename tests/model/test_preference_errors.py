"""Preferences that the builder refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from btai.errors import PreferenceError, VariableError
from btai.model import TemporalSliceBuilder


def builder() -> TemporalSliceBuilder:
    """O_x has two values, O_y three."""
    return (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_x", [1.0])
        .add_transition("S_x", [[1.0]], ["S_x"])
        .add_observation("O_x", [[0.5], [0.5]], ["S_x"])
        .add_observation("O_y", [[0.5], [0.25], [0.25]], ["S_x"])
    )


def test_groups_that_overlap() -> None:
    good = builder().add_preference(["O_x", "O_y"], np.full((2, 3), 1 / 6))
    message = (
        r"^O_y: it stands in the preference over \(O_y\) and already in the one over \(O_x, O_y\); groups must not"
        r" overlap\. Declare one joint preference over all of them"
    )
    with pytest.raises(PreferenceError, match=message):
        good.add_preference(["O_y"], [0.5, 0.25, 0.25])


def test_axes_in_another_order_than_the_names() -> None:
    bad = builder().add_preference(["O_x", "O_y"], np.full((3, 2), 1 / 6))
    message = (
        r"^\(O_x, O_y\): the preference was given with shape \(3, 2\); required is \(2, 3\), the sizes of the"
        r" observations in the order named\. Transpose it, or reorder the names"
    )
    with pytest.raises(PreferenceError, match=message):
        bad.build()


@pytest.mark.parametrize(("shape", "shown"), [((2,), r"\(2,\)"), ((2, 0), r"\(2, 0\)")], ids=["rank", "empty"])
def test_table_without_one_axis_for_each_observation(shape: tuple[int, ...], shown: str) -> None:
    message = (
        rf"^\(O_x, O_y\): the preference was given with shape {shown}; required is one axis for each of \[O_x, O_y\]"
    )
    with pytest.raises(PreferenceError, match=message):
        builder().add_preference(["O_x", "O_y"], np.full(shape, 0.5))


def test_preference_of_zero() -> None:
    message = (
        r"^\(O_x, O_y\): the preference is exactly 0 at index \(1, 0\), .*infinitely much\."
        r" Give it a small floor .*or pass scores="
    )
    with pytest.raises(PreferenceError, match=message):
        builder().add_preference(["O_x", "O_y"], [[0.2, 0.2, 0.2], [0.0, 0.2, 0.2]])


def test_scores_so_far_apart_that_a_preference_is_zero() -> None:
    message = (
        r"^\(O_x\): the preference is exactly 0 at index \(0,\), .*The scores differ too much .*lower the precision"
    )
    with pytest.raises(PreferenceError, match=message):
        builder().add_preference(["O_x"], scores=[0.0, 1.0], precision=1000)


def test_preference_that_does_not_sum_to_one() -> None:
    message = (
        r"^\(O_x\): the preference sums to 1\.25; it must sum to 1 over all its entries\. Divide it by its sum\. If"
        r" these are scores, which may be any numbers, pass scores= instead\.$"
    )
    with pytest.raises(PreferenceError, match=message):
        builder().add_preference(["O_x"], [0.5, 0.75])


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (-0.5, "-0.5 at index .1,., which is negative. Probabilities .* pass scores= instead"),
        (np.nan, "nan at index .1,., which is not a finite number"),
    ],
    ids=["negative", "nan"],
)
def test_preference_that_is_no_probability(entry: float, words: str) -> None:
    with pytest.raises(PreferenceError, match=rf"^\(O_x\): the preference holds {words}"):
        builder().add_preference(["O_x"], [1.5, entry])


def test_preference_that_is_no_array_of_numbers() -> None:
    with pytest.raises(PreferenceError, match=r"^\(O_x\): the preference was given as str, which is not a table"):
        builder().add_preference(["O_x"], "much")


@pytest.mark.parametrize("given", ["neither", "both"])
def test_table_and_scores_given_both_or_neither(given: str) -> None:
    tables: dict[str, Any] = {} if given == "neither" else {"table": [0.5, 0.5], "scores": [0.0, 1.0]}
    message = rf"^\(O_x\): {given} of table and scores were given; give exactly one of them"
    with pytest.raises(PreferenceError, match=message):
        builder().add_preference(["O_x"], **tables)


@pytest.mark.parametrize("precision", [-1.0, np.nan, np.inf, "high", None])
def test_precision_that_is_no_precision(precision: Any) -> None:
    message = rf"^\(O_x\): a precision of {precision!r} was given; a finite number of at least 0 is required"
    with pytest.raises(PreferenceError, match=message):
        builder().add_preference(["O_x"], scores=[0.0, 1.0], precision=precision)


def test_precision_given_with_a_table() -> None:
    with pytest.raises(
        PreferenceError, match=r"^\(O_x\): a precision of 3 was given with a table, .*Pass scores=, or leave it out"
    ):
        builder().add_preference(["O_x"], [0.5, 0.5], precision=3)


@pytest.mark.parametrize("scores", [[0.0, np.nan], [0.0, -np.inf], []], ids=["nan", "infinite", "none"])
def test_scores_that_are_not_finite_numbers(scores: list[float]) -> None:
    with pytest.raises(
        PreferenceError, match=r"^\(O_x\): the scores must be finite numbers, at least one; given were \["
    ):
        builder().add_preference(["O_x"], scores=scores)


def test_scores_that_are_no_numbers() -> None:
    with pytest.raises(
        PreferenceError, match=r"^\(O_x\): the table of scores was given as list, which is not a table of numbers"
    ):
        builder().add_preference(["O_x"], scores=["good", "bad"])


def test_preference_over_nothing() -> None:
    with pytest.raises(PreferenceError, match=r"^preference: no observations were given; name at least one"):
        builder().add_preference([], 1.0)


def test_preference_over_an_unknown_observation() -> None:
    bad = builder().add_preference(["O_other"], [0.5, 0.5])
    message = (
        r"^O_other: a preference was given over it, but no such observation is declared\. Declared are O_x, O_y\.$"
    )
    with pytest.raises(VariableError, match=message):
        bad.build()


def test_observation_named_twice_in_a_group() -> None:
    with pytest.raises(VariableError, match=r"^preference: the observation 'O_x' was given twice; .*Remove one"):
        builder().add_preference(["O_x", "O_x"], np.full((2, 2), 0.25))


def test_group_given_as_text() -> None:
    message = r"^preference: the observations were given as the text 'O_x'; a list is required\. Write \['O_x'\]"
    with pytest.raises(VariableError, match=message):
        builder().add_preference("O_x", [0.5, 0.5])
