"""The NumPy backend: inference and prediction over flat beliefs, and a search that survives an interrupt."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
from golden import OwnFigures, own_figures, own_names
from numpy.testing import assert_allclose, assert_array_equal

from btai.inference import Prediction, p_step
from btai.model import TemporalSlice
from btai.planning import NumpyBackend, Tree, new_tree, reference

ITERATIONS = 8


@pytest.fixture(params=own_names())
def figures(request: pytest.FixtureRequest) -> OwnFigures:
    return own_figures(request.param)


def test_infer_gives_the_posterior_of_the_observations_that_were_made(figures: OwnFigures) -> None:
    spec, ts = figures.spec, figures.spec.build()
    evidence = np.ones(ts.observation_layout.size)
    for name, vector in ts.observation_layout.views(evidence).items():
        vector[:] = oracle.evidence_vector(figures.evidence.get(name), spec.sizes[name])
    prior = oracle.predict(spec, spec.priors, 0).states
    flat = NumpyBackend(ts).infer(ts.state_layout.flat(prior), evidence, tuple(figures.evidence))
    expected, _ = oracle.posteriors(spec, figures.evidence, prior)
    for name, posterior in ts.state_layout.views(flat).items():
        assert_allclose(posterior, expected[name], rtol=0, atol=1e-12)


def test_predict_gives_the_beliefs_after_an_action(figures: OwnFigures) -> None:
    spec, ts = figures.spec, figures.spec.build()
    for action in range(spec.n_actions):
        flat = NumpyBackend(ts).predict(ts.state_layout.flat(spec.priors), action)
        expected = oracle.predict(spec, spec.priors, action).states
        for name, beliefs in ts.state_layout.views(flat).items():
            assert_allclose(beliefs, expected[name], rtol=0, atol=1e-12)


class InterruptedAt:
    """A P-step that is interrupted at one of its calls, counted from 0, and works before and after."""

    def __init__(self, call: int) -> None:
        self.calls_left = call

    def __call__(self, ts: TemporalSlice, beliefs: Any, action: int) -> Prediction:
        self.calls_left -= 1
        if self.calls_left == -1:
            raise KeyboardInterrupt
        return p_step(ts, beliefs, action)


def started(figures: OwnFigures) -> tuple[NumpyBackend, Tree]:
    ts = figures.spec.build()
    backend = NumpyBackend(ts)
    backend.start(ts.state_layout.flat(figures.spec.priors))
    return backend, new_tree(figures.spec.n_actions, ITERATIONS)


def searched(figures: OwnFigures, iterations: int) -> Tree:
    backend, tree = started(figures)
    backend.search(tree, iterations, figures.exp_const)
    return tree


def assert_same(tree: Tree, expected: Tree) -> None:
    nodes, iterations = expected.counts.tolist()
    assert tree.counts.tolist() == [nodes, iterations]
    assert_array_equal(tree.expanded[:iterations], expected.expanded[:iterations])
    for name in ("parent", "action", "first_child", "visits", "cost", "efe"):
        assert_array_equal(getattr(tree, name)[:nodes], getattr(expected, name)[:nodes], err_msg=name)


@pytest.mark.parametrize("whole", [0, 1, 5])
def test_interrupted_search_goes_back_to_its_last_whole_iteration_and_can_go_on(
    figures: OwnFigures, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_action = figures.spec.n_actions - 1
    for within in {0, last_action}:  # before the first child of an iteration and before the last
        backend, tree = started(figures)
        interruption = InterruptedAt(whole * figures.spec.n_actions + within)
        monkeypatch.setattr(reference, "p_step", interruption)
        with pytest.raises(KeyboardInterrupt):
            backend.search(tree, ITERATIONS, figures.exp_const)
        assert_same(tree, searched(figures, whole))
        backend.search(tree, ITERATIONS - whole, figures.exp_const)
        assert_same(tree, searched(figures, ITERATIONS))


def test_interrupt_in_a_later_call_keeps_the_iterations_of_the_earlier_ones(
    figures: OwnFigures, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, tree = started(figures)
    backend.search(tree, 3, figures.exp_const)
    monkeypatch.setattr(reference, "p_step", InterruptedAt(2 * figures.spec.n_actions))
    with pytest.raises(KeyboardInterrupt):
        backend.search(tree, 5, figures.exp_const)
    assert_same(tree, searched(figures, 5))


def test_start_forgets_the_search_before(figures: OwnFigures) -> None:
    spec, ts = figures.spec, figures.spec.build()
    backend, tree = started(figures)
    backend.search(tree, ITERATIONS, figures.exp_const)
    other = ts.state_layout.flat(oracle.predict(spec, spec.priors, spec.n_actions - 1).states)
    trees = []
    for used in (backend, NumpyBackend(ts)):
        used.start(other)
        trees.append(new_tree(spec.n_actions, ITERATIONS))
        used.search(trees[-1], ITERATIONS, figures.exp_const)
    assert_same(*trees)
