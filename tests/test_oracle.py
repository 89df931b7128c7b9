"""The oracles are right: hand calculations first, then the figures of the authors' own program."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from golden import N_AUTHORS_MODELS, AuthorsFigures, authors_figures
from numpy.testing import assert_allclose, assert_array_equal
from spec import Array, Factor, Spec


def table(values: object) -> Array:
    return np.array(values, dtype=float)


# A coin of unknown bias, read by an imperfect eye; nothing moves and nothing is preferred.
COIN = Spec(
    action="A_0",
    n_actions=1,
    priors={"S_0": table([0.5, 0.5])},
    likelihoods={"O_0": Factor(table([[0.9, 0.2], [0.1, 0.8]]), ("S_0",))},
    transitions={"S_0": Factor(np.eye(2), ("S_0",))},
    preferences={},
)

# Two switches and a lamp that is on (value 1) exactly when they differ; the first switch is also seen dimly.
# Each action sets the first switch; the second copies the first.
SWITCHES = Spec(
    action="A_set",
    n_actions=2,
    priors={"S_1": table([0.6, 0.4]), "S_2": table([0.7, 0.3])},
    likelihoods={
        "O_lamp": Factor(table([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]), ("S_2", "S_1")),
        "O_dim": Factor(table([[0.8, 0.3], [0.2, 0.7]]), ("S_1",)),
    },
    transitions={"S_2": Factor(np.eye(2), ("S_1",)), "S_1": Factor(np.eye(2), ("A_set",))},
    preferences={("O_dim", "O_lamp"): table([[0.1, 0.2], [0.3, 0.4]])},
)

# Whatever was before, action 0 leads to value 0 and action 1 to value 1, which is seen and preferred 3 to 1:
# the expected free energies are ln 4 and ln 4/3 at every node.
LEVER = Spec(
    action="A_pull",
    n_actions=2,
    priors={"S_0": table([0.5, 0.5])},
    likelihoods={"O_0": Factor(np.eye(2), ("S_0",))},
    transitions={"S_0": Factor(np.eye(2), ("A_pull",))},
    preferences={("O_0",): table([0.25, 0.75])},
)
BAD, GOOD = math.log(4), math.log(4 / 3)


@pytest.mark.parametrize("evidence", [0, [1, 0], [1.0, 0.0]])
def test_posterior_of_one_state_follows_bayes_rule(evidence: object) -> None:
    marginals, log_evidence = oracle.posteriors(COIN, {"O_0": evidence})
    assert_allclose(marginals["S_0"], [9 / 11, 2 / 11], rtol=1e-15)
    assert log_evidence == pytest.approx(math.log(0.55), rel=1e-15)


def test_given_prior_replaces_the_declared_one() -> None:
    marginals, log_evidence = oracle.posteriors(COIN, {"O_0": 0}, prior={"S_0": table([0.2, 0.8])})
    assert_allclose(marginals["S_0"], [18 / 34, 16 / 34], rtol=1e-15)
    assert log_evidence == pytest.approx(math.log(0.34), rel=1e-15)


def test_soft_evidence_weighs_the_outcomes() -> None:
    marginals, log_evidence = oracle.posteriors(COIN, {"O_0": [1.0, 0.5]})
    assert_allclose(marginals["S_0"], [95 / 155, 60 / 155], rtol=1e-15)
    assert log_evidence == pytest.approx(math.log(0.775), rel=1e-15)


@pytest.mark.parametrize("evidence", [{}, {"O_0": None}])
def test_missing_evidence_leaves_the_prior(evidence: dict[str, None]) -> None:
    marginals, log_evidence = oracle.posteriors(COIN, evidence)
    assert_allclose(marginals["S_0"], [0.5, 0.5])
    assert log_evidence == 0


def test_joint_is_the_product_of_prior_and_likelihoods_with_parents_in_their_own_order() -> None:
    lit = oracle.joint(SWITCHES, {"O_lamp": 1, "O_dim": 0})  # axes S_1, S_2
    assert_allclose(lit, [[0, 0.6 * 0.3 * 0.8], [0.4 * 0.7 * 0.3, 0]], rtol=1e-15)


def test_lit_lamp_makes_the_switches_explain_each_other() -> None:
    marginals, log_evidence = oracle.posteriors(SWITCHES, {"O_lamp": 1, "O_dim": 0})
    assert_allclose(marginals["S_1"], [0.144 / 0.228, 0.084 / 0.228], rtol=1e-14)
    assert_allclose(marginals["S_2"], [0.084 / 0.228, 0.144 / 0.228], rtol=1e-14)
    assert log_evidence == pytest.approx(math.log(0.228), rel=1e-14)


def test_impossible_evidence_is_refused() -> None:
    certain = {"S_1": table([1, 0]), "S_2": table([1, 0])}
    with pytest.raises(oracle.ImpossibleEvidence, match="O_lamp"):
        oracle.posteriors(SWITCHES, {"O_lamp": 1}, prior=certain)


def test_prediction_uses_the_states_before_for_states_and_the_states_after_for_observations() -> None:
    states, observations = oracle.predict(SWITCHES, {"S_1": table([0.9, 0.1]), "S_2": table([0, 1])}, 1)
    assert_allclose(states["S_1"], [0, 1])
    assert_allclose(states["S_2"], [0.9, 0.1])
    assert_allclose(observations["O_lamp"], [0.1, 0.9])
    assert_allclose(observations["O_dim"], [0.3, 0.7])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_prediction_finds_the_action_at_any_position(axis: int) -> None:
    drift = table([[[0.5, 0.1], [0.3, 1.0]], [[0.5, 0.9], [0.7, 0.0]]])  # [next, S_0, S_1], action 1
    parents = ["S_0", "S_1"]
    parents.insert(axis, "A_0")
    moving = Spec(
        action="A_0",
        n_actions=2,
        priors={"S_0": table([0.5, 0.5]), "S_1": table([0.5, 0.5])},
        likelihoods={},
        transitions={
            "S_0": Factor(np.stack([np.full((2, 2, 2), 0.5), drift], axis=1 + axis), tuple(parents)),
            "S_1": Factor(np.eye(2), ("S_1",)),
        },
        preferences={},
    )
    beliefs = {"S_0": table([0.2, 0.8]), "S_1": table([0.6, 0.4])}
    states, _ = oracle.predict(moving, beliefs, 1)
    first = 0.12 * 0.5 + 0.08 * 0.1 + 0.48 * 0.3 + 0.32 * 1.0
    assert_allclose(states["S_0"], [first, 1 - first], rtol=1e-14)
    assert_allclose(oracle.predict(moving, beliefs, 0).states["S_0"], [0.5, 0.5])


def test_expected_free_energy_is_the_risk_of_the_joint_and_the_expected_entropies() -> None:
    energy = oracle.efe(SWITCHES, {"S_1": table([0, 1]), "S_2": table([0.5, 0.5])})
    # The lamp is predicted (0.5, 0.5) and the dim view (0.3, 0.7), independent under the mean field.
    risk = 0.15 * math.log(0.15 / 0.1) + 0.15 * math.log(0.15 / 0.2)
    risk += 0.35 * math.log(0.35 / 0.3) + 0.35 * math.log(0.35 / 0.4)
    entropy = -0.3 * math.log(0.3) - 0.7 * math.log(0.7)
    assert energy.risks == {("O_dim", "O_lamp"): pytest.approx(risk, rel=1e-13)}
    assert energy.ambiguities == {"O_lamp": 0, "O_dim": pytest.approx(entropy, rel=1e-14)}
    assert energy.total == pytest.approx(risk + entropy, rel=1e-13)


def test_expected_free_energy_of_certain_outcome_is_its_preference() -> None:
    assert oracle.efe(LEVER, {"S_0": table([1, 0])}).total == pytest.approx(BAD, rel=1e-15)
    assert oracle.efe(LEVER, {"S_0": table([0, 1])}).total == pytest.approx(GOOD, rel=1e-15)


def test_search_without_exploration_follows_the_best_action_down() -> None:
    tree = oracle.search(LEVER, LEVER.priors, iterations=3, exp_const=0)
    assert tree.expanded == [0, 2, 4]
    assert tree.parents() == [-1, 0, 0, 2, 2, 4, 4]
    assert tree.column("action") == [-1, 0, 1, 0, 1, 0, 1]
    assert tree.column("visits") == [4, 1, 3, 1, 2, 1, 1]
    assert_allclose(tree.column("cost"), [3 * GOOD, BAD, 3 * GOOD, BAD, 2 * GOOD, BAD, GOOD], rtol=1e-14)
    assert_allclose(tree.column("efe"), [math.nan, BAD, GOOD, BAD, GOOD, BAD, GOOD], rtol=1e-14)


def test_search_with_much_exploration_visits_the_actions_in_turn() -> None:
    tree = oracle.search(LEVER, LEVER.priors, iterations=4, exp_const=10)
    # Node 2 is the better child; then node 1 is the less visited; then both have 2: 2 again, below it 4.
    assert tree.expanded == [0, 2, 1, 4]
    assert tree.column("visits")[:5] == [5, 2, 3, 1, 2]
    assert_allclose(tree.column("cost")[:3], [4 * GOOD, BAD + GOOD, 3 * GOOD], rtol=1e-14)
    # The closest of the four steps is the first below the root: equal visits, so only the costs speak.
    assert tree.margin == pytest.approx((BAD - GOOD) / 2, rel=1e-12)


def test_uct_weighs_mean_cost_against_visits() -> None:
    tree = oracle.search(LEVER, LEVER.priors, iterations=2, exp_const=2.4)
    worse, better = tree.root.children
    assert tree.uct(worse) == pytest.approx(-BAD + 2.4 * math.sqrt(math.log(3)), rel=1e-14)
    assert tree.uct(better) == pytest.approx(-GOOD + 2.4 * math.sqrt(math.log(3) / 2), rel=1e-14)


def test_exact_twins_are_explored_from_the_lowest_index_and_do_not_count_as_close_calls() -> None:
    idle = Spec(
        action="A_0",
        n_actions=3,
        priors=LEVER.priors,
        likelihoods=LEVER.likelihoods,
        transitions={"S_0": Factor(np.eye(2), ("S_0",))},
        preferences=LEVER.preferences,
    )
    tree = oracle.search(idle, idle.priors, iterations=4, exp_const=2.4)
    assert tree.expanded == [0, 1, 2, 3]
    assert tree.margin > 0.1


def test_replay_of_a_search_is_that_search_without_regret() -> None:
    tree, regret = oracle.replay(LEVER, LEVER.priors, [0, 2, 1, 4], exp_const=10)
    assert tree.column("visits")[:5] == [5, 2, 3, 1, 2]
    assert regret == 0


def test_replay_measures_what_a_wrong_step_gives_up() -> None:
    _, regret = oracle.replay(LEVER, LEVER.priors, [0, 1], exp_const=10)
    assert regret == pytest.approx(BAD - GOOD, rel=1e-12)


@pytest.mark.parametrize(
    ("visits", "costs", "by_cost", "first"),
    [
        ([3, 5, 4], [1, 50, 1], 1, 1),  # visits decide, whatever the cost
        ([4, 4, 2], [8, 4, 0], 1, 0),  # of the most visited the cheaper
        ([4, 4, 4], [8, 4, 4], 1, 0),  # of the cheapest the lowest index
        ([2, 2], [-1, -1], 0, 0),
        ([7], [3], 0, 0),
    ],
)
def test_choice_breaks_ties_of_visits_by_mean_cost_then_index(
    visits: list[int], costs: list[float], by_cost: int, first: int
) -> None:
    assert oracle.choose(visits, costs) == by_cost
    assert oracle.choose(visits, costs, ties="first") == first


# --- the authors' own program ------------------------------------------------------------------------


@pytest.fixture(params=range(N_AUTHORS_MODELS))
def authors(request: pytest.FixtureRequest) -> AuthorsFigures:
    return authors_figures(request.param)


def assert_same(actual: dict[str, Array], expected: dict[str, Array]) -> None:
    assert actual.keys() == expected.keys()
    for name in expected:
        assert_allclose(actual[name], expected[name], rtol=0, atol=1e-10, err_msg=name)


def test_posteriors_equal_the_authors(authors: AuthorsFigures) -> None:
    marginals, _ = oracle.posteriors(authors.spec, authors.under("obs1/"))
    assert_same(marginals, authors.under("exact/istep1/"))
    assert_same(marginals, authors.under("istep1/"))
    by_index, _ = oracle.posteriors(authors.spec, authors.meta["obs1"])
    assert_same(by_index, marginals)


def test_posteriors_of_the_second_cycle_equal_the_exact_ones(authors: AuthorsFigures) -> None:
    prior = authors.under(f"pstep/a{authors.arrays['plan1/selected_action']}/")
    marginals, _ = oracle.posteriors(authors.spec, authors.under("obs2/"), prior)
    assert_same(marginals, authors.under("exact/istep2_empirical_prior/"))


def test_predictions_and_expected_free_energies_equal_the_authors(authors: AuthorsFigures) -> None:
    for action in range(authors.spec.n_actions):
        prediction = oracle.predict(authors.spec, authors.under("istep1/"), action)
        assert_same(prediction.states | prediction.observations, authors.under(f"pstep/a{action}/"))
        energy = oracle.efe(authors.spec, prediction.states)
        expected = authors.under(f"efe/a{action}/")
        assert_allclose(list(energy.risks.values()), expected["risk"], rtol=0, atol=1e-10)
        assert_allclose(list(energy.ambiguities.values()), expected["ambiguity"], rtol=0, atol=1e-10)
        assert energy.total == pytest.approx(float(expected["total"]), rel=0, abs=1e-10)


def test_search_equals_the_authors(authors: AuthorsFigures) -> None:
    meta, expected = authors.meta, authors.under("plan1/")
    tree = oracle.search(authors.spec, authors.under("istep1/"), meta["n_planning"], meta["exp_const"])
    assert_array_equal(tree.expanded, expected["expanded_node"])
    assert_array_equal(tree.parents(), expected["parent"])
    assert_array_equal(tree.column("action"), expected["action"])
    assert_array_equal(tree.column("visits"), expected["visits"])
    assert_allclose(tree.column("cost"), expected["cost"], rtol=0, atol=1e-10)
    assert_allclose(tree.column("efe"), expected["efe"], rtol=0, atol=1e-10)
    children = tree.root.children
    action = oracle.choose([c.visits for c in children], [c.cost for c in children], ties="first")
    assert action == expected["selected_action"]
