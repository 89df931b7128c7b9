"""The package computes the figures of the authors' own program where that follows the paper."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from golden import N_AUTHORS_MODELS, AuthorsFigures, authors_figures
from numpy.testing import assert_allclose
from spec import Array

from btai.inference import expected_free_energy, i_step, p_step

CLOSE = 1e-10


@pytest.fixture(params=range(N_AUTHORS_MODELS))
def authors(request: pytest.FixtureRequest) -> AuthorsFigures:
    return authors_figures(request.param)


def assert_same(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    assert actual.keys() == expected.keys()
    for name in expected:
        assert_allclose(actual[name], expected[name], rtol=0, atol=CLOSE, err_msg=name)


@pytest.mark.parametrize("method", ["exact", "loopy"])
def test_first_posteriors_are_the_authors(authors: AuthorsFigures, method: str) -> None:
    ts = authors.spec.build()
    result = i_step(ts, authors.under("obs1/"), method=method)
    assert result.exact
    assert_same(result.posteriors, authors.under("istep1/"))
    assert_same(result.posteriors, authors.under("exact/istep1/"))
    assert_same(i_step(ts, authors.meta["obs1"]).posteriors, authors.under("istep1/"))


def test_predictions_are_the_authors(authors: AuthorsFigures) -> None:
    ts = authors.spec.build()
    for action in range(authors.spec.n_actions):
        prediction = p_step(ts, authors.under("istep1/"), action)
        assert_same({**prediction.states, **prediction.observations}, authors.under(f"pstep/a{action}/"))


def test_risks_ambiguities_and_expected_free_energies_are_the_authors(authors: AuthorsFigures) -> None:
    ts = authors.spec.build()
    beliefs = i_step(ts, authors.under("obs1/")).posteriors
    for action in range(authors.spec.n_actions):
        energy = expected_free_energy(ts, p_step(ts, beliefs, action))
        expected = authors.under(f"efe/a{action}/")
        assert_allclose(list(energy.risk.values()), expected["risk"], rtol=0, atol=CLOSE)
        assert_allclose(list(energy.ambiguity.values()), expected["ambiguity"], rtol=0, atol=CLOSE)
        assert energy.total == pytest.approx(float(expected["total"]), rel=0, abs=CLOSE)


def test_second_posteriors_follow_from_the_predicted_prior_as_the_paper_asks(authors: AuthorsFigures) -> None:
    ts = authors.spec.build()
    first = i_step(ts, authors.under("obs1/")).posteriors
    prior = p_step(ts, first, int(authors.arrays["plan1/selected_action"])).states
    second = i_step(ts, authors.under("obs2/"), prior).posteriors
    assert_same(second, authors.under("exact/istep2_empirical_prior/"))
