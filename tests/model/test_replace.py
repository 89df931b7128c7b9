"""`replace` gives a checked copy with some tables changed, and leaves all else alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from btai.errors import PreferenceError, TableError, VariableError
from btai.model import TemporalSlice, TemporalSliceBuilder

TABLES: dict[str, Any] = {
    "prior": np.array([0.5, 0.5]),
    "transition": np.array([[[1.0, 0.5], [0.5, 0.25]], [[0.0, 0.5], [0.5, 0.75]]]),
    "likelihood": np.array([[0.75, 0.0], [0.25, 1.0]]),
    "preference": np.array([0.5, 0.5]),
    "joint": np.array([[0.25, 0.25], [0.25, 0.25]]),
}


def declared(**changes: Any) -> TemporalSlice:
    """A model whose every kind of table can be given otherwise."""
    tables = TABLES | changes
    return (
        TemporalSliceBuilder("A_go", 2, ["stay", "go"])
        .add_state("S_a", tables["prior"], ["l", "r"])
        .add_state("S_b", [0.125, 0.875])
        .add_transition("S_b", np.eye(2), ["S_a"])
        .add_transition("S_a", tables["transition"], ["A_go", "S_a"])
        .add_observation("O_a", tables["likelihood"], ["S_a"], ["x", "y"])
        .add_observation("O_b", np.eye(2), ["S_b"])
        .add_observation("O_c", np.eye(2), ["S_b"])
        .add_preference(["O_c", "O_b"], tables["joint"])
        .add_preference(["O_a"], tables["preference"])
        .build(inference="loopy")
    )


@pytest.mark.parametrize(
    ("name", "replaced", "changed"),
    [
        ("S_a", {"prior": [0.25, 0.75]}, {"prior": [0.25, 0.75]}),
        ("S_a", {"transition": np.full((2, 2, 2), 0.5)}, {"transition": np.full((2, 2, 2), 0.5)}),
        (
            "S_a",
            {"prior": [1.0, 0.0], "transition": np.full((2, 2, 2), 0.5)},
            {"prior": [1.0, 0.0], "transition": np.full((2, 2, 2), 0.5)},
        ),
        ("O_a", {"likelihood": np.eye(2)}, {"likelihood": np.eye(2)}),
        ("O_a", {"preference": [0.125, 0.875]}, {"preference": [0.125, 0.875]}),
        (["O_a"], {"preference": [0.125, 0.875]}, {"preference": [0.125, 0.875]}),
        (("O_c", "O_b"), {"preference": [[0.5, 0.25], [0.125, 0.125]]}, {"joint": [[0.5, 0.25], [0.125, 0.125]]}),
        (
            "O_a",
            {"likelihood": np.eye(2), "preference": [0.125, 0.875]},
            {"likelihood": np.eye(2), "preference": [0.125, 0.875]},
        ),
    ],
)
def test_copy_is_what_would_have_been_declared(
    name: str | Sequence[str], replaced: Mapping[str, Any], changed: Mapping[str, Any]
) -> None:
    original = declared()
    copy = original.replace(name, **replaced)
    assert copy == declared(**changed)
    assert copy != original
    assert original == declared()


def test_given_table_is_copied() -> None:
    prior = np.array([0.25, 0.75])
    copy = declared().replace("S_a", prior=prior)
    prior[:] = 0.5
    assert_array_equal(copy.states["S_a"].prior, [0.25, 0.75])
    assert not copy.states["S_a"].prior.flags.writeable


def test_size_may_not_change_alone() -> None:
    with pytest.raises(TableError, match=r"^O_b: the likelihood was given with shape \(2, 2\); required is \(2, 3\)"):
        declared().replace("S_b", prior=[0.25, 0.25, 0.5])


def test_replaced_table_is_checked() -> None:
    with pytest.raises(TableError, match=r"^O_a: the likelihood's column for S_a=1 sums to 0\.75"):
        declared().replace("O_a", likelihood=[[1.0, 0.5], [0.0, 0.25]])
    with pytest.raises(PreferenceError, match=r"^\(O_a\): the preference is exactly 0"):
        declared().replace("O_a", preference=[1.0, 0.0])


@pytest.mark.parametrize(
    ("name", "kind", "choices"),
    [
        ("S_other", "prior", r"\['S_a', 'S_b'\]"),
        ("O_a", "transition", r"\['S_a', 'S_b'\]"),
        (["S_a"], "prior", r"\['S_a', 'S_b'\]"),
        ("S_a", "likelihood", r"\['O_a', 'O_b', 'O_c'\]"),
        ("O_b", "preference", r"\[\('O_c', 'O_b'\), \('O_a',\)\]"),
        (("O_b", "O_c"), "preference", r"\[\('O_c', 'O_b'\), \('O_a',\)\]"),
    ],
)
def test_table_that_is_not_there(name: str | Sequence[str], kind: str, choices: str) -> None:
    with pytest.raises(VariableError, match=rf"it has no {kind} to replace\. Choose one of {choices}\.$") as caught:
        declared().replace(name, **{kind: [0.5, 0.5]})
    assert str(caught.value).startswith(repr(name))


def test_nothing_to_replace() -> None:
    with pytest.raises(VariableError, match=r"^'S_a': nothing was given to replace; pass prior=, transition=,"):
        declared().replace("S_a")


def test_clique_that_was_accepted_once_is_accepted_again() -> None:
    pair = np.full((2, 8, 8), 0.5)
    ts = (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_a", np.full(8, 0.125))
        .add_state("S_b", np.full(8, 0.125))
        .add_transition("S_a", np.eye(8), ["S_a"])
        .add_transition("S_b", np.eye(8), ["S_b"])
        .add_observation("O_x", pair, ["S_a", "S_b"])
        .build(max_clique=64)
    )
    assert ts.replace("S_a", prior=np.eye(8)[0]).states["S_a"].prior[0] == 1


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(VariableError, match=r"^3 was given; the name of a variable, or those of a preference, is"):
        declared().replace(3, prior=[1.0, 0.0])  # type: ignore[arg-type]
