"""What a notebook shows: the figures, whatever the names; never a script."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest
from experiments.corridor import Corridor, corridor_slice
from hand_made import BAD, EVEN, GOOD, LEVER
from spec import Spec

from btai import BTAI_3MF, BTAI_VMP, TemporalSlice, TemporalSliceBuilder, i_step
from btai.experiments import Summary, run
from btai.inference import Beliefs
from btai.notebook import bar, element, histogram, likeliest, table
from btai.planning import TreeView

PLACES, MOVES, LIGHTS = ("door", "bench", "stairs", "lamp"), ("left", "stay", "right"), ("dark", "bright")
HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "&amp; <b>'", "</td></table>{{x}}")


def hall(places: tuple[str, ...] | None = PLACES, moves: tuple[str, ...] | None = MOVES) -> TemporalSlice:
    """A hall in which only the lamp, at its right end, gives light."""
    walk = [np.eye(4)[:, [0, 0, 1, 2]], np.eye(4), np.eye(4)[:, [1, 2, 3, 3]]]
    return (
        TemporalSliceBuilder("A_walk", 3, values=moves)
        .add_state("S_place", [0.25] * 4, values=places)
        .add_observation("O_light", [[0.9, 0.8, 0.5, 0.1], [0.1, 0.2, 0.5, 0.9]], ["S_place"], values=LIGHTS)
        .add_transition("S_place", np.stack(walk, axis=2), ["S_place", "A_walk"])
        .add_preference(["O_light"], [0.1, 0.9])
        .build()
    )


def planned(ts: TemporalSlice, iterations: int, **options: Any) -> BTAI_3MF:
    """An agent that saw darkness, if the model knows it, and planned."""
    agent = BTAI_3MF(ts, iterations, engine="numpy", **options)
    agent.reset({"O_light": 0} if "O_light" in ts.observations else {})
    agent.plan(iterations)
    return agent


def planned_spec(spec: Spec, iterations: int) -> BTAI_3MF:
    return planned(spec.build(), iterations)


def shown(thing: Any) -> Element:
    """What a notebook would show, if it is well-formed."""
    return fromstring(thing._repr_html_())


def words(at: Element) -> str:
    return "".join(at.itertext())


def rows(at: Element) -> list[list[str]]:
    """The cells of all tables, heads included."""
    return [[words(cell) for cell in row] for row in at.iter("tr")]


def columns(at: Element) -> list[float]:
    """The heights of the columns of all histograms, in per cent."""
    styles = (span.get("style", "") for span in at.iter("span") if span.get("title"))
    return [float(style.rpartition("height:")[2].removesuffix("%")) for style in styles]


def bars(at: Element) -> list[float]:
    """The widths of all bars, in per cent."""
    styles = [dict(part.split(":") for part in span.get("style", "").split(";")) for span in at.iter("span")]
    return [float(style["width"].removesuffix("%")) for style in styles if style["width"].endswith("%")]


# --- beliefs ----------------------------------------------------------------------------------------------------------

# Darkness is seen with probability 0.9, 0.8, 0.5 and 0.1 at the four places: 2.3 in all.
POSTERIOR = "door: 39.1%, bench: 34.8%, stairs: 21.7%, lamp: 4.3%"


def test_beliefs_are_drawn_and_told_most_probable_first() -> None:
    found = shown(planned(hall(), 1).beliefs)
    assert rows(found) == [["S_place", "", POSTERIOR]]
    assert columns(found) == [39.1, 34.8, 21.7, 4.3]
    assert [s.get("title") for s in found.iter("span")][1:] == [
        "door: 39.1%",
        "bench: 34.8%",
        "stairs: 21.7%",
        "lamp: 4.3%",
    ]


def test_beliefs_print_a_line_for_each_variable() -> None:
    ts = LEVER.build()
    assert repr(planned(hall(), 1).beliefs) == f"S_place  {POSTERIOR}"
    both = Beliefs(ts, {"S_0": np.array([0.25, 0.75]), "O_0": np.array([1.0, 0.0])})
    assert repr(both) == "S_0  1: 75.0%, 0: 25.0%\nO_0  0: 100.0%, 1 other: 0.0%"
    assert repr(Beliefs(ts, {})) == ""


def test_beliefs_are_a_mapping_that_nobody_can_write_to() -> None:
    beliefs = planned(hall(), 1).beliefs
    assert dict(beliefs).keys() == {"S_place"}
    assert (len(beliefs), "S_place" in beliefs, beliefs.get("S_none")) == (1, True, None)
    with pytest.raises(TypeError, match="does not support item assignment"):
        beliefs["S_place"] = np.ones(4)  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        beliefs["S_place"][0] = 1


def test_beliefs_can_be_copied() -> None:
    beliefs = planned(hall(), 1).beliefs
    assert repr(copy.deepcopy(beliefs)) == repr(beliefs)


@pytest.mark.parametrize(
    ("vector", "told"),
    [
        ([0.2, 0.3, 0.1, 0.1, 0.2, 0.1], "b: 30.0%, a: 20.0%, e: 20.0%, c: 10.0%, 2 others: 20.0%"),
        ([0.0, 1.0, 0.0], "b: 100.0%, 2 others: 0.0%"),
        ([0.0004, 0.9996], "b: 100.0%, 1 other: 0.0%"),
        ([0.0005, 0.9995], "b: 100.0%, a: 0.1%"),
        ([1.0], "a: 100.0%"),
    ],
)
def test_likeliest_values_are_named_and_the_others_summed_up(vector: list[float], told: str) -> None:
    assert likeliest(np.array(vector), "abcdef".__getitem__) == told


def test_histogram_of_very_many_values_is_left_out() -> None:
    assert len(fromstring(histogram(np.full(128, 1 / 128), list(map(str, range(128)))))) == 128
    assert histogram(np.full(129, 1 / 129), list(map(str, range(129)))) == ""


# --- the slice --------------------------------------------------------------------------------------------------------


def test_slice_shows_its_variables_with_their_values_and_what_they_depend_on() -> None:
    found = shown(hall())
    assert words(found).startswith("TemporalSlice: 1 state, 1 observation, 3 actions (A_walk), exact inference")
    assert rows(found) == [
        ["action", "values"],
        ["A_walk", "3: left, stay, right"],
        ["state", "values", "prior", "follows from"],
        ["S_place", "4: door, bench, stairs, lamp", "", "S_place, A_walk"],
        ["observation", "values", "depends on"],
        ["O_light", "2: dark, bright", "S_place"],
        ["preference over", "preferred most"],
        ["O_light", "bright: 90.0%, dark: 10.0%"],
    ]
    assert columns(found) == [25.0] * 4


def test_joint_preference_names_its_best_outcomes_and_many_values_are_cut() -> None:
    joint = np.full((2, 7), 0.02)  # [O_light, O_door]
    joint[1, 6], joint[0, 2] = 0.46, 0.3
    ts = (
        TemporalSliceBuilder("A_wait", 1)
        .add_state("S_door", np.full(7, 1 / 7))
        .add_transition("S_door", np.eye(7), ["S_door"])
        .add_observation("O_light", np.full((2, 7), 0.5), ["S_door"], values=LIGHTS)
        .add_observation("O_door", np.eye(7), ["S_door"])
        .add_preference(["O_light", "O_door"], joint)
        .build()
    )
    assert rows(shown(ts))[-1] == [
        "O_light, O_door",
        "bright & 6: 46.0%, dark & 2: 30.0%, dark & 0: 2.0%, 11 others: 22.0%",
    ]
    assert ["S_door", "7: 0, 1, 2, 3, 4, 5, …", "", "S_door"] in rows(shown(ts))


def test_slice_without_observations_shows_no_empty_table() -> None:
    ts = TemporalSliceBuilder("A_a", 1).add_state("S_a", [1.0]).add_transition("S_a", [[1.0]], ["S_a"]).build()
    assert [row[0] for row in rows(shown(ts))] == ["action", "A_a", "state", "S_a"]


# --- inference, prediction and cost -----------------------------------------------------------------------------------


def test_inference_says_whether_it_is_exact_and_why() -> None:
    inference = planned(hall(), 1).inference
    # ln(2.3 / 4) = -0.5534
    assert rows(shown(inference))[:2] == [["exact", "yes, the factor graph has no loop"], ["log-evidence", "-0.5534"]]
    assert rows(shown(inference))[-1] == ["S_place", "", POSTERIOR]
    assert repr(inference).splitlines() == [
        "exact: yes, the factor graph has no loop",
        "log-evidence: -0.5534",
        f"S_place  {POSTERIOR}",
    ]


def test_inference_that_is_not_exact_says_so() -> None:
    ts = hall()
    blurred = ts.replace("S_place", transition=0.9 * ts.transitions["S_place"].table + 0.025)
    agent = BTAI_VMP(blurred, 1, engine="numpy", rng=np.random.default_rng(0))
    agent.reset({"O_light": "dark"})
    assert rows(shown(agent.inference))[0][1].startswith("no, variational message passing takes all beliefs for")
    assert rows(shown(agent.beliefs))[0] == ["S_place", "", POSTERIOR]
    assert rows(shown(agent.prior))[0] == ["S_place", "", "door: 25.0%, bench: 25.0%, stairs: 25.0%, lamp: 25.0%"]


def test_prediction_shows_states_and_observations() -> None:
    prediction = planned_spec(LEVER, 1).tree.prediction(2)
    assert rows(shown(prediction)) == [
        ["S_0", "", "1: 100.0%, 1 other: 0.0%"],
        ["O_0", "", "1: 100.0%, 1 other: 0.0%"],
    ]
    assert repr(prediction) == "S_0  1: 100.0%, 1 other: 0.0%\nO_0  1: 100.0%, 1 other: 0.0%"


def test_cost_is_shown_term_by_term() -> None:
    risky, ambiguous = (child.expected_free_energy for child in planned_spec(EVEN, 1).tree.root.children)
    assert words(shown(risky)).startswith("Expected free energy: 0.6931")
    assert rows(shown(risky)) == [["risk of O_0", "", "0.6931"], ["ambiguity of O_0", "", "0.0000"]]
    assert bars(shown(risky)) == [100.0, 0.0]
    assert bars(shown(ambiguous)) == [0.0, 100.0]
    assert repr(risky) == "ExpectedFreeEnergy: 0.6931 = 0.6931 (risk of O_0) + 0.0000 (ambiguity of O_0)"


def test_cost_without_terms_is_nothing() -> None:
    ts = TemporalSliceBuilder("A_a", 1).add_state("S_a", [1.0]).add_transition("S_a", [[1.0]], ["S_a"]).build()
    energy = planned(ts, 1).tree[1].expected_free_energy
    assert repr(energy) == "ExpectedFreeEnergy: 0.0000"
    assert rows(shown(energy)) == []


# --- the tree and the choice ------------------------------------------------------------------------------------------


@pytest.fixture
def lever() -> TreeView:
    """Nodes 0 -> 1, 2; 2 -> 3, 4; 4 -> 5, 6."""
    return planned_spec(LEVER, 3).tree


def branches(at: Element) -> Iterator[Element]:
    """The branches right below this one."""
    return (child for child in at if child.get("style") == "margin-left:1.2em")


def line(branch: Element) -> Element:
    return branch[0] if branch.tag == "details" else branch


def test_tree_is_nested_as_it_grew_and_open_along_the_plan(lever: TreeView) -> None:
    found = shown(lever)
    assert words(found).startswith("TreeView: 7 nodes after 3 planning iterations")
    bad, good = branches(found)
    assert words(line(bad)) == f"0  visits 1, mean cost {BAD:.4f}, own EFE {BAD:.4f}"
    assert words(line(good)) == f"1  visits 3, mean cost {GOOD:.4f}, own EFE {GOOD:.4f}"
    assert (bad.tag, good.tag, good.get("open")) == ("div", "details", "open")
    assert bars(line(good)) == [75.0]  # 3 of the 4 visits of the root
    _, better = branches(good)
    assert [words(line(leaf))[0] for leaf in branches(better)] == ["0", "1"]
    assert len(list(found.iter("b"))) == 1 + len(lever.plan) == 4  # the title, and the plan


def test_of_a_large_tree_the_most_visited_nodes_are_shown() -> None:
    tree = planned(hall(), 100).tree
    found = shown(tree)
    assert words(found).endswith("101 nodes with fewer visits are not shown.")
    drawn = [
        int(words(line(b)).split("visits ")[1].split(",")[0])
        for b in found.iter()
        if b.get("style") == "margin-left:1.2em"
    ]
    assert sorted(drawn, reverse=True) == sorted(tree.visits.tolist(), reverse=True)[1:200]
    assert "not shown" not in words(shown(planned(hall(), 66).tree))


def test_node_shows_where_it_stands_and_what_is_believed_there(lever: TreeView) -> None:
    assert words(shown(lever[4])).startswith(f"Node 4: 1, 1; visits 2, mean cost {GOOD:.4f}")
    assert rows(shown(lever[4])) == [
        ["risk of O_0", "", f"{GOOD:.4f}"],
        ["ambiguity of O_0", "", "0.0000"],
        ["S_0", "", "1: 100.0%, 1 other: 0.0%"],
    ]
    root = shown(lever.root)
    assert words(root).startswith("Node 0: the present; visits 4")
    assert rows(root) == [["S_0", "", "0: 50.0%, 1: 50.0%"]]


def test_explanation_has_the_figures_that_it_prints() -> None:
    why = planned(hall(), 20).explain()
    found = shown(why)
    title, head, *printed = repr(why).splitlines()
    assert words(found).startswith(title)
    assert [" ".join(row).split() for row in rows(found)] == [text.split() for text in (head, *printed)]
    assert [words(b) for b in found.iter("b")] == [title, why.actions[why.chosen].name]
    visits = [s.visits for s in why.actions]
    assert bars(found) == pytest.approx([100 * v / max(visits) for v in visits], abs=0.05)


def test_explanation_of_a_choice_under_a_time_limit_warns() -> None:
    agent = BTAI_3MF(hall(), time_limit=0.01, engine="numpy")
    agent.reset({"O_light": "dark"})
    agent.step()
    assert words(shown(agent.explain())).endswith("another run may come out differently.")


# --- runs -------------------------------------------------------------------------------------------------------------


def test_run_and_its_summary_show_their_figures() -> None:
    figures = Summary(4, 0.75, (0.3, 0.95), 0.5, 3, 12.0, 0.25, 1.5, exhaustive=False)
    assert rows(shown(figures)) == [
        ["P(solved)", "0.750000  (95 %: 0.300–0.950)"],
        ["mean reward", "0.500000"],
        ["trials", "4 of 4  (1 ran out of time)"],
        ["cycles per trial", "12.000"],
        ["seconds per trial", "0.250000"],
        ["µs per planning iteration", "1.50"],
    ]
    result = run(BTAI_3MF(corridor_slice(), 3, engine="numpy"), Corridor(), trials=2)
    assert rows(shown(result)) == rows(shown(result.summary))
    assert [text.split() for text in repr(result).splitlines()] == [
        " ".join(row).split() for row in rows(shown(result))
    ]


# --- names from outside -----------------------------------------------------------------------------------------------


ELEMENTS = {"div", "b", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"}


def everything(ts: TemporalSlice) -> list[Any]:
    agent = planned(ts, 10)
    tree = agent.tree
    return [
        *(ts, agent.beliefs, agent.prior, agent.inference, tree, tree.root, tree[3], tree.prediction(3)),
        *(tree[3].expected_free_energy, agent.explain(), i_step(ts, {"O_light": [0.5, 0.5]})),
    ]


@pytest.mark.parametrize("index", range(len(everything(hall()))))
def test_hostile_names_are_shown_as_they_are_and_do_nothing(index: int) -> None:
    thing = everything(hall(HOSTILE, HOSTILE[:3]))[index]
    found = shown(thing)
    assert {at.tag for at in found.iter()} <= ELEMENTS
    assert {name for at in found.iter() for name in at.attrib} <= {"style", "title", "open"}
    assert not any(bad in at.get("style", "") for at in found.iter() for bad in ("url", "expression", "<"))
    plain = shown(everything(hall())[index])
    assert [at.tag for at in found.iter()] == [at.tag for at in plain.iter()]  # not an element more or less
    if any(word in words(plain) for word in (*PLACES, *MOVES)):
        assert any(name in words(found) for name in HOSTILE)


def test_text_is_escaped_in_content_and_in_attributes() -> None:
    assert element("b", HOSTILE[0]) == "<b>&lt;script&gt;alert(1)&lt;/script&gt;</b>"
    assert element("b", "x", title='"&') == '<b title="&quot;&amp;">x</b>'
    assert element("b", element("i", "<")) == "<b><i>&lt;</i></b>"
    assert rows(fromstring(table(("<", ""), [("&", 1)]))) == [["<", ""], ["&", "1"]]


@pytest.mark.parametrize(("share", "width"), [(0.5, 50.0), (-1.0, 0.0), (2.0, 100.0)])
def test_bar_stays_within_its_frame(share: float, width: float) -> None:
    assert bars(fromstring(bar(share))) == [width]
