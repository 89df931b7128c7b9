"""The same model, options and observations give the same results, and nothing passed in is touched or kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest
from golden import own_figures, own_names
from hand_made import LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from spec import Factor, Spec
from strategies import evidences, models

from btai import BTAI_3MF, BTAI_BF, BTAI_VMP
from btai.planning import TreeView

some = settings(max_examples=40)


def course(agent: BTAI_3MF, evidence: Mapping[str, Any], cycles: int = 3) -> list[Any]:
    """All that an agent believes, searches and does, in bytes."""
    seen: list[Any] = []
    agent.reset(evidence)
    for _ in range(cycles):
        action = agent.step()
        tree = agent.tree
        seen += [action, *(belief.tobytes() for belief in agent.beliefs.values())]
        seen += [array.tobytes() for array in (tree.expanded, tree.visits, tree.cost, tree.efe)]
        agent.update(action, {})
    return seen


@some
@given(models(max_states=3, max_observations=3, max_size=3), st.data())
def test_same_model_options_and_observations_give_the_same_bits(spec: Spec, data: st.DataObject) -> None:
    evidence = data.draw(evidences(spec))
    for engine in ("compiled", "numpy"):
        first = course(BTAI_3MF(spec.build(), 8, engine=engine), evidence)
        assert course(BTAI_3MF(spec.build(), 8, engine=engine), evidence) == first


@pytest.mark.parametrize("name", own_names())
def test_agent_repeats_its_trial_bit_for_bit_after_reset(name: str) -> None:
    figures = own_figures(name)
    agent = BTAI_3MF(figures.spec.build(), 8)
    assert course(agent, figures.evidence) == course(agent, figures.evidence)


@pytest.mark.parametrize("kind", [BTAI_3MF, BTAI_BF, BTAI_VMP])
def test_same_seed_draws_the_same_actions(kind: type[BTAI_3MF | BTAI_BF | BTAI_VMP]) -> None:
    noisy = np.array([[0.9, 0.2], [0.1, 0.8]])  # without a zero, for BTAI_VMP
    seen, led = {"O_0": Factor(noisy, ("S_0",))}, {"S_0": Factor(noisy, ("A_pull",))}
    ts = replace(LEVER, likelihoods=seen, transitions=led).build()
    agent = kind(ts, 1, action_selection="softmax", precision=0.1, rng=np.random.default_rng(0))

    def drawn(seed: int) -> list[int]:
        agent.seeded(seed)
        actions = []
        for _ in range(20):
            agent.reset({})
            actions.append(agent.step())
        return actions

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_agents_of_one_slice_do_not_disturb_each_other() -> None:
    figures = own_figures("absorbing")
    ts = figures.spec.build()
    alone = course(BTAI_3MF(ts, 8), figures.evidence)
    one, other = BTAI_3MF(ts, 8), BTAI_3MF(ts, 8)
    one.reset(figures.evidence)
    one.plan(3)
    other.reset({})
    other.plan(5)
    one.plan(5)
    assert one.choose() == alone[0]
    assert one.tree.cost.tobytes() in alone


def evidence_vectors(spec: Spec) -> dict[str, Any]:
    sizes = spec.sizes
    return {name: np.linspace(1.0, 2.0, sizes[name]) for name in spec.likelihoods}


def test_nothing_passed_in_is_changed() -> None:
    spec = own_figures("loop").spec
    evidence = evidence_vectors(spec)
    for vector in evidence.values():
        vector.flags.writeable = False  # a write would raise
    names = list(evidence)
    agent = BTAI_3MF(spec.build(), 5)
    agent.reset(evidence)
    agent.update(agent.step(), evidence)
    agent.step()
    assert list(evidence) == names
    for name, vector in evidence_vectors(spec).items():
        assert_array_equal(evidence[name], vector)


def test_agent_is_not_affected_by_later_changes_of_what_was_passed_in() -> None:
    spec = own_figures("loop").spec
    evidence = evidence_vectors(spec)
    touched, untouched = BTAI_3MF(spec.build(), 5), BTAI_3MF(spec.build(), 5)
    touched.reset(evidence)
    untouched.reset(evidence_vectors(spec))
    for vector in evidence.values():
        vector[:] = 0.0
    evidence.clear()
    assert touched.inference.log_evidence == untouched.inference.log_evidence
    assert touched.step() == untouched.step()
    touched.update(0, {})
    untouched.update(0, {})
    for name, belief in untouched.beliefs.items():
        assert touched.beliefs[name].tobytes() == belief.tobytes()


@pytest.mark.parametrize("what", ["beliefs", "prior"])
def test_beliefs_are_read_only(what: str) -> None:
    agent = BTAI_3MF(LEVER.build())
    agent.reset({})
    with pytest.raises(ValueError, match="read-only"):
        getattr(agent, what)["S_0"][0] = 1


def test_beliefs_taken_before_an_update_stay_as_they_were() -> None:
    agent = BTAI_3MF(LEVER.build(), 3)
    agent.reset({})
    beliefs, tree = agent.beliefs, agent.tree
    agent.step()
    agent.update(1, {"O_0": 1})
    assert beliefs["S_0"].tolist() == [0.5, 0.5]
    assert len(tree) == 1


# --- the order of the actions is only a name --------------------------------------------------------------------


def with_actions_permuted(spec: Spec, order: list[int]) -> Spec:
    """The same model, its action `i` being what action `order[i]` was."""

    def permuted(factor: Factor) -> Factor:
        if spec.action not in factor.parents:
            return factor
        return Factor(np.take(factor.table, order, axis=1 + factor.parents.index(spec.action)), factor.parents)

    return replace(spec, transitions={state: permuted(factor) for state, factor in spec.transitions.items()})


def nodes_by_path(tree: TreeView, order: list[int]) -> dict[tuple[int, ...], tuple[int, float, float]]:
    """Visits, cost and own cost of every node by the actions that lead to it, named as before the permutation."""
    return {tuple(order[a] for a in node.path): (node.visits, node.cost, node.efe) for node in list(tree)[1:]}


@some
@given(models(max_states=2, max_observations=3, max_size=3, min_actions=2), st.data())
def test_permuting_actions_permutes_the_results(spec: Spec, data: st.DataObject) -> None:
    iterations = 8
    order = data.draw(st.permutations(range(spec.n_actions)))
    evidence = data.draw(evidences(spec))
    agent, permuted = BTAI_3MF(spec.build()), BTAI_3MF(with_actions_permuted(spec, order).build())
    agent.reset(evidence)
    permuted.reset(evidence)
    agent.plan(1)
    permuted.plan(1)
    identity = list(range(spec.n_actions))
    assert nodes_by_path(permuted.tree, order) == nodes_by_path(agent.tree, identity)
    twins = any(spec.twins(a, b) for a in identity for b in identity[:a])
    search = oracle.search(spec, oracle.posteriors(spec, evidence)[0], iterations, agent.exp_const)
    if not twins and search.margin > 1e-9:  # no tie, which the index would break
        agent.plan(iterations - 1)
        permuted.plan(iterations - 1)
        assert nodes_by_path(permuted.tree, order) == nodes_by_path(agent.tree, identity)


@pytest.mark.parametrize("order", [[1, 0, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]])
def test_permuting_actions_permutes_the_whole_tree_and_the_choice(order: list[int]) -> None:
    figures = own_figures("absorbing")
    agent = BTAI_3MF(figures.spec.build(), figures.iterations, figures.exp_const)
    permuted = BTAI_3MF(with_actions_permuted(figures.spec, order).build(), figures.iterations, figures.exp_const)
    agent.reset(figures.evidence)
    permuted.reset(figures.evidence)
    assert order[permuted.step()] == agent.step()
    assert nodes_by_path(permuted.tree, order) == nodes_by_path(agent.tree, [0, 1, 2, 3])
