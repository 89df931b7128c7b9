"""Messages can be read by name, and each is what its definition says."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from spec import Array, Spec
from strategies import evidences, models

from btai.inference import Inference, i_step
from btai.model import TemporalSlice, TemporalSliceBuilder

thorough = settings(max_examples=60)
CLOSE = 1e-12


def close(actual: Array, expected: object, what: object = "") -> None:
    assert_allclose(actual, np.asarray(expected), rtol=0, atol=CLOSE, err_msg=str(what))


# --- by hand ------------------------------------------------------------------------------------------


def switches() -> TemporalSliceBuilder:
    """A lamp that is on (value 1) exactly when two switches differ."""
    return (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_a", [0.6, 0.4])
        .add_state("S_b", [0.7, 0.3])
        .add_transition("S_a", np.eye(2), ["S_a"])
        .add_transition("S_b", np.eye(2), ["S_b"])
        .add_observation("O_lamp", [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], ["S_b", "S_a"])
    )


def dimly_seen() -> TemporalSlice:
    """The first switch is seen, too, if dimly."""
    return switches().add_observation("O_dim", [[0.8, 0.3], [0.2, 0.7]], ["S_a"]).build()


LIT = {
    ("f_S_a", "S_a"): [0.6, 0.4],
    ("f_S_b", "S_b"): [0.7, 0.3],
    ("O_lamp", "f_O_lamp"): [0, 1],
    ("O_dim", "f_O_dim"): [1, 0],
    ("f_O_dim", "S_a"): [8 / 11, 3 / 11],
    ("S_a", "f_O_lamp"): [0.8, 0.2],  # (0.6 x 0.8, 0.4 x 0.3) in proportion
    ("f_O_lamp", "S_b"): [0.2, 0.8],  # exchanged, since the lamp is on
    ("S_b", "f_O_lamp"): [0.7, 0.3],
    ("f_O_lamp", "S_a"): [0.3, 0.7],
    ("S_b", "f_S_b"): [0.2, 0.8],
    ("S_a", "f_S_a"): [24 / 45, 21 / 45],  # (8 x 3, 3 x 7)
    ("S_a", "f_O_dim"): [18 / 46, 28 / 46],  # (0.6 x 0.3, 0.4 x 0.7)
    ("f_O_lamp", "O_lamp"): [0.62, 0.38],  # on: 0.8 x 0.3 + 0.2 x 0.7
    ("f_O_dim", "O_dim"): [0.228 / 0.46, 0.232 / 0.46],  # (0.18 x 0.8 + 0.28 x 0.3) / 0.46
}


@pytest.mark.parametrize("edge", LIT, ids=" to ".join)
def test_message_of_a_lit_lamp(edge: tuple[str, str]) -> None:
    close(i_step(dimly_seen(), {"O_lamp": 1, "O_dim": 0}).messages[edge], LIT[edge])


def test_there_is_one_message_each_way_along_every_edge_and_no_other() -> None:
    result = i_step(dimly_seen(), {"O_lamp": 1, "O_dim": 0})
    assert result.messages.keys() == LIT.keys()
    assert i_step(dimly_seen(), {}).messages.keys() == LIT.keys()  # those of what was not observed too


def test_observation_that_was_not_made_sends_nothing_and_is_foretold() -> None:
    messages = i_step(dimly_seen(), {"O_dim": 0}).messages
    close(messages["O_lamp", "f_O_lamp"], [0.5, 0.5])
    close(messages["f_O_lamp", "S_a"], [0.5, 0.5])
    close(messages["f_O_lamp", "O_lamp"], [0.62, 0.38])


def test_messages_of_a_lit_lamp_multiply_to_the_posteriors() -> None:
    result = i_step(dimly_seen(), {"O_lamp": 1, "O_dim": 0})
    close(result.posteriors["S_a"], [12 / 19, 7 / 19])  # (0.6 x 0.8 x 0.3, 0.4 x 0.3 x 0.7)
    close(result.posteriors["S_b"], [7 / 19, 12 / 19])
    assert result.log_evidence == pytest.approx(np.log(0.228), rel=CLOSE)


# --- trees --------------------------------------------------------------------------------------------


@thorough
@given(st.data())
def test_messages_into_a_state_multiply_to_its_posterior(data: st.DataObject) -> None:
    spec = data.draw(models(loops=False))
    evidence = data.draw(evidences(spec))
    result = i_step(spec.build(), evidence)
    expected, _ = oracle.posteriors(spec, evidence)
    for state in spec.priors:
        product = np.prod([m for (_, target), m in result.messages.items() if target == state], axis=0)
        close(product / product.sum(), expected[state], state)


@thorough
@given(st.data())
def test_each_message_is_what_the_part_of_the_tree_behind_it_says(data: st.DataObject) -> None:
    spec = data.draw(models(loops=False, max_states=4))
    evidence = data.draw(evidences(spec))
    messages = i_step(spec.build(), evidence).messages
    uniform = {state: np.full(len(prior), 1 / len(prior)) for state, prior in spec.priors.items()}

    def without(*names: str) -> dict[str, object]:
        return {name: value for name, value in evidence.items() if name not in names}

    for state, prior in spec.priors.items():
        around = [name for name, factor in spec.likelihoods.items() if state in factor.parents]
        flat = {**spec.priors, state: uniform[state]}
        close(messages["f_" + state, state], prior, state)
        close(messages[state, "f_" + state], oracle.posteriors(spec, evidence, flat)[0][state], state)
        for name in around:
            others = [other for other in around if other != name]
            before = oracle.posteriors(spec, without(name))[0][state]
            close(messages[state, "f_" + name], before, (state, name))
            said = oracle.posteriors(spec, without(*others), flat)[0][state]
            close(messages["f_" + name, state], said, (name, state))
    for name in spec.likelihoods:
        size = spec.sizes[name]
        seen = oracle.evidence_vector(evidence.get(name), size)
        close(messages[name, "f_" + name], seen / seen.sum(), name)
        chances = [oracle.joint(spec, without(name) | {name: outcome}).sum() for outcome in range(size)]
        close(messages["f_" + name, name], np.array(chances) / sum(chances), name)


# --- junction trees -----------------------------------------------------------------------------------


def test_messages_of_two_switches_seen_together_twice() -> None:
    more = [[[0.9, 0.5], [0.5, 0.1]], [[0.1, 0.5], [0.5, 0.9]]]
    ts = switches().add_observation("O_more", more, ["S_a", "S_b"]).build()
    result = i_step(ts, {"O_lamp": 1, "O_more": 0})
    # The joint is 0.6 x 0.3 x 0.5 for (0, 1) and 0.4 x 0.7 x 0.5 for (1, 0).
    assert result.log_evidence == pytest.approx(np.log(0.23), rel=CLOSE)
    close(result.posteriors["S_a"], [9 / 23, 14 / 23])
    close(result.posteriors["S_b"], [14 / 23, 9 / 23])
    assert result.messages.keys() == {("{S_a, S_b}", "{S_b}"), ("{S_b}", "{S_a, S_b}")}
    close(result.messages["{S_a, S_b}", "{S_b}"], [0.4, 0.6])  # S_a summed out: (0.4 x 0.5, 0.6 x 0.5)
    close(result.messages["{S_b}", "{S_a, S_b}"], [14 / 23, 9 / 23])


def scope_of(clique: str) -> list[str]:
    return clique.strip("{}").split(", ")


def marginal(table: Array, spec: Spec, keep: list[str]) -> Array:
    """A joint table over all states, normalised and summed down to `keep`, axes in the order of `keep`."""
    states = list(spec.priors)
    table = table.sum(axis=tuple(i for i, state in enumerate(states) if state not in keep)) / table.sum()
    left = [state for state in states if state in keep]
    return np.asarray(table.transpose([left.index(state) for state in keep]))


def below(result: Inference, clique: str) -> set[str]:
    """The states summed out in a clique and in all that report to it."""
    reporting = [a for a, b in result.messages if b == clique and scope_of(b)[0] not in scope_of(a)[:1] and up(a, b)]
    return {scope_of(clique)[0]}.union(*(below(result, child) for child in reporting))


def up(source: str, target: str) -> bool:
    """Whether a message runs upward: its first variable has been summed out and is not in the target."""
    return scope_of(source)[0] not in scope_of(target)


@thorough
@given(st.data())
def test_each_message_between_cliques_is_what_enumeration_finds(data: st.DataObject) -> None:
    spec = data.draw(models(loops=True, max_states=4))
    evidence = data.draw(evidences(spec))
    result = i_step(spec.build(), evidence)
    for source, target in result.messages:
        message = result.messages[source, target]
        if up(source, target):
            # All that concerns the states below, and nothing else: flat priors and no evidence for the rest.
            states = below(result, source)
            prior = {s: p if s in states else np.full(len(p), 1 / len(p)) for s, p in spec.priors.items()}
            said = {n: e for n, e in evidence.items() if states & set(spec.likelihoods[n].parents)}
            expected = marginal(oracle.joint(spec, said, prior), spec, scope_of(source)[1:])
        else:
            expected = marginal(oracle.joint(spec, evidence), spec, scope_of(target)[1:])
        close(message, expected, (source, target))
