"""Impossible evidence is refused, and the observation that makes it so is named with its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from strategies import evidences, models

from btai.errors import EvidenceError, ImpossibleObservationError
from btai.inference import i_step
from btai.model import TemporalSlice, TemporalSliceBuilder

thorough = settings(max_examples=100)

DIFFER = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])  # [O, S_a, S_b]: 1 where the switches differ


def switches(twice: bool = False) -> TemporalSlice:
    """Two switches, each in view, and a lamp that shows whether they differ: one factor, or (`twice`) a loop."""
    builder = (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_a", [0.5, 0.5])
        .add_state("S_b", [1.0, 0.0])
        .add_transition("S_a", np.eye(2), ["S_a"])
        .add_transition("S_b", np.eye(2), ["S_b"])
        .add_observation("O_a", np.eye(2), ["S_a"], values=["off", "on"])
        .add_observation("O_b", np.eye(2), ["S_b"])
        .add_observation("O_lamp", DIFFER, ["S_a", "S_b"])
    )
    if twice:
        builder.add_observation("O_mirror", DIFFER, ["S_a", "S_b"]).add_observation("O_late", np.eye(2), ["S_a"])
    return builder.build()


@pytest.mark.parametrize("method", ["exact", "loopy"])
@pytest.mark.parametrize("twice", [False, True], ids=["tree", "loops"])
@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (
            {"O_b": 1},
            r"^O_b: the value 1 was observed, which the model gives probability 0 under its present beliefs\.",
        ),
        ({"O_b": [0, 0.25]}, r"^O_b: the value 1 was observed"),
        ({"O_lamp": 1, "O_a": "off"}, r"^O_lamp: the value 1 was observed, .* together with O_a=off under its"),
        (
            {"O_lamp": [0.0, 1.0], "O_b": 0, "O_a": [0.5, 0.0]},
            r"^O_lamp: the value 1 was observed, .* together with O_a=0, O_b=0 under",
        ),
        ({"O_lamp": 1, "O_b": 1, "O_a": [1, 2]}, r"^O_b: the value 1 was observed, .* together with O_a=\[1 2\] under"),
    ],
    ids=["alone", "soft alone", "together", "three", "first of two"],
)
def test_impossible_observation_is_named(method: str, twice: bool, evidence: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ImpossibleObservationError, match=message + ".*Give the likelihood .* little noise, or correct"):
        i_step(switches(twice), evidence, method=method)


@pytest.mark.parametrize("method", ["exact", "loopy"])
@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"O_lamp": 1, "O_mirror": 0}, r"^O_mirror: the value 0 was observed, .* together with O_lamp=1 under"),
        (
            {"O_late": 1, "O_lamp": 0, "O_mirror": 0},
            r"^O_late: the value 1 was observed, .* together with O_lamp=0, O_mirror=0 under",
        ),
    ],
    ids=["within the loop", "beside the loop"],
)
def test_contradiction_around_a_loop_is_named(method: str, evidence: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ImpossibleObservationError, match=message):
        i_step(switches(twice=True), evidence, method=method)


def test_what_was_possible_at_first_may_be_impossible_under_the_prediction() -> None:
    ts = switches()
    assert i_step(ts, {"O_a": 1}).exact
    message = r"^O_a: the value on was observed, which the model gives probability 0 under its present beliefs"
    with pytest.raises(ImpossibleObservationError, match=message):
        i_step(ts, {"O_a": "on"}, {"S_a": np.array([1.0, 0.0]), "S_b": np.array([0.5, 0.5])})


def test_impossible_observation_among_too_many_states_for_a_junction_tree() -> None:
    builder = TemporalSliceBuilder("A_0", 1)
    for i in range(40):
        builder.add_state(f"S_{i}", [1.0, 0.0]).add_transition(f"S_{i}", np.eye(2), [f"S_{i}"])
    builder.add_observation("O_first", np.eye(2), ["S_0"])
    for i in range(40):
        for j in range(i):
            builder.add_observation(f"O_{j}_{i}", np.full((2, 2, 2), 0.5), [f"S_{j}", f"S_{i}"])
    ts = builder.build(inference="loopy")
    with pytest.raises(ImpossibleObservationError, match=r"^O_first: the value 1 was observed"):
        i_step(ts, dict.fromkeys(ts.observations, 1), method="loopy")


@thorough
@given(st.data())
def test_evidence_is_refused_exactly_when_its_probability_is_zero(data: st.DataObject) -> None:
    spec = data.draw(models(max_states=3, max_size=3, max_observations=4, min_observations=1))
    evidence = data.draw(evidences(spec, possible=False, kinds=("index", "one_hot")))
    ts = spec.build()
    names = list(evidence)
    chances = [oracle.joint(spec, {n: evidence[n] for n in names[: i + 1]}).sum() for i in range(len(names))]
    if chances[-1] > 0:
        assert i_step(ts, evidence).exact
        return
    culprit = names[next(i for i, chance in enumerate(chances) if chance == 0)]
    value = int(np.argmax(oracle.evidence_vector(evidence[culprit], spec.sizes[culprit])))
    with pytest.raises(ImpossibleObservationError, match=rf"^{culprit}: the value {value} was"):
        i_step(ts, evidence)


@thorough
@given(st.data())
def test_loopy_propagation_excludes_nothing_that_is_possible(data: st.DataObject) -> None:
    spec = data.draw(models(loops=True, max_states=3, max_size=3, max_observations=4))
    evidence = data.draw(evidences(spec))
    result = i_step(spec.build(), evidence, method="loopy", max_iterations=20)  # raises where it finds nothing left
    assert np.isfinite(result.log_evidence)
    for state, posterior in oracle.posteriors(spec, evidence)[0].items():
        assert (result.posteriors[state][posterior > 0] > 0).all()


def test_impossible_observation_is_an_evidence_error_without_a_trace_of_the_inside() -> None:
    assert issubclass(ImpossibleObservationError, EvidenceError)
    with pytest.raises(ImpossibleObservationError) as caught:
        i_step(switches(), {"O_b": 1})
    assert caught.value.__suppress_context__
