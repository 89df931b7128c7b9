"""How a table is contracted: which form is chosen, by hand, and that every form computes the same, by enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array

from btai.engine.contract import contract
from btai.engine.ops import OpsBuilder
from btai.engine.program import Ops
from btai.engine.tables import Contraction, cheapest, dense_operations
from btai.envs import dsprites_slice


def ops_of(table: Array, probabilities: bool = True) -> tuple[Ops, int]:
    """The one contraction of `table`, laid out, and its number."""
    builder = OpsBuilder()
    contraction = cheapest(table, probabilities=probabilities)
    op = builder.add(contraction, len(table), range(table.ndim - 1), table.shape[1:])
    return builder.build(), op


def contracted(table: Array, beliefs: Sequence[Array], probabilities: bool = True) -> Array:
    """The engine's contraction of `table` `[n_out, *inputs]` with one belief per input."""
    ops, op = ops_of(table, probabilities)
    ends = np.cumsum([0, *(len(b) for b in beliefs)])
    order = ops.input_variable[ops.inputs(op)]
    addresses = np.array([*ends[order], 0], dtype=np.int64)
    out = np.full(len(table) + 2, np.nan)  # what lies beside the result must stay as it is
    contract(ops, op, np.concatenate([[0.0], *beliefs])[1:], addresses, out, 1, np.empty(8 * table.size + 8))
    assert np.isnan(out[[0, -1]]).all()
    return out[1:-1]


def summed(table: Array, beliefs: Sequence[Array]) -> Array:
    """The same by its definition: every configuration of the inputs with its probability, summed without rounding."""
    result = []
    for row in table:
        cells = np.ndindex(row.shape)
        result.append(math.fsum(row[c] * math.prod(b[i] for b, i in zip(beliefs, c, strict=True)) for c in cells))
    return np.array(result)


def noisy_identity(noise: Sequence[float]) -> Array:
    """Column `j` spreads `noise[j]` evenly over the other values, `[n, n]`."""
    n = len(noise)
    columns = [np.where(np.arange(n) == j, 1 - rest, rest / (n - 1)) for j, rest in enumerate(noise)]
    return np.stack(columns, axis=1)


def beliefs_over(*sizes: int, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [weights / weights.sum() for weights in (rng.uniform(0.01, 1, n) for n in sizes)]


# --- what is chosen -----------------------------------------------------------------------------------------------


def test_noisy_identity_of_n_values_has_n_exceptions_to_one_constant() -> None:
    contraction = cheapest(noisy_identity([0.001] * 32), probabilities=True)
    assert contraction.dense is None
    assert contraction.common is None
    (level,) = contraction.levels
    assert_array_equal(level.bases, np.full(32, 0.001 / 31))
    assert_array_equal(level.nodes, np.arange(32))
    assert_array_equal(level.indices, np.arange(32))
    assert_array_equal(level.values, np.full(32, 0.999 - 0.001 / 31))
    assert contraction.work == 64  # 32 constants and 32 products


def test_what_each_column_has_in_common_is_split_off_where_columns_differ_in_noise() -> None:
    noise = np.linspace(0.01, 0.31, 16)
    contraction = cheapest(noisy_identity(noise.tolist()), probabilities=True)
    assert contraction.common is not None
    assert contraction.common.dense is None
    (shared,), (level,) = contraction.common.levels, contraction.levels
    assert_allclose(shared.bases, [0.01 / 15], rtol=1e-15)  # the least noise; 15 columns have more
    assert_array_equal(shared.indices, np.arange(1, 16))
    assert_array_equal(level.bases, np.zeros(16))
    assert_array_equal(level.indices, np.arange(16))
    assert_allclose(level.values, 1 - noise - noise / 15, rtol=1e-14)


def test_preference_of_dsprites_has_five_exceptions() -> None:
    (preference,) = dsprites_slice(granularity=1).preferences
    assert preference.table.size == 32 * 33 * 3
    ops, op = ops_of(-np.log(preference.table)[None], probabilities=False)
    # All cells cost the same, but those of the last row: that row is one exception; in it each of the two other shapes
    # counts, or the one of squares; and in the rows of the two kinds of shapes one corner each.
    assert ops.exceptions(op) == 5
    assert ops.operations(op) < 15


def test_arbitrary_table_stays_dense_with_the_longest_input_first() -> None:
    table = np.random.default_rng(0).uniform(size=(4, 3, 5, 2))
    contraction = cheapest(table, probabilities=False)
    assert contraction.dense is not None
    assert contraction.order == (1, 0, 2)
    assert_array_equal(contraction.dense, table.transpose(2, 1, 3, 0))
    assert contraction.levels == ()


def test_small_table_stays_dense_because_contiguous_products_are_quicker() -> None:
    assert cheapest(np.eye(3), probabilities=True).dense is not None
    assert cheapest(np.eye(10), probabilities=True).dense is None


def test_table_without_inputs_is_copied() -> None:
    table = np.array([0.25, 0.75])
    contraction = cheapest(table, probabilities=True)
    assert contraction.dense is not None
    assert contraction.order == ()
    assert_array_equal(contracted(table, []), table)


def test_number_of_products_of_a_dense_table() -> None:
    assert dense_operations((5,)) == 5  # copied
    assert dense_operations((4, 5)) == 20
    assert dense_operations((2, 4, 5)) == 40 + 20
    assert dense_operations((2, 4, 1)) == 8 + 4


def test_one_move_among_many_equal_slices_costs_a_slice() -> None:
    """What a row of the table depends on through one value of its second input alone is kept once."""
    rest = noisy_identity([0.1] * 16)
    table = np.repeat(rest[:, :, None], 12, axis=2)
    table[:, :, 7] = np.roll(rest, 1, axis=0)
    ops, op = ops_of(table)
    assert ops.kind[op] == 1
    assert ops.operations(op) < 200 < table.size // 10
    beliefs = beliefs_over(16, 12)
    assert_allclose(contracted(table, beliefs), summed(table, beliefs), rtol=1e-14)


def test_operations_of_a_laid_out_contraction_are_those_of_its_parts() -> None:
    shared, op = ops_of(noisy_identity(np.linspace(0.01, 0.31, 16).tolist()))
    # 16 constants and 16 exceptions; of what columns share, 1 constant and 15 exceptions; and it is added 16 times.
    assert shared.operations(op) == 32 + 16 + 16
    dense, op = ops_of(np.random.default_rng(0).uniform(size=(4, 3, 5)), probabilities=False)
    assert dense.operations(op) == 4 * 3 * 5 + 4 * 3


# --- what is computed -----------------------------------------------------------------------------------------------

VALUES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "arbitrary": lambda rng, shape: rng.uniform(0.01, 1, shape),
    "few values": lambda rng, shape: rng.choice([0.0, 0.125, 0.3, 1.0], shape),
    "flat but for some": lambda rng, shape: np.where(rng.random(shape) < 0.1, rng.uniform(0, 1, shape), 0.2),
    "mostly zero": lambda rng, shape: np.where(rng.random(shape) < 0.15, rng.uniform(0, 1, shape), 0.0),
    "equal slices": lambda rng, shape: np.broadcast_to(rng.uniform(0.01, 1, (*shape[:-1], 1)), shape).copy(),
    "equal but one": lambda rng, shape: _one_slice_changed(rng, rng.uniform(0.01, 1, (*shape[:-1], 1)), shape),
}


