"""The I-step in the kernel: the junction tree's schedule, by hand-made loops; refusals leave the agent untouched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import oracle
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Factor, Spec

from btai import BTAI_3MF
from btai.engine import compile
from btai.errors import ImpossibleObservationError
from btai.inference import Inference, i_step
from btai.planning import compiled
from btai.planning.compiled import EngineBackend

AROUND = {"O_0": 1, "O_1": 1, "O_2": 0, "O_3": 0}


def ring(n: int, differ: float = 1.0) -> Spec:
    """Switches in a ring, each neighbours' difference in view (certain, or noisy), and the first of them too."""
    likelihood = np.full((2, 2, 2), 1 - differ)
    likelihood[1, 0, 1] = likelihood[1, 1, 0] = likelihood[0, 0, 0] = likelihood[0, 1, 1] = differ
    names = [f"S_{i}" for i in range(n)]
    return Spec(
        action="A_0",
        n_actions=2,
        priors={name: np.array([0.4, 0.6]) for name in names},
        likelihoods={f"O_{i}": Factor(likelihood, (names[i], names[(i + 1) % n])) for i in range(n)}
        | {"O_first": Factor(np.eye(2), (names[0],))},
        transitions={name: Factor(np.array([[0.9, 0.2], [0.1, 0.8]]), (name,)) for name in names},
        preferences={("O_first",): np.array([0.2, 0.8])},
    )


def agent_of(spec: Spec, evidence: Mapping[str, Any]) -> BTAI_3MF:
    agent = BTAI_3MF(spec.build(), 5)
    agent.reset(evidence)
    return agent


def assert_beliefs(agent: BTAI_3MF, expected: Mapping[str, Array]) -> None:
    for name, belief in expected.items():
        assert_allclose(agent.beliefs[name], belief, rtol=0, atol=1e-12, err_msg=name)


def test_differences_around_a_ring_determine_every_switch() -> None:
    agent = agent_of(ring(5), {"O_0": 1, "O_1": 0, "O_2": 1, "O_3": 1, "O_4": 1, "O_first": 0})
    for name, value in zip(agent.ts.states, [0, 1, 1, 0, 1], strict=True):
        assert_array_equal(agent.beliefs[name], np.eye(2)[value])


def test_without_the_first_switch_two_arrangements_remain() -> None:
    agent = agent_of(ring(4), {"O_0": 1, "O_1": 1, "O_2": 1, "O_3": 1})
    # Either 0101 or 1010: both have two switches on, so they are equally likely.
    for belief in agent.beliefs.values():
        assert_allclose(belief, [0.5, 0.5], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"O_0": 1},
        {"O_0": [0.3, 0.9], "O_2": [1.0, 0.25]},
        {"O_1": [0.0, 2.0], "O_first": [0.5, 0.5]},
        {"O_0": [1.0, 1.0], "O_3": 0},
        {"O_0": 1, "O_1": 1, "O_2": 1, "O_3": 1, "O_first": [1e-200, 3e-200]},
    ],
    ids=["nothing", "one", "soft", "unnormalised", "says nothing", "tiny"],
)
def test_soft_and_missing_evidence_count_as_enumeration_says(evidence: Mapping[str, Any]) -> None:
    spec = ring(4, differ=0.9)
    agent = agent_of(spec, evidence)
    assert_beliefs(agent, oracle.posteriors(spec, evidence)[0])
    prior = oracle.predict(spec, oracle.posteriors(spec, evidence)[0], 1).states
    agent.update(1, evidence)
    assert_beliefs(agent, oracle.posteriors(spec, evidence, prior)[0])


def test_forty_unlikely_observations_do_not_underflow() -> None:
    unlikely = np.array([1e-12, 2e-12])
    spec = Spec(
        action="A_0",
        n_actions=1,
        priors={"S_0": np.array([0.5, 0.5])},
        likelihoods={f"O_{i}": Factor(np.stack([unlikely, 1 - unlikely]), ("S_0",)) for i in range(40)},
        transitions={"S_0": Factor(np.eye(2), ("S_0",))},
        preferences={},
    )
    agent = agent_of(spec, {f"O_{i}": 0 for i in range(40)})  # probability 1e-480 and less
    assert_allclose(agent.beliefs["S_0"], [1 / (1 + 2.0**40), 1 / (1 + 2.0**-40)], rtol=1e-12)


