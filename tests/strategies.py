"""Random models and evidence for Hypothesis.

The structure (counts, sizes, parents, kinds of table) is drawn by Hypothesis, so it shrinks to the smallest
model that fails; the numbers come from a generator with a drawn seed, so that they are generic reals and two
costs are never equal by accident of small numbers. What the models may contain is set by the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st
from oracle import evidence_vector
from spec import Array, Beliefs, Evidence, Factor, Group, Spec

ACTION = "A_0"
SEEDS = st.integers(0, 2**32 - 1)
EvidenceKind = Literal["missing", "index", "one_hot", "soft"]
EVIDENCE_KINDS: tuple[EvidenceKind, ...] = ("missing", "index", "one_hot", "soft")

# --- tables -------------------------------------------------------------------------------------------


def _table(draw: st.DrawFn, rng: np.random.Generator, shape: tuple[int, ...], zeros: bool) -> Array:
    """A random conditional table: every column (axis 0) sums to 1, with or without exact zeros."""
    kinds = ["positive", "noisy_identity"] + (["identity", "one_hot", "sparse"] if zeros else [])
    return _columns(rng, shape, draw(st.sampled_from(kinds)))


def _columns(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    n = shape[0]
    copied = np.indices(shape[1:])[0] if shape[1:] else np.array(0)  # the first parent's value
    copy = np.moveaxis(np.eye(n)[copied % n], -1, 0)
    arbitrary = np.moveaxis(np.eye(n)[rng.integers(n, size=shape[1:])], -1, 0)
    weights = {
        "positive": rng.uniform(0.05, 1.0, size=shape),
        "noisy_identity": copy + rng.uniform(0.01, 0.2),
        "identity": copy,
        "one_hot": arbitrary,
        "sparse": rng.uniform(0.05, 1.0, size=shape) * ((rng.random(shape) < 0.5) | (arbitrary > 0)),
    }[kind]
    return np.asarray(weights / weights.sum(axis=0), dtype=np.float64)


# --- structure ------------------------------------------------------------------------------------------


def _names(draw: st.DrawFn, prefix: str, count: int) -> list[str]:
    """Names in the order of declaration, which need not be the alphabetical one."""
    return [f"{prefix}_{i}" for i in draw(st.permutations(range(count)))]


def _some(draw: st.DrawFn, names: list[str], least: int, most: int) -> list[str]:
    """From `least` to `most` of the names, in any order."""
    count = draw(st.integers(min(least, len(names)), min(most, len(names))))
    return draw(st.permutations(names))[:count]


def _observation_parents(
    draw: st.DrawFn, states: list[str], count: int, most: int, loops: bool | None
) -> list[list[str]]:
    """Parents for each of `count` observations; `loops`: may (None), must or must not be."""
    component = {state: state for state in states}
    chosen = []
    pair = draw(st.permutations(states))[:2] if loops else []
    for i in range(count):
        parents = _some(draw, states, 1, most)
        if loops and i < 2:  # two observations with two parents in common close a loop
            parents = draw(st.permutations(pair))
        if loops is False:  # one parent of each component that is already connected
            parents = list({component[parent]: parent for parent in parents}.values())
        joined = {component[parent] for parent in parents}
        component = {s: component[parents[0]] if c in joined else c for s, c in component.items()}
        chosen.append(list(parents))
    return chosen


def _groups(draw: st.DrawFn, observations: list[str], most: int) -> list[Group]:
    """Disjoint groups of observations in any order of groups and axes; some observations in none."""
    left = draw(st.permutations(observations))[: draw(st.integers(0, len(observations)))]
    groups = []
    while left:
        size = draw(st.integers(1, min(most, len(left))))
        groups.append(tuple(left[:size]))
        left = left[size:]
    return groups


@st.composite
def models(
    draw: st.DrawFn,
    *,
    max_states: int = 5,
    min_observations: int = 0,
    max_observations: int = 6,
    max_size: int = 5,
    min_actions: int = 1,
    max_actions: int = 4,
    max_parents: int = 3,
    max_group: int = 3,
    loops: bool | None = None,
    zeros: bool = True,
    preferences: bool | None = None,
) -> Spec:
    """A random model.

    `loops` and `preferences`: None may have them, True has at least one, False has none. `zeros=False` makes
    every table strictly positive. Preferences always are.
    """
    rng = np.random.default_rng(draw(SEEDS))
    sizes = st.integers(1, max_size)
    states = _names(draw, "S", draw(st.integers(2 if loops else 1, max_states)))
    least = max(min_observations, 2 if loops else 0, 1 if preferences else 0)
    observations = _names(draw, "O", draw(st.integers(least, max_observations)))
    n_actions = draw(st.integers(min_actions, max_actions))
    size = {name: draw(sizes) for name in [*states, *observations]} | {ACTION: n_actions}

    def factor(name: str, parents: list[str]) -> Factor:
        shape = (size[name], *(size[parent] for parent in parents))
        return Factor(_table(draw, rng, shape, zeros), tuple(parents))

    seen_by = _observation_parents(draw, states, len(observations), max_parents, loops)
    groups = [] if preferences is False else _groups(draw, observations, max_group)
    if preferences and not groups:
        groups = [(observations[0],)]
    return Spec(
        action=ACTION,
        n_actions=n_actions,
        priors={state: _table(draw, rng, (size[state],), zeros) for state in states},
        likelihoods={name: factor(name, parents) for name, parents in zip(observations, seen_by, strict=True)},
        transitions={
            state: factor(state, _transition_parents(draw, states, max_parents))
            for state in draw(st.permutations(states))
        },
        preferences={g: _preference(draw, rng, tuple(size[name] for name in g)) for g in groups},
    )


def _transition_parents(draw: st.DrawFn, states: list[str], most: int) -> list[str]:
    """Up to `most` states and perhaps the action, in any order; at least one parent."""
    parents = _some(draw, states, 0, most)
    if not parents or draw(st.sampled_from([True, True, False])):
        parents.insert(draw(st.integers(0, len(parents))), ACTION)
    return parents


def _preference(draw: st.DrawFn, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """A strictly positive joint table: generic, or a few liked cells before a flat background."""
    weights = rng.uniform(0.05, 1.0, size=shape)
    if draw(st.booleans()):
        weights = np.where(rng.random(shape) < 0.3, weights, 0.05)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


@st.composite
def tie_models(draw: st.DrawFn, /, **options: Any) -> Spec:
    """A model where at least two actions have equal tables (`Spec.twins`); `options` as for `models`."""
    spec = draw(models(**({"min_actions": 2} | options)))
    one, other = sorted(draw(st.permutations(range(spec.n_actions)))[:2])
    transitions = {}
    for state, factor in spec.transitions.items():
        table = factor.table.copy()
        if ACTION in factor.parents:
            by_action = np.moveaxis(table, 1 + factor.parents.index(ACTION), 0)  # a view
            by_action[other] = by_action[one]
        transitions[state] = Factor(table, factor.parents)
    return replace(spec, transitions=transitions)


# --- evidence -------------------------------------------------------------------------------------------


def sample(spec: Spec, rng: np.random.Generator, prior: Beliefs | None = None) -> dict[str, int]:
    """An outcome of every observation, drawn from the model, hence possible under it."""
    prior = spec.priors if prior is None else prior
    states = {name: int(rng.choice(len(p), p=p / p.sum())) for name, p in prior.items()}
    outcomes = {}
    for name, factor in spec.likelihoods.items():
        column = factor.column(states[parent] for parent in factor.parents)
        outcomes[name] = int(rng.choice(len(column), p=column / column.sum()))
    return outcomes


@st.composite
def evidences(
    draw: st.DrawFn,
    spec: Spec,
    *,
    prior: Mapping[str, Array] | None = None,
    possible: bool = True,
    kinds: tuple[EvidenceKind, ...] = EVIDENCE_KINDS,
) -> Evidence:
    """Evidence for one cycle: per observation an index, a one-hot or soft vector, or no entry at all.

    It has positive probability under `prior` (the declared one by default), unless `possible=False`, which
    takes any outcomes: then it may be impossible where the model has zeros.
    """
    rng = np.random.default_rng(draw(SEEDS))
    outcomes = sample(spec, rng, prior)
    if not possible:
        outcomes = {name: int(rng.integers(spec.sizes[name])) for name in outcomes}
    evidence: dict[str, Any] = {}
    for name, outcome in outcomes.items():
        kind = draw(st.sampled_from(kinds))
        if kind == "index":
            evidence[name] = outcome
        elif kind == "one_hot":
            evidence[name] = evidence_vector(outcome, spec.sizes[name])
        elif kind == "soft":
            evidence[name] = _soft(rng, outcome, spec.sizes[name])
    return evidence


def _soft(rng: np.random.Generator, outcome: int, size: int) -> Array:
    """A likelihood vector, not normalised, with some zeros but not at the outcome that happened."""
    vector = rng.uniform(0.05, 1.0, size=size) * (rng.random(size) < 0.7)
    vector[outcome] = rng.uniform(0.05, 1.0)
    return vector
