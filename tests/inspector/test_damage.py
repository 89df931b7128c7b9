"""Damaged run files: the inspector refuses them in words, or shows what is sound; it never crashes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from experiments.damage import damaged_copies

from btai import BTAI_3MF
from btai.envs import TigerEnv, tiger_slice
from btai.errors import RunFileError
from btai.experiments import RunFile, run
from btai.inspector import RunTrace, views
from btai.inspector.cursor import Cursor

DEEP = "[" * 100_000
VALUES = ["null", "true", "-1", "2.5", '"x"', "[]", "{}", "[1]", '{"class": [1]}', '{"class": "x"}', DEEP]
VALUES += ["[" * 500 + "]" * 500, '{"a":' * 900 + "1" + "}" * 900, "not JSON"]
CELLS = [None, -1, 77, 2**62, 1.5, -1e308, "x", "", "[9, 9]", "[[1]]", DEEP, b"", b"x", b"\xff" * 8, b"\xff" * 48]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run of an environment that btai can make again."""
    path = tmp_path_factory.mktemp("sound") / "run.sqlite"
    run(BTAI_3MF(tiger_slice(), 2, engine="numpy"), TigerEnv(max_cycles=3), 2, out=path, record=True)
    return path


def is_refused(path: Path) -> bool:
    """Look at all there is; whether it was refused in words."""
    try:
        with RunFile.open(path) as file:
            file.summary()
            repr(file.run.failure)
        trace = RunTrace(path)
    except RunFileError:
        return True
    try:
        answers: list[Any] = [views.info(trace), views.trials(trace)]
        for trial in trace.trials():
            answers.append(views.trial(trace, Cursor(trial.trial)))
            answers += [views.cycle(trace, Cursor(trial.trial, n)) for n in range(len(trace.moments(trial.trial)))]
    except RunFileError:
        return True
    finally:
        trace.close()
    json.dumps(answers, allow_nan=False)
    return False


def with_values(value: Any) -> Iterator[Any]:
    """`value` with each of its parts, and itself, replaced or left out."""
    yield from VALUES
    if isinstance(value, dict):
        for key in value:
            yield json.dumps({k: v for k, v in value.items() if k != key})
            for other in with_values(value[key]):
                parts = (f"{json.dumps(k)}: {other if k == key else json.dumps(value[k])}" for k in value)
                yield f"{{{', '.join(parts)}}}"


def test_run_file_with_another_configuration_is_refused_or_shown(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with RunFile.open(sound) as file:
        configuration = file.config
    content = sound.read_bytes()
    outcomes = []
    for key, value in configuration.items():
        for other in (None, *with_values(value)):
            path.write_bytes(content)
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA synchronous = OFF")
                if other is None:
                    connection.execute("DELETE FROM configuration WHERE key = ?", (key,))
                else:
                    connection.execute("UPDATE configuration SET value = ? WHERE key = ?", (other, key))
                connection.commit()
            outcomes.append(is_refused(path))
    assert 30 < sum(outcomes) < len(outcomes) - 30


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("trials", "trial seed initial_state reward cycles finished planning_seconds planning_iterations actions"),
        ("cycles", "trial cycle action evidence prior posterior expanded efe"),
        ("models", "model content"),
        ("runs", "run failed_trial failure"),
    ],
)
def test_run_file_with_another_value_is_refused_or_shown(sound: Path, tmp_path: Path, table: str, columns: str) -> None:
    path, content = tmp_path / "run.sqlite", sound.read_bytes()
    refusals = 0
    for column in columns.split():
        for value in CELLS:
            path.write_bytes(content)
            with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.IntegrityError):
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(
                    f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT min(rowid) FROM {table})", (value,)
                )
                connection.commit()
            refusals += is_refused(path)
    assert refusals > 1


def test_file_with_damaged_bytes_is_refused_or_shown(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    refusals = 0
    for damaged in damaged_copies(sound.read_bytes(), 60, seed=5):
        path.write_bytes(damaged)
        refusals += is_refused(path)
    assert 10 < refusals < 60
