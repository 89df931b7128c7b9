"""BTAI_VMP: infers everything since the trial began by variational message passing, plans with hidden futures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import kernel_figures
import numpy as np
import pytest
from hand_made import LEVER
from numpy.testing import assert_allclose, assert_array_equal
from spec import Factor, Spec

from btai import BTAI_BF, BTAI_VMP, TemporalSliceBuilder
from btai.envs import dsprites_flat, dSpritesEnv, dSpritesFlatWrapper
from btai.envs.dsprites import flat_prior
from btai.errors import BtaiError, EvidenceError, PlanningError, TableError
from btai.experiments import run

DOWN = 1
ENGINES = ["compiled", "numpy"]
POSITIVE = kernel_figures.positive()  # two states, three observations, joint parents


def published(granularity: int, iterations: int = 50, **options: Any) -> BTAI_VMP:
    """The published agent of dSprites at the beginning of a trial: a square in the upper left corner."""
    agent = BTAI_VMP(dsprites_flat(granularity, precision=2), iterations, **{"rng": np.random.default_rng(0)} | options)
    agent.reset({"O_sprite": 0}, {"S_sprite": flat_prior(granularity, 0)})
    return agent


def agent_of(spec: Spec, iterations: int = 9, **options: Any) -> BTAI_VMP:
    return BTAI_VMP(spec.build(), iterations, **{"rng": np.random.default_rng(0)} | options)


# --- the figures of independent programs ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("granularity", "largest"), [(8, 0.9999809777), (4, 0.9999947799)])
def test_first_beliefs_are_those_known_of_the_published_agent(granularity: int, largest: float, engine: str) -> None:
    beliefs = published(granularity, engine=engine).beliefs["S_sprite"]
    assert beliefs.argmax() == 0
    assert beliefs[0] == pytest.approx(largest, abs=5e-11)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("granularity", "believed", "far", "near", "entropy"),
    [(8, 0.99997922, 11.109494, 1.211207, 0.0967769), (4, 0.99999423, 11.109881, 1.210351, 0.1097079)],
)
def test_moves_down_are_believed_and_cost_what_is_known_of_the_published_agent(
    granularity: int, believed: float, far: float, near: float, entropy: float, engine: str
) -> None:
    agent = published(granularity, engine=engine)
    assert_allclose(agent.ts.observations["O_sprite"].entropies, entropy, rtol=0, atol=5e-8)
    agent.plan(50)
    node = agent.tree.root
    for cost in (far, far, far, near):
        node = node.children[DOWN]
        assert node.beliefs["S_sprite"].max() == pytest.approx(believed, abs=5e-9)
        if granularity == 8:
            assert node.predicted_observations["O_sprite"].max() == pytest.approx(0.98999819, abs=5e-9)
        assert node.expected_free_energy.total == pytest.approx(cost, abs=5e-7)
        assert node.efe == pytest.approx(cost, abs=1e-6)  # as the search used it: rounded


@pytest.mark.parametrize("engine", ENGINES)
def test_surprise_is_put_down_to_noise_to_chance_and_to_the_action_as_in_the_published_agent(engine: str) -> None:
    agent = published(8, engine=engine)
    agent.update(DOWN, {"O_sprite": 7})
    assert agent.beliefs["S_sprite"][7] == pytest.approx(0.938036, abs=5e-7)
    assert agent.beliefs["S_sprite"][1] == pytest.approx(0.052564, abs=5e-7)
    assert agent.past.action(0)[DOWN] == pytest.approx(0.922995, abs=5e-7)


def costs_of_moves_down(kind: type[BTAI_BF] | type[BTAI_VMP], noise: float) -> list[float]:
    """What the agent expects of moving down four times from the upper left corner, by such noise in all tables."""
    ts = dsprites_flat(8, precision=2, noise=noise, transition_noise=noise)
    agent = kind(ts, rng=np.random.default_rng(0))
    agent.reset({"O_sprite": 0}, {"S_sprite": flat_prior(8, 0)})
    agent.plan(400)
    node, costs = agent.tree.root, []
    for _ in range(4):
        node = node.children[DOWN]
        costs.append(node.expected_free_energy.total)
    return costs


def test_filter_expects_the_same_where_all_is_nearly_certain_and_only_there() -> None:
    assert_allclose(costs_of_moves_down(BTAI_BF, 1e-6), costs_of_moves_down(BTAI_VMP, 1e-6), rtol=0, atol=1e-4)
    filtered, committed = (np.array(costs_of_moves_down(kind, 0.01)) for kind in (BTAI_BF, BTAI_VMP))
    assert (np.abs(filtered - committed) > 0.05).all()


# --- the search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_root_begins_unvisited_in_every_cycle(engine: str) -> None:
    agent = agent_of(POSITIVE, 9, engine=engine)
    agent.reset({})
    for _ in range(2):
        assert (len(agent.tree), agent.tree.root.visits, agent.tree.root.cost) == (1, 0, 0.0)
        action = agent.step()
        tree = agent.tree
        best = [min(child.efe for child in tree[node].children) for node in tree.expanded]
        assert tree.root.visits == 9
        assert sum(child.visits for child in tree.root.children) == 9 - 1 + 2
        assert tree.root.cost == sum(best)  # exactly: costs are multiples of 2^-20, so their sums are exact
        agent.update(action, {"O_b": 1})


@pytest.mark.parametrize("engine", ENGINES)
def test_first_of_equals_is_expanded_where_costs_differ_by_no_more_than_an_echo(engine: str) -> None:
    agent = published(8, 21, engine=engine)
    agent.plan(1)
    exact = [node.expected_free_energy.total for node in agent.tree.root.children]
    assert 0 < max(exact) - min(exact) < 1e-10
    assert len({node.efe for node in agent.tree.root.children}) == 1
    agent.plan(20)
    # The root, its children one after the other, then the children of each for the first action, and so on.
    assert agent.tree.expanded.tolist() == [0, 1, 2, 3, 4, 5, 9, 13, 17, 6, 10, 14, 18, 7, 11, 15, 19, 8, 12, 16, 20]


def test_explanation_is_made_of_the_terms_of_the_futures_as_they_were_inferred() -> None:
    agent = agent_of(POSITIVE, 20, action_selection="lowest_cost")
    agent.reset({"O_b": 0})
    agent.step()
    for summary in agent.explain().actions:
        assert sum(summary.terms.values()) == pytest.approx(summary.mean_cost, abs=1e-6)
        assert not math.isclose(summary.terms["ambiguity of O_a"], 0)


def test_action_is_drawn_by_the_mean_costs_with_precision_a_hundred() -> None:
    assert (agent_of(POSITIVE).options.action_selection, agent_of(POSITIVE).options.precision) == ("softmax", 100)
    agent = agent_of(POSITIVE, 1, action_selection="lowest_cost")
    agent.reset({})
    agent.step()
    costs = [child.mean_cost for child in agent.tree.root.children]
    cheaper = int(np.argmin(costs))
    agent = agent_of(POSITIVE, 1, precision=1 / (max(costs) - min(costs)))  # odds of e
    counts: Counter[int] = Counter()
    draws = 1500
    for _ in range(draws):
        agent.reset({})
        counts[agent.step()] += 1
    p = math.e / (1 + math.e)
    assert abs(counts[cheaper] - draws * p) < 4 * math.sqrt(draws * p * (1 - p))


# --- what is kept ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_past_is_the_whole_chain_and_later_observations_change_it(engine: str) -> None:
    agent = agent_of(POSITIVE, engine=engine)
    agent.reset({"O_b": 0})
    first = agent.past
    for time, action in enumerate((1, 0, 1)):
        agent.update(action, {"O_a": time, "O_b": 1})
    assert (first.time, agent.past.time) == (0, 3)
    for time in range(4):
        assert {name: belief.shape for name, belief in agent.past.states(time).items()} == {"S_a": (2,), "S_b": (3,)}
    assert [agent.past.action(time).argmax() for time in range(3)] == [1, 0, 1]
    assert not np.allclose(agent.past.states(0)["S_b"], first.states(0)["S_b"])
    for name, belief in agent.beliefs.items():
        assert_array_equal(belief, agent.past.states(3)[name])
    with pytest.raises(ValueError, match="read-only"):
        agent.past.states(0)["S_a"][0] = 1
    agent.reset({})
    assert agent.past.time == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_prior_is_that_of_the_trial_and_then_what_the_past_says(engine: str) -> None:
    agent = agent_of(POSITIVE, engine=engine)
    agent.reset({})
    assert_array_equal(agent.prior["S_a"], agent.ts.states["S_a"].prior)
    given = {"S_a": np.array([0.25, 0.75]), "S_b": np.full(3, 1 / 3)}
    agent.reset({}, given)
    assert_array_equal(agent.prior["S_a"], given["S_a"])
    agent.update(1, {})
    # Nothing was observed, so nothing else is heard than the past.
    for name, belief in agent.prior.items():
        assert_allclose(belief, agent.beliefs[name], rtol=0, atol=1e-12)
    assert not np.allclose(agent.beliefs["S_a"], given["S_a"])


@pytest.mark.parametrize("engine", ENGINES)
def test_evidence_tells_what_was_observed_last(engine: str) -> None:
    agent = agent_of(POSITIVE, engine=engine)
    agent.reset({"O_b": 1})
    assert_array_equal(agent.evidence["O_b"], [0.0, 1.0])
    assert not agent.evidence["O_b"].flags.writeable
    agent.update(0, {})
    assert agent.evidence == {}


@pytest.mark.parametrize("name", ["beliefs", "evidence", "inference", "past", "prior", "tree", "unsettled"])
def test_nothing_can_be_looked_at_before_reset(name: str) -> None:
    with pytest.raises(PlanningError, match=rf"{name}: the agent has observed nothing yet"):
        getattr(agent_of(POSITIVE), name)


# --- whether it settled ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_agent_says_that_its_beliefs_settled_and_that_they_are_approximate(engine: str) -> None:
    agent = agent_of(POSITIVE, engine=engine)
    agent.reset({"O_a": 1})
    agent.step()
    found = agent.inference
    assert (found.exact, agent.past.settling.settled, agent.unsettled) == (False, True, 0)
    assert found.iterations == agent.past.settling.sweeps >= 2
    assert found.residual == agent.past.settling.decrease < 0.01
    assert f"they settled after {found.iterations} sweeps" in found.reason
    assert_array_equal(found.posteriors["S_a"], agent.beliefs["S_a"])


@pytest.mark.parametrize("engine", ENGINES)
def test_agent_says_that_its_beliefs_did_not_settle_and_does_not_go_on_for_ever(engine: str) -> None:
    agent = agent_of(POSITIVE, 7, engine=engine, tolerance=1e-300, max_sweeps=2)
    agent.reset({"O_a": 1, "O_b": 0})
    agent.update(0, {"O_a": 2})
    assert agent.past.settling.sweeps == agent.inference.iterations == 2
    assert agent.inference.residual > 1e-12
    assert "they did not settle" in agent.inference.reason
    assert "raise max_sweeps" in agent.inference.reason
    agent.step()
    assert agent.unsettled == 7
    agent.update(0, {})
    assert agent.unsettled == 0  # of the present tree


# --- what is refused ------------------------------------------------------------------------------------------------


def with_zeros(kind: str) -> Spec:
    """POSITIVE, with a zero in one of its tables."""
    tables = {"prior": POSITIVE.priors, "likelihood": POSITIVE.likelihoods, "transition": POSITIVE.transitions}[kind]
    name = next(iter(tables))
    factor: Any = tables[name]
    table = np.array(factor if kind == "prior" else factor.table)
    table[0] = 0.0
    changed = deepcopy(POSITIVE)
    changed_tables: Any = {
        "prior": changed.priors,
        "likelihood": changed.likelihoods,
        "transition": changed.transitions,
    }[kind]
    changed_tables[name] = table / table.sum(0) if kind == "prior" else Factor(table / table.sum(0), factor.parents)
    return changed


@pytest.mark.parametrize(("kind", "name"), [("prior", "S_a"), ("likelihood", "O_a"), ("transition", "S_a")])
def test_table_with_a_zero_is_refused_with_its_name_and_what_mends_it(kind: str, name: str) -> None:
    with pytest.raises(
        TableError, match=rf"{name}: the {kind} is 0 at index \(0,.*above 0.*\(1 - e\) \* table \+ e / "
    ):
        agent_of(with_zeros(kind))


def test_lever_of_certain_moves_is_refused() -> None:
    with pytest.raises(TableError, match="O_0: the likelihood is 0"):
        agent_of(LEVER)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0}, "tolerance: 0 was given; a finite number above 0 is required"),
        ({"tolerance": math.nan}, "tolerance: nan was given"),
        ({"tolerance": "a little"}, "tolerance: 'a little' was given"),
        ({"max_sweeps": 1}, "max_sweeps: 1 was given; a whole number of at least 2 is required"),
        ({"max_sweeps": 2.5}, "max_sweeps: 2.5 was given"),
        ({"rng": None}, "rng: none was given"),
        ({"engine": "slow"}, "engine: 'slow' was given"),
    ],
)
def test_options_must_make_sense(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(PlanningError, match=message):
        agent_of(POSITIVE, **options)


def from_prior(*s_a: float) -> dict[str, Any]:
    return {"S_a": np.array(s_a), "S_b": np.full(3, 1 / 3)}


FAILURES: list[tuple[type[BtaiError], str, Callable[[BTAI_VMP], object]]] = [
    (EvidenceError, "O_z: no such observation", lambda agent: agent.update(0, {"O_z": 0})),
    (EvidenceError, "O_a: index 3 was given", lambda agent: agent.update(0, {"O_a": 3})),
    (EvidenceError, "O_b: the evidence .*nan.* must be finite", lambda agent: agent.update(0, {"O_b": [math.nan, 1]})),
    (EvidenceError, "O_b: the evidence .*inf.* must be finite", lambda agent: agent.reset({"O_b": [math.inf, 1]})),
    (EvidenceError, "not all 0", lambda agent: agent.reset({"O_b": [0, 0]})),
    (EvidenceError, r"O_b: .*too small or too large.*Scale", lambda agent: agent.update(1, {"O_b": [5e-324, 0]})),
    (PlanningError, "A_0: action 2 was given", lambda agent: agent.update(2, {})),
    (PlanningError, "planning iterations: 0 was given", lambda agent: agent.plan(0)),
    (TableError, "S_a: the prior is 0", lambda agent: agent.reset({}, from_prior(1, 0))),
    (TableError, "S_a: the prior .*nan", lambda agent: agent.reset({}, from_prior(math.nan, 1))),
    (TableError, "S_a: a prior of 3 numbers", lambda agent: agent.reset({}, from_prior(0.5, 0.25, 0.25))),
    (BtaiError, "S_b: no prior was given", lambda agent: agent.reset({}, {"S_a": np.array([0.5, 0.5])})),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("error", "message", "act"), FAILURES)
def test_failure_leaves_the_agent_as_it_was(
    error: type[BtaiError], message: str, act: Callable[[BTAI_VMP], object], engine: str
) -> None:
    harmed, spared = in_trial(engine), in_trial(engine)
    with pytest.raises(error, match=message):
        act(harmed)
    assert seen_of(harmed) == seen_of(spared)
    for evidence in ({"O_a": 0}, {}):
        action = spared.step()
        assert harmed.step() == action
        harmed.update(action, evidence)
        spared.update(action, evidence)
        assert seen_of(harmed) == seen_of(spared)


def in_trial(engine: str) -> BTAI_VMP:
    """An agent in its second cycle, in the middle of its planning."""
    agent = agent_of(POSITIVE, engine=engine)
    agent.reset({"O_a": 2, "O_b": 0})
    agent.update(1, {"O_b": [0.5, 0.25]})
    agent.plan(4)
    return agent


def seen_of(agent: BTAI_VMP) -> dict[str, Any]:
    """All there is to see of an agent, in bytes."""
    past, tree = agent.past, agent.tree
    beliefs = [belief.tobytes() for time in range(past.time + 1) for belief in past.states(time).values()]
    beliefs += [past.action(time).tobytes() for time in range(past.time)]
    beliefs += [vector.tobytes() for vectors in (agent.prior, agent.evidence) for vector in vectors.values()]
    arrays = [array.tobytes() for array in (tree.expanded, tree.visits, tree.cost, tree.efe)]
    return {"past": beliefs, "settling": past.settling, "tree": arrays, "unsettled": agent.unsettled}


def test_tables_that_all_but_exclude_everything_still_give_numbers() -> None:
    least = 5e-324  # the smallest number above 0
    agent = BTAI_VMP(
        TemporalSliceBuilder("A_0", 2)
        .add_state("S_0", [1, least])
        .add_observation("O_0", [[1, least], [least, 1]], ["S_0"])
        .add_transition("S_0", [[1, least], [least, 1]], ["A_0"])
        .add_preference(["O_0"], [least, 1])
        .build(),
        9,
        rng=np.random.default_rng(0),
    )
    agent.reset({"O_0": 1})
    for _ in range(3):
        agent.update(agent.step(), {"O_0": 0})
        assert np.isfinite(agent.inference.log_evidence)
        assert agent.beliefs["S_0"].sum() == pytest.approx(1, abs=1e-15)
        assert np.isfinite(agent.tree.cost).all()


# --- in trials ------------------------------------------------------------------------------------------------------


class Published(BTAI_VMP):
    """Begins each trial nearly certain of where it first sees itself, as the published program does."""

    def reset(self, obs: Mapping[str, Any], prior: Mapping[str, Any] | None = None) -> None:
        super().reset(obs, {"S_sprite": flat_prior(8, obs["O_sprite"])} if obs else prior)


def test_trials_of_dsprites_are_solved_as_often_as_is_known_of_the_published_agent() -> None:
    agent = Published(dsprites_flat(8, precision=2), 50, rng=np.random.default_rng(0))
    env = dSpritesFlatWrapper(dSpritesEnv(8, max_cycles=30), unfinished=0)
    result = run(agent, env, trials=200, seed=0)
    assert result.summary.p_solved == pytest.approx(0.876, abs=0.04)  # two standard errors of the independent figure
    assert all(trial.cycles <= 30 for trial in result.trials)
    again = run(agent, env, trials=3, seed=0)
    assert [trial.actions for trial in again.trials] == [trial.actions for trial in result.trials[:3]]
