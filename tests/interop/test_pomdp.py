"""Sound .pomdp files, looked at entry by entry; every figure is worked out by hand or evaluated cell by cell."""

from __future__ import annotations

from math import exp, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop.pomdp_texts import DATA, column, read_text, whats

from btai.interop import Imported, Limits, read_pomdp
from btai.interop.factored.source import Source
from btai.interop.pomdp.reader import network_in

some = settings(max_examples=60)


@pytest.fixture(scope="module")
def tiger() -> Imported:
    return read_pomdp(DATA / "tiger.pomdp", precision=0.1)


def test_tiger_has_one_state_one_observation_and_what_they_need(tiger: Imported) -> None:
    ts = tiger.ts
    assert (ts.action.name, ts.action.values) == ("A_action", ("listen", "open-left", "open-right"))
    assert list(ts.states) == ["S_state", "S_last_action", "S_reward"]
    assert list(ts.observations) == ["O_observation", "O_reward"]
    assert ts.states["S_state"].values == ("tiger-left", "tiger-right")
    assert ts.observations["O_observation"].values == ("hear-left", "hear-right")
    assert ts.states["S_state"].prior.tolist() == [0.5, 0.5]


def test_tiger_moves_and_is_heard(tiger: Imported) -> None:
    t, o = tiger.ts.transitions["S_state"], tiger.ts.observations["O_observation"]
    assert (t.parents, o.parents) == (("S_state", "A_action"), ("S_state", "S_last_action"))
    assert [column(t.table, s, 0) for s in (0, 1)] == [[1, 0], [0, 1]]
    assert [column(t.table, s, a) for s in (0, 1) for a in (1, 2)] == [[0.5, 0.5]] * 4
    assert [column(o.likelihood, s, 0) for s in (0, 1)] == [[0.85, 0.15], [0.15, 0.85]]
    assert [column(o.likelihood, s, last) for s in (0, 1) for last in (1, 2, 3)] == [[0.5, 0.5]] * 6


def test_tiger_reward_is_told_and_preferred(tiger: Imported) -> None:
    t, (preference,) = tiger.ts.transitions["S_reward"], tiger.ts.preferences
    assert tiger.ts.observations["O_reward"].values == ("-100", "-1", "10")
    assert t.parents == ("A_action", "S_state")
    amounts = {(a, s): column(t.table, a, s).index(1) for a in range(3) for s in range(2)}
    assert amounts == {(0, 0): 1, (0, 1): 1, (1, 0): 0, (1, 1): 2, (2, 0): 2, (2, 1): 0}
    weights = np.exp([-10, -0.1, 1])
    np.testing.assert_allclose(preference.table, weights / weights.sum(), rtol=1e-14)


def test_tiger_report_names_discount_action_dependence_and_reward(tiger: Imported) -> None:
    assert whats(tiger) == ["discount 0.95", "O_observation given the action", "reward reward"]


# --- the forms of the format ------------------------------------------------------------------------------

HEAD = "discount: 1\nvalues: reward\nstates: a b c\nactions: 2\nobservations: 2\n"
TABLES = "T: * identity\nO: * uniform\n"


def start(text: str, head: str = HEAD) -> list[float]:
    prior: list[float] = read_text("f.pomdp", f"{head}{text}\n{TABLES}").ts.states["S_state"].prior.tolist()
    return prior


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [1 / 3, 1 / 3, 1 / 3]),
        ("start: uniform", [1 / 3, 1 / 3, 1 / 3]),
        ("start: 0.5 0.25 0.25", [0.5, 0.25, 0.25]),
        ("start:\n.5 # half\n5e-1 0.", [0.5, 0.5, 0]),
        ("start: b", [0, 1, 0]),
        ("start: 2", [0, 0, 1]),
        ("start include: a c", [0.5, 0, 0.5]),
        ("start include: a b c", [1 / 3, 1 / 3, 1 / 3]),
        ("start exclude: 0", [0, 0.5, 0.5]),
    ],
)
def test_the_start_has_many_forms(text: str, expected: list[float]) -> None:
    assert start(text) == expected


def test_the_only_state_may_start_by_its_probability() -> None:
    assert start("start: 1.0", HEAD.replace("a b c", "1")) == [1]


