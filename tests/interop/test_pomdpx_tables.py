"""Tables of entries and of diagrams, compared with an evaluation cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop.pomdp_texts import conditional, pomdpx, read_text, state, variable

from btai.errors import FormatError

some = settings(max_examples=60)
SIZES = {"o": 3, "p": 2, "q": 3}  # rewards may depend on any of them: every number of their table can be looked up
VARIABLES = (
    state("x", 2)
    + "".join(variable("ObsVar", name, size) for name, size in SIZES.items())
    + variable("ActionVar", "a", 1)
    + "<RewardVar vname='r'/>"
)
PRIOR = conditional("x_0", "null", ("-", "uniform"))
STILL = conditional("x_1", "x_0", ("- -", "identity"))
BLIND = "".join(conditional(name, "null", ("-", "uniform")) for name in SIZES)


def scores_of(rewards: str) -> Any:
    """The reward table of the one <Func>, up to a constant, which a softmax forgets: as differences to cell 0."""
    ts = read_text("f.pomdpx", pomdpx(VARIABLES, PRIOR, STILL, BLIND, rewards)).ts
    (preference,) = ts.preferences
    logarithms = np.log(preference.table)
    return logarithms - logarithms.ravel()[0]


# --- entries ------------------------------------------------------------------------------------------------

Entry = tuple[list[str], list[int]]


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    cells = [draw(st.sampled_from(["*", "-", *(f"o{i}" for i in range(size))])) for size in SIZES.values()]
    count = int(np.prod([size for size, cell in zip(SIZES.values(), cells, strict=True) if cell == "-"]))
    return cells, draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count))


def written(listed: list[Entry], cell: tuple[int, ...]) -> int:
    """The number at one cell, by the words of the specification: the last entry that matches it says it."""
    value = 0
    for cells, numbers in listed:
        if all(word in "*-" or word == f"o{i}" for word, i in zip(cells, cell, strict=True)):
            place = 0
            for word, i, size in zip(cells, cell, SIZES.values(), strict=True):
                place = place * size + i if word == "-" else place
            value = numbers[place]
    return value


@some
@given(st.lists(entries(), min_size=1, max_size=5))
def test_entries_write_what_the_wildcards_mean(listed: list[Entry]) -> None:
    pairs = [(" ".join(cells), " ".join(map(str, numbers))) for cells, numbers in listed]
    found = scores_of(conditional("r", "o p q", *pairs, tag="Func"))
    cells = list(np.ndindex(*SIZES.values()))
    expected = np.array([written(listed, cell) - written(listed, cells[0]) for cell in cells])
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-12)


# --- diagrams -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A node of a diagram; a leaf is a number, a use of a template its number in a string."""

    variable: str
    edges: dict[int, Any]


@st.composite
def parts(draw: st.DrawFn, left: tuple[str, ...], templates: int) -> Any:
    kinds = ["leaf"] + ["node"] * 2 * bool(left) + ["template"] * bool(templates)
    kind = draw(st.sampled_from(kinds))
    if kind == "leaf":
        return draw(st.integers(-9, 9))
    if kind == "template":
        return str(draw(st.integers(0, templates - 1)))
    name = draw(st.sampled_from(left))
    rest = tuple(other for other in left if other != name)
    values = draw(st.sets(st.integers(0, SIZES[name] - 1)))
    return Node(name, {value: draw(parts(rest, templates)) for value in sorted(values)})


@st.composite
def diagrams(draw: st.DrawFn) -> tuple[Any, list[Any]]:
    """A diagram and its templates, each of which may use those before it."""
    templates: list[Any] = []
    for _ in range(draw(st.integers(0, 2))):
        templates.append(draw(parts(tuple(SIZES), len(templates))))
    return draw(parts(tuple(SIZES), len(templates))), templates


