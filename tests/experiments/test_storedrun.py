"""A run file of several runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.corridor import Corridor, Drunkard, corridor_slice, planner

from btai.errors import RunFileError
from btai.experiments import Failure, RunFile, Trial, run

CONFIGURATIONS: list[dict[str, Any]] = [{"seed": seed, "trials": 4, "starts": "random"} for seed in range(3)]
TRIALS = run(Drunkard(), Corridor(), trials=4).trials


@pytest.fixture
def file(tmp_path: Path) -> Iterator[RunFile]:
    with RunFile.write(tmp_path / "sweep.sqlite", *CONFIGURATIONS) as file:
        yield file


def numbers(trials: list[Trial]) -> list[int]:
    return [trial.index for trial in trials]


def test_each_run_has_trials_of_its_own(file: RunFile) -> None:
    file.runs[2].append(TRIALS[1])
    file.runs[2].append(TRIALS[0])
    file.runs[0].append(replace(TRIALS[0], reward=-1.0))
    with RunFile.open(file.path) as reader:
        assert [r.config for r in reader.runs] == CONFIGURATIONS
        assert [r.number for r in reader.runs] == [0, 1, 2]
        assert reader.runs[2].trials() == [TRIALS[0], TRIALS[1]]
        assert reader.runs[2].done() == {0, 1}
        assert (reader.runs[0].summary().p_solved, reader.runs[1].summary().trials) == (0.0, 0)


def test_a_file_and_its_runs_say_which_they_are_also_when_closed(file: RunFile, tmp_path: Path) -> None:
    where = tmp_path / "sweep.sqlite"
    file.close()
    assert repr(file) == f"RunFile: {where}, 3 runs"
    assert repr(file.runs[2]) == f"StoredRun: run 2 of {where}: 4 trials planned, seed 2, not recorded"
    with RunFile.write(tmp_path / "one.sqlite", CONFIGURATIONS[0] | {"record": True}) as one:
        assert repr(one) == f"RunFile: {tmp_path / 'one.sqlite'}, 1 run"
        assert repr(one.run).endswith("one.sqlite: 4 trials planned, seed 0, recorded")


def test_trial_is_read_by_its_number(file: RunFile) -> None:
    for trial in TRIALS[1:3]:
        file.runs[1].append(trial)
    assert [file.runs[1].trial(number) for number in range(4)] == [None, TRIALS[1], TRIALS[2], None]
    assert file.runs[0].trial(1) is None


def test_file_of_several_runs_is_not_taken_for_one(file: RunFile) -> None:
    for ask in (file.trials, file.summary, lambda: file.cycles(0), lambda: file.config, lambda: file.append(TRIALS[0])):
        with pytest.raises(RunFileError, match="holds 3 runs, and none was chosen"):
            ask()


@pytest.mark.parametrize(
    ("configurations", "message"),
    [
        (CONFIGURATIONS[:2], "another sweep: of 3 runs, and 2 now"),
        ([*CONFIGURATIONS[:2], CONFIGURATIONS[1]], "seed of run 2 is 2 there and 1 now"),
    ],
)
def test_file_of_another_sweep_is_refused(file: RunFile, configurations: list[dict[str, Any]], message: str) -> None:
    file.close()
    with pytest.raises(RunFileError, match=message):
        RunFile.write(file.path, *configurations)


def test_what_is_found_later_is_kept_and_must_stay_so(file: RunFile) -> None:
    file.runs[1].complete({"agent": {"bias": 0.6}})
    file.runs[1].complete({"agent": {"bias": 0.6}, "environment": "hall"})
    file.close()
    with RunFile.write(file.path, *CONFIGURATIONS) as again:
        assert list(again.runs[1].config) == ["seed", "trials", "starts", "agent", "environment"]
        assert list(again.runs[0].config) == ["seed", "trials", "starts"]
        with pytest.raises(RunFileError, match=r"agent\.bias of run 1 is 0\.6 there and 0\.7 now"):
            again.runs[1].complete({"agent": {"bias": 0.7}})


def test_run_given_up_keeps_the_trials_before(file: RunFile) -> None:
    given_up, other = file.runs[:2]
    for trial in TRIALS:
        given_up.append(trial)
        other.append(trial)
    given_up.fail(Failure(2, "it rained"))
    assert numbers(given_up.trials()) == [0, 1]
    assert given_up.failure == Failure(2, "it rained")
    assert (numbers(other.trials()), other.failure) == ([0, 1, 2, 3], None)
    given_up.forgive()
    assert given_up.failure is None


def test_recorded_cycles_go_with_their_trials(tmp_path: Path, file: RunFile) -> None:
    with RunFile.open(run(planner(), Corridor(), 2, out=tmp_path / "one.sqlite", record=True).path or "") as recorded:
        model, trials, cycles = recorded.run.model, recorded.trials(), recorded.cycles(1)
    for kept in file.runs[:2]:
        kept.keep_model(model)
        kept.append(trials[1], cycles)
    file.runs[0].fail(Failure(1, "it rained"))
    assert file.runs[0].cycles(1) == []
    assert [c.action for c in file.runs[1].cycles(1)] == [c.action for c in cycles]
    with closing(sqlite3.connect(file.path)) as connection:
        assert connection.execute("SELECT DISTINCT run, trial FROM cycles").fetchall() == [(1, 1)]


def test_recorded_run_holds_the_model_of_its_agent_once(file: RunFile) -> None:
    for kept in file.runs[:2]:
        kept.keep_model(corridor_slice())
    with RunFile.open(file.path) as reader:
        assert [kept.model for kept in reader.runs[:2]] == [corridor_slice()] * 2
        with pytest.raises(RunFileError, match="run 2 holds no model: it was not recorded"):
            _ = reader.runs[2].model
    with closing(sqlite3.connect(file.path)) as connection:
        assert connection.execute("SELECT count(*) FROM models").fetchone() == (1,)


def test_model_of_another_agent_is_refused(file: RunFile) -> None:
    file.runs[0].keep_model(corridor_slice())
    file.close()
    other = corridor_slice().replace("S_cell", prior=np.eye(9)[0])
    with RunFile.write(file.path, *CONFIGURATIONS) as again:
        with pytest.raises(RunFileError, match="holds another run: model of run 0 is"):
            again.runs[0].keep_model(other)
        assert again.runs[0].model == corridor_slice()


def test_damaged_model_is_refused_by_name(file: RunFile) -> None:
    file.runs[0].keep_model(corridor_slice())
    with closing(sqlite3.connect(file.path)) as connection, connection:
        connection.execute("UPDATE models SET content = ?", (b"no model",))
    with (
        RunFile.open(file.path) as reader,
        pytest.raises(RunFileError, match="model of run 0 cannot be read: this"),
    ):
        _ = reader.runs[0].model


def test_file_open_for_reading_is_not_changed(file: RunFile) -> None:
    with RunFile.open(file.path) as reader:
        kept = reader.runs[0]
        changes: list[Callable[[], None]] = [
            lambda: kept.append(TRIALS[0]),
            lambda: kept.complete({"agent": "x"}),
            lambda: kept.keep_model(corridor_slice()),
            lambda: kept.fail(Failure(0, "it rained")),
            kept.forgive,
        ]
        for change in changes:
            with pytest.raises(RunFileError, match="open for reading"):
                change()
