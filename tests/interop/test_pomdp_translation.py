"""What a slice cannot say: modelled exactly where that is possible, reported where it is not.

The oracle enumerates the network of the file; the slice's tables are compared with its conditional distributions.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop.pomdp_texts import column, conditional, pomdpx, read_text, state, variable, whats

from btai.errors import FormatError

some = settings(max_examples=60)
SEEDS = st.integers(0, 2**32 - 1)
XY = state("x", 2) + state("y", 2) + variable("ActionVar", "a", 2)
PRIORS = conditional("x_0", "null", ("-", "0.3 0.7")) + conditional("y_0", "null", ("-", "0.6 0.4"))
STILL_X = conditional("x_1", "x_0", ("- -", "identity"))
STILL_Y = conditional("y_1", "y_0", ("- -", "identity"))


def numbers(table: Any) -> str:
    return " ".join(map(repr, np.asarray(table).ravel().tolist()))


def rows(rng: np.random.Generator, *shape: int) -> Any:
    """Random distributions over the last axis."""
    weights = rng.uniform(0.05, 1, shape)
    return weights / weights.sum(axis=-1, keepdims=True)


# --- dependence on the new value of another state -----------------------------------------------------------


@some
@given(SEEDS, st.permutations(["x", "y", "z"]))
def test_a_state_that_depends_on_new_states_keeps_its_distribution_given_the_old_ones(
    seed: int, order: list[str]
) -> None:
    # y' depends on x', z' on both, whatever the order of declaration.
    rng = np.random.default_rng(seed)
    x, y, z = rows(rng, 2, 2), rows(rng, 2, 2, 2), rows(rng, 2, 2, 2, 2)  # x: x0 | y: x', y0 | z: y', x', z0
    tables = {
        "x": conditional("x_1", "x_0", ("- -", numbers(x))),
        "y": conditional("y_1", "x_1 y_0", ("- - -", numbers(y))),
        "z": conditional("z_1", "y_1 x_1 z_0", ("- - - -", numbers(z))),
    }
    text = pomdpx(
        "".join(state(name, 2) for name in order) + variable("ActionVar", "a", 1),
        "".join(conditional(f"{name}_0", "null", ("-", "uniform")) for name in order),
        "".join(tables[name] for name in order),
    )
    imported = read_text("f.pomdpx", text)
    for before in product(range(2), repeat=3):
        x0, y0, z0 = before
        expected_y, expected_z = np.zeros(2), np.zeros(2)
        for x1, y1, z1 in product(range(2), repeat=3):
            p = x[x0, x1] * y[x1, y0, y1] * z[y1, x1, z0, z1]
            expected_y[y1] += p
            expected_z[z1] += p
        known = dict(zip(("S_x", "S_y", "S_z"), before, strict=True))
        for name, expected in (("S_y", expected_y), ("S_z", expected_z)):
            t = imported.ts.transitions[name]
            np.testing.assert_allclose(column(t.table, *(known[p] for p in t.parents)), expected, atol=1e-14)
    assert sorted(whats(imported)) == ["next S_y given S_x", "next S_z given S_y, S_x"]


def test_dependence_on_a_new_state_that_is_certain_is_no_loss() -> None:
    text = pomdpx(XY, PRIORS, STILL_X + conditional("y_1", "x_1 y_0", ("s0 - -", "identity"), ("s1 * s0", "1")))
    imported = read_text("f.pomdpx", text)
    t = imported.ts.transitions["S_y"]
    assert t.parents == ("S_y", "S_x")
    assert [column(t.table, y, x) for x in (0, 1) for y in (0, 1)] == [[1, 0], [0, 1], [1, 0], [1, 0]]
    assert not imported.losses


def test_states_that_depend_on_each_other_in_a_circle_are_refused() -> None:
    text = pomdpx(
        XY, PRIORS, conditional("x_1", "y_1", ("- -", "identity")) + conditional("y_1", "x_1", ("- -", "identity"))
    )
    with pytest.raises(FormatError, match=r"f.pomdpx:15:1: expected no circle of dependencies, found S_\w -> S_\w"):
        read_text("f.pomdpx", text)


@some
@given(SEEDS)
def test_priors_that_depend_on_each_other_keep_their_marginals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rows(rng, 2), rows(rng, 2, 2)
    initial = conditional("x_0", "null", ("-", numbers(x))) + conditional("y_0", "x_0", ("- -", numbers(y)))
    imported = read_text("f.pomdpx", pomdpx(XY, initial, STILL_X + STILL_Y))
    expected = [sum(x[i] * y[i, j] for i in range(2)) for j in range(2)]
    np.testing.assert_allclose(imported.ts.states["S_y"].prior, expected, atol=1e-15)
    assert whats(imported) == ["initial S_y given S_x"]


# --- several actions ----------------------------------------------------------------------------------------


@some
@given(SEEDS, st.permutations(["a", "b", "c", "x_0"]), st.integers(0, 4))
def test_actions_are_joined_with_the_last_one_varying_fastest(seed: int, order: list[str], count: int) -> None:
    sizes = {"a": 2, "b": 3, "c": 2, "x_0": 2}
    parents = order[:count]
    table = rows(np.random.default_rng(seed), *(sizes[p] for p in parents), 2)
    variables = state("x", 2) + "".join(variable("ActionVar", name, sizes[name]) for name in "abc")
    transition = conditional("x_1", " ".join(parents) or "null", (" ".join("-" * (count + 1)), numbers(table)))
    ts = read_text("f.pomdpx", pomdpx(variables, conditional("x_0", "null", ("-", "uniform")), transition)).ts
    assert (ts.action.name, ts.action.size) == ("A_a_b_c", 12)
    assert ts.action.values is not None
    t = ts.transitions["S_x"]
    for joint, (a, b, c) in enumerate(product(range(2), range(3), range(2))):
        assert ts.action.values[joint] == f"a{a},a{b},a{c}"
        for x in range(2):
            known = {"a": a, "b": b, "c": c, "x_0": x}
            found = column(t.table, *({"A_a_b_c": joint, "S_x": x}[p] for p in t.parents))
            assert found == table[tuple(known[p] for p in parents)].tolist()


def test_joint_actions_need_names_that_stay_different() -> None:
    variables = (
        state("x", 2)
        + "<ActionVar vname='a'><ValueEnum>l l,m</ValueEnum></ActionVar>\n"
        + "<ActionVar vname='b'><ValueEnum>m,n n</ValueEnum></ActionVar>\n"
    )
    with pytest.raises(FormatError, match=r"f.pomdpx:5:1: expected values of actions whose names stay different"):
        read_text("f.pomdpx", pomdpx(variables, conditional("x_0", "null", ("-", "uniform")), STILL_X))


# --- rewards ------------------------------------------------------------------------------------------------

SEEN = state("x", 2) + state("y", 2) + variable("ObsVar", "o", 2) + variable("ActionVar", "a", 2)
NOISY = conditional("o", "x_1", ("- -", "0.9 0.1 0.2 0.8"))


def rewarded(*tables: str, names: str = "r", likelihood: str = NOISY, variables: str = SEEN) -> Any:
    rewards = "".join(f"<RewardVar vname='{name}'/>" for name in names)
    return read_text("f.pomdpx", pomdpx(variables + rewards, PRIORS, STILL_X + STILL_Y, likelihood, "".join(tables)))


def test_a_reward_on_new_states_needs_an_observation_but_no_state() -> None:
    imported = rewarded(conditional("r", "y_1 x_1", ("- -", "1 2 1 3"), tag="Func"))
    told = imported.ts.observations["O_r"]
    assert list(imported.ts.states) == ["S_x", "S_y"]
    assert (told.parents, told.values) == (("S_y", "S_x"), ("1", "2", "3"))
    amounts = [column(told.likelihood, y, x).index(1) + 1 for y in (0, 1) for x in (0, 1)]
    assert amounts == [1, 2, 1, 3]
    assert whats(imported) == ["reward r"]


def test_a_reward_on_the_action_and_new_states_uses_the_memory_of_the_action() -> None:
    imported = rewarded(conditional("r", "a x_1", ("- -", "1 2 3 4"), tag="Func"))
    told = imported.ts.observations["O_r"]
    assert told.parents == ("S_last_a", "S_x")
    amounts = [column(told.likelihood, a, x).index(1) + 1 for a in (0, 1) for x in (0, 1)]
    assert amounts == [1, 2, 3, 4]
    assert column(told.likelihood, 2, 0) == [0.25] * 4  # before any action


def test_a_reward_on_the_action_alone_needs_a_state_and_nothing_else() -> None:
    imported = rewarded(conditional("r", "a", ("-", "0 -1"), tag="Func"))
    assert list(imported.ts.states) == ["S_x", "S_y", "S_r"]
    assert imported.ts.transitions["S_r"].parents == ("A_a",)
    assert imported.ts.transitions["S_r"].table.tolist() == [[0, 1], [1, 0]]  # amounts in order: -1, 0


def test_a_reward_on_old_and_new_states_is_exact_given_the_old_ones() -> None:
    reward = conditional("r", "x_0 y_1", ("- -", "1 2 3 4"), tag="Func")
    imported = rewarded(reward)
    t = imported.ts.transitions["S_r"]
    assert t.parents == ("S_x", "S_y")  # y stays as it is: its new value is its old one
    assert [column(t.table, x, y).index(1) + 1 for x in (0, 1) for y in (0, 1)] == [1, 2, 3, 4]
    assert whats(imported) == ["reward r"]


def test_a_reward_that_mixes_states_and_a_noisy_observation_reports_the_lost_correlation() -> None:
    imported = rewarded(conditional("r", "y_1 o", ("- -", "0 1 0 2"), tag="Func"))
    told = imported.ts.observations["O_r"]
    assert told.parents == ("S_y", "S_x")
    # The reward is 0 or y + 1 as o is 0 or 1, and o is 1 with probability 0.1 or 0.8 as x is 0 or 1.
    for y, x in product(range(2), range(2)):
        expected = {0: [0.9, 0.2][x], y + 1: [0.1, 0.8][x]}
        np.testing.assert_allclose(column(told.likelihood, y, x), [expected.get(i, 0) for i in range(3)], atol=1e-15)
    assert whats(imported) == ["r given O_o", "reward r"]


def test_rewards_add_up_in_the_logarithm_of_the_preferences() -> None:
    variables = SEEN.replace("<ActionVar", "<ObsVar vname='p'><NumValues>3</NumValues></ObsVar><ActionVar")
    imported = rewarded(
        conditional("r", "o p", ("- -", "1 2 3 4 5 7"), tag="Func"),
        conditional("s", "p", ("-", "0.5 0 -2"), tag="Func"),
        names="rs",
        likelihood=NOISY + conditional("p", "y_1", ("* -", "uniform")),
        variables=variables,
    )
    (preference,) = imported.ts.preferences
    assert preference.observations == ("O_o", "O_p")
    scores = np.array([[1.5, 2, 1], [4.5, 5, 5]])
    np.testing.assert_allclose(preference.table, np.exp(scores) / np.exp(scores).sum(), rtol=1e-14)


def test_a_reward_that_joins_two_groups_makes_them_one() -> None:
    variables = SEEN.replace("<ActionVar", "<ObsVar vname='p'><NumValues>3</NumValues></ObsVar><ActionVar")
    imported = rewarded(
        conditional("r", "o", ("-", "0 1"), tag="Func"),
        conditional("s", "p", ("-", "0 2 4"), tag="Func"),
        conditional("t", "p o", ("- -", "0 0 0 8 0 0"), tag="Func"),
        names="rst",
        likelihood=NOISY + conditional("p", "y_1", ("* -", "uniform")),
        variables=variables,
    )
    (preference,) = imported.ts.preferences
    assert preference.observations == ("O_p", "O_o")
    scores = np.array([[0, 1], [2, 3 + 8], [4, 5]])
    np.testing.assert_allclose(preference.table, np.exp(scores) / np.exp(scores).sum(), rtol=1e-14)


def test_constant_rewards_are_dropped_and_reported_unless_they_are_zero() -> None:
    imported = rewarded(
        conditional("r", "a", ("*", "5"), tag="Func"), conditional("s", "x_0", ("*", "0"), tag="Func"), names="rs"
    )
    assert not imported.ts.preferences
    assert whats(imported) == ["r = 5"]


def test_a_constant_reward_on_observations_is_an_indifferent_preference() -> None:
    imported = rewarded(conditional("r", "o", ("*", "5"), tag="Func"))
    assert imported.ts.preferences[0].table.tolist() == [0.5, 0.5]


def test_names_of_added_variables_make_way_for_declared_ones() -> None:
    variables = SEEN.replace("'o'", "'r'") + state("r", 2)
    initial = PRIORS + conditional("r_0", "null", ("-", "uniform"))
    transitions = STILL_X + STILL_Y + conditional("r_1", "null", ("-", "uniform"))
    likelihoods = NOISY.replace(">o<", ">r<")
    rewards = conditional("w", "a", ("-", "0 1"), tag="Func").replace(">w<", ">O_r_<")
    text = pomdpx(variables + "<RewardVar vname='O_r_'/>", initial, transitions, likelihoods, rewards)
    ts = read_text("f.pomdpx", text).ts
    assert list(ts.observations) == ["O_r", "O_r_"]
    assert list(ts.states) == ["S_x", "S_y", "S_r", "S_O_r_"]


def test_observations_that_depend_on_the_action_share_one_memory() -> None:
    variables = SEEN + variable("ObsVar", "p", 2)
    likelihoods = "".join(conditional(name, "a x_1", ("- - -", "1 0 0 1 0 1 1 0")) for name in "op")
    ts = read_text("f.pomdpx", pomdpx(variables, PRIORS, STILL_X + STILL_Y, likelihoods)).ts
    assert list(ts.states) == ["S_x", "S_y", "S_last_a"]
    assert ts.observations["O_o"].parents == ts.observations["O_p"].parents == ("S_last_a", "S_x")
    assert ts.states["S_last_a"].values == ("a0", "a1", "none")
