"""Chances at the edge of what float64 can hold: one agent, a batch and NumPy infer what exact fractions say."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from spec import Array

from btai import BTAI_3MF
from btai.agents import BatchAgent
from btai.errors import ImpossibleObservationError
from btai.inference import Inference, i_step
from btai.model import TemporalSlice, TemporalSliceBuilder

Evidence = dict[str, list[float]]
Exact = tuple[list[Fraction], Fraction]

extreme = settings(max_examples=60)
chances = st.sampled_from([0.0, 1e-300, 1e-200, 3e-160, 1e-100, 1e-20, 0.01, 0.3])
weights = st.sampled_from([0.0, 0.5, 1.0])
scales = st.sampled_from([1e-323, 1e-300, 1.0, 1e300, 1.7e308])


def seen_by(prior: list[float], likelihoods: list[list[list[float]]]) -> TemporalSlice:
    """One state, and observations that depend on it."""
    n = len(prior)
    builder = TemporalSliceBuilder("A_0", 1).add_state("S_0", prior).add_transition("S_0", np.eye(n), ["S_0"])
    for i, likelihood in enumerate(likelihoods):
        builder.add_observation(f"O_{i}", likelihood, ["S_0"])
    return builder.build()


def column(rare: list[float]) -> list[float]:
    """A distribution of which all entries but the last are given."""
    return [*rare, 1 - sum(rare)]


def by_fractions(ts: TemporalSlice, evidence: Evidence) -> Exact:
    """P(S_0 | evidence) and P(evidence), without rounding; no posterior where the latter is 0."""
    joint = [Fraction(float(p)) for p in ts.states["S_0"].prior]
    for name, vector in evidence.items():
        table = ts.observations[name].likelihood
        for s in range(len(joint)):
            joint[s] *= sum(Fraction(e) * Fraction(float(p)) for e, p in zip(vector, table[:, s], strict=True))
    total = sum(joint, Fraction(0))
    return [p / total for p in joint] if total else [], total


def assert_inferred_by_all(ts: TemporalSlice, evidence: Evidence) -> None:
    posterior, total = by_fractions(ts, evidence)
    if not total:
        for infer in (i_step, by_one_agent, by_a_batch):
            with pytest.raises(ImpossibleObservationError):
                infer(ts, evidence)
        return
    expected = [float(p) for p in posterior]
    inference: Inference = i_step(ts, evidence)
    for belief in (inference.posteriors["S_0"], *by_one_agent(ts, evidence), *by_a_batch(ts, evidence)):
        assert_allclose(belief, expected, rtol=0, atol=1e-12)
    log_evidence = math.log(total.numerator) - math.log(total.denominator)
    assert inference.log_evidence == pytest.approx(log_evidence, rel=1e-12, abs=1e-12)


def by_one_agent(ts: TemporalSlice, evidence: Evidence) -> list[Array]:
    agents = [BTAI_3MF(ts, 1, engine=engine) for engine in ("compiled", "numpy")]
    for agent in agents:
        agent.reset(evidence)
    return [agent.beliefs["S_0"] for agent in agents]


def by_a_batch(ts: TemporalSlice, evidence: Evidence) -> list[Array]:
    batch = BatchAgent(ts, 2, 1)
    batch.reset({name: np.array([vector, vector]) for name, vector in evidence.items()})
    return list(batch.beliefs["S_0"])


@st.composite
def situations(draw: st.DrawFn) -> tuple[TemporalSlice, Evidence]:
    n = draw(st.integers(2, 3))
    prior = column(draw(st.lists(chances, min_size=n - 1, max_size=n - 1)))
    columns = st.lists(chances, min_size=2, max_size=2).map(column)
    tables = draw(st.lists(st.lists(columns, min_size=n, max_size=n), min_size=1, max_size=5))
    evidence = {}
    for i in range(len(tables)):
        vector = draw(st.lists(weights, min_size=3, max_size=3).filter(any))
        scale = draw(scales)
        evidence[f"O_{i}"] = [scale * weight for weight in vector]
    return seen_by(prior, [np.transpose(table).tolist() for table in tables]), evidence


@extreme
@given(situations())
def test_extreme_chances_are_inferred_as_fractions_say(situation: tuple[TemporalSlice, Evidence]) -> None:
    assert_inferred_by_all(*situation)


CERTAIN = [[0.0, 1e-200], [1.0, 1.0]]  # only the second value, and that hardly ever, shows the first outcome


def test_what_is_as_unlikely_before_as_it_is_seen_to_be_certain() -> None:
    ts = seen_by([1.0, 1e-200], [CERTAIN])
    evidence = {"O_0": [1.0, 0.0]}
    assert by_fractions(ts, evidence)[0] == [0, 1]
    assert_inferred_by_all(ts, evidence)


def test_later_observations_outweigh_what_earlier_ones_made_less_likely_than_any_number() -> None:
    """As many pixels may: 200 that speak for one picture, and then 201 for the other."""
    first, second = [[0.01, 0.99], [0.99, 0.01]], [[0.99, 0.01], [0.01, 0.99]]
    ts = seen_by([0.5, 0.5], [first] * 200 + [second] * 201)
    evidence = {name: [1.0, 0.0] for name in ts.observations}
    assert by_fractions(ts, evidence)[0][0] == pytest.approx(0.99)
    assert_inferred_by_all(ts, evidence)


@pytest.mark.parametrize("vector", [[1e308, 1.7e308], [1e-320, 2e-320], [1e-320, 1.7e308]])
def test_evidence_of_any_size_is_taken_in(vector: list[float]) -> None:
    assert_inferred_by_all(seen_by([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]]]), {"O_0": vector})


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**900])
def test_the_same_evidence_at_another_scale_gives_the_same_posterior_to_the_bit(scale: float) -> None:
    ts = seen_by([0.3, 0.7], [[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.3], [0.4, 0.7]]])
    vector = np.array([0.3, 0.6])
    expected = BTAI_3MF(ts, 1), i_step(ts, {"O_0": vector})
    expected[0].reset({"O_0": vector})
    agent, inference = BTAI_3MF(ts, 1), i_step(ts, {"O_0": vector * scale})
    agent.reset({"O_0": vector * scale})
    assert agent.beliefs["S_0"].tobytes() == expected[0].beliefs["S_0"].tobytes()
    assert inference.posteriors["S_0"].tobytes() == expected[1].posteriors["S_0"].tobytes()


def test_only_the_agents_of_a_batch_that_need_care_are_inferred_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from btai.agents import batch as module

    asked: list[Any] = []

    def noted(*given: Any) -> Inference:
        asked.append(given)
        return i_step(*given)

    monkeypatch.setattr(module, "i_step", noted)
    batch = BatchAgent(seen_by([1.0, 1e-200], [CERTAIN]), 3, 1)
    batch.reset({"O_0": np.array([1, 0, 1])})
    assert_allclose(batch.beliefs["S_0"], [[1, 0], [0, 1], [1, 0]], rtol=0, atol=1e-15)
    assert len(asked) == 1


@pytest.mark.parametrize("around", [False, True], ids=["tree", "loop"])
def test_what_two_neighbours_find_too_unlikely_may_be_what_two_others_insist_on(around: bool) -> None:
    """Four switches that are certainly alike: all off has the chance 1e-600, all on has 1e-400."""
    off, on = [1.0, 1e-200], [1e-300, 1.0]
    alike = np.stack([np.eye(2), 1 - np.eye(2)])
    builder = TemporalSliceBuilder("A_0", 1)
    for name, prior in {"S_middle": off, "S_a": off, "S_b": on, "S_c": on}.items():
        builder.add_state(name, prior).add_transition(name, np.eye(2), [name])
    pairs = [("S_middle", other) for other in ("S_a", "S_b", "S_c")] + ([("S_a", "S_b")] if around else [])
    for i, pair in enumerate(pairs):
        builder.add_observation(f"O_{i}", alike, pair)
    ts = builder.build()
    evidence = dict.fromkeys(ts.observations, 0)
    agent, batch = BTAI_3MF(ts, 1), BatchAgent(ts, 1, 1)
    agent.reset(evidence)
    batch.reset({name: [value] for name, value in evidence.items()})
    for name in ts.states:
        for belief in (i_step(ts, evidence).posteriors[name], agent.beliefs[name], batch.beliefs[name][0]):
            assert_allclose(belief, [0, 1], rtol=0, atol=1e-12)
    assert agent.inference.log_evidence == pytest.approx(-400 * math.log(10), rel=1e-12)