@pytest.mark.parametrize(
    "impossible",
    [
        {"O_0": 1, "O_1": 0, "O_2": 0, "O_3": 0},  # an odd number of differences around the ring
        {"O_3": 1, "O_2": [0.0, 0.5], "O_1": 1, "O_0": 0, "O_first": 1},
        {"O_first": 1, "O_0": [1.0, 1.0]},  # the first switch is certainly off
    ],
    ids=["odd", "soft", "alone"],
)
def test_impossible_evidence_is_refused_in_the_same_words_and_leaves_the_agent_as_it_was(
    impossible: Mapping[str, Any],
) -> None:
    certain = ring(4)
    priors = {name: np.array([1.0, 0.0]) if name == "S_0" else prior for name, prior in certain.priors.items()}
    ts = Spec(**{**vars(certain), "priors": priors}).build()
    with pytest.raises(ImpossibleObservationError) as expected:
        i_step(ts, impossible)

    def begun() -> BTAI_3MF:
        agent = BTAI_3MF(ts, 9)
        agent.reset({"O_1": 1})
        agent.plan(4)
        return agent

    refused, spared = begun(), begun()
    with pytest.raises(ImpossibleObservationError) as raised:
        refused.reset(impossible)
    assert str(raised.value) == str(expected.value)
    for agent in (refused, spared):
        agent.step()
    assert refused.tree.cost.tobytes() == spared.tree.cost.tobytes()
    for agent in (refused, spared):
        agent.update(1, {"O_2": 0})
    for name in ts.states:
        assert refused.beliefs[name].tobytes() == spared.beliefs[name].tobytes()


def test_kernel_infers_around_loops_and_only_impossible_evidence_is_left_to_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def noted(*given: Any, **options: Any) -> Inference:
        asked.append(given)
        return i_step(*given, **options)

    monkeypatch.setattr(compiled, "i_step", noted)
    agent = agent_of(ring(4), {"O_0": 1, "O_2": 1})
    assert asked == []
    with pytest.raises(ImpossibleObservationError):
        agent.update(0, {"O_0": 1, "O_1": 0, "O_2": 0, "O_3": 0})
    assert len(asked) == 1


def test_slice_built_for_loopy_propagation_has_no_schedule_and_is_inferred_by_numpy() -> None:
    ts = ring(4, differ=0.9).build(inference="loopy")
    assert compile(ts).cliques.state.size == 0
    agent = BTAI_3MF(ts, 3)
    agent.reset(AROUND)
    assert not agent.inference.exact
    for name, belief in i_step(ts, AROUND, method="loopy").posteriors.items():
        assert_array_equal(agent.beliefs[name], belief)
    with pytest.raises(ImpossibleObservationError, match="O_first: the value 1 was observed"):
        BTAI_3MF(ts.replace("S_0", prior=[1, 0])).reset({"O_first": 1})


def test_loopy_propagation_can_be_asked_of_a_slice_that_is_built_for_exact_inference() -> None:
    ts = ring(4, differ=0.9).build()
    agent = BTAI_3MF(ts, 3, inference="loopy")
    agent.reset(AROUND)
    assert not agent.inference.exact
    for name, belief in i_step(ts, AROUND, method="loopy").posteriors.items():
        assert_array_equal(agent.beliefs[name], belief)


def mixing() -> Spec:
    """Two states that each follow from both, and no choice: the search is one long path."""
    table = np.random.default_rng(0).uniform(0.1, 1, (3, 3, 3))
    return Spec(
        action="A_0",
        n_actions=1,
        priors={"S_0": np.full(3, 1 / 3), "S_1": np.full(3, 1 / 3)},
        likelihoods={"O_0": Factor(np.eye(3), ("S_0",))},
        transitions={name: Factor(table / table.sum(axis=0), ("S_0", "S_1")) for name in ("S_0", "S_1")},
        preferences={("O_0",): np.full(3, 1 / 3)},
    )


def test_prediction_of_several_parents_sums_to_one() -> None:
    """Beliefs along a long path of actions stay distributions."""
    ts = mixing().build()
    backend = EngineBackend(ts)
    beliefs = np.full(6, 1 / 3)
    for _ in range(200):
        beliefs = backend.predict(beliefs, 0)
    assert_allclose([beliefs[:3].sum(), beliefs[3:].sum()], 1.0, rtol=0, atol=1e-15)


def test_search_of_several_parents_stays_with_distributions_along_a_long_path() -> None:
    agent = agent_of(mixing(), {})
    agent.plan(200)
    table, belief = mixing().transitions["S_0"].table, np.full(3, 1 / 3)
    expected = []
    for _ in range(200):
        belief = np.einsum("abc,b,c->a", table, belief, belief)  # both states have the same beliefs
        belief /= belief.sum()
        expected.append(belief @ np.log(belief) + np.log(3))  # what is seen is certain of the state: all of it is risk
    assert_allclose(agent.tree.efe[1:], expected, rtol=0, atol=1e-12)
