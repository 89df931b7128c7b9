"""What the builder accepts, and what it makes of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Spec
from strategies import models

from btai.errors import TableError
from btai.model import TemporalSlice, TemporalSliceBuilder

quick = settings(max_examples=60)

WINDY = [[[1.0, 0.25], [0.75, 0.0]], [[0.0, 0.75], [0.25, 1.0]]]  # [S_x, A_move, S_x]


class Tensor:
    """What another array library hands over: not a sequence, only `__array__`."""

    def __init__(self, values: Any) -> None:
        self._values = np.array(values, dtype=np.float32)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._values.astype(dtype) if dtype is not None else self._values.copy()


class OldTensor(Tensor):
    """One from before NumPy 2, as PyTorch's were for long."""

    def __array__(self, dtype: Any = None) -> Any:  # type: ignore[override]
        return super().__array__(dtype)


class LockedTensor:
    """One that refuses, as one of PyTorch that requires a gradient does."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


def declared(wrap: Any) -> TemporalSlice:
    """One small model, its tables handed over in the form that `wrap` gives them."""
    return (
        TemporalSliceBuilder("A_move", 2, values=["stay", "go"])
        .add_state("S_x", wrap([0.25, 0.75]), values=["left", "right"])
        .add_observation("O_x", wrap([[0.75, 0.5], [0.25, 0.5]]), ["S_x"], values=["dark", "light"])
        .add_transition("S_x", wrap(WINDY), ["A_move", "S_x"])
        .add_preference(["O_x"], wrap([0.125, 0.875]))
        .build()
    )


def tables(ts: TemporalSlice) -> dict[str, Array]:
    """Every table of a slice by a name of its own."""
    return {
        **{f"prior {s.name}": s.prior for s in ts.states.values()},
        **{f"likelihood {o.name}": o.likelihood for o in ts.observations.values()},
        **{f"transition {t.state}": t.table for t in ts.transitions.values()},
        **{f"preference {p.observations}": p.table for p in ts.preferences},
    }


def test_slice_holds_what_was_declared() -> None:
    ts = declared(list)
    assert (ts.action.name, ts.action.size, ts.action.values) == ("A_move", 2, ("stay", "go"))
    assert list(ts.states) == list(ts.transitions) == ["S_x"]
    assert list(ts.observations) == ["O_x"]
    state, observation, transition = ts.states["S_x"], ts.observations["O_x"], ts.transitions["S_x"]
    assert (state.name, state.size, state.values) == ("S_x", 2, ("left", "right"))
    assert (observation.name, observation.size, observation.values) == ("O_x", 2, ("dark", "light"))
    assert observation.parents == ("S_x",)
    assert (transition.state, transition.parents) == ("S_x", ("A_move", "S_x"))
    assert [p.observations for p in ts.preferences] == [("O_x",)]
    assert ts.inference == "exact"
    assert_array_equal(state.prior, [0.25, 0.75])
    assert_array_equal(observation.likelihood, [[0.75, 0.5], [0.25, 0.5]])
    assert_array_equal(transition.table, WINDY)
    assert_array_equal(ts.preferences[0].table, [0.125, 0.875])


@quick
@given(models())
def test_any_model_is_declared_as_it_is(spec: Spec) -> None:
    ts = spec.build()
    assert list(ts.states) == list(spec.priors)
    assert list(ts.observations) == list(spec.likelihoods)
    assert list(ts.transitions) == list(spec.priors)  # in the order of the states, whatever theirs was
    assert [p.observations for p in ts.preferences] == list(spec.preferences)
    assert ts.sizes == spec.sizes
    for name, prior in spec.priors.items():
        assert_allclose(ts.states[name].prior, prior, rtol=1e-14)
        assert_allclose(ts.transitions[name].table, spec.transitions[name].table, rtol=1e-14)
        assert ts.transitions[name].parents == spec.transitions[name].parents
    for name, factor in spec.likelihoods.items():
        assert_allclose(ts.observations[name].likelihood, factor.table, rtol=1e-14)
        assert ts.observations[name].parents == factor.parents
    for preference in ts.preferences:
        assert_allclose(preference.table, spec.preferences[preference.observations], rtol=1e-14)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda values: tuple(values),
        np.array,
        lambda values: np.array(values, dtype=np.float32),
        lambda values: np.asfortranarray(np.array(values)),
        Tensor,
        OldTensor,
    ],
    ids=["tuples", "float64", "float32", "column order", "other library", "other library of old"],
)
def test_tables_may_be_anything_that_numpy_understands(wrap: Any) -> None:
    assert declared(wrap) == declared(list)  # every number above is exact in binary


def test_a_tensor_that_refuses_is_refused_in_words() -> None:
    with pytest.raises(TableError, match=r"^S_x: the prior was given as LockedTensor, .*\(Can't call numpy\(\) on"):
        TemporalSliceBuilder("A_0", 1).add_state("S_x", LockedTensor())


def test_integers_and_booleans_are_numbers() -> None:
    ts = (
        TemporalSliceBuilder("A_0", np.int64(2))  # type: ignore[arg-type]  # as NumPy counts
        .add_state("S_x", [True, False])
        .add_transition("S_x", np.eye(2, dtype=int), ["S_x"])
        .build()
    )
    assert_array_equal(ts.states["S_x"].prior, [1.0, 0.0])
    assert type(ts.action.size) is int


@pytest.mark.parametrize("wrap", [np.array, lambda values: np.array(values, dtype=np.float32)])
def test_every_table_is_read_only_float64_and_the_slices_own(wrap: Any) -> None:
    given_tables: list[Array] = []

    def kept(values: Any) -> Array:
        given_tables.append(wrap(values))
        return given_tables[-1]

    ts = declared(kept)
    before = {name: table.copy() for name, table in tables(ts).items()}
    for given_table in given_tables:
        given_table[...] = -1  # still the caller's, and still writable
    for name, table in tables(ts).items():
        assert table.dtype == np.float64
        assert_array_equal(table, before[name])
        with pytest.raises(ValueError, match="read-only"):
            table[...] = 0


def test_nothing_that_was_given_is_changed() -> None:
    given_tables = [np.array([0.2500001, 0.75]), np.array(WINDY), np.array([0.125, 0.875])]
    parents, labels = ["A_move", "S_x"], ["left", "right"]
    copies = [table.copy() for table in given_tables]
    prior, transition, preference = given_tables
    (
        TemporalSliceBuilder("A_move", 2)
        .add_state("S_x", prior, labels)
        .add_transition("S_x", transition, parents)
        .add_observation("O_x", np.eye(2), ["S_x"])
        .add_preference(["O_x"], preference)
        .build()
    )
    for table, copy in zip(given_tables, copies, strict=True):
        assert_array_equal(table, copy)
    assert (parents, labels) == (["A_move", "S_x"], ["left", "right"])


def test_slice_and_its_parts_cannot_be_assigned_to() -> None:
    ts = declared(list)
    for part, field in ((ts, "action"), (ts.action, "size"), (ts.states["S_x"], "prior"), (ts.preferences[0], "table")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, field, None)
    for mapping in (ts.states, ts.observations, ts.transitions):
        with pytest.raises(TypeError):
            mapping["S_new"] = None  # type: ignore[index]


def test_slice_stays_as_it_is_when_the_builder_goes_on() -> None:
    builder = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0]).add_transition("S_x", [[1.0]], ["S_x"])
    first = builder.build()
    builder.add_observation("O_x", [[1.0]], ["S_x"])
    assert list(first.observations) == []
    assert list(builder.build().observations) == ["O_x"]


def test_parents_may_be_declared_after_what_depends_on_them() -> None:
    likelihood = [[[0.9, 0.4, 0.2], [0.5, 0.3, 0.1]], [[0.1, 0.6, 0.8], [0.5, 0.7, 0.9]]]
    ts = (
        TemporalSliceBuilder("A_0", 1)
        .add_preference(["O_x"], [0.5, 0.5])
        .add_observation("O_x", likelihood, ["S_b", "S_a"])
        .add_transition("S_b", [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], ["S_a"])
        .add_state("S_a", [0.2, 0.3, 0.5])
        .add_state("S_b", [0.5, 0.5])
        .add_transition("S_a", np.eye(3), ["S_a"])
        .build()
    )
    assert list(ts.states) == list(ts.transitions) == ["S_a", "S_b"]
    assert ts.observations["O_x"].parents == ("S_b", "S_a")


def test_model_may_have_neither_observations_nor_preferences_nor_anything_to_follow_from() -> None:
    ts = TemporalSliceBuilder("A_0", 1).add_state("S_x", [0.5, 0.5]).add_transition("S_x", [0.5, 0.5], []).build()
    assert not ts.observations
    assert ts.preferences == ()
    assert ts.transitions["S_x"].parents == ()


@pytest.mark.parametrize("precision", [0.0, 1.0, 2.5])
def test_scores_become_a_softmax_over_all_their_entries(precision: float) -> None:
    scores = np.array([[0.0, 1.0, -2.0], [3.0, 0.5, 700.0]])
    ts = (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_x", [1.0])
        .add_transition("S_x", [[1.0]], ["S_x"])
        .add_observation("O_a", [[0.5], [0.5]], ["S_x"])
        .add_observation("O_b", [[0.5], [0.25], [0.25]], ["S_x"])
        .add_preference(["O_a", "O_b"], scores=scores / 100, precision=precision)
        .build()
    )
    weights = [[np.exp(precision * score / 100) for score in row] for row in scores]
    total = sum(sum(row) for row in weights)
    assert_allclose(ts.preferences[0].table, [[w / total for w in row] for row in weights], rtol=1e-13)


def test_scores_without_precision_have_precision_one() -> None:
    builder = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0]).add_transition("S_x", [[1.0]], ["S_x"])
    builder.add_observation("O_x", [[0.5], [0.5]], ["S_x"]).add_preference(["O_x"], scores=[0.0, np.log(3)])
    assert_allclose(builder.build().preferences[0].table, [0.25, 0.75], rtol=1e-15)


def test_great_scores_do_not_overflow() -> None:
    builder = TemporalSliceBuilder("A_0", 1).add_state("S_x", [1.0]).add_transition("S_x", [[1.0]], ["S_x"])
    builder.add_observation("O_x", [[0.5], [0.5]], ["S_x"])
    builder.add_preference(["O_x"], scores=[1e6, 1e6 + 1], precision=2)
    unlikely = 1 / (1 + np.exp(2.0))
    assert_allclose(builder.build().preferences[0].table, [unlikely, 1 - unlikely], rtol=1e-14)


# --- sums that are not quite 1 ------------------------------------------------------------------------


@pytest.mark.parametrize("off", [9e-7, -9e-7, 1e-9, 1e-12])
def test_sums_within_the_tolerance_are_made_one(off: float) -> None:
    column = np.array([0.25, 0.75 + off])
    ts = (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_x", column)
        .add_transition("S_x", np.stack([column, [1.0, 0.0]], axis=1), ["S_x"])
        .add_observation("O_x", np.stack([[0.0, 1.0], column], axis=1), ["S_x"])
        .add_preference(["O_x"], column)
        .build()
    )
    expected = [0.25 / (1 + off), (0.75 + off) / (1 + off)]
    assert_allclose(ts.states["S_x"].prior, expected, rtol=1e-15)
    assert_allclose(ts.transitions["S_x"].table, np.stack([expected, [1.0, 0.0]], axis=1), rtol=1e-15)
    assert_allclose(ts.observations["O_x"].likelihood, np.stack([[0.0, 1.0], expected], axis=1), rtol=1e-15)
    assert_allclose(ts.preferences[0].table, expected, rtol=1e-15)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.floats(-9e-7, 9e-7))
def test_tables_of_a_slice_stay_the_same_to_the_bit_when_declared_again(seed: int, size: int, off: float) -> None:
    rng = np.random.default_rng(seed)

    def random_table(*shape: int, axis: int | None = 0) -> Array:
        table = rng.uniform(1e-3, 1.0, size=shape)
        return np.asarray(table / table.sum(axis=axis) * (1 + off))

    def build(prior: Array, likelihood: Array, transition: Array, preference: Array) -> TemporalSlice:
        return (
            TemporalSliceBuilder("A_0", 1)
            .add_state("S_x", prior)
            .add_transition("S_x", transition, ["S_x"])
            .add_observation("O_x", likelihood, ["S_x"])
            .add_preference(["O_x"], preference)
            .build()
        )

    first = build(random_table(size), random_table(7, size), random_table(size, size), random_table(7, axis=None))
    kept = tables(first)
    again = build(kept["prior S_x"], kept["likelihood O_x"], kept["transition S_x"], kept["preference ('O_x',)"])
    for name, table in tables(again).items():
        assert_array_equal(table, kept[name])
        # A sum that is off by no more than the rounding of its summands, four units each, is left alone.
        rounding = 4 * np.finfo(np.float64).eps * 300
        assert_allclose(table.sum(axis=None if name.startswith("preference") else 0), 1, rtol=rounding)


def test_an_unfinished_builder_says_what_it_has() -> None:
    builder = TemporalSliceBuilder("A_move", 2)
    assert repr(builder) == (
        "TemporalSliceBuilder: A_move of 2 values; states: none; observations: none; transitions of: none;"
        " preferences over: none"
    )
    builder.add_state("S_x", [0.5, 0.5]).add_state("S_y", [0.5, 0.5]).add_transition("S_y", np.eye(2), ["S_y"])
    for name in ("O_x", "O_y"):
        builder.add_observation(name, np.eye(2), ["S_x"])
    builder.add_preference(["O_x", "O_y"], [[0.1, 0.2], [0.3, 0.4]])
    assert repr(builder) == (
        "TemporalSliceBuilder: A_move of 2 values; states: S_x, S_y; observations: O_x, O_y; transitions of: S_y;"
        " preferences over: (O_x, O_y)"
    )
