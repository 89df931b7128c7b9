"""What may be given as evidence, and what is refused."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from btai.errors import BtaiError, EvidenceError
from btai.inference import evidence_vectors, i_step, write_evidence
from btai.model import TemporalSlice, TemporalSliceBuilder


@pytest.fixture(scope="module")
def ts() -> TemporalSlice:
    """Colours have names, places have none."""
    return (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_x", [0.5, 0.25, 0.25])
        .add_transition("S_x", np.eye(3), ["S_x"])
        .add_observation("O_colour", np.eye(3), ["S_x"], values=["red", "green", "blue"])
        .add_observation("O_place", [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]], ["S_x"])
        .build()
    )


class Colour(IntEnum):
    RED = 0
    GREEN = 1


class Tensor:
    """What another array library hands over."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array([0, 1, 0], dtype=dtype or np.float32)


@pytest.mark.parametrize(
    "value",
    [
        1,
        np.int64(1),
        np.uint8(1),
        np.array(1),
        Colour.GREEN,
        "green",
        np.str_("green"),
        [0, 1, 0],
        (0.0, 1.0, 0.0),
        np.eye(3)[1],
        Tensor(),
    ],
    ids=[
        "int",
        "int64",
        "uint8",
        "scalar array",
        "enumeration",
        "name",
        "numpy name",
        "list",
        "tuple",
        "one-hot",
        "other library",
    ],
)
def test_one_outcome_in_every_form(ts: TemporalSlice, value: object) -> None:
    vectors = evidence_vectors(ts, {"O_colour": value})
    assert list(vectors) == ["O_colour"]
    assert_array_equal(vectors["O_colour"], [0, 1, 0])
    assert vectors["O_colour"].dtype == np.float64
    assert_array_equal(i_step(ts, {"O_colour": value}).posteriors["S_x"], [0, 1, 0])


def test_likelihood_vector_is_taken_as_it_is(ts: TemporalSlice) -> None:
    given = np.array([2.0, 0.0, 0.5], dtype=np.float32)
    vectors = evidence_vectors(ts, {"O_colour": given})
    assert_array_equal(vectors["O_colour"], [2.0, 0.0, 0.5])
    vectors["O_colour"][:] = -1
    assert_array_equal(given, [2.0, 0.0, 0.5])
    posterior = i_step(ts, {"O_colour": given}).posteriors["S_x"]
    np.testing.assert_allclose(posterior, [1 / 1.125, 0, 0.125 / 1.125], rtol=1e-14)


def test_evidence_is_in_the_order_of_declaration_and_holds_what_was_observed(ts: TemporalSlice) -> None:
    assert list(evidence_vectors(ts, {"O_place": 0, "O_colour": 2})) == ["O_colour", "O_place"]
    assert evidence_vectors(ts, {}) == {}


def test_evidence_is_written_flat_with_ones_where_nothing_was_observed(ts: TemporalSlice) -> None:
    flat = np.full(5, -1.0)
    write_evidence(ts, {"O_place": 1}, flat)
    assert_array_equal(flat, [1, 1, 1, 0, 1])
    write_evidence(ts, {"O_colour": [0.5, 0, 0]}, flat)
    assert_array_equal(flat, [0.5, 0, 0, 1, 1])
    write_evidence(ts, {}, flat)
    assert_array_equal(flat, [1, 1, 1, 1, 1])


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"O_other": 0}, r"^O_other: no such observation is declared\. Declared are O_colour, O_place\.$"),
        ({"S_x": 0}, r"^S_x: no such observation is declared\. Declared are O_colour, O_place\.$"),
        ({"O_colour": 3}, r"^O_colour: index 3 was given; it must lie from 0 to 2, the indices of its 3 values\.$"),
        ({"O_colour": -1}, r"^O_colour: index -1 was given; it must lie from 0 to 2"),
        ({"O_place": np.int64(2)}, r"^O_place: index 2 was given; it must lie from 0 to 1"),
        ({"O_place": np.array(-1)}, r"^O_place: index -1 was given; it must lie from 0 to 1"),
        (
            {"O_colour": [1.0, 0.0]},
            r"^O_colour: evidence of shape \(2,\) was given; .* vector of 3 numbers is required",
        ),
        ({"O_colour": [[1.0, 0.0, 0.0]]}, r"^O_colour: evidence of shape \(1, 3\) was given; .* vector of 3 numbers"),
        ({"O_colour": 1.0}, r"^O_colour: 1\.0 was given; an index from 0 to 2 \(a whole number\)"),
        ({"O_colour": True}, r"^O_colour: True was given; an index from 0 to 2"),
        ({"O_colour": None}, r"^O_colour: None was given; .*Leave the name out if nothing was observed\.$"),
        (
            {"O_colour": {"red": 1}},
            r"^O_colour: \{'red': 1\} was given; an index, a value name or a vector of 3 numbers",
        ),
        ({"O_colour": ["red"]}, r"^O_colour: \['red'\] was given; an index, a value name or a vector of 3 numbers"),
        ({"O_colour": "pink"}, r"^O_colour: 'pink' was given; the names of its values are: red, green, blue\.$"),
        ({"O_place": "here"}, r"^O_place: 'here' was given; the names of its values are: none; declare them with add_"),
        (
            {"O_colour": [0.5, -0.5, 1.0]},
            r"^O_colour: the evidence \[ 0\.5 -0\.5  1\. \] was given; .*at least 0 and not",
        ),
        ({"O_colour": [0.5, np.nan, 1.0]}, r"^O_colour: the evidence \[0\.5 nan 1\. \] was given; .*must be finite"),
        ({"O_colour": [0.5, np.inf, 1.0]}, r"^O_colour: the evidence .*inf.* was given; its entries must be finite"),
        (
            {"O_colour": [0, 0, 0]},
            r"^O_colour: the evidence \[0\. 0\. 0\.\] was given; .*not all 0\. Leave the name out",
        ),
    ],
    ids=[
        "unknown observation",
        "state",
        "index too large",
        "index negative",
        "NumPy index too large",
        "index of an array without axes negative",
        "length",
        "rank",
        "no whole number",
        "truth value",
        "nothing",
        "mapping",
        "list of names",
        "unknown value",
        "value without names",
        "negative",
        "nan",
        "infinite",
        "all zero",
    ],
)
def test_evidence_that_cannot_be_used(ts: TemporalSlice, evidence: dict[str, Any], message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        i_step(ts, evidence)


def test_unknown_observation_of_a_slice_without_any() -> None:
    blind = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0]).add_transition("S_x", [[1.0]], ["S_x"]).build()
    with pytest.raises(EvidenceError, match=r"^O_x: no such observation is declared\. Declared are none\.$"):
        i_step(blind, {"O_x": 0})


def test_evidence_errors_are_value_errors_of_btai() -> None:
    assert issubclass(EvidenceError, BtaiError)
    assert issubclass(EvidenceError, ValueError)


def test_observations_that_are_no_dictionary_are_refused(ts: TemporalSlice) -> None:
    with pytest.raises(EvidenceError, match=r"\[1, 0\] was given as observations; a dictionary by name is required"):
        evidence_vectors(ts, [1, 0])  # type: ignore[arg-type]