def test_the_preamble_comes_in_any_order_and_values_may_be_left_out() -> None:
    text = f"observations: x y\nactions: 1 # one\nstates: 2\n\n\ndiscount: 1.0\n{TABLES}"
    ts = read_text("f.pomdp", text).ts
    assert (ts.observations["O_observation"].values, ts.states["S_state"].values) == (("x", "y"), None)


def test_transitions_may_be_reset_to_the_start() -> None:
    text = f"{HEAD}start: 0.5 0.25 0.25\n{TABLES}T: 1 : b reset\n"
    table = read_text("f.pomdp", text).ts.transitions["S_state"].table
    assert column(table, 1, 1) == [0.5, 0.25, 0.25]
    assert column(table, 1, 0) == [0, 1, 0]


def test_costs_are_negative_rewards() -> None:
    text = f"{HEAD}{TABLES}R: * : * : * : 0 2\n"
    rewards, costs = (
        read_text("f.pomdp", t).ts.preferences[0].table for t in (text, text.replace("values: reward", "values: cost"))
    )
    np.testing.assert_allclose(rewards, [exp(2) / (1 + exp(2)), 1 / (1 + exp(2))], rtol=1e-14)
    np.testing.assert_allclose(costs, rewards[::-1], rtol=1e-14)


def test_rewards_that_no_observation_tells_apart_are_not_a_preference_over_it() -> None:
    ts = read_text("f.pomdp", f"{HEAD}{TABLES}R: * : b\n 7 7  7 7  7 7\n").ts
    assert list(ts.observations) == ["O_observation", "O_reward"]
    assert ts.transitions["S_reward"].parents == ("S_state",)
    assert ts.transitions["S_reward"].table.tolist() == [[1, 0, 1], [0, 1, 0]]


def test_spaces_and_comments_may_stand_anywhere_between_words() -> None:
    text = f"{HEAD}{TABLES}".replace(":", " # so: T: 3\n : ").replace(" ", "\t ")
    assert read_text("f.pomdp", text).ts.states["S_state"].values == ("a", "b", "c")


def test_comments_may_be_in_any_encoding() -> None:
    data = f"# \xe9\xff\n{HEAD}{TABLES}".encode("latin-1")
    assert read_text("f.pomdp", data).ts.action.size == 2


# --- statements, cell by cell -------------------------------------------------------------------------------

AXES = (("0", "1"), ("a", "b", "c"), ("a", "b", "c"), ("0", "1"))  # action, state before, state after, observation
Statement = tuple[list[str], list[int]]


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    """R with all its parts, or with the last one or two left to a row or a matrix."""
    named = draw(st.integers(2, 4))
    parts = [draw(st.sampled_from(("*", *values))) for values in AXES[:named]]
    count = prod(len(values) for values in AXES[named:])
    return parts, draw(st.lists(st.integers(-3, 3), min_size=count, max_size=count))


def reward_at(listed: list[Statement], cell: tuple[int, ...]) -> int:
    """The reward of one cell: the last statement that speaks of it says it."""
    value = 0
    names = [values[i] for values, i in zip(AXES, cell, strict=True)]
    for parts, numbers in listed:
        if all(part in ("*", name) for part, name in zip(parts, names, strict=False)):
            place = 0
            for i, values in list(zip(cell, AXES, strict=True))[len(parts) :]:
                place = place * len(values) + i
            value = numbers[place]
    return value


@some
@given(st.lists(statements(), min_size=1, max_size=4))
def test_reward_statements_write_what_they_say(listed: list[Statement]) -> None:
    written = "".join(f"R: {' : '.join(parts)}\n{' '.join(map(str, numbers))}\n" for parts, numbers in listed)
    (reward,) = network_in(f"{HEAD}{TABLES}{written}".encode(), Source("f.pomdp", Limits())).rewards
    roles = [ref.role for ref in reward.parents]
    for cell in np.ndindex(2, 3, 3, 2):
        known = dict(zip(("action", "before", "now", "observation"), cell, strict=True))
        found = reward.levels[reward.table[tuple(known[role] for role in roles)]]
        assert found == reward_at(listed, cell)
