"""Sound POMDPX files, looked at entry by entry; every figure is worked out by hand from the file."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from interop.pomdp_texts import (
    DATA,
    column,
    conditional,
    pomdpx,
    read_text,
    state,
    text_of,
    variable,
    whats,
)

from btai.errors import FormatError, PreferenceError
from btai.interop import Imported, read_pomdpx

ROCKS = text_of("rocks.pomdpx")


@pytest.fixture(scope="module")
def tiger() -> Imported:
    return read_pomdpx(DATA / "tiger.pomdpx", precision=0.1)


@pytest.fixture(scope="module")
def rocks() -> Imported:
    return read_pomdpx(DATA / "rocks.pomdpx", precision=0.1)


# --- the tiger --------------------------------------------------------------------------------------------


def test_tiger_has_its_variables_and_those_that_carry_what_a_slice_cannot_say(tiger: Imported) -> None:
    ts = tiger.ts
    assert (ts.action.name, ts.action.values) == ("A_agent", ("listen", "open-left", "open-right"))
    assert list(ts.states) == ["S_tiger", "S_last_agent", "S_reward"]
    assert list(ts.observations) == ["O_hear", "O_reward"]
    assert ts.states["S_tiger"].values == ts.observations["O_hear"].values == ("left", "right")
    assert ts.states["S_tiger"].prior.tolist() == [0.5, 0.5]


def test_tiger_stays_when_one_listens_and_is_placed_anew_by_opening(tiger: Imported) -> None:
    t = tiger.ts.transitions["S_tiger"]
    assert t.parents == ("A_agent", "S_tiger")
    assert [column(t.table, 0, s) for s in (0, 1)] == [[1, 0], [0, 1]]
    assert [column(t.table, a, s) for a in (1, 2) for s in (0, 1)] == [[0.5, 0.5]] * 4


def test_tiger_is_heard_through_the_memory_of_the_last_action(tiger: Imported) -> None:
    memory, hear = tiger.ts.states["S_last_agent"], tiger.ts.observations["O_hear"]
    assert memory.values == ("listen", "open-left", "open-right", "none")
    assert memory.prior.tolist() == [0, 0, 0, 1]
    assert tiger.ts.transitions["S_last_agent"].parents == ("A_agent",)
    assert [column(tiger.ts.transitions["S_last_agent"].table, a) for a in range(3)] == np.eye(3, 4).tolist()
    assert hear.parents == ("S_last_agent", "S_tiger")
    assert [column(hear.likelihood, 0, s) for s in (0, 1)] == [[0.85, 0.15], [0.15, 0.85]]
    assert [column(hear.likelihood, last, s) for last in (1, 2, 3) for s in (0, 1)] == [[0.5, 0.5]] * 6


def test_tiger_reward_is_told_by_an_observation_of_its_amounts(tiger: Imported) -> None:
    told, t = tiger.ts.observations["O_reward"], tiger.ts.transitions["S_reward"]
    assert told.values == tiger.ts.states["S_reward"].values == ("-100", "-1", "10")
    assert told.likelihood.tolist() == np.eye(3).tolist()
    assert t.parents == ("A_agent", "S_tiger")
    amounts = {(a, s): column(t.table, a, s).index(1) for a in range(3) for s in range(2)}
    assert amounts == {(0, 0): 1, (0, 1): 1, (1, 0): 0, (1, 1): 2, (2, 0): 2, (2, 1): 0}


def test_tiger_preference_is_the_softmax_of_precision_times_reward(tiger: Imported) -> None:
    (preference,) = tiger.ts.preferences
    assert preference.observations == ("O_reward",)
    weights = [exp(-10), exp(-0.1), exp(1)]
    np.testing.assert_allclose(preference.table, np.array(weights) / sum(weights), rtol=1e-14)


def test_tiger_report_names_discount_action_dependence_and_reward(tiger: Imported) -> None:
    assert whats(tiger) == ["discount 0.95", "O_hear given the action", "reward reward"]


# --- the rocks: diagrams, two actions, an observed state ----------------------------------------------------


def test_rocks_actions_are_joined_and_named(rocks: Imported) -> None:
    assert rocks.ts.action.name == "A_move_arm"
    assert rocks.ts.action.values == tuple(
        f"{move},{arm}" for move in ("west", "east", "stay") for arm in ("rest", "sample", "check")
    )


def test_rocks_rover_moves_as_the_diagram_says_whatever_the_arm_does(rocks: Imported) -> None:
    t = rocks.ts.transitions["S_rover"]
    assert t.parents == ("A_move_arm", "S_rover")
    west, east, stay = range(3)
    for arm in range(3):
        assert [column(t.table, 3 * west + arm, s) for s in range(3)] == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
        assert [column(t.table, 3 * east + arm, s) for s in range(3)] == [[0.1, 0.9, 0], [0, 0, 1], [0, 0, 1]]
        assert [column(t.table, 3 * stay + arm, s) for s in range(3)] == np.eye(3).tolist()


def test_rocks_sampling_spoils_the_rock_where_the_rover_is_at_it(rocks: Imported) -> None:
    t = rocks.ts.transitions["S_rock"]
    assert t.parents == ("A_move_arm", "S_rover", "S_rock")
    for action in range(9):
        for rover in range(3):
            spoils = action % 3 == 1 and rover == 1
            expected = [[0, 1], [0, 1]] if spoils else [[1, 0], [0, 1]]
            assert [column(t.table, action, rover, rock) for rock in range(2)] == expected


def test_rocks_sensor_depends_on_the_arm_and_the_distance(rocks: Imported) -> None:
    sensor = rocks.ts.observations["O_sensor"]
    assert sensor.parents == ("S_last_move_arm", "S_rover", "S_rock")
    checks = [2, 5, 8]  # west,check east,check stay,check
    for last in range(10):
        for rover, expected in enumerate([[[0.8, 0.2], [0.2, 0.8]], [[1, 0], [0, 1]], [[0.5, 0.5]] * 2]):
            found = [column(sensor.likelihood, last, rover, rock) for rock in range(2)]
            assert found == (expected if last in checks else [[0.5, 0.5]] * 2)


def test_rocks_observed_state_is_seen_and_carries_the_reward_for_it(rocks: Imported) -> None:
    assert rocks.ts.observations["O_rover"].likelihood.tolist() == np.eye(3).tolist()
    exit_, find = rocks.ts.preferences
    assert (exit_.observations, find.observations) == (("O_rover",), ("O_find",))
    np.testing.assert_allclose(exit_.table, np.array([1, 1, exp(1)]) / (2 + exp(1)), rtol=1e-14)


def test_rocks_reward_of_a_diagram_has_zero_where_there_is_no_edge(rocks: Imported) -> None:
    amounts, t = rocks.ts.states["S_find"].values, rocks.ts.transitions["S_find"]
    assert amounts == ("-10", "-5", "0", "10")
    assert t.parents == ("A_move_arm", "S_rover", "S_rock")
    for action in range(9):
        for rover in range(3):
            for rock in range(2):
                sampled = ["-5", ["10", "-10"][rock], "-5"][rover]
                expected = sampled if action % 3 == 1 else "0"
                assert amounts[column(t.table, action, rover, rock).index(1)] == expected


def test_rocks_report_tells_all_that_changed(rocks: Imported) -> None:
    assert [what.split(" 'A rover")[0] for what in whats(rocks)] == [
        "description",
        "discount 0.95",
        "actions move, arm",
        "O_sensor given the action",
        "fullyObs S_rover",
        "reward find",
    ]


# --- details of the format --------------------------------------------------------------------------------

SMALL = state("x", 2) + variable("ObsVar", "o", 2) + variable("ActionVar", "a", 2)
PRIOR = conditional("x_0", "null", ("-", "0.25 0.75"))
STILL = conditional("x_1", "x_0", ("- -", "identity"))
SEEN = conditional("o", "x_1", ("- -", "0.9 0.1 0.2 0.8"))


def small(**parts: str) -> str:
    given = {"variables": SMALL, "initial": PRIOR, "transitions": STILL, "likelihoods": SEEN} | parts
    return pomdpx(**given)


def test_value_numbers_are_named_by_letter_and_values_stay_without_names() -> None:
    text = small(transitions=conditional("x_1", "a x_0", ("* * s0", "1"), ("a1 s1 -", "0.3 0.7")))
    ts = read_text("f.pomdpx", text).ts
    assert ts.states["S_x"].values is ts.observations["O_o"].values is ts.action.values is None
    assert column(ts.transitions["S_x"].table, 1, 1) == [0.3, 0.7]
    assert column(ts.transitions["S_x"].table, 0, 1) == [1, 0]


@pytest.mark.parametrize(
    ("before", "now", "name"),
    [
        ("x_0", "x_1", "S_x"),
        ("S_x_0", "S_x_1", "S_x"),
        ("x", "x_next", "S_x"),
        ("x0", "x1", "S_x0"),
        ("_0", "_1", "S__0"),
        ("S_", "T_", "S_S_"),
    ],
)
def test_a_state_is_named_by_what_its_two_names_have_in_common(before: str, now: str, name: str) -> None:
    text = small().replace("x_0", before).replace("x_1", now)
    assert list(read_text("f.pomdpx", text).ts.states) == [name]


def test_names_that_start_as_a_slice_wants_them_are_kept() -> None:
    ts = read_text("f.pomdpx", small().replace("'o'", "'O_o'").replace(">o<", ">O_o<").replace("'a'", "'A_a'")).ts
    assert (list(ts.observations), ts.action.name) == (["O_o"], "A_a")


def test_a_later_entry_overwrites_an_earlier_one() -> None:
    text = small(transitions=conditional("x_1", "x_0", ("* -", "0.5 0.5"), ("s1 *", "0"), ("s1 s0", "1")))
    table = read_text("f.pomdpx", text).ts.transitions["S_x"].table
    assert [column(table, s) for s in (0, 1)] == [[0.5, 0.5], [1, 0]]


def test_encodings_comments_and_character_references_are_read() -> None:
    text = small(variables=SMALL.replace("<NumValues>2", "<ValueEnum>dé &#106;a<!-- ja -->", 1))
    text = text.replace("</NumValues></StateVar>", "</ValueEnum></StateVar>")
    for encoding in ("utf-8", "utf-16", "iso-8859-1"):
        data = f"<?xml version='1.0' encoding='{encoding}'?>{text}".encode(encoding)
        assert read_text("f.pomdpx", data).ts.states["S_x"].values == ("dé", "ja")


def test_an_observation_that_depends_on_no_action_in_its_numbers_needs_no_memory() -> None:
    text = small(likelihoods=conditional("o", "a x_1", ("* - -", "0.9 0.1 0.2 0.8")))
    ts = read_text("f.pomdpx", text).ts
    assert list(ts.states) == ["S_x"]
    assert ts.observations["O_o"].parents == ("S_x",)


def test_an_observation_that_depends_on_nothing_is_declared_on_the_first_state() -> None:
    ts = read_text("f.pomdpx", small(likelihoods=conditional("o", "null", ("-", "0.9 0.1")))).ts
    assert ts.observations["O_o"].parents == ("S_x",)
    assert ts.observations["O_o"].likelihood.tolist() == [[0.9, 0.9], [0.1, 0.1]]


def test_an_observation_may_depend_on_the_action_alone() -> None:
    ts = read_text("f.pomdpx", small(likelihoods=conditional("o", "a", ("- -", "identity")))).ts
    assert ts.observations["O_o"].parents == ("S_last_a",)
    assert ts.observations["O_o"].likelihood.tolist() == [[1, 0, 0.5], [0, 1, 0.5]]


def test_distributions_written_with_few_digits_are_divided_by_their_sum_and_reported() -> None:
    text = small(initial=conditional("x_0", "null", ("-", "0.3333 0.6663")))
    imported = read_text("f.pomdpx", text)
    assert imported.ts.states["S_x"].prior.tolist() == [0.3333 / 0.9996, 0.6663 / 0.9996]
    assert whats(imported) == ["the distribution of x_0"]


def test_a_file_without_anything_to_lose_gives_an_empty_report() -> None:
    text = small().replace("<Discount>", "<Description> </Description><Discount>")
    assert not read_text("f.pomdpx", text).losses


def test_precision_must_be_a_number_for_a_softmax() -> None:
    for precision in (-1.0, float("nan"), float("inf")):
        with pytest.raises(PreferenceError, match=r"precision: .* was given"):
            read_pomdpx(DATA / "tiger.pomdpx", precision=precision)


def test_loopy_inference_can_be_asked_for() -> None:
    assert read_pomdpx(DATA / "tiger.pomdpx", inference="loopy").ts.inference == "loopy"


def test_an_error_names_the_file_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "broken.pomdpx"
    path.write_text(ROCKS.replace("</pomdpx>", ""), "utf-8")
    with pytest.raises(FormatError) as error:
        read_pomdpx(path)
    assert str(error.value).startswith(f"{path}:")


def test_a_reward_in_logarithms_is_a_preference_in_probabilities() -> None:
    rewards = conditional("r", "o", ("-", f"{log(0.2)!r} {log(0.8)!r}"), tag="Func")
    ts = read_text("f.pomdpx", small(variables=SMALL + "<RewardVar vname='r'/>", rewards=rewards)).ts
    (preference,) = ts.preferences
    assert preference.observations == ("O_o",)
    np.testing.assert_allclose(preference.table, [0.2, 0.8], rtol=1e-15)
