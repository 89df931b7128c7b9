from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from experiments.corridor import Corridor, Drunkard, Rightwards, Stumbling, planner, rows_in, without_clocks
from experiments.damage import damaged_copies

from btai.errors import RunFileError
from btai.experiments import RunFile, Trial, run
from btai.experiments.schema import SCHEMA_VERSION

TESTS = Path(__file__).resolve().parents[1]
TRIALS = 200


def trials_in(path: Path) -> list[dict[str, Any]]:
    with RunFile.open(path) as file:
        return [without_clocks(trial) for trial in file.trials()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.sqlite"


# --- keeping ----------------------------------------------------------------------------------------------


def test_file_gives_back_what_the_run_gave_clocks_included(path: Path) -> None:
    result = run(Drunkard(), Corridor(), trials=20, out=path)
    with RunFile.open(path) as file:
        assert tuple(file.trials()) == result.trials
        assert file.summary() == result.summary
        assert file.config == result.configuration
        assert file.cycles(0) == []
    assert result.path == path
    assert list(path.parent.iterdir()) == [path]  # nothing else is left beside it


def test_configuration_says_what_was_run(path: Path) -> None:
    run(Drunkard(0.7), Corridor(5), trials=3, seed=8, out=path)
    with RunFile.open(path) as file:
        assert file.config["agent"] == {"class": "experiments.corridor.Drunkard", "bias": 0.7}
        assert file.config["environment"] == {"class": "experiments.corridor.Corridor", "length": 5}
        assert (file.config["seed"], file.config["trials"], file.config["starts"]) == (8, 3, "random")


def test_plain_sqlite_reads_the_file(path: Path) -> None:
    result = run(Drunkard(), Corridor(), trials=20, out=path)
    with closing(sqlite3.connect(path)) as connection:
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        (rewards,) = connection.execute("SELECT sum(reward) FROM trials WHERE cycles > 0").fetchone()
    assert mode == "wal"
    assert rewards == sum(trial.reward for trial in result.trials)


def test_exhaustive_run_is_summed_up_as_one(path: Path) -> None:
    result = run(Rightwards(), Corridor(), exhaustive=True, out=path)
    with RunFile.open(path) as file:
        assert file.summary() == result.summary
        assert file.summary().exhaustive


def test_reader_sees_the_trials_as_they_are_written(path: Path) -> None:
    counts = []

    def look(_summary: object, _total: int) -> None:
        with RunFile.open(path) as reader:
            counts.append(len(reader.trials()))

    run(Drunkard(), Corridor(), trials=5, out=path, progress=look)
    assert counts == [0, 1, 2, 3, 4, 5]


def test_reader_keeps_its_view_and_does_not_stop_the_writer(path: Path) -> None:
    run(Drunkard(), Corridor(), trials=5, out=path)
    configuration = RunFile.open(path)
    with configuration as reader, closing(sqlite3.connect(path)) as holding:
        holding.execute("BEGIN")
        assert holding.execute("SELECT count(*) FROM trials").fetchone() == (5,)
        with RunFile.write(path, reader.config) as writer:
            writer.append(made_up_trial(5))
        assert holding.execute("SELECT count(*) FROM trials").fetchone() == (5,)
        assert len(reader.trials()) == 6


def made_up_trial(index: int, **changes: Any) -> Trial:
    values: dict[str, Any] = {
        "index": index,
        "seed": 1,
        "initial_state": (1,),
        "reward": 1.0,
        "cycles": 1,
        "finished": True,
        "planning_seconds": 0.1,
        "inference_seconds": 0.1,
        "environment_seconds": 0.1,
        "planning_iterations": 0,
        "actions": (1,),
    }
    return Trial(**(values | changes))


def test_file_open_for_reading_takes_no_trials(path: Path) -> None:
    run(Drunkard(), Corridor(), trials=2, out=path)
    with RunFile.open(path) as file, pytest.raises(RunFileError, match="open for reading"):
        file.append(made_up_trial(2))


def test_trial_is_written_whole_or_not_at_all(path: Path) -> None:
    run(planner(), Corridor(), trials=2, out=path, record=True)
    before = rows_in(path)
    with RunFile.open(path) as file:
        configuration, cycles = file.config, file.cycles(1)
    # Its cycles are those of trial 1, which the file holds already: the trial before them is taken back.
    with RunFile.write(path, configuration) as file, pytest.raises(RunFileError, match="UNIQUE"):
        file.append(made_up_trial(2), cycles)
    assert rows_in(path) == before


# --- going on ---------------------------------------------------------------------------------------------


def test_finished_run_is_read_back_without_running_anything(path: Path) -> None:
    first = run(Rightwards, Corridor, exhaustive=True, out=path)
    assert run(Rightwards, Corridor, exhaustive=True, out=path).trials == first.trials  # clocks included


def test_run_broken_off_by_an_error_keeps_the_trials_before_it(path: Path) -> None:
    for workers in (1, 2):
        out = path.with_name(f"run{workers}.sqlite")
        with pytest.raises(ValueError, match="stumbled in cell 3"):
            run(Stumbling, Corridor, exhaustive=True, out=out, workers=workers)
        kept = {trial["initial_state"] for trial in trials_in(out)}
        assert {(1,), (2,)} <= kept <= {(1,), (2,), (4,), (5,)}  # other workers may have been a trial or two further
        assert workers > 1 or len(kept) == 2


def test_resumed_run_equals_the_uninterrupted_one(path: Path) -> None:
    def stop(summary: Any, _total: int) -> None:
        if summary.trials == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(planner(), Corridor(), trials=12, out=path, record=True, progress=stop)
    assert len(trials_in(path)) == 7
    run(planner(), Corridor(), trials=12, out=path, record=True)
    whole = path.with_name("whole.sqlite")
    run(planner, Corridor, trials=12, out=whole, record=True, workers=2)
    assert rows_in(path) == rows_in(whole)


@pytest.mark.parametrize("workers", [1, 2])
def test_run_that_is_asked_for_more_trials_equals_one_of_so_many_from_the_beginning(path: Path, workers: int) -> None:
    first = run(planner(), Corridor(), trials=5, out=path, record=True)
    more = run(planner, Corridor, trials=12, out=path, record=True, workers=workers)
    assert more.trials[:5] == first.trials  # the clocks too: they were not run again
    whole = path.with_name("whole.sqlite")
    run(planner(), Corridor(), trials=12, out=whole, record=True)
    assert rows_in(path) == rows_in(whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 1}, r"seed is 0 there and 1 now"),
        ({"trials": 4}, r"trials is 5 there and 4 now"),
        ({"trials": 6, "seed": 1}, r"seed is 0 there and 1 now"),
        ({"agent": Drunkard(0.9)}, r"agent\.bias is 0\.6 there and 0\.9 now"),
        ({"env": Corridor(8)}, r"environment\.length is 7 there and 8 now"),
        ({"exhaustive": True}, r"trials is 5 there and 7 now"),
        ({"max_cycles": 9}, r"max_cycles is 1000 there and 9 now"),
    ],
)
def test_another_run_is_not_mixed_into_a_file(path: Path, options: dict[str, Any], message: str) -> None:
    run(Drunkard(), Corridor(), trials=5, out=path)
    before = path.read_bytes()
    arguments: dict[str, Any] = {"agent": Drunkard(), "env": Corridor(), "trials": 5} | options
    with pytest.raises(RunFileError, match=message):
        run(**arguments, out=path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_run_killed_twenty_times_equals_the_uninterrupted_one(path: Path) -> None:
    rng = random.Random(7)
    script = (
        "import sys\nfrom experiments.corridor import Corridor, Drunkard\nfrom btai.experiments import run\n"
        "print('ready', flush=True)\n"
        "tell = lambda summary, total: print(summary.trials, flush=True)\n"
        f"run(Drunkard(), Corridor(), trials={TRIALS}, out=sys.argv[1], progress=tell)"
    )
    counts = [0]
    for _ in range(20):
        with start(script, path) as process:
            assert process.stdout is not None
            for _ in range(rng.randrange(15)):  # none: killed while the file is made or opened
                process.stdout.readline()
            time.sleep(rng.uniform(0, 0.002))
            process.send_signal(signal.SIGKILL)
        counts.append(len(trials_in(path)) if path.exists() else 0)
        assert counts[-1] >= counts[-2]
    assert any(0 < count < TRIALS for count in counts)  # it was killed in the midst of it
    run(Drunkard(), Corridor(), trials=TRIALS, out=path)
    whole = path.with_name("whole.sqlite")
    run(Drunkard(), Corridor(), trials=TRIALS, out=whole)
    assert rows_in(path) == rows_in(whole)
    assert sorted(path.parent.iterdir()) == [path, whole]


@contextmanager
def start(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process of its own; it has ended when the context ends."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_killed_driver_takes_its_workers_along(path: Path) -> None:
    script = (
        "import multiprocessing, sys\nfrom experiments.corridor import Corridor, Drunkard\n"
        "from btai.experiments import run\n"
        "def tell(summary, total):\n"
        "    if summary.trials == 3: print(*(p.pid for p in multiprocessing.active_children()), flush=True)\n"
        "if __name__ == '__main__':\n"
        "    run(Drunkard, Corridor, trials=10**4, out=sys.argv[1], workers=2, progress=tell)"
    )
    with start(script, path) as process:
        assert process.stdout is not None
        workers = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
    assert len(workers) == 2
    deadline = time.monotonic() + 10
    while (alive := [pid for pid in workers if runs(pid)]) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive == []
    assert len(trials_in(path)) >= 3


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# --- one writer -------------------------------------------------------------------------------------------

HOLDER = (
    "import sys\nfrom btai.experiments import RunFile\n"
    "with RunFile.write(sys.argv[1], {'trials': 1, 'starts': 'random'}):\n"
    "    print('held', flush=True)\n    sys.stdin.read()"
)


def test_second_writer_is_refused_by_the_name_of_the_first(path: Path) -> None:
    with start(HOLDER, path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(
            RunFileError, match=rf"being written by another process \(process {process.pid} on .+ since 20"
        ):
            run(Drunkard(), Corridor(), out=path)
        with RunFile.open(path) as reader:  # reading goes on
            assert reader.trials() == []


def test_lock_of_a_killed_writer_is_taken_over(path: Path) -> None:
    with start(HOLDER, path) as process:
        assert process.stdout is not None
        process.stdout.readline()
    assert path.with_name("run.sqlite.lock").exists()  # it was killed and could not clean up
    with RunFile.write(path, {"trials": 1, "starts": "random"}) as file:
        assert file.trials() == []
    assert list(path.parent.iterdir()) == [path]


def test_two_writers_of_one_process_exclude_each_other_too(path: Path) -> None:
    configuration = {"trials": 1, "starts": "random"}
    with RunFile.write(path, configuration), pytest.raises(RunFileError, match=f"process {os.getpid()} on"):
        RunFile.write(path, configuration)
    RunFile.write(path, configuration).close()


def test_lock_without_a_readable_name_still_holds(path: Path) -> None:
    with RunFile.write(path, {"trials": 1, "starts": "random"}):
        path.with_name("run.sqlite.lock").write_text("")
        with pytest.raises(RunFileError, match=r"another process \(which has not left its name\)"):
            RunFile.write(path, {"trials": 1, "starts": "random"})


def test_half_made_file_of_a_killed_process_is_made_anew(path: Path) -> None:
    path.with_name("run.sqlite.new").write_bytes(b"half a database")
    run(Drunkard(), Corridor(), trials=2, out=path)
    assert len(trials_in(path)) == 2
    assert list(path.parent.iterdir()) == [path]


# --- files that cannot be used ----------------------------------------------------------------------------


def refused(path: Path, message: str) -> None:
    """Reading and writing are refused, and the file and its folder are as they were."""
    before = {entry.name: entry.read_bytes() for entry in path.parent.iterdir()}
    with pytest.raises(RunFileError, match=message) as reading:
        RunFile.open(path)
    with pytest.raises(RunFileError, match=message) as writing:
        run(Drunkard(), Corridor(), trials=5, out=path)
    assert str(path) in str(reading.value)
    assert str(path) in str(writing.value)
    assert {entry.name: entry.read_bytes() for entry in path.parent.iterdir()} == before


def test_file_of_another_kind_is_refused(path: Path) -> None:
    path.write_text("a diary " * 100)
    refused(path, "is not an SQLite file")
    path.write_bytes(b"")
    refused(path, "is empty")


def test_database_of_another_program_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE trials (trial INTEGER)")
    refused(path, "SQLite file of another program")


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_file_of_another_version_is_refused(path: Path, version: int) -> None:
    run(Drunkard(), Corridor(), trials=5, out=path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    refused(path, f"run file of version {version}; this btai reads and writes version {SCHEMA_VERSION}")


@pytest.mark.parametrize("kept", [1, 50, 100, 4096, 6000, -4096, -1])
def test_file_cut_off_is_refused(path: Path, kept: int) -> None:
    run(planner(), Corridor(), trials=5, out=path, record=True)
    path.write_bytes(path.read_bytes()[:kept])
    refused(path, "cut off")


def test_damaged_file_is_refused_or_read_but_never_crashes(path: Path) -> None:
    run(planner(), Corridor(), trials=5, out=path, record=True)
    refusals = 0
    for damaged in damaged_copies(path.read_bytes(), 150, seed=3):
        path.write_bytes(damaged)
        try:
            with RunFile.open(path) as file:
                for trial in file.trials():
                    for cycle in file.cycles(trial.index):
                        cycle.tree()
                file.summary()
        except RunFileError:
            refusals += 1
    assert 30 < refusals < 150


def test_path_that_is_a_folder_or_leads_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="Is a directory"):
        RunFile.open(tmp_path)
    with pytest.raises(RunFileError, match="No such file"):
        RunFile.open(tmp_path / "nothing.sqlite")
    with pytest.raises(RunFileError, match=r"cannot write in the folder .*No such file"):
        run(Drunkard(), Corridor(), out=tmp_path / "no" / "run.sqlite")


def test_full_disk_is_said_and_the_trials_before_it_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect

    def connect_to_small_disk(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.execute("PRAGMA max_page_count = 30")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect_to_small_disk)
        with pytest.raises(RunFileError, match="the disk is full"):
            run(planner(), Corridor(), trials=200, out=path, record=True)
    kept = trials_in(path)
    assert 0 < len(kept) < 200
    run(planner(), Corridor(), trials=200, out=path, record=True)  # there is room again: it goes on
    assert len(trials_in(path)) == 200
    assert trials_in(path)[: len(kept)] == kept


@contextmanager
def ordinary_user() -> Iterator[None]:
    """For root the permissions of a folder mean nothing: act as nobody in particular."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only_file() -> Iterator[Path]:
    """A finished run in a folder that may only be read; beside pytest's own folders, which are closed to others."""
    folder = Path(tempfile.mkdtemp())
    run(Drunkard(), Corridor(), trials=5, out=folder / "run.sqlite")
    (folder / "run.sqlite").chmod(0o444)
    folder.chmod(0o555)
    yield folder / "run.sqlite"
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_read_only_folder_can_be_read_from(read_only_file: Path) -> None:
    with ordinary_user(), RunFile.open(read_only_file) as file:
        assert len(file.trials()) == 5


def test_read_only_folder_cannot_be_written_to(read_only_file: Path) -> None:
    before = read_only_file.read_bytes()
    for out in (read_only_file, read_only_file.with_name("new.sqlite")):
        with ordinary_user(), pytest.raises(RunFileError, match=r"cannot write in the folder .*Permission denied"):
            run(Drunkard(), Corridor(), trials=5, out=out)
    assert read_only_file.read_bytes() == before
    assert list(read_only_file.parent.iterdir()) == [read_only_file]
