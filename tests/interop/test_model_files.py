"""Files of every kind by one name: their ending says what they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hand_made import LEVER
from interop.pomdp_texts import DATA

from btai.errors import FormatError, ModelFileError
from btai.interop import read_model, read_pomdp, read_pomdpx, write_model


@pytest.mark.parametrize("name", ["lever.json", "lever.JSON", "lever.safetensors", "lever.pomdpx"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    ts = LEVER.build()
    assert not write_model(ts, tmp_path / name)
    again, _ = read_model(tmp_path / name)
    assert again == ts


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.json", b"{"), ("a.pomdpx", b"<[?]xml"), ("a.pomdp", b"discount:"), ("a.safetensors", b"(?s:.{8}){")],
)
def test_the_ending_says_what_is_written(tmp_path: Path, name: str, begins: bytes) -> None:
    write_model(LEVER.build(), str(tmp_path / name))
    assert re.match(begins, (tmp_path / name).read_bytes())


def test_pomdps_are_read_with_the_precision_and_reported() -> None:
    for read, name in ((read_pomdpx, "tiger.pomdpx"), (read_pomdp, "tiger.pomdp")):
        assert read_model(DATA / name, precision=0.1) == read(DATA / name, precision=0.1)
        assert len(read_model(DATA / name, precision=0.1).losses) == 3


def test_what_a_format_cannot_carry_is_reported(tmp_path: Path) -> None:
    losses = write_model(LEVER.build(), tmp_path / "lever.pomdp")
    assert [loss.what for loss in losses] == ["states S_0", "observations O_0", "action A_pull"]


def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    tiger = (DATA / "tiger.pomdp").read_bytes()
    for name, error in (("t.safetensors", ModelFileError), ("t.json", ModelFileError), ("t.pomdpx", FormatError)):
        (tmp_path / name).write_bytes(tiger)
        with pytest.raises(error, match=name):
            read_model(tmp_path / name)
    with pytest.raises(ModelFileError, match=r"btai\.interop\.read_model reads other kinds\.$"):
        read_model(tmp_path / "t.safetensors")
