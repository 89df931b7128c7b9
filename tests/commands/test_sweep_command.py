"""`btai sweep`, `btai merge` and `btai show` of a sweep, as people and machines use them."""

from __future__ import annotations

import csv
import errno
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from experiments.corridor import rows_in
from extras import need

from btai.cli import main
from btai.experiments import Failure, RunFile

EXAMPLE = Path(__file__).parents[2] / "examples" / "sweep.toml"
GRID = """
trials = 4
max_cycles = 10

[environment]
name = "tiger"

[agent]
name = "BTAI_3MF"
engine = "numpy"
max_planning_steps = [2, 5]
ties = ["cost", "first"]
"""


def btai_command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def printed(code: int, *arguments: object) -> str:
    result = btai_command(*arguments)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    path = tmp_path / "cats.toml"
    path.write_text(GRID)
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished sweep."""
    path = tmp_path_factory.mktemp("done") / "cats.toml"
    path.write_text(GRID)
    printed(0, "sweep", path, "--workers", 1)
    return path.with_suffix(".sqlite")


@pytest.fixture
def failed(done: Path, tmp_path: Path) -> Path:
    """The sweep with a cell that has failed and one that is not done."""
    path = tmp_path / "failed.sqlite"
    with RunFile.open(done) as file:
        configurations = [run.config for run in file.runs]
        kept = [run.trials() for run in file.runs]
    with RunFile.write(path, *configurations) as file:
        for run in (0, 1, 2):
            for trial in kept[run][: 4 if run < 2 else 3]:
                file.runs[run].append(trial)
        error = (
            'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: it rained\nIn trial 1 (seed 3).\n'
        )
        file.runs[1].fail(Failure(1, error))
    return path


def table(text: str) -> list[list[str]]:
    """The lines that begin with the number of a run."""
    return [line.split() for line in text.splitlines() if line.split()[:1] and line.split()[0].isdigit()]


def test_sweep_prints_the_grid_and_names_its_file_after_the_toml(toml: Path) -> None:
    shown = printed(0, "sweep", toml, "--workers", 2)
    rows = table(shown)
    assert [row[:4] for row in rows] == [
        ["0", "2", "cost", "4"],
        ["1", "2", "first", "4"],
        ["2", "5", "cost", "4"],
        ["3", "5", "first", "4"],
    ]
    with RunFile.open(toml.with_suffix(".sqlite")) as file:
        for row, run in zip(rows, file.runs, strict=True):
            summary = run.summary()
            assert row[4:] == [
                f"{x:.3f}" for x in (summary.reward_mean, summary.cycles_mean, summary.seconds_per_trial)
            ]
    assert "mean reward" in shown
    assert "P(solved)" not in shown  # the tiger's rewards are no scores
    assert "not complete" not in shown
    assert f"btai show {toml.with_suffix('.sqlite')} --run NUMBER" in shown.replace("\n", "")


def test_finished_sweep_is_not_run_again(done: Path) -> None:
    before = rows_in(done)
    seconds = json.loads(printed(0, "show", done, "--json"))
    assert json.loads(printed(0, "sweep", done.with_suffix(".toml"), "--json")) == seconds
    assert rows_in(done) == before


def test_shards_and_merge_give_the_whole(done: Path, toml: Path) -> None:
    for i in (1, 2):
        shown = printed(0, "sweep", toml, "--workers", 1, "--shard", f"{i}/2")
        assert [row[0] for row in table(shown)] == [str(run) for run in (i - 1, i + 1)]
    first, second = (toml.with_name(f"cats-{i}-of-2.sqlite") for i in (1, 2))
    out = toml.with_name("all.sqlite")
    missing = printed(1, "merge", out, second)
    assert "2 of 4 cells are not complete, 0 of them failed:" in missing
    assert "  run 2 (max_planning_steps 5, ties cost): 0 of 4 trials" in missing.splitlines()
    printed(0, "merge", out, first, second)
    assert rows_in(out) == rows_in(done)


def test_shards_of_another_grid_are_refused(done: Path, toml: Path) -> None:
    toml.write_text(GRID.replace("trials = 4", "trials = 3"))
    printed(0, "sweep", toml, "--workers", 1, "--shard", "4/4")
    message = printed(1, "merge", toml.with_name("all.sqlite"), done, toml.with_name("cats-4-of-4.sqlite"))
    assert "is of another sweep than" in message
    assert "trials of run 0 is 3, not 4" in message
    assert not toml.with_name("all.sqlite").exists()


def test_failed_cell_is_shown_with_what_happened(failed: Path) -> None:
    shown = printed(0, "show", failed)
    assert "3 of 4 cells are not complete, 1 of them failed:" in shown
    assert (
        "  run 1 (max_planning_steps 2, ties first): 1 of 4 trials, failed at trial 1: ValueError: it rained" in shown
    )
    assert "  run 2 (max_planning_steps 5, ties cost): 3 of 4 trials\n" in shown
    assert 'Given up at trial 1:\nTraceback (most recent call last):\n  File "x.py"' in printed(
        0, "show", failed, "--run", 1
    )
    figures = json.loads(printed(0, "show", failed, "--run", 1, "--json"))
    assert (figures["failed_trial"], figures["complete"], figures["trials"]) == (1, False, 1)
    grid = json.loads(printed(0, "show", failed, "--json"))
    assert (grid["complete"], [run["failed_trial"] for run in grid["runs"]]) == (False, [None, 1, None, None])


def test_sweep_with_a_failed_cell_ends_with_one(toml: Path) -> None:
    toml.write_text(GRID.replace('name = "BTAI_3MF"', 'name = "BTAI_BF"'))  # the tiger has three observations
    shown = printed(1, "sweep", toml, "--workers", 1)
    assert "4 of 4 cells are not complete, 4 of them failed:" in shown
    assert "BTAI_BF filters one state by one observation" in " ".join(shown.split())


def test_one_run_of_a_sweep_is_shown_like_a_run(done: Path) -> None:
    shown = printed(0, "show", done, "--run", 2)
    assert "4 of 4" in shown
    assert "agent.max_planning_steps" in shown
    assert "--run 4: " in printed(2, "show", done, "--run", 4)


def test_csv_has_a_line_for_each_run(done: Path, failed: Path, tmp_path: Path) -> None:
    printed(0, "show", done, "--csv", tmp_path / "cats.csv")
    with (tmp_path / "cats.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with RunFile.open(done) as stored:
        for row, run in zip(rows, stored.runs, strict=True):
            summary = run.summary()
            assert (row["environment"], row["agent"], row["run"]) == ("tiger", "BTAI_3MF", str(run.number))
            assert int(row["max_planning_steps"]) == run.config["agent"]["max_planning_steps"]
            assert float(row["reward_mean"]) == summary.reward_mean
            assert float(row["seconds_per_trial"]) == summary.seconds_per_trial
    printed(0, "show", failed, "--csv", tmp_path / "failed.csv")
    with (tmp_path / "failed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["failed_trial"] for row in rows] == ["", "1", "", ""]
    assert "ValueError: it rained" in rows[1]["failure"]


def test_csv_of_a_run_by_itself_has_one_line(tmp_path: Path) -> None:
    out = tmp_path / "one.sqlite"
    printed(0, "run", "tiger", "--planning", 2, "--trials", 2, "--out", out)
    printed(0, "show", out, "--csv", tmp_path / "one.csv")
    with (tmp_path / "one.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["max_planning_steps"], row["trials"]) == ("2", "2")
    assert "cannot be written" in printed(1, "show", out, "--csv", tmp_path / "no" / "one.csv")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_table_takes_the_place_of_a_run_file(done: Path, tmp_path: Path, kind: str) -> None:
    if kind == "parquet":
        need("pyarrow", "SWEEPS AS PARQUET ARE NOT TESTED")
    before = rows_in(done)
    (tmp_path / "link").symlink_to(done)
    other = tmp_path / "other.sqlite"
    RunFile.write(other, {"trials": 1, "starts": "random"}).close()
    for path in (done, tmp_path / "link", other):
        assert f"{path} is a run file" in printed(1, "show", done, f"--{kind}", path)
    assert rows_in(done) == before
    assert rows_in(other)["runs"] == [(0, None, None)]


def test_table_that_cannot_be_written_leaves_the_file_of_that_name_as_it_was(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old.csv").write_text("old")

    def full_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(csv.DictWriter, "writerows", full_disk)
    assert "No space left on device" in printed(1, "show", done, "--csv", tmp_path / "old.csv")
    assert (tmp_path / "old.csv").read_text() == "old"
    assert list(tmp_path.glob(".*")) == []


def test_parquet_holds_what_csv_does(done: Path, tmp_path: Path) -> None:
    need("pyarrow", "SWEEPS AS PARQUET ARE NOT TESTED")
    from pyarrow import parquet

    printed(0, "show", done, "--parquet", tmp_path / "cats.parquet")
    rows = parquet.read_table(tmp_path / "cats.parquet").to_pylist()
    assert rows == json.loads(printed(0, "show", done, "--json"))["runs"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shard", "2"], "--shard 2: I/N is required, such as 1/4"),
        (["--shard", "x/2"], "--shard x/2: I/N is required"),
        (["--workers", "0"], "0 is not in the range x>=1"),
    ],
)
def test_wrong_usage_exits_with_two(toml: Path, arguments: list[str], message: str) -> None:
    assert message in printed(2, "sweep", toml, *arguments)


def test_wrong_grid_and_wrong_shard_are_one_message(toml: Path) -> None:
    assert "shard: 3/2 was given; i/n with i from 1 to n is required" in printed(1, "sweep", toml, "--shard", "3/2")
    toml.write_text(GRID.replace("ties", "tie"))
    assert f"{toml}: agent.tie: BTAI_3MF has no such key; it has max_planning_steps" in printed(
        1, "sweep", toml
    ).replace("\n", " ")


def test_progress_of_the_whole_grid_is_shown_on_a_terminal(toml: Path) -> None:
    main_end, terminal = pty.openpty()
    command = [sys.executable, "-c", "from btai.cli import main; main()", "sweep", str(toml), "--workers", "1"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal, env=environment):
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(main_end, 4096):
                shown += part
        except OSError:  # Linux says so that the other end is closed.
            pass
        os.close(main_end)
    assert b"16/16" in shown
    assert b"cells 4/4" in shown


@pytest.mark.slow
def test_example_shows_that_ties_matter(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path)
    printed(0, "sweep", tmp_path / "sweep.toml")
    runs = json.loads(printed(0, "show", tmp_path / "sweep.sqlite", "--json"))["runs"]
    assert len(runs) == 24
    solved = {(r["granularity"], r["max_planning_steps"], r["ties"], r["seed"]): r["p_solved"] for r in runs}
    assert all(solved[g, 50, "cost", seed] >= 0.85 for g in (8, 4) for seed in (0, 1))
    assert all(solved[g, n, "cost", seed] >= solved[g, n, "first", seed] for g, n, _, seed in solved)
