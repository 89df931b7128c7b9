"""Agents that pymdp itself makes of our models: they infer and expect what we do.

These tests need pymdp: `make extras`, then `pytest tests/interop`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from extras import need
from interop.pymdp_figures import constant, free_energies
from numpy.testing import assert_allclose
from oracle import posteriors
from spec import Array, Factor, Spec

from btai import i_step
from btai.interop.pymdp import from_pymdp, to_pymdp

need("pymdp", "OUR AGENTS ARE NOT COMPARED WITH PYMDP'S")

pytestmark = pytest.mark.slow
SEEDS = range(8)


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    """Let pymdp compute in float64, so that agreement means something."""
    import jax

    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def random_spec(seed: int, n_states: int, most_parents: int) -> Spec:
    """A random model of strictly positive tables, with a preference on each observation."""
    rng = np.random.default_rng(seed)
    states = [f"S_{i}" for i in range(n_states)]
    sizes = {name: int(rng.integers(2, 4)) for name in states} | {"A_0": 3}

    def columns(n: int, parents: Sequence[str]) -> Factor:
        table = rng.dirichlet(np.full(n, 2.0), size=[sizes[parent] for parent in parents])
        return Factor(np.moveaxis(table, -1, 0), tuple(parents))

    def some(least: int, most: int) -> list[str]:
        return [str(name) for name in rng.permutation(states)[: rng.integers(least, most + 1)]]

    def followed(i: int) -> list[str]:
        listens = i == 0 or rng.random() < 0.5  # the first state always, so that the actions can be told apart
        return [*some(0, 2), *(["A_0"] if listens else [])]

    likelihoods = {f"O_{i}": columns(int(rng.integers(2, 4)), some(1, most_parents)) for i in range(n_states + 1)}
    return Spec(
        action="A_0",
        n_actions=3,
        priors={name: columns(sizes[name], []).table for name in states},
        likelihoods=likelihoods,
        transitions={name: columns(sizes[name], followed(i)) for i, name in enumerate(states)},
        preferences={(name,): columns(len(factor.table), []).table for name, factor in likelihoods.items()},
    )


def infer(agent: Any, observed: Sequence[int]) -> list[Any]:
    return list(agent.infer_states([np.array([[o]]) for o in observed], empirical_prior=agent.D))


def outcomes(spec: Spec, seed: int) -> dict[str, int]:
    rng = np.random.default_rng(seed)
    return {name: int(rng.integers(len(factor.table))) for name, factor in spec.likelihoods.items()}


def marginals(qs: Sequence[Any], spec: Spec) -> dict[str, Array]:
    return {name: np.asarray(q[0, -1]) for name, q in zip(spec.priors, qs, strict=True)}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("n_states", "options"),
    [(1, {"inference_algo": "exact"}), (3, {})],
    ids=["one state, exact", "three states, an observation of each"],
)
def test_posterior_and_expected_free_energy_agree(seed: int, n_states: int, options: dict[str, Any]) -> None:
    spec = random_spec(seed, n_states, most_parents=1)
    ts, observed = spec.build(), outcomes(spec, seed)
    model = to_pymdp(ts)
    agent = model.agent(**options)
    qs = infer(agent, model.observations(observed))
    assert_agreement(spec, marginals(qs, spec), observed)
    _, neg_efe = agent.infer_policies(qs)
    ours = free_energies(ts, dict(i_step(ts, observed).posteriors))
    assert_allclose(ours, constant(model.C) - np.asarray(neg_efe[0]), rtol=1e-8)


def assert_agreement(spec: Spec, theirs: dict[str, Array], observed: dict[str, int]) -> None:
    """pymdp, this package and brute force, each with the others."""
    exact, _ = posteriors(spec, observed)
    ours = i_step(spec.build(), observed).posteriors
    for name in spec.priors:
        assert_allclose(theirs[name], exact[name], rtol=1e-8)
        assert_allclose(ours[name], theirs[name], rtol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_expected_free_energy_agrees_where_observations_depend_on_several_states(seed: int) -> None:
    spec = random_spec(seed, n_states=3, most_parents=3)
    model = to_pymdp(spec.build())
    agent = model.agent()
    qs = infer(agent, model.observations(outcomes(spec, seed)))  # one mean-field sweep after another: not our posterior
    _, neg_efe = agent.infer_policies(qs)
    ours = free_energies(spec.build(), marginals(qs, spec))
    assert_allclose(ours, constant(model.C) - np.asarray(neg_efe[0]), rtol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_agent_read_again_is_the_model(seed: int) -> None:
    model = to_pymdp(random_spec(seed, n_states=3, most_parents=3).build())
    expected, _ = from_pymdp(model)
    back, losses = from_pymdp(model.agent(), names=model.names)
    assert not losses
    for p, q in zip(back.preferences, expected.preferences, strict=True):
        assert_allclose(p.table, q.table, rtol=1e-14)
        back = back.replace(p.observations, preference=q.table)
    assert back == expected


def test_an_agent_of_float32_is_read_to_its_precision() -> None:
    import jax

    jax.config.update("jax_enable_x64", False)
    model = to_pymdp(random_spec(0, n_states=3, most_parents=3).build())
    expected, _ = from_pymdp(model)
    back, _ = from_pymdp(model.agent(), names=model.names)
    assert back.sizes == expected.sizes
    for name in expected.observations:
        assert_allclose(back.observations[name].likelihood, expected.observations[name].likelihood, rtol=1e-6)
    for name in expected.states:
        assert_allclose(back.transitions[name].table, expected.transitions[name].table, rtol=1e-6)


def test_a_batch_is_read_element_by_element() -> None:
    model = to_pymdp(random_spec(1, n_states=2, most_parents=2).build())
    agent = model.agent(batch_size=2)
    for batch in range(2):
        ts, losses = from_pymdp(agent, batch=batch, names=model.names)
        assert ts.sizes == from_pymdp(model).ts.sizes
        assert [loss.what for loss in losses] == ["1 of the batch of 2"]
