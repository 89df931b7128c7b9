"""The generators give what they promise: lawful models, every feature among them, possible evidence."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import Phase, find, given, settings
from spec import Factor, Spec
from strategies import ACTION, evidences, models, tie_models

quick = settings(max_examples=60)
exists = settings(max_examples=2000, database=None, derandomize=True, phases=[Phase.generate])


def assert_lawful(spec: Spec) -> None:
    sizes = spec.sizes
    assert all(prior.sum() == pytest.approx(1) and (prior >= 0).all() for prior in spec.priors.values())
    for name, factor in [*spec.likelihoods.items(), *spec.transitions.items()]:
        assert factor.table.shape == (sizes[name], *(sizes[parent] for parent in factor.parents))
        assert len(set(factor.parents)) == len(factor.parents) > 0
        np.testing.assert_allclose(factor.table.sum(axis=0), 1)
        assert (factor.table >= 0).all()
    assert all(set(factor.parents) <= set(spec.priors) for factor in spec.likelihoods.values())
    assert all(set(factor.parents) <= {*spec.priors, ACTION} for factor in spec.transitions.values())
    assert spec.transitions.keys() == spec.priors.keys()
    grouped = list(itertools.chain.from_iterable(spec.preferences))
    assert len(set(grouped)) == len(grouped)
    assert set(grouped) <= set(spec.likelihoods)
    for group, table in spec.preferences.items():
        assert table.shape == tuple(sizes[name] for name in group)
        assert table.sum() == pytest.approx(1)
        assert (table > 0).all()


@quick
@given(models())
def test_models_are_lawful(spec: Spec) -> None:
    assert_lawful(spec)


def any_table(spec: Spec, accept: Callable[[Factor], bool]) -> bool:
    return any(accept(factor) for factor in [*spec.likelihoods.values(), *spec.transitions.values()])


def is_exact_identity(factor: Factor) -> bool:
    return len(factor.table) > 1 and np.array_equal(factor.table, np.eye(len(factor.table)))


def is_noisy_identity(factor: Factor) -> bool:
    values = np.unique(factor.table)
    n = len(factor.table)
    return n > 1 and len(values) == 2 and np.array_equal(factor.table, np.where(np.eye(n), values[1], values[0]))


FEATURES: dict[str, Callable[[Spec], bool]] = {
    "loops": lambda m: m.has_loops,
    "five states": lambda m: len(m.priors) == 5,
    "no observation": lambda m: not m.likelihoods,
    "six observations": lambda m: len(m.likelihoods) == 6,
    "three parents out of order": lambda m: any(
        len(f.parents) == 3 and list(f.parents) != sorted(f.parents, key=list(m.priors).index)
        for f in m.likelihoods.values()
    ),
    "names out of order": lambda m: list(m.priors) != sorted(m.priors),
    "one action": lambda m: m.n_actions == 1,
    "action in the middle": lambda m: any(ACTION in f.parents[1:-1] for f in m.transitions.values()),
    "action absent": lambda m: any(ACTION not in f.parents for f in m.transitions.values()),
    "action alone": lambda m: any(f.parents == (ACTION,) for f in m.transitions.values()),
    "state not its own parent": lambda m: any(s not in f.parents for s, f in m.transitions.items()),
    "zeros": lambda m: any_table(m, lambda f: bool((f.table == 0).any())),
    "exact identity": lambda m: any_table(m, is_exact_identity),
    "zeros among generic values": lambda m: any_table(
        m, lambda f: bool((f.table == 0).any() and ((f.table > 0) & (f.table < 1)).any())
    ),
    "noisy identity": lambda m: any_table(m, is_noisy_identity),
    "preference with a flat background": lambda m: any(
        1 < len(np.unique(table)) < table.size for table in m.preferences.values()
    ),
    "group of three": lambda m: any(len(group) == 3 for group in m.preferences),
    "group out of order": lambda m: any(
        list(group) != sorted(group, key=list(m.likelihoods).index) for group in m.preferences
    ),
    "observations without preference": lambda m: len(m.likelihoods) > sum(map(len, m.preferences)),
    "no preferences": lambda m: not m.preferences,
}


@pytest.mark.parametrize("feature", FEATURES)
def test_models_include(feature: str) -> None:
    found = find(models(), FEATURES[feature], settings=exists)  # raises where there is none
    assert_lawful(found)


@quick
@given(models(loops=False))
def test_models_without_loops_have_none(spec: Spec) -> None:
    assert_lawful(spec)
    assert not spec.has_loops


@quick
@given(models(loops=True, preferences=True, zeros=False))
def test_models_have_what_is_asked(spec: Spec) -> None:
    assert_lawful(spec)
    assert spec.has_loops
    assert spec.preferences
    assert not any_table(spec, lambda f: bool((f.table == 0).any()))


@quick
@given(tie_models())
def test_tie_models_have_twin_actions(spec: Spec) -> None:
    assert_lawful(spec)
    assert any(spec.twins(a, b) for a, b in itertools.combinations(range(spec.n_actions), 2))


@quick
@given(st.data())
def test_evidence_is_possible_in_both_cycles(data: st.DataObject) -> None:
    spec = data.draw(models(max_states=3, max_observations=4))
    beliefs, _ = oracle.posteriors(spec, data.draw(evidences(spec)))  # raises where it is impossible
    prior = oracle.predict(spec, beliefs, 0).states
    oracle.posteriors(spec, data.draw(evidences(spec, prior=prior)), prior)


def test_evidence_may_be_impossible_when_asked() -> None:
    def impossible(case: tuple[Spec, dict[str, int]]) -> bool:
        spec, evidence = case
        return bool(oracle.joint(spec, evidence).sum() == 0)

    small = models(max_states=2, max_size=2, max_observations=2)
    cases = small.flatmap(lambda m: st.tuples(st.just(m), evidences(m, possible=False, kinds=("index",))))
    assert impossible(find(cases, impossible, settings=exists))


def seen(*parents: tuple[str, ...]) -> Spec:
    """Four binary states and one observation per entry, looking at these parents."""
    states = ("S_0", "S_1", "S_2", "S_3")
    flat = {f"O_{i}": Factor(np.full([2] * (1 + len(p)), 0.5), p) for i, p in enumerate(parents)}
    stay = {name: Factor(np.eye(2), (name,)) for name in states}
    return Spec(ACTION, 2, {name: np.full(2, 0.5) for name in states}, flat, stay, {})


@pytest.mark.parametrize(
    ("spec", "loops"),
    [
        (seen(), False),
        (seen(("S_0", "S_1", "S_2"), ("S_2", "S_3"), ("S_0",), ("S_0",)), False),
        (seen(("S_0", "S_1"), ("S_2", "S_3"), ("S_3", "S_1")), False),
        (seen(("S_0", "S_1"), ("S_1", "S_0")), True),
        (seen(("S_0", "S_1"), ("S_2", "S_3"), ("S_3", "S_1"), ("S_2", "S_0")), True),
    ],
)
def test_loops_are_recognised(spec: Spec, loops: bool) -> None:
    assert spec.has_loops == loops


def test_twins_have_equal_tables_in_every_transition() -> None:
    spec = seen()
    assert spec.twins(0, 1)  # nothing listens to the action
    spec.transitions["S_3"] = Factor(np.eye(2), (ACTION,))  # type: ignore[index]
    assert not spec.twins(0, 1)
