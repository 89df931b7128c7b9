"""Files that hold no model: each is refused with where it is wrong and what is required, and none does harm."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from fuzz import declared
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from btai.errors import ModelError, ModelFileError
from btai.model import from_json, load, to_json

MODEL = declared().add_preference(["O_x"], [0.5, 0.5]).build()
TEXT = to_json(MODEL)

# --- JSON ---------------------------------------------------------------------------------------------


def edited(*changes: tuple[str, Any]) -> str:
    """The model's JSON with the values at some paths changed (`...` takes one out), as `states.0.prior`."""
    document = json.loads(TEXT)
    for path, value in changes:
        *outer, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place = document
        for key in outer:
            place = place[key]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return json.dumps(document)


BROKEN_JSON = {
    "empty": ("", "line 1, column 1: this is not JSON (Expecting value)."),
    "truncated": (TEXT[:60], "line 4, column 16: this is not JSON (Unterminated string starting at)."),
    "comma too few": ('{\n  "format": "btai model"\n  "version": 1\n}', "line 3, column 3: this is not JSON ("),
    "nested too deeply": ("[" * 200_000, "its JSON is nested too deeply"),
    "number of 5000 digits": ("1" * 5000, "its JSON holds a number that cannot be read"),
    "not a number": (TEXT.replace("0.25", "NaN"), "it holds NaN, which is not a number of JSON."),
    "key twice": (TEXT.replace('"prior"', '"name"'), "the key 'name' stands twice in one object."),
    "list": ("[]", "this is no btai model: a model is an object whose \"format\" is 'btai model'."),
    "foreign": ('{"format": "other"}', "this is no btai model: "),
    "newer version": (edited(("version", 2)), "version: 2 was given; this btai reads version 1."),
    "version as text": (edited(("version", "1")), "version: '1' was given; this btai reads version 1."),
    "version true": (edited(("version", True)), "version: True was given; this btai reads version 1."),
    "no states": (edited(("states", ...)), "the model: the key 'states' is missing. Add it."),
    "states not a list": (edited(("states", {})), "states: {} was given; a list is required."),
    "states empty": (edited(("states", [])), "the model has no state; declare at least one"),
    "unknown key": (
        edited(("preference", [])),
        "the model: the key 'preference' is unknown; known are 'format', 'version', 'action', 'states', 'inference',"
        " 'observations', 'preferences'.",
    ),
    "unknown key within": (
        edited(("states.1.piror", [1])),
        "states[1]: the key 'piror' is unknown; known are 'name', 'prior', 'parents', 'transition', 'values'.",
    ),
    "unknown inference": (edited(("inference", "fast")), "inference: 'fast' was given; it must be 'exact' or 'loopy'."),
    "action without size": (edited(("action.values", ...)), "action: neither 'size' nor 'values' is given"),
    "action of no size": (
        edited(("action", {"name": "A_push", "size": 0})),
        "action: A_push: 0 actions were given; a whole number of at least 1 is required.",
    ),
    "action of too large a size": (
        edited(("action", {"name": "A_push", "size": 10**12})),
        "action: A_push: 1,000,000,000,000 actions were given; at most 1,048,576 are taken",
    ),
    "action of half a size": (
        edited(("action", {"name": "A_push", "size": 1.5})),
        "action.size: 1.5 was given; a whole number from 0 to 2**63 - 1 is required.",
    ),
    "action as text": (edited(("action", "A_push")), "action: 'A_push' was given; an object with the keys 'name' is"),
    "sizes that differ": (
        edited(("action.size", 3)),
        "action: A_push: the value names ['left', 'right'] were given; 3",
    ),
    "state without a prior": (edited(("states.1.prior", ...)), "states[1]: the key 'prior' is missing. Add it."),
    "name as a number": (edited(("states.0.name", 7)), "states[0].name: 7 was given; a text is required."),
    "name without prefix": (edited(("states.0.name", "x")), "states[0]: 'x' was given as the name of a state;"),
    "name twice": (edited(("states.1.name", "S_x")), "states[1]: S_x: this name is already declared;"),
    "value name as a number": (
        edited(("states.0.values", ["0", 1])),
        "states[0].values[1]: 1 was given; a text is required.",
    ),
    "value names too few": (edited(("states.0.values", ["0"])), "states[0]: S_x: the value names ['0'] were given; 2"),
    "parents as text": (edited(("states.0.parents", "S_x")), "states[0].parents: 'S_x' was given; a list is required."),
    "parent unknown": (
        edited(("observations.0.parents", ["S_z"])),
        "observations[0]: O_x: its parent 'S_z' is not declared.",
    ),
    "table as text": (
        edited(("states.0.prior", "[1, 0]")),
        "states[0].prior: '[1, 0]' was given; a table (lists of numbers, nested once for each axis) is required.",
    ),
    "entry as text": (
        edited(("states.0.prior.1", "0.5")),
        "states[0].prior[1]: '0.5' was given; a number of 64 bits is required.",
    ),
    "entry true": (edited(("states.0.prior", [0, True])), "states[0].prior[1]: True was given; a number"),
    "entry null": (
        edited(("observations.0.likelihood.1.0", None)),
        "observations[0].likelihood[1][0]: None was given;",
    ),
    "entry a list": (edited(("states.0.prior.1", [0.5])), "states[0].prior[1]: [0.5] was given; a number"),
    "row a number": (
        edited(("observations.0.likelihood.1", 0.5)),
        "observations[0].likelihood[1]: 0.5 was given; a table",
    ),
    "rows that differ": (
        edited(("observations.0.likelihood.1", [0.1, 0.8, 0])),
        "observations[0].likelihood[1]: a list of shape (3,) was given; required is (2,), the shape of"
        " observations[0].likelihood[0].",
    ),
    "entry too large": (
        edited(("states.0.prior", [10**400, 0])),
        "states[0].prior: [",
    ),
    "precision too large": (
        edited(("preferences.0", {"observations": ["O_x"], "scores": [0, 1], "precision": 10**400})),
        "preferences[0].precision: 1",
    ),
    "infinite entry": (
        TEXT.replace("0.25", "1e999"),
        "states[1]: S_y: the prior holds inf at index (0,), which is not",
    ),
    "negative entry": (edited(("states.0.prior", [-1, 2])), "states[0]: S_x: the prior holds -1.0 at index (0,)"),
    "wrong sum": (
        edited(("observations.0.likelihood.1.1", 0.9)),
        "observations[0]: O_x: the likelihood's column for S_x=1 sums to 1.1;",
    ),
    "empty table": (edited(("states.0.prior", [])), "states[0]: S_x: the prior was given with shape (0,);"),
    "wrong rank": (edited(("states.0.prior", [[1.0]])), "states[0]: S_x: the prior was given with shape (1, 1);"),
    "65 axes": (
        edited(("states.0.prior", json.loads("[" * 65 + "]" * 65))),
        "states[0].prior" + "[0]" * 64 + ": a table was given with more than 64 axes",
    ),
    "shape against the parents": (
        edited(("states.0.transition", [[1, 0, 0], [0, 1, 1]])),
        "states[0]: S_x: the transition was given with shape (2, 3); required is (2, 2) for the axes [S_x, S_x].",
    ),
    "preference of neither kind": (
        edited(("preferences.0.table", ...)),
        "preferences[0]: (O_x): neither of table and scores were given; give exactly one of them.",
    ),
    "preference of both kinds": (
        edited(("preferences.0.scores", [1, 2])),
        "preferences[0]: (O_x): both of table and scores were given; give exactly one of them.",
    ),
    "precision alone": (
        edited(("preferences.0.precision", 2)),
        "preferences[0]: 'precision' belongs to 'scores', which is not given. Remove it.",
    ),
    "preference of zero": (
        edited(("preferences.0.table", [0, 1])),
        "preferences[0]: (O_x): the preference is exactly 0",
    ),
    "preference of wrong shape": (
        edited(("preferences.0.table", [0.5, 0.25, 0.25])),
        "preferences[0]: (O_x): the preference was given with shape (3,); required is (2,)",
    ),
    "preference over nothing known": (
        edited(("preferences.0.observations", ["O_y"])),
        "O_y: a preference was given over it, but no such observation is declared.",
    ),
}


