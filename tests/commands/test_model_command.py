"""`btai model FILE` prints the slice and its program; what is wrong is said without a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_made import LEVER
from interop.pomdp_texts import DATA

from btai import engine, load
from btai.commands import model_command
from btai.errors import ModelFileError
from btai.interop import read_pomdp


@pytest.mark.parametrize("suffix", [".json", ".safetensors"])
def test_it_prints_the_slice_and_the_program(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"lever{suffix}"
    LEVER.build().save(path)
    result = CliRunner().invoke(model_command, [str(path)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "TemporalSlice: 1 state, 1 observation, 2 actions (A_pull), exact inference" in result.output
    assert result.output.endswith(engine.compile(LEVER.build()).describe() + "\n")


def test_a_pomdp_is_printed_with_what_could_not_be_carried_over() -> None:
    given = [str(DATA / "tiger.pomdp"), "--precision", "0.1"]
    result = CliRunner().invoke(model_command, given, catch_exceptions=False)
    ts, losses = read_pomdp(DATA / "tiger.pomdp", precision=0.1)
    assert result.output == f"{ts}\n\n{losses}\n\n{engine.compile(ts).describe()}\n"
    assert "LossReport: 3 lost or changed" in result.output


def test_the_model_is_written_to_another_file(tmp_path: Path) -> None:
    path = tmp_path / "tiger.json"
    given = [str(DATA / "tiger.pomdp"), "--precision", "0.1", "--out", str(path)]
    result = CliRunner().invoke(model_command, given, catch_exceptions=False)
    assert result.output.endswith(f"\nWritten to {path}. LossReport: nothing was lost\n")
    assert load(path) == read_pomdp(DATA / "tiger.pomdp", precision=0.1).ts


def test_a_file_without_a_model_is_an_error_of_btai(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("")
    result = CliRunner().invoke(model_command, [str(tmp_path / "empty.json")])
    assert isinstance(result.exception, ModelFileError)
    assert "empty.json: line 1, column 1: this is not JSON" in str(result.exception)
