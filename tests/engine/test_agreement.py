"""The compiled engine and the readable path give the same: beliefs, expected free energies, trees, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest
from golden import AUTHORS, N_AUTHORS_MODELS, OwnFigures, authors_figures, own_figures, own_names
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Evidence, Factor, Spec
from strategies import evidences, models, tie_models

from btai import BTAI_3MF
from btai.engine import Model, compile, new_workspace
from btai.envs import dsprites_slice
from btai.errors import ImpossibleObservationError
from btai.planning import TreeView, kernels, new_tree

CLOSE = 1e-12
ITERATIONS = 12

thorough = settings(max_examples=100)
some = settings(thorough, max_examples=40)


def both(spec: Spec, evidence: Evidence, iterations: int = ITERATIONS) -> tuple[BTAI_3MF, BTAI_3MF]:
    """The compiled agent and the NumPy agent, after their first planning."""
    ts = spec.build()
    agents = BTAI_3MF(ts, iterations), BTAI_3MF(ts, iterations, engine="numpy")
    for agent in agents:
        agent.reset(evidence)
        agent.plan(iterations)
    return agents


def assert_same_beliefs(one: BTAI_3MF, other: BTAI_3MF) -> None:
    for what in ("beliefs", "prior"):
        for name, belief in getattr(other, what).items():
            assert_allclose(getattr(one, what)[name], belief, rtol=0, atol=CLOSE, err_msg=name)


def assert_same_trees(one: TreeView, other: TreeView) -> None:
    assert_array_equal(one.expanded, other.expanded)
    assert_array_equal(one.visits, other.visits)
    assert_allclose(one.efe, other.efe, rtol=0, atol=CLOSE)
    assert_allclose(one.cost, other.cost, rtol=0, atol=CLOSE * len(one.expanded))


def outcome(agent: BTAI_3MF, action: int, evidence: Evidence) -> str | None:
    """Update the agent; what it says if the evidence is impossible."""
    try:
        agent.update(action, evidence)
    except ImpossibleObservationError as error:
        return str(error)
    return None


@thorough
@given(models(), st.data())
def test_beliefs_and_trees_are_the_same(spec: Spec, data: st.DataObject) -> None:
    evidence = data.draw(evidences(spec))
    compiled, readable = both(spec, evidence)
    assert_same_beliefs(compiled, readable)
    if compiled.tree.expanded.tolist() == readable.tree.expanded.tolist():
        assert_same_trees(compiled.tree, readable.tree)
    else:  # two nodes tie but for rounding: either may be expanded, but nothing may be given up
        beliefs, _ = oracle.posteriors(spec, evidence)
        for tree in (compiled.tree, readable.tree):
            replayed, regret = oracle.replay(spec, beliefs, tree.expanded.tolist(), compiled.exp_const)
            assert regret < 1e-9
            assert_allclose(tree.efe, replayed.column("efe"), rtol=0, atol=1e-10)


@thorough
@given(models(max_states=3, max_observations=4), st.data())
def test_posteriors_after_an_action_and_refusals_are_the_same(spec: Spec, data: st.DataObject) -> None:
    compiled, readable = both(spec, data.draw(evidences(spec)), iterations=1)
    for _ in range(3):
        action = data.draw(st.integers(0, spec.n_actions - 1))
        evidence = data.draw(evidences(spec, possible=False))
        assert outcome(compiled, action, evidence) == outcome(readable, action, evidence)
        assert_same_beliefs(compiled, readable)


@some
@given(models(loops=True, max_states=4), st.data())
def test_inference_around_loops_is_that_of_enumeration(spec: Spec, data: st.DataObject) -> None:
    evidence = data.draw(evidences(spec))
    agent = BTAI_3MF(spec.build())
    agent.reset(evidence)
    expected, _ = oracle.posteriors(spec, evidence)
    for name, belief in agent.beliefs.items():
        assert_allclose(belief, expected[name], rtol=0, atol=CLOSE)


@some
@given(tie_models(max_states=4, max_observations=4), st.data())
def test_actions_that_nothing_can_tell_apart_tie_exactly(spec: Spec, data: st.DataObject) -> None:
    for agent in both(spec, data.draw(evidences(spec)), iterations=6):
        children = agent.tree.efe[1:].reshape(-1, spec.n_actions)  # of each node expanded
        for one in range(spec.n_actions):
            for other in range(one):
                if spec.twins(one, other):
                    assert children[:, one].tobytes() == children[:, other].tobytes()


# --- stored figures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(N_AUTHORS_MODELS))
def test_search_grows_the_authors_trees(index: int) -> None:
    authors = authors_figures(index)
    agent = BTAI_3MF(authors.spec.build(), exp_const=authors.meta["exp_const"])
    agent.reset(authors.meta["obs1"])
    for name, posterior in authors.under("exact/istep1/").items():
        assert_allclose(agent.beliefs[name], posterior, rtol=0, atol=CLOSE)
    expected = authors.under("plan1/")
    agent.plan(len(expected["expanded_node"]))
    tree = agent.tree
    assert_array_equal(tree.expanded, expected["expanded_node"])
    assert_array_equal(tree.visits, expected["visits"])
    assert_allclose(tree.cost, expected["cost"], rtol=0, atol=1e-10)
    assert_allclose(tree.efe, expected["efe"], rtol=0, atol=1e-10)
    agent.update(int(expected["selected_action"]), authors.meta["obs2"])
    for name, posterior in authors.under("exact/istep2_empirical_prior/").items():
        assert_allclose(agent.beliefs[name], posterior, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
@pytest.mark.parametrize("name", own_names())
def test_both_paths_grow_the_stored_trees(name: str, engine: str) -> None:
    figures: OwnFigures = own_figures(name)
    agent = BTAI_3MF(figures.spec.build(), figures.iterations, figures.exp_const, engine=engine)
    agent.reset(figures.evidence)
    assert agent.step() == figures.expected["chosen_action"]
    expected = figures.expected["tree"]
    assert_array_equal(agent.tree.expanded, expected["expanded"])
    assert_array_equal(agent.tree.visits, expected["visits"])
    assert_allclose(agent.tree.efe, np.array(expected["efe"], dtype=float), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", own_names())
def test_each_agent_of_a_batch_grows_the_stored_tree(name: str) -> None:
    figures: OwnFigures = own_figures(name)
    ts = figures.spec.build()
    agent = BTAI_3MF(ts)
    agent.reset(figures.evidence)
    beliefs = np.tile(ts.state_layout.flat(agent.beliefs), (2, 1))
    program, actions = compile(ts), np.full(2, -1)
    tree, work = new_tree(ts.action.size, figures.iterations), new_workspace(program, figures.iterations)
    model, budgets = Model(program.ops, program.parts, work), np.full(2, figures.iterations)
    kernels.plan_each(tree, model, beliefs, budgets, 0, 2, figures.exp_const, True, True, actions)
    assert actions.tolist() == [figures.expected["chosen_action"]] * 2
    expected = figures.expected["tree"]  # the second agent's, in the tree of the first
    assert_array_equal(tree.expanded, expected["expanded"])
    assert_array_equal(tree.visits, expected["visits"])
    assert_allclose(tree.cost, expected["cost"], rtol=0, atol=1e-10)


# --- dSprites -------------------------------------------------------------------------------------------------------


def observation(state: Array, granularity: int) -> dict[str, int]:
    """What is seen of (shape, scale, orientation, x, y)."""
    shape, scale, orientation, x, y = (int(v) for v in state)
    cells = {"O_pos_x": x // granularity, "O_pos_y": y // granularity}
    return {**cells, "O_shape": shape, "O_scale": scale, "O_orientation": orientation}


def test_200_decisions_on_dsprites_are_the_same() -> None:
    ts = dsprites_slice(granularity=1)
    compiled, readable = BTAI_3MF(ts, 20), BTAI_3MF(ts, 20, engine="numpy")
    for start in np.random.default_rng(0).integers(0, (3, 6, 40, 32, 32), size=(200, 5)):
        chosen = []
        for agent in (compiled, readable):
            agent.reset(observation(start, 1))
            chosen.append(agent.step())
        assert chosen[0] == chosen[1]
        assert_same_beliefs(compiled, readable)
        assert_same_trees(compiled.tree, readable.tree)


@pytest.mark.parametrize(("granularity", "iterations"), [(8, 50), (4, 50), (2, 50), (1, 50), (1, 100), (1, 150)])
def test_first_decisions_on_dsprites_are_the_authors(granularity: int, iterations: int) -> None:
    if not AUTHORS.is_dir():
        pytest.skip("the authors' figures are not here: ../shared/golden is absent")
    with np.load(AUTHORS / "dsprites_first_cycle.npz", allow_pickle=False) as file:
        prefix = f"g{granularity}_n{iterations}/"
        figures = {key.removeprefix(prefix): file[key] for key in file.files if key.startswith(prefix)}
    agent = BTAI_3MF(dsprites_slice(granularity), iterations)
    for i, start in enumerate(figures["initial_state"]):
        agent.reset(observation(start[1:], granularity))  # all but the colour
        agent.step()
        children = slice(1, 5)
        assert_array_equal(agent.tree.visits[children], figures["visits"][i])
        assert_allclose(agent.tree.cost[children], figures["cost"][i], rtol=0, atol=1e-9)
        assert_allclose(agent.tree.efe[children], figures["efe"][i], rtol=0, atol=1e-10)
        assert agent.tree.root.cost == pytest.approx(figures["root_cost"][i], rel=0, abs=1e-9)


# --- what is irrelevant leaves no trace -----------------------------------------------------------------------------


def with_bystander(spec: Spec, first: bool) -> Spec:
    """The same model and a state that nothing listens to, moved by the action and clearly seen."""
    n = 7
    moves = np.stack([np.roll(np.eye(n), action, axis=0) for action in range(spec.n_actions)], axis=2)
    bystander = {"S_bystander": np.full(n, 1 / n)}
    seen = {"O_bystander": Factor(np.eye(n), ("S_bystander",))}
    moved = {"S_bystander": Factor(moves, ("S_bystander", spec.action))}

    def joined(own: Any, other: Any) -> Any:
        return other | dict(own) if first else dict(own) | other

    return replace(
        spec,
        priors=joined(spec.priors, bystander),
        likelihoods=joined(spec.likelihoods, seen),
        transitions=joined(spec.transitions, moved),
    )


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", own_names())
def test_an_irrelevant_state_changes_no_bit_of_the_search(name: str, first: bool) -> None:
    figures = own_figures(name)
    alone = BTAI_3MF(figures.spec.build(), 30)
    accompanied = BTAI_3MF(with_bystander(figures.spec, first).build(), 30)
    alone.reset(figures.evidence)
    accompanied.reset({**figures.evidence, "O_bystander": 3})
    assert accompanied.step() == alone.step()
    for field in ("expanded", "visits", "cost", "efe"):
        assert getattr(accompanied.tree, field).tobytes() == getattr(alone.tree, field).tobytes()
    action = figures.spec.n_actions - 1
    accompanied.update(action, figures.next_evidence)
    alone.update(action, figures.next_evidence)
    assert accompanied.beliefs["S_bystander"][(3 + action) % 7] == 1.0
    for state in figures.spec.priors:
        assert accompanied.beliefs[state].tobytes() == alone.beliefs[state].tobytes()
