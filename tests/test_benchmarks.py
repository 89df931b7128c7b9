"""The benchmarks: the models, what is computed of those that fit nowhere, and how numbers are shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import flattening, plots
from benchmarks.__main__ import shown
from benchmarks.measure import Curve, Effort, Mark
from benchmarks.models import DSPRITES_LIKE, dsprites_like
from btai.engine import compile
from btai.envs import dsprites_slice
from btai.errors import TableError
from btai.model import flatten


def test_five_variables_are_the_papers_model() -> None:
    ours, papers = dsprites_like(5), dsprites_slice(granularity=1)
    assert set(ours.states) == set(papers.states)
    for name in papers.states:
        np.testing.assert_array_equal(ours.transitions[name].table, papers.transitions[name].table)
    for name in papers.observations:
        np.testing.assert_array_equal(ours.observations[name].likelihood, papers.observations[name].likelihood)
    np.testing.assert_array_equal(ours.preferences[0].table, papers.preferences[0].table)
    assert flattening.configurations(5) == 33 * 32 * 3 * 40 * 6 == 760_320


@pytest.mark.parametrize("n", range(2, len(DSPRITES_LIKE) + 1))
def test_every_number_of_variables_is_a_model_and_the_added_ones_matter_only_if_preferred(n: int) -> None:
    assert len(dsprites_like(n).states) == n
    for preferred, relevant in ((False, min(n, 3)), (True, n)):
        described = compile(dsprites_like(n, all_preferred=preferred)).describe()
        assert described.startswith(f"{relevant} of {n} states matter")


def test_memory_of_a_flattened_model_is_computed_to_the_byte() -> None:
    assert flattening.table_bytes(flattening.flattened(2)) == flattening.flat_bytes(2)
    # By hand: 1,056 values; likelihood and four transitions of 1,056 x 1,056, prior and preference of 1,056.
    assert flattening.flat_bytes(2) == 8 * (5 * 1056**2 + 2 * 1056)


def test_limit_is_that_of_flatten() -> None:
    assert 4 * flattening.configurations(3) ** 2 <= flattening.MOST_ENTRIES < 4 * flattening.configurations(4) ** 2
    with pytest.raises(TableError, match=r"would have 1,445,216,256 entries"):
        flatten(
            dsprites_like(4, all_preferred=True),
            observations=[],
            max_entries=flattening.MOST_ENTRIES,
        )


def test_quick_measurement_gives_three_panels_of_one_picture(tmp_path: Path) -> None:
    curves = list(flattening.measure(Effort(quick=True)))
    assert [curve.name for curve in curves] == ["flattening_states", "flattening_memory", "flattening_time"]
    factored, flat = (curves[0].series[name] for name in ("factored (sum)", "flattened (product)"))
    assert factored == [(2, 65), (4, 74)]
    assert flat == [(2, 1056), (4, 19008)]
    times = curves[2].series
    assert times["flattened"][0][1] > 10 * times["factored"][0][1]
    marked = Curve("other", "Other", "x", "y", {"a": [(1, 1.0), (100, 2.0)]}, mark=Mark("a", 100, "there"))
    plots.draw([*curves, marked], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flattening.png", "other.png"]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.000123456, "0.0001235"), (999.96, "1000"), (1445216256.4, "1,445,216,256")]
)
def test_numbers_are_shown_with_four_digits_or_all_before_the_point(value: float | None, text: str) -> None:
    assert shown(value) == text
