"""A run file that several look at: through links, in other processes, and in the one that writes it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from experiments.corridor import Corridor, Rightwards
from experiments.test_runfile import made_up_trial, start

from btai.errors import BtaiError, RunFileError
from btai.experiments import RunFile, run
from btai.experiments.database import beside
from btai.experiments.sweeps import grid_rows, merge, write_csv
from btai.inspector.export import check_place

CONFIGURATION = {"trials": 5, "starts": "random"}

WRITER = """
import sys
from pathlib import Path
from experiments.test_runfile_elsewhere import CONFIGURATION, look_everywhere
from experiments.test_runfile import made_up_trial
from btai.experiments import RunFile

path = Path(sys.argv[1])
file = RunFile.write(path, CONFIGURATION)
file.append(made_up_trial(0))
look_everywhere(path)
print("looked", flush=True)
sys.stdin.readline()
for number in range(1, 5):
    file.append(made_up_trial(number))
print("written", flush=True)
sys.stdin.read()
"""


def look_everywhere(path: Path) -> None:
    """All that opens a file of this name, also only to refuse it."""
    with RunFile.open(path) as file:
        assert len(file.trials()) == 1
        with pytest.raises(BtaiError):
            write_csv(grid_rows(file), path)
    with pytest.raises(BtaiError):
        check_place(path)
    with pytest.raises(BtaiError):
        RunFile.write(path, CONFIGURATION)


@contextmanager
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that writes five trials, the first before and the others after a word from us, and is then killed."""
    with start(WRITER, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "looked\n"
        yield process
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "written\n"


def trials_in(path: Path) -> list[int]:
    with RunFile.open(path) as file:
        return [trial.index for trial in file.trials()]


def test_who_looks_while_writing_lets_no_other_process_take_the_journal_away(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with writer(path):
        assert trials_in(path) == [0]  # Were this the last connection, closing it would take the journal away.
        assert path.with_name("run.sqlite-wal").exists()
    assert trials_in(path) == [0, 1, 2, 3, 4]


def test_file_whose_journal_is_being_put_into_it_can_be_opened(tmp_path: Path) -> None:
    """Page by page, the first one first: it says how many pages there will be when the last is not there yet."""
    path, copy = tmp_path / "run.sqlite", tmp_path / "copy" / "run.sqlite"
    copy.parent.mkdir()
    with RunFile.write(path, CONFIGURATION) as file:
        for number in range(5):
            file.append(made_up_trial(number, actions=(1,) * 9000))
        shutil.copy(path, copy)
        shutil.copy(beside(path, "-wal"), beside(copy, "-wal"))
    page = path.read_bytes()[:4096]
    assert path.stat().st_size > copy.stat().st_size
    with copy.open("r+b") as half_done:
        half_done.write(page)
    assert trials_in(copy) == [0, 1, 2, 3, 4]


@pytest.fixture
def linked(tmp_path: Path) -> tuple[Path, Path]:
    """Where a run file is, or will be, and a link to that in another folder."""
    path, link = tmp_path / "run.sqlite", tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(path)
    return path, link


def test_killed_shard_is_whole_through_a_link(linked: tuple[Path, Path], tmp_path: Path) -> None:
    path, link = linked
    with writer(path):
        pass
    assert path.with_name("run.sqlite-wal").stat().st_size > 0
    merge(tmp_path / "merged.sqlite", [link])
    assert trials_in(tmp_path / "merged.sqlite") == [0, 1, 2, 3, 4]


def test_writers_exclude_each_other_through_a_link(linked: tuple[Path, Path]) -> None:
    for one, other in (linked, linked[::-1]):
        with RunFile.write(one, CONFIGURATION), pytest.raises(RunFileError, match="being written by another process"):
            RunFile.write(other, CONFIGURATION)


def test_run_is_made_and_resumed_through_a_link(linked: tuple[Path, Path]) -> None:
    path, link = linked
    first = run(Rightwards(), Corridor(), 3, out=link)
    assert run(Rightwards(), Corridor(), 3, out=path).trials == first.trials  # clocks included
    assert link.is_symlink()
    assert sorted(path.parent.iterdir()) == [link.parent, path]
    assert list(link.parent.iterdir()) == [link]


def test_link_to_the_file_to_merge_into_is_no_shard(linked: tuple[Path, Path]) -> None:
    path, link = linked
    RunFile.write(path, CONFIGURATION).close()
    with pytest.raises(RunFileError, match="no other file was given"):
        merge(path, [link])


def test_run_file_cut_off_is_refused_through_a_link(linked: tuple[Path, Path]) -> None:
    path, link = linked
    with RunFile.write(path, CONFIGURATION) as file:
        file.append(made_up_trial(0))
    path.write_bytes(path.read_bytes()[:-1])
    link.with_name("link.sqlite-wal").touch()  # of no meaning: the journal would be beside the file itself
    with pytest.raises(RunFileError, match="cut off"):
        RunFile.open(link)
