"""`btai model FILE` prints the slice and its program; what is wrong is said without a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_made import LEVER

from btai import engine
from btai.commands import model_command
from btai.errors import ModelFileError


@pytest.mark.parametrize("suffix", [".json", ".safetensors"])
def test_it_prints_the_slice_and_the_program(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"lever{suffix}"
    LEVER.build().save(path)
    result = CliRunner().invoke(model_command, [str(path)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "TemporalSlice: 1 state, 1 observation, 2 actions (A_pull), exact inference" in result.output
    assert result.output.endswith(engine.compile(LEVER.build()).describe() + "\n")


def test_a_file_without_a_model_is_an_error_of_btai(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("")
    result = CliRunner().invoke(model_command, [str(tmp_path / "empty.json")])
    assert isinstance(result.exception, ModelFileError)
    assert "empty.json: line 1, column 1: this is not JSON" in str(result.exception)