def _one_slice_changed(rng: np.random.Generator, piece: Array, shape: tuple[int, ...]) -> Array:
    table = np.broadcast_to(piece, shape).copy()
    table[..., rng.integers(shape[-1])] = rng.uniform(0.01, 1, shape[:-1])
    return table


@settings(max_examples=150)
@given(
    st.sampled_from(sorted(VALUES)),
    st.lists(st.integers(1, 8), min_size=1, max_size=5),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_every_form_computes_the_same_sum(kind: str, shape: list[int], probabilities: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = np.asarray(VALUES[kind](rng, tuple(shape)), dtype=np.float64)
    if not probabilities:
        table = table - 0.5
    beliefs = beliefs_over(*shape[1:], seed=seed)
    assert_allclose(contracted(table, beliefs, probabilities), summed(table, beliefs), rtol=0, atol=1e-14)


@settings(max_examples=100)
@given(st.lists(st.integers(4, 12), min_size=2, max_size=3), st.integers(0, 2**32 - 1))
def test_what_is_impossible_stays_exactly_impossible(shape: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = np.where(rng.random(shape) < 0.2, rng.choice([0.25, 0.7], shape), 0.0)
    beliefs = [b * (rng.random(len(b)) < 0.5) for b in beliefs_over(*shape[1:], seed=seed)]
    beliefs = [b / b.sum() if b.any() else np.eye(len(b))[0] for b in beliefs]
    assert_array_equal(contracted(table, beliefs) == 0, summed(table, beliefs) == 0)


def test_what_only_a_rare_move_excludes_is_exactly_impossible_after_it() -> None:
    """The usual slice plus what the rare ones differ by would leave rounding errors where nothing can be."""
    usual, rare = np.random.default_rng(0).dirichlet(np.ones(16), (2, 16)).transpose(0, 2, 1)
    rare[:5] = 0.0
    rare /= rare.sum(axis=0)
    table = np.stack([rare if which in (5, 6, 7) else usual for which in range(20)], axis=2)
    assert cheapest(table, probabilities=True).dense is None
    (place,) = beliefs_over(16)
    which = np.zeros(20)
    which[[5, 6, 7]] = 0.1, 0.2, 0.7
    assert_array_equal(np.flatnonzero(contracted(table, [place, which])), range(5, 16))


def test_exact_identity_predicts_the_belief_itself() -> None:
    (belief,) = beliefs_over(24)
    belief[3] = 0.0
    assert_array_equal(contracted(np.eye(24), [belief]), belief)


@pytest.mark.parametrize("background", [0.0, 1e-300, 1e-30])
def test_tiny_probabilities_keep_their_relative_digits(background: float) -> None:
    n = 32
    table = np.full((n, n), background)
    table[np.arange(n), np.arange(n)] = np.maximum(np.logspace(-250, 0, n), 2 * background)
    table[0] = 1 - table[1:].sum(axis=0)
    (belief,) = beliefs_over(n)
    assert cheapest(table, probabilities=True).dense is None
    assert_allclose(contracted(table, [belief]), summed(table, [belief]), rtol=1e-14, atol=0)


def test_shifted_contraction_has_its_levels_in_the_order_of_its_inputs() -> None:
    table = np.zeros((1, 9, 7))
    table[0, 4, 2] = 1.0
    contraction = cheapest(table, probabilities=False)
    assert isinstance(contraction, Contraction)
    assert [level.indices.tolist() for level in contraction.levels] in ([[4], [2]], [[2], [4]])
    expected = [{0: 4, 1: 2}[axis] for axis in contraction.order]
    assert [level.indices.tolist() for level in contraction.levels] == [[index] for index in expected]
