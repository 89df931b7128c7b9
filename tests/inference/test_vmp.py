"""Variational message passing against enumeration: every update, the sweeps, the free energy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import oracle
import pytest
import vmp_oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from spec import Array, Beliefs, Evidence, Factor, Spec
from strategies import evidences, models

from btai.errors import TableError
from btai.inference import expected_free_energy
from btai.inference.vmp import Chain, LogTables, Stopping, arrivals, branches, checked_log

some = settings(max_examples=40)

ROUNDING = 1e-10  # of free energies and beliefs that are sums over thousands of configurations

small = models(max_states=2, max_observations=3, max_size=3, max_actions=2, max_parents=2, zeros=False)
loopy = models(max_states=3, max_observations=3, max_size=2, max_actions=2, max_parents=3, zeros=False, loops=True)
single = models(max_states=1, max_observations=1, max_size=4, max_actions=3, zeros=False)
slices = st.one_of(small, loopy, single)


def chain_of(spec: Spec, seen: list[Evidence], done: list[int], stopping: Stopping) -> Chain:
    chain = Chain.begin(LogTables(spec.build()), seen[0], spec.priors, stopping)
    for action, evidence in zip(done, seen[1:], strict=True):
        chain = chain.extended(action, evidence)
    return chain


@st.composite
def lives(draw: st.DrawFn, spec: Spec, most: int = 3) -> tuple[list[Evidence], list[int]]:
    """What is observed in up to `most` cycles, soft and missing evidence included, and what is done between them."""
    cycles = draw(st.integers(1, most))
    seen = [draw(evidences(spec)) for _ in range(cycles)]
    return seen, [draw(st.integers(0, spec.n_actions - 1)) for _ in range(cycles - 1)]


# --- the chain of what was ------------------------------------------------------------------------------------------


@some
@given(slices, st.data())
def test_every_cycle_of_a_chain_is_that_of_the_oracle(spec: Spec, data: st.DataObject) -> None:
    seen, done = data.draw(lives(spec))
    stopping = Stopping(data.draw(st.sampled_from([0.01, 1e-6])), data.draw(st.sampled_from([2, 100])))
    known: dict[tuple[str, int], Array] = {}
    for cycle in range(len(seen)):
        network = vmp_oracle.chain(spec, spec.priors, seen[: cycle + 1], done[:cycle])
        network.q |= known  # begun from where the cycle before ended
        sweeps, energy = vmp_oracle.settle([network], stopping.tolerance, stopping.max_sweeps)
        known = network.q
        chain = chain_of(spec, seen[: cycle + 1], done[:cycle], stopping)
        assert chain.settling.sweeps == sweeps
        assert chain.settling.free_energy == pytest.approx(energy, abs=ROUNDING)
        for (name, time), belief in network.q.items():
            found = chain.action(time) if name == spec.action else chain.states(time)[name]
            assert_allclose(found, belief, rtol=0, atol=ROUNDING)


@some
@given(slices, st.data())
def test_no_update_raises_the_free_energy_and_none_goes_below_the_evidence(spec: Spec, data: st.DataObject) -> None:
    network = vmp_oracle.chain(spec, spec.priors, *data.draw(lives(spec)))
    energies = vmp_oracle.sweep([network]) + vmp_oracle.sweep([network])
    assert (np.diff(energies) <= ROUNDING).all()
    assert energies[-1] >= -network.log_evidence() - ROUNDING


@some
@given(slices, st.data())
def test_settled_beliefs_are_stationary_points_of_the_free_energy(spec: Spec, data: st.DataObject) -> None:
    seen, done = data.draw(lives(spec))
    chain = chain_of(spec, seen, done, Stopping(1e-13, 2000))
    assert chain.settling.settled
    network = vmp_oracle.chain(spec, spec.priors, seen, done)
    network.q = {v: np.array(belief) for v, belief in chain.beliefs.items()}
    least = network.free_energy()
    assert chain.settling.free_energy == pytest.approx(least, abs=ROUNDING)
    rng = np.random.default_rng(0)
    for variable, belief in chain.beliefs.items():
        assert_allclose(belief, network.best(variable), rtol=0, atol=1e-4)
        network.q[variable] = 0.999 * belief + 0.001 * rng.dirichlet(np.ones(len(belief)))
        assert network.free_energy() >= least - 1e-7
        network.q[variable] = np.array(belief)


@some
@given(single, st.data())
def test_one_state_seen_once_is_inferred_by_bayes_theorem(spec: Spec, data: st.DataObject) -> None:
    evidence = data.draw(evidences(spec))
    chain = chain_of(spec, [evidence], [], Stopping())
    exact, log_evidence = oracle.posteriors(spec, evidence)
    for state, belief in exact.items():
        assert_allclose(chain.states(0)[state], belief, rtol=0, atol=ROUNDING)
    assert -chain.settling.free_energy == pytest.approx(log_evidence, abs=ROUNDING)


@some
@given(slices, st.data())
def test_prior_is_what_the_last_slice_and_action_say(spec: Spec, data: st.DataObject) -> None:
    seen, done = data.draw(lives(spec, most=1))
    chain = chain_of(spec, seen, done, Stopping())
    action = np.random.default_rng(0).dirichlet(np.ones(spec.n_actions))
    found = arrivals(LogTables(spec.build()), chain.states(0), action)
    assert list(found) == list(spec.priors)
    for state, factor in spec.transitions.items():
        beliefs: Beliefs = {**chain.states(0), spec.action: action}
        expected = np.exp(oracle.expectation(Factor(np.log(factor.table), factor.parents), beliefs))
        assert_allclose(found[state], expected / expected.sum(), rtol=0, atol=ROUNDING)


# --- the slices to come ---------------------------------------------------------------------------------------------


def random_beliefs(spec: Spec, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {state: rng.dirichlet(np.ones(len(prior))) for state, prior in spec.priors.items()}


@some
@given(slices, st.integers(0, 2**32 - 1), st.sampled_from([Stopping(), Stopping(1e-9), Stopping(1e-9, 2)]))
def test_futures_are_those_of_the_oracle(spec: Spec, seed: int, stopping: Stopping) -> None:
    beliefs = random_beliefs(spec, seed)
    networks = vmp_oracle.futures(spec, beliefs)
    sweeps, energy = vmp_oracle.settle(networks, stopping.tolerance, stopping.max_sweeps)
    predictions, settling = branches(LogTables(spec.build()), beliefs, stopping)
    assert settling.sweeps == sweeps
    assert settling.free_energy == pytest.approx(energy, abs=ROUNDING)
    for network, prediction in zip(networks, predictions, strict=True):
        both: Mapping[str, Array] = {**prediction.states, **prediction.observations}
        for name, belief in both.items():
            assert_allclose(belief, network.q[name, 1], rtol=0, atol=ROUNDING)


@some
@given(slices, st.integers(0, 2**32 - 1))
def test_no_update_of_the_futures_raises_the_free_energy(spec: Spec, seed: int) -> None:
    networks = vmp_oracle.futures(spec, random_beliefs(spec, seed))
    energies = vmp_oracle.sweep(networks) + vmp_oracle.sweep(networks)
    assert (np.diff(energies) <= ROUNDING).all()


@some
@given(models(max_states=2, max_observations=3, max_size=3, zeros=False, preferences=True), st.integers(0, 99))
def test_cost_of_a_future_is_that_of_its_hidden_observations(spec: Spec, seed: int) -> None:
    predictions, _ = branches(LogTables(spec.build()), random_beliefs(spec, seed))
    for prediction in predictions:
        expected = 0.0
        for group, liked in spec.preferences.items():
            for cell, p in oracle.configurations(prediction.observations, group):
                expected += p * (np.log(p) - np.log(liked[cell])) if p > 0 else 0.0
        for factor in spec.likelihoods.values():
            for cell, p in oracle.configurations(prediction.states, factor.parents):
                expected += p * oracle.entropy(factor.column(cell))
        assert expected_free_energy(spec.build(), prediction).total == pytest.approx(expected, abs=ROUNDING)


# --- how it ends, and what is refused -------------------------------------------------------------------------------


COIN = Spec(
    action="A_0",
    n_actions=1,
    priors={"S_0": np.array([0.5, 0.5])},
    likelihoods={"O_0": Factor(np.array([[0.75, 0.25], [0.25, 0.75]]), ("S_0",))},
    transitions={"S_0": Factor(np.array([[0.5, 0.5], [0.5, 0.5]]), ("S_0",))},
    preferences={},
)


def test_settling_tells_how_it_ended() -> None:
    chain = chain_of(COIN, [{"O_0": 0}], [], Stopping())
    # Uniform prior, likelihood .75 and .25: the posterior at once, ln P(O = 0) = ln 1/2, and nothing more to gain.
    assert_allclose(chain.states(0)["S_0"], [0.75, 0.25], rtol=1e-15)
    assert (chain.settling.sweeps, chain.settling.settled) == (2, True)
    assert chain.settling.free_energy == pytest.approx(np.log(2), rel=1e-15)
    assert chain.settling.decrease == pytest.approx(0, abs=1e-15)


def test_beliefs_do_not_depend_on_the_scale_of_a_likelihood_as_small_as_numbers_go() -> None:
    chain = chain_of(COIN, [{"O_0": [1e-300, 0.0]}], [], Stopping())
    assert_allclose(chain.states(0)["S_0"], [0.75, 0.25], rtol=1e-12)


def test_zero_is_refused_by_its_place() -> None:
    with pytest.raises(TableError, match=r"S_x: the transition is 0 at index \(1, 2\).*table \+ e / 2"):
        checked_log("S_x", "transition", np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]))
