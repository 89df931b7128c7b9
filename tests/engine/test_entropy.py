"""The sum of q ln q that the engine takes: as exact as the library's, and several entries at a time."""

from __future__ import annotations

import math
import re
from typing import Any

import numba
import numpy as np
import pytest
from spec import Array

from btai.engine.entropy import sum_of_q_log_q
from btai.engine.jit import OPTIONS

rng = np.random.default_rng(0)
CASES = {
    "uniform": np.full(7, 1 / 7),
    "certain": np.array([0.0, 1.0, 0.0]),
    "random": rng.dirichlet(np.ones(100)),
    "tiny": 10.0 ** rng.uniform(-300, 0, 50),
    "around 1": 1 + rng.uniform(-1e-9, 1e-9, 33),
    "around the square root of 1/2": math.sqrt(0.5) * (1 + rng.uniform(-1e-9, 1e-9, 33)),
    "one": np.array([0.3]),
}


@pytest.mark.parametrize("q", CASES.values(), ids=CASES.keys())
def test_sum_is_that_of_the_librarys_logarithms(q: Array) -> None:
    expected = math.fsum(p * math.log(p) for p in q if p > 0)
    assert sum_of_q_log_q(q, np.empty(2 * len(q))) == pytest.approx(expected, rel=4e-16 * len(q), abs=1e-24)


def test_logarithms_are_taken_several_at_a_time() -> None:
    """Else each decision would take a quarter more: what keeps the compiler from it shows nowhere else."""
    source: Any = sum_of_q_log_q
    kernel = numba.njit(fastmath={"contract"}, **OPTIONS)(source.py_func)
    vector = numba.float64[::1]
    kernel.compile((vector, vector))
    (code,) = kernel.inspect_llvm().values()
    assert re.search(r"fdiv [^\n]*<\d+ x double>", code)
