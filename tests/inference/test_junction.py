"""Elimination on random factor graphs, factors of any shape, against the product of all factors."""

from __future__ import annotations

import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from spec import Array

from btai.inference.factors import Factor
from btai.inference.junction import calibrate

quick = settings(max_examples=150)


@st.composite
def factor_graphs(draw: st.DrawFn) -> tuple[list[Factor], dict[str, int]]:
    """1 to 6 variables of 1 to 3 values; up to 8 factors over 1 to 4 of them; zeros, but never all."""
    sizes = {f"S_{i}": draw(st.integers(1, 3)) for i in range(draw(st.integers(1, 6)))}
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    possible = {v: int(rng.integers(n)) for v, n in sizes.items()}  # never excluded
    factors = []
    for i in range(draw(st.integers(0, 8))):
        scope = tuple(draw(st.permutations(sorted(sizes)))[: draw(st.integers(1, min(4, len(sizes))))])
        table = rng.uniform(0.1, 2.0, size=[sizes[v] for v in scope])
        if draw(st.booleans()):
            table *= rng.random(table.shape) < 0.6
            table[tuple(possible[v] for v in scope)] = 0.5
        factors.append(Factor(f"f_{i}", scope, table))
    return factors, sizes


def enumerated(factors: list[Factor], sizes: dict[str, int]) -> Array:
    """The product of all factors, one axis per variable."""
    names = list(sizes)
    table = np.ones(list(sizes.values()))
    for cell in np.ndindex(*table.shape):
        for factor in factors:
            table[cell] *= factor.table[tuple(cell[names.index(v)] for v in factor.scope)]
    return table


@quick
@given(factor_graphs())
def test_marginals_and_total_equal_enumeration(graph: tuple[list[Factor], dict[str, int]]) -> None:
    factors, sizes = graph
    table = enumerated(factors, sizes)
    marginals, log_total, _, _ = calibrate(factors, sizes, sys.maxsize)
    assert list(marginals) == list(sizes)
    for axis, name in enumerate(sizes):
        expected = table.sum(axis=tuple(a for a in range(table.ndim) if a != axis)) / table.sum()
        assert_allclose(marginals[name], expected, rtol=0, atol=1e-12, err_msg=name)
    # Where nothing is said of a variable its sum counts its values: the total is that of the table itself.
    assert log_total == pytest.approx(np.log(table.sum()), rel=1e-12, abs=1e-12)