def as_text(part: Any) -> str:
    if isinstance(part, Node):
        edges = "".join(f"<Edge val='o{value}'>{as_text(below)}</Edge>" for value, below in part.edges.items())
        return f"<Node var='{part.variable}'>{edges}</Node>"
    return f"<SubDAG type='template' idref='{part}'/>" if isinstance(part, str) else f"<Terminal>{part}</Terminal>"


def value_at(part: Any, templates: list[Any], cell: dict[str, int]) -> int:
    """Follow one path of a diagram; where there is no edge, the number is 0."""
    while not isinstance(part, int):
        part = templates[int(part)] if isinstance(part, str) else part.edges.get(cell[part.variable], 0)
    return part


@some
@given(diagrams())
def test_a_diagram_gives_each_cell_the_number_at_the_end_of_its_path(drawn: tuple[Any, list[Any]]) -> None:
    root, templates = drawn
    listed = "".join(f"<SubDAGTemplate id='{i}'>{as_text(part)}</SubDAGTemplate>" for i, part in enumerate(templates))
    found = scores_of(
        "<Func><Var>r</Var><Parent>o p q</Parent>"
        f"<Parameter type='DD'><DAG>{as_text(root)}</DAG>{listed}</Parameter></Func>"
    )
    values = [
        value_at(root, templates, dict(zip(SIZES, cell, strict=True)))
        for cell in product(*(range(size) for size in SIZES.values()))
    ]
    np.testing.assert_allclose(found.ravel(), np.array(values) - values[0], atol=1e-12)


def diagram(body: str, templates: str = "") -> Any:
    """The transition of x when its table, given x before, is this diagram."""
    table = (
        "<CondProb><Var>x_1</Var><Parent>x_0</Parent>"
        f"<Parameter type='DD'><DAG>{body}</DAG>{templates}</Parameter></CondProb>"
    )
    text = pomdpx(state("x", 2) + variable("ActionVar", "a", 1), PRIOR, table)
    return read_text("f.pomdpx", text).ts.transitions["S_x"].table.tolist()


def test_the_formats_own_parts_are_uniform_persistent_and_deterministic() -> None:
    assert diagram("<SubDAG type='uniform' var='x_1'/>") == [[0.5, 0.5], [0.5, 0.5]]
    assert diagram("<SubDAG type='persistent' var='x_1'/>") == [[1, 0], [0, 1]]
    assert diagram("<SubDAG type='deterministic' var='x_1' val='s1'/>") == [[0, 0], [1, 1]]


def test_a_persistent_part_keeps_the_value_that_is_already_known() -> None:
    keep = "<SubDAG type='persistent' var='x_1'/>"
    other = "<SubDAG type='uniform' var='x_1'/>"
    body = f"<Node var='x_0'><Edge val='s0'>{other}</Edge><Edge val='s1'>{keep}</Edge></Node>"
    assert diagram(body) == [[0.5, 0], [0.5, 1]]


def test_a_template_that_is_used_twice_on_a_path_is_read_as_it_stands() -> None:
    inner = (
        "<SubDAGTemplate id='t'><Node var='x_0'><Edge val='s0'><SubDAG type='uniform' var='x_1'/></Edge>"
        "<Edge val='s1'><SubDAG type='persistent' var='x_1'/></Edge></Node></SubDAGTemplate>"
    )
    use = "<SubDAG type='template' idref='t'/>"
    assert diagram(f"<Node var='x_0'><Edge val='s0'>{use}</Edge><Edge val='s1'>{use}</Edge></Node>", inner) == [
        [0.5, 0],
        [0.5, 1],
    ]


def test_a_reward_has_no_persistent_parts() -> None:
    table = "<Func><Var>r</Var><Parent>o</Parent><Parameter type='DD'><DAG><SubDAG type='uniform' var='o'/></DAG>"
    with pytest.raises(FormatError, match="expected as type one of template, found 'uniform'"):
        scores_of(f"{table}</Parameter></Func>")
