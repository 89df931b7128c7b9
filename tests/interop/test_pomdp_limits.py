"""Files from outside: limits are checked before anything large is made, and no input does worse than be refused."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hand_made import LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from interop.pomdp_texts import DATA, conditional, pomdpx, read_text, state, text_of, variable

from btai.errors import CliqueTooLargeError, FormatError, ModelFileError
from btai.interop import Limits, read_pomdp, read_pomdpx, write_pomdp, write_pomdpx

ACTION = variable("ActionVar", "a", 1)


def refused(name: str, text: str, message: str, limits: Limits | None = None) -> None:
    """The text is refused with this message, without allocating what it asks for."""
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=message):
            read_text(name, text, limits=limits)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**21 + 100 * len(text)


def binary(n: int) -> tuple[str, str, str]:
    """Declarations, priors and transitions of n states of two values that stay as they are."""
    names = [f"x{i}" for i in range(n)]
    return (
        "".join(state(name, 2) for name in names) + ACTION,
        "".join(conditional(f"{name}_0", "null", ("-", "uniform")) for name in names),
        "".join(conditional(f"{name}_1", f"{name}_0", ("- -", "identity")) for name in names),
    )


@pytest.mark.parametrize("name", ["tiger.pomdpx", "tiger.pomdp"])
def test_a_file_larger_than_the_limit_is_refused(name: str) -> None:
    read = read_pomdpx if name.endswith("x") else read_pomdp
    size = (DATA / name).stat().st_size
    assert read(DATA / name, limits=Limits(file_bytes=size)).ts.states
    with pytest.raises(FormatError) as error:
        read(DATA / name, limits=Limits(file_bytes=size - 1))
    assert str(error.value) == (
        f"{DATA / name}:1:1: expected a file of at most {size - 1:,} bytes, this one is larger;"
        " pass limits=Limits(file_bytes=...) to allow more"
    )


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    ts = LEVER.build()
    for access in (read_pomdp, read_pomdpx, partial(write_pomdp, ts), partial(write_pomdpx, ts)):
        with pytest.raises(ModelFileError) as error:
            access(tmp_path / "none" / "none")
        assert str(error.value) == (
            f"{tmp_path / 'none' / 'none'}: No such file or directory. Choose a file that can be used."
        )


@pytest.mark.parametrize("write", [write_pomdp, write_pomdpx])
def test_writing_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., object]
) -> None:
    def fail(_: int) -> None:
        raise OSError("the disk is full")

    path = tmp_path / "model"
    path.write_text("before")
    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(ModelFileError, match="the disk is full"):
        write(LEVER.build(), path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("model", "before")]


def test_elements_are_counted() -> None:
    refused("f.pomdpx", text_of("tiger.pomdpx"), r"f.pomdpx:26:5: expected at most 19 elements", Limits(elements=19))


def test_elements_nest_to_a_limit() -> None:
    deep = "<Node var='x0_0'><Edge val='s0'>" * 5000
    declared, initial, _ = binary(1)
    transition = f"<CondProb><Var>x0_1</Var><Parent>x0_0</Parent><Parameter type='DD'><DAG>{deep}"
    refused("f.pomdpx", pomdpx(declared, initial, transition), "expected elements nested at most 100 deep")


def test_variables_are_counted() -> None:
    refused("f.pomdpx", pomdpx(*binary(30)), "expected at most 29 variables", Limits(variables=29))
    assert read_text("f.pomdpx", pomdpx(*binary(30)), limits=Limits(variables=31)).ts.states


def test_the_axes_of_a_table_are_counted() -> None:
    declared, initial, transitions = binary(33)
    reward = conditional("r", " ".join(f"x{i}_0" for i in range(33)), ("* " * 33, "1"), tag="Func")
    text = pomdpx(declared + "<RewardVar vname='r'/>", initial, transitions, "", reward)
    refused("f.pomdpx", text, "expected at most 32 variables in the table of r, found 33")


def test_a_table_is_refused_before_it_is_made() -> None:
    declared = state("x", 100_000) + ACTION
    initial = conditional("x_0", "null", ("-", "uniform"))
    text = pomdpx(declared, initial, conditional("x_1", "x_0", ("- -", "identity")))
    refused("f.pomdpx", text, r"at most 8,388,608 numbers in all tables together, the table of x_1 would make them")
    text = "discount: 1\nstates: 100000\nactions: 3\nobservations: 2\nT: * identity\nO: * uniform\n"
    refused("f.pomdp", text, r"f.pomdp:2:1: .* the table over states would make them 30,000,100,005")


def test_all_tables_count_together() -> None:
    text = pomdpx(*binary(20))  # each state: 2 values, a prior of 2, a transition of 4
    assert read_text("f.pomdpx", text, limits=Limits(entries=161)).ts.states
    refused("f.pomdpx", text, "would make them 161", Limits(entries=160))


def test_a_joint_action_is_refused_before_it_is_made() -> None:
    declared, initial, transitions = binary(1)
    actions = "".join(variable("ActionVar", f"b{i}", 10) for i in range(20))
    refused("f.pomdpx", pomdpx(declared + actions, initial, transitions), "the joint actions would make them")


def test_added_tables_are_refused_before_they_are_made() -> None:
    values = " ".join(map(str, range(5000)))
    declared = state("x", 5000) + ACTION + "<RewardVar vname='r'/>"
    reward = conditional("r", "x_0", ("-", values), tag="Func")
    initial, still = conditional("x_0", "null", ("-", "uniform")), conditional("x_1", "null", ("-", "uniform"))
    refused("f.pomdpx", pomdpx(declared, initial, still, "", reward), "the table of O_r would make them 25,0")


def test_statements_that_write_the_same_cells_again_and_again_are_refused() -> None:
    text = "discount: 1\nstates: 1000\nactions: 4\nobservations: 1\nO: * uniform\n" + "T: * uniform\n" * 1000
    limits = Limits(writes=10**7)
    refused_at = r"f.pomdp:8:1: expected statements that write at most 10,000,000 numbers, this one would make them"
    with pytest.raises(FormatError, match=refused_at):
        read_text("f.pomdp", text, limits=limits)


def test_templates_that_double_at_every_step_cost_no_more_than_their_table() -> None:
    declared, initial, transitions = binary(21)
    body = "".join(
        f"<SubDAGTemplate id='t{i}'><Node var='x{i}_0'>"
        + "".join(f"<Edge val='s{v}'><SubDAG type='template' idref='t{i + 1}'/></Edge>" for v in (0, 1))
        + "</Node></SubDAGTemplate>"
        for i in range(20)
    )
    last = "<SubDAGTemplate id='t20'><Terminal>1</Terminal></SubDAGTemplate>"
    reward = (
        f"<Func><Var>r</Var><Parent>{' '.join(f'x{i}_0' for i in range(21))}</Parent><Parameter type='DD'>"
        f"<DAG><SubDAG type='template' idref='t0'/></DAG>{body}{last}</Parameter></Func>"
    )
    text = pomdpx(declared + "<RewardVar vname='r'/>", initial, transitions, "", reward)
    start = time.process_time()
    assert not read_text("f.pomdpx", text).ts.preferences  # a constant
    assert time.process_time() - start < 5  # the paths are two million


def test_templates_nest_to_a_limit() -> None:
    declared, initial, transitions = binary(1)
    chain = "".join(
        f"<SubDAGTemplate id='t{i}'><SubDAG type='template' idref='t{i + 1}'/></SubDAGTemplate>" for i in range(3000)
    )
    reward = (
        "<Func><Var>r</Var><Parent>x0_0</Parent><Parameter type='DD'>"
        f"<DAG><SubDAG type='template' idref='t0'/></DAG>{chain}</Parameter></Func>"
    )
    text = pomdpx(declared + "<RewardVar vname='r'/>", initial, transitions, "", reward)
    refused("f.pomdpx", text, "expected templates and nodes nested at most 100 deep")


def test_entities_are_refused_unread() -> None:
    bomb = "<!DOCTYPE p [<!ENTITY a 'ha'>" + "".join(
        f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(9)
    )
    refused("f.pomdpx", f"{bomb}]><pomdpx>&j;</pomdpx>", "f.pomdpx:1:13: expected no document type and no entities")
    refused("f.pomdpx", "<!DOCTYPE p SYSTEM 'file:///etc/passwd'><pomdpx/>", "expected no document type")


# --- any input ----------------------------------------------------------------------------------------------

FILES = ["tiger.pomdpx", "rocks.pomdpx", "tiger.pomdp"]
PIECES = {
    True: ["<Entry>", "</Entry>", "* ", "- ", "<DAG/>", "identity", "uniform", "&amp;", "]]>", "rover_1", "s0", "DD"],
    False: ["T:", "O:", "R:", "*", "uniform", "identity", "reset", "#", "start:", "states:", "listen", "0"],
}
NUMBERS = ["0", "1", "-1", "0.5", "1e308", "1e-400", "1e999", "nan", "999999999", "\x00", "\x85", "é"]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    """A sound file with some stretches replaced."""
    name = draw(st.sampled_from(FILES))
    data = (DATA / name).read_bytes()
    pieces = [piece.encode() for piece in PIECES[name.endswith("x")] + NUMBERS]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.sampled_from([0, 1, 3, 10, 100]))
        new = draw(st.binary(max_size=3) | st.lists(st.sampled_from(pieces), max_size=4).map(b" ".join))
        data = data[:start] + new + data[end:]
    return name, data


@settings(max_examples=300)
@given(damaged())
def test_a_damaged_file_is_read_or_refused(file: tuple[str, bytes]) -> None:
    check(*file)


@settings(max_examples=200)
@given(st.sampled_from(["f.pomdpx", "f.pomdp"]), st.binary() | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    check(name, data)


def check(name: str, data: bytes) -> None:
    refusal = ""
    try:
        read_text(name, data, precision=0.1)
    except FormatError as error:
        refusal = str(error)
    except CliqueTooLargeError:
        pass
    assert not refusal or (refusal.startswith(f"{name}:") and "expected" in refusal)