@pytest.mark.parametrize("name", BROKEN_JSON)
def test_what_is_wrong_in_a_text_is_said_with_its_path(name: str) -> None:
    text, message = BROKEN_JSON[name]
    with pytest.raises(ModelFileError, match=f"^{re.escape(message)}"):
        from_json(text)


def test_an_error_names_the_file_first(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(edited(("states.0.prior.1", "0.5")))
    with pytest.raises(ModelFileError, match=rf"^{re.escape(str(path))}: states\[0\]\.prior\[1\]: '0\.5' was given"):
        load(path)


def test_a_text_of_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(TEXT.replace("left", "müde").encode("latin-1"))
    with pytest.raises(ModelFileError, match=r"model\.json: byte \d+ is not UTF-8"):
        load(tmp_path / "model.json")


# --- safetensors --------------------------------------------------------------------------------------

Header = dict[str, Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "model.safetensors"
    MODEL.save(path)
    return path.read_bytes()


def parts(whole: bytes) -> tuple[Header, bytes]:
    length = int.from_bytes(whole[:8], "little")
    return json.loads(whole[8 : 8 + length]), whole[8 + length :]


def joined(header: object, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def with_header(change: Callable[[Header], object]) -> Callable[[bytes], bytes]:
    """A change of the header, in place."""

    def apply(whole: bytes) -> bytes:
        header, data = parts(whole)
        change(header)
        return joined(header, data)

    return apply


def with_document(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """A change of the document in the metadata, in place."""

    def apply(header: Header) -> None:
        document = json.loads(header["__metadata__"]["btai"])
        change(document)
        header["__metadata__"]["btai"] = json.dumps(document)

    return with_header(apply)


def without_table(whole: bytes) -> bytes:
    header, data = parts(whole)
    begin, end = header.pop("preferences.0")["data_offsets"]
    assert end == len(data)
    return joined(header, data[:begin])


def with_another(whole: bytes) -> bytes:
    header, data = parts(whole)
    header["S_q.prior"] = {"dtype": "F64", "shape": [1], "data_offsets": [len(data), len(data) + 8]}
    return joined(header, data + bytes(8))


BROKEN_BYTES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "this is no safetensors file, or a truncated one: its first 8 bytes announce"),
    "seven bytes": (lambda whole: whole[:7], "this is no safetensors file, or a truncated one"),
    "header truncated": (lambda whole: whole[:50], "this is no safetensors file, or a truncated one"),
    "header oversized": (
        lambda whole: b"\xff" * 8 + whole[8:],
        "announce a header of 18,446,744,073,709,551,615 bytes;",
    ),
    "JSON under another name": (lambda _: TEXT.encode(), "this is no safetensors file, or a truncated one"),
    "zip archive": (lambda _: b"PK\3\4" + bytes(100), "this is no safetensors file, or a truncated one"),
    "header no text": (lambda _: joined(b"\xff\xff", b""), "this is no safetensors file: its header is not text."),
    "header no JSON": (lambda _: joined(b"{,}", b""), "this is no safetensors file: in its header, line 1, column 2"),
    "header a list": (lambda _: joined([], b""), "this is no safetensors file: its header is not an object."),
    "header with a key twice": (
        lambda _: joined(b'{"a": {}, "a": {}}', b""),
        "this is no safetensors file: in its header, the key 'a' stands twice",
    ),
    "data truncated": (lambda whole: whole[:-1], "its tables take 144 bytes, and 143 bytes follow the header"),
    "data too long": (lambda whole: whole + b"\0", "its tables take 144 bytes, and 145 bytes follow the header"),
    "metadata a list": (
        with_header(lambda header: header.update(__metadata__=[])),
        "__metadata__: [] was given; an object of texts is required.",
    ),
    "metadata of numbers": (
        with_header(lambda header: header.update(__metadata__={"btai": 1})),
        "__metadata__.btai: 1 was given; a text is required.",
    ),
    "no model": (
        with_header(lambda header: header.pop("__metadata__")),
        "this safetensors file holds no btai model: its metadata have no key 'btai'.",
    ),
    "document no JSON": (
        with_header(lambda header: header["__metadata__"].update(btai="{")),
        "line 1, column 2: this is not JSON",
    ),
    "document of a newer version": (
        with_document(lambda document: document.update(version=2)),
        "version: 2 was given; this btai reads version 1.",
    ),
    "type of 32 bits": (
        with_header(lambda header: header["S_x.prior"].update(dtype="F32")),
        "S_x.prior.dtype: 'F32' was given; 'F64' is required.",
    ),
    "entry no object": (with_header(lambda header: header.update({"S_x.prior": 1})), "S_x.prior: 1 was given;"),
    "shape missing": (
        with_header(lambda header: header["S_x.prior"].pop("shape")),
        "S_x.prior: the key 'shape' is missing.",
    ),
    "negative size": (
        with_header(lambda header: header["S_x.prior"].update(shape=[-2])),
        "S_x.prior.shape[0]: -2 was given; a whole number from 0",
    ),
    "enormous sizes": (
        with_header(lambda header: header["S_x.prior"].update(shape=[2**62] * 64)),
        "S_x.prior: the data_offsets [0, 16] span 16 bytes; required are",
    ),
    "65 axes": (
        with_header(lambda header: header["S_x.prior"].update(shape=[2] + [1] * 64)),
        "S_x.prior.shape: [2, 1, 1, 1, 1, 1, ...] was given; a list of at most 64 sizes is required.",
    ),
    "shape against the offsets": (
        with_header(lambda header: header["S_x.prior"].update(shape=[3])),
        "S_x.prior: the data_offsets [0, 16] span 16 bytes; required are 24 for the shape (3,).",
    ),
    "three offsets": (
        with_header(lambda header: header["S_x.prior"].update(data_offsets=[0, 8, 16])),
        "S_x.prior.data_offsets: [0, 8, 16] was given; a list of two offsets is required.",
    ),
    "overlap": (
        with_header(lambda header: header["S_x.transition"].update(data_offsets=[8, 40])),
        "S_x.transition: its data begin at byte 8; required is 16, where the table before it ends.",
    ),
    "table missing": (
        without_table,
        "preferences[0].table: 'preferences.0' was given; the name of a table in the file is required.",
    ),
    "table of nothing": (with_another, "S_q.prior: this table belongs to no variable of the model."),
    "table as numbers": (
        with_document(lambda document: document["states"][0].update(prior=[0.5, 0.5])),
        "states[0].prior: [0.5, 0.5] was given; a text is required.",
    ),
    "table of another variable": (
        with_document(lambda document: document["states"][1].update(transition="S_x.prior")),
        "states[1]: S_y: the transition was given with shape (2,);",
    ),
}


@pytest.mark.parametrize("name", BROKEN_BYTES)
def test_what_is_wrong_in_a_safetensors_file_is_said(tmp_path: Path, whole: bytes, name: str) -> None:
    change, message = BROKEN_BYTES[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(change(whole))
    with pytest.raises(ModelFileError, match=f"^{re.escape(str(path))}: .*{re.escape(message)}"):
        load(path)


def test_weights_of_a_network_are_no_model(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"weight": np.zeros((2, 3))}, tmp_path / "weights.safetensors")
    with pytest.raises(ModelFileError, match=r"weights\.safetensors: this safetensors file holds no btai model"):
        load(tmp_path / "weights.safetensors")


# --- anything -----------------------------------------------------------------------------------------


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Some bytes taken out, put in or changed."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = draw(st.integers(begin, min(len(data), begin + 4)))
        data[begin:end] = draw(
            st.binary(max_size=4) | st.sampled_from([b"[", b"]", b"{", b"}", b",", b"9", b"-", b"e"])
        )
    return bytes(data)


@pytest.mark.parametrize("suffix", [".json", ".safetensors"])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, whole: bytes, suffix: str, data: st.DataObject) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(data.draw(damaged(TEXT.encode() if suffix == ".json" else whole)))
    try:
        ts = load(path)
    except ModelError as error:
        complaint = str(error)
    else:  # the damage left a model: another prior perhaps
        assert from_json(to_json(ts)) == ts
        return
    assert complaint.startswith(f"{path}: ")


@given(text=st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(ModelFileError):
        from_json(text)
