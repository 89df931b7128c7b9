"""Why an action was chosen: what the search found about each, and the term that told them apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest
from golden import OwnFigures, own_figures, own_names
from hand_made import BAD, EVEN, GOOD, LEVER, LN_2
from hypothesis import given, settings
from hypothesis import strategies as st
from spec import Spec
from strategies import evidences, models

from btai import BTAI_3MF, TemporalSliceBuilder
from btai.agents import ActionSummary, Explanation
from btai.errors import PlanningError

some = settings(max_examples=40)


def planned(spec: Spec, iterations: int, evidence: Any = None, **options: Any) -> BTAI_3MF:
    agent = BTAI_3MF(spec.build(), iterations, **options)
    agent.reset(evidence or {})
    agent.plan(iterations)
    return agent


@some
@given(models(max_states=3, max_observations=4, max_size=3), st.integers(1, 15), st.data())
def test_terms_add_up_to_the_mean_cost(spec: Spec, iterations: int, data: st.DataObject) -> None:
    agent = planned(spec, iterations, data.draw(evidences(spec)))
    for summary in agent.explain().actions:
        assert math.fsum(summary.terms.values()) == pytest.approx(summary.mean_cost, rel=1e-12, abs=1e-12)


def mean_terms(search: oracle.Search, child: oracle.Node) -> dict[str, float]:
    """The mean of each term over all the costs that were added up in a child of the root."""
    terms: Counter[str] = Counter()

    def add(node: oracle.Node) -> None:
        energy = oracle.efe(search.spec, node.beliefs)
        terms.update({f"risk of {', '.join(group)}": risk for group, risk in energy.risks.items()})
        terms.update({f"ambiguity of {name}": value for name, value in energy.ambiguities.items()})

    def add_expansions(node: oracle.Node) -> None:
        if node.children:
            add(min(node.children, key=lambda n: n.efe))
        for n in node.children:
            add_expansions(n)

    add(child)
    add_expansions(child)
    return {term: total / child.visits for term, total in terms.items()}


def liked_best(node: oracle.Node) -> Iterator[oracle.Node]:
    """Below a node: child by child the most visited, of equals the cheaper."""
    while node.children:
        most = max(child.visits for child in node.children)
        node = min((child for child in node.children if child.visits == most), key=lambda child: child.cost)
        yield node


@pytest.mark.parametrize("name", own_names())
def test_every_figure_is_the_oracles(name: str) -> None:
    figures: OwnFigures = own_figures(name)
    agent = planned(figures.spec, figures.iterations, figures.evidence, exp_const=figures.exp_const)
    explanation = agent.explain()
    beliefs, _ = oracle.posteriors(figures.spec, figures.evidence)
    search, _ = oracle.replay(figures.spec, beliefs, agent.tree.expanded.tolist(), figures.exp_const)
    assert explanation.chosen == figures.expected["chosen_action"]
    assert explanation.iterations == figures.iterations
    assert explanation.reproducible
    for summary, child in zip(explanation.actions, search.root.children, strict=True):
        assert summary.action == child.action
        assert summary.name == str(child.action)
        assert summary.visits == child.visits
        assert summary.mean_cost == pytest.approx(child.cost / child.visits, abs=1e-12)
        assert summary.efe == pytest.approx(child.efe, abs=1e-12)
        assert summary.uct == pytest.approx(search.uct(child), abs=1e-12)
        assert summary.exploration == pytest.approx(search.uct(child) + summary.mean_cost, abs=1e-12)
        assert summary.terms == pytest.approx(mean_terms(search, child), abs=1e-12)
        assert summary.then == tuple(str(node.action) for node in liked_best(child))


def test_best_of_equal_children_is_the_first() -> None:
    # Every node costs ln 2: as risk after action 0, as ambiguity after action 1. Whatever is added to the cost of a
    # node from below is the risk of the first child, never the equal ambiguity of the second.
    agent = planned(EVEN, 5)
    risky, ambiguous = agent.explain().actions
    assert risky.visits == ambiguous.visits == 3
    assert risky.terms == pytest.approx({"risk of O_0": LN_2, "ambiguity of O_0": 0})
    assert ambiguous.terms == pytest.approx({"risk of O_0": LN_2 * 2 / 3, "ambiguity of O_0": LN_2 / 3})


def test_risk_decides_where_only_the_outcome_matters() -> None:
    explanation = planned(LEVER, 1).explain()
    assert explanation.chosen == 1
    assert explanation.differences(0) == pytest.approx({"risk of O_0": BAD - GOOD, "ambiguity of O_0": 0})
    assert explanation.deciding_term(0) == "risk of O_0"


def windows() -> BTAI_3MF:
    """Two rooms: in the first the sky can be seen, in the second, liked a little better, one has to guess."""
    sky = np.array([[[1, 0], [0.5, 0.5]], [[0, 1], [0.5, 0.5]]])
    ts = (
        TemporalSliceBuilder("A_go", 2, values=["to the window", "to the cellar"])
        .add_state("S_room", [0.5, 0.5])
        .add_state("S_sky", [0.5, 0.5])
        .add_observation("O_room", np.eye(2), ["S_room"])
        .add_observation("O_sky", sky, ["S_room", "S_sky"])
        .add_transition("S_room", np.eye(2), ["A_go"])
        .add_transition("S_sky", np.eye(2), ["S_sky"])
        .add_preference(["O_room"], [0.4, 0.6])
        .build()
    )
    agent = BTAI_3MF(ts, 1)
    agent.reset({})
    return agent


def test_an_action_that_is_none_cannot_be_explained() -> None:
    agent = windows()
    agent.step()
    with pytest.raises(
        PlanningError, match="action: 2 was given; a whole number from 0 to 1, or one of the names to the window"
    ):
        agent.explain().differences(2)


def test_an_action_may_be_called_by_its_name() -> None:
    by_number, by_name = windows(), windows()
    for agent, action in ((by_number, 1), (by_name, "to the cellar")):
        agent.step()
        agent.update(action, {"O_room": 1, "O_sky": 0})
    assert by_number.prior["S_room"].tolist() == by_name.prior["S_room"].tolist() == [0, 1]


def test_ambiguity_decides_where_the_other_place_is_even_liked_better() -> None:
    agent = windows()
    assert agent.step() == 0
    explanation = agent.explain()
    differences = explanation.differences("to the cellar")
    assert differences == explanation.differences(1)
    assert differences == pytest.approx(
        {"risk of O_room": math.log(0.4 / 0.6), "ambiguity of O_room": 0, "ambiguity of O_sky": LN_2}
    )
    assert explanation.deciding_term(1) == "ambiguity of O_sky"


def explained(chosen: int, *terms: dict[str, float]) -> Explanation:
    """An explanation of one action per set of terms."""
    summaries = (
        ActionSummary(i, f"action {i}", 1, sum(t.values()), 0.0, -sum(t.values()), sum(t.values()), t)
        for i, t in enumerate(terms)
    )
    return Explanation(chosen, tuple(summaries), 1, True)


@pytest.mark.parametrize(
    ("chosen", "other", "term"),
    [
        ({"risk": 1.0, "ambiguity": 1.0}, {"risk": 3.0, "ambiguity": 2.0}, "risk"),
        ({"risk": 1.0, "ambiguity": 1.0}, {"risk": 0.0, "ambiguity": 2.5}, "ambiguity"),
        ({"risk": 3.0, "ambiguity": 1.0}, {"risk": 1.0, "ambiguity": 2.0}, "risk"),  # speaks against the chosen one
        ({"risk": 1.0, "ambiguity": 3.0}, {"risk": 0.9, "ambiguity": 1.0}, "ambiguity"),
    ],
)
def test_deciding_term_is_the_largest_one_in_the_direction_of_the_difference(
    chosen: dict[str, float], other: dict[str, float], term: str
) -> None:
    assert explained(0, chosen, other).deciding_term(1) == term
    assert explained(1, other, chosen).deciding_term(0) == term


def test_explanation_is_for_people() -> None:
    agent = windows()
    agent.step()
    assert repr(agent.explain()).splitlines() == [
        "to the window was chosen (planning iterations: 1, visits: 1, mean cost: 0.9163).",
        "  action         visits  mean cost  exploration        UCT    own EFE  then  against the chosen one",
        "  to the window       1     0.9163       1.9981     1.0818     0.9163  -     chosen",
        "  to the cellar       1     1.2040       1.9981     0.7942     1.2040  -   "
        "  costs 0.2877 more, mainly by the ambiguity of O_sky (+0.6931)",
    ]


def test_explanation_says_what_comes_after_an_action() -> None:
    explanation = explained(0, {"risk": 1.0}, {"risk": 2.0}, {"risk": 3.0})
    far, near, leaf = explanation.actions
    actions = replace(far, then=("up", "up", "left", "up")), replace(near, then=("up", "up", "left")), leaf
    explanation = replace(explanation, actions=actions)
    _, heads, *rows = repr(explanation).splitlines()
    at = heads.index("then  ")
    assert [row[at:].partition("  ")[0] for row in rows] == ["up, up, left, …", "up, up, left", "-"]
    assert "up, up, left, …</td>" in explanation._repr_html_()


@pytest.mark.parametrize(("costs", "tied"), [((5.0, 5.004), True), ((5.004, 5.0), True), ((5.0, 5.006), False)])
def test_a_difference_that_is_tiny_against_the_costs_is_a_tie_first(costs: tuple[float, float], tied: bool) -> None:
    explanation = explained(0, *({"risk": cost} for cost in costs))
    assert explanation.is_tied(1) is tied
    verdict = repr(explanation).splitlines()[3]
    assert ("  practically tied: costs 0.004 " in verdict) is tied
    assert "mainly by the risk" in verdict


def test_explanation_says_where_the_chosen_action_is_not_the_cheapest() -> None:
    text = repr(explained(0, {"risk": 2.5}, {"risk": 0.5}, {"risk": 2.5}))
    assert "  action 1" in text
    assert "costs 2 less, mainly by the risk (-2)" in text.splitlines()[3]
    assert text.splitlines()[4].endswith("costs the same")


def test_model_without_observations_has_no_terms_to_explain() -> None:
    agent = planned(own_spec_without_observations(), 3)
    explanation = agent.explain()
    assert explanation.differences(1) == {}
    assert explanation.deciding_term(1) == ""
    assert repr(explanation).splitlines()[3].endswith("costs the same")


def own_spec_without_observations() -> Spec:
    return Spec(LEVER.action, LEVER.n_actions, LEVER.priors, {}, LEVER.transitions, {})


def test_explaining_needs_planning_and_changes_nothing() -> None:
    agent = BTAI_3MF(LEVER.build(), 10)
    agent.reset({})
    with pytest.raises(PlanningError, match="no action can be chosen before any planning"):
        agent.explain()
    agent.plan(4)
    assert repr(agent.explain()) == repr(agent.explain())
    assert len(agent.tree.expanded) == 4
