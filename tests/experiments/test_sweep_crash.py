"""Sweeps whose driver or whose workers are killed: whatever happens, the file is that of one that ran through."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from experiments.corridor import rows_in
from experiments.drivers import Somewhere, Watch
from experiments.ray_cluster import node
from experiments.sweeps import failures, processes, three_cells, watched_cells

from btai.experiments import RunFile
from btai.experiments.sweeps import sweep

pytestmark = pytest.mark.slow

KILLS = 10
ALL = sum(cell.trials for cell in watched_cells())


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """The random moments. Other ones each time; pytest shows which only if the test fails."""
    seed = int(os.environ.get("BTAI_SEED") or random.SystemRandom().getrandbits(32))
    request.node.add_report_section("setup", "random moments", f"These again: BTAI_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(params=["processes", "ray"])
def somewhere(request: pytest.FixtureRequest, environment: Mapping[str, str]) -> Somewhere:
    return Somewhere(request.param, request.getfixturevalue("ray") if request.param == "ray" else environment)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> Path:
    """The watched sweep, done by two processes without a break."""
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    Somewhere("processes", environment).finish("watched_cells()", path)
    return path


def trials_in(path: Path) -> int:
    with RunFile.open(path) as file:
        return sum(len(run.done()) for run in file.runs)


def test_sweep_whose_driver_is_killed_ten_times_equals_the_uninterrupted_one(
    somewhere: Somewhere, whole: Path, tmp_path: Path, rng: random.Random
) -> None:
    path = tmp_path / "sweep.sqlite"
    counts = [0]
    for _ in range(KILLS):
        with somewhere.driver("watched_cells()", path) as driver:
            assert driver.stdout is not None
            for _ in range(rng.randrange(2 * ALL // KILLS)):  # none: while the file is made or opened
                driver.stdout.readline()
            time.sleep(rng.uniform(0, 0.02))
            driver.kill()
        counts.append(trials_in(path) if path.exists() else 0)
        assert counts[-1] >= counts[-2]
    assert any(0 < count < ALL for count in counts)
    somewhere.finish("watched_cells()", path)
    assert rows_in(path) == rows_in(whole)
    assert list(tmp_path.iterdir()) == [path]


def test_sweep_whose_workers_are_killed_ten_times_equals_the_uninterrupted_one(
    somewhere: Somewhere, whole: Path, watched_folder: Path, tmp_path: Path, rng: random.Random
) -> None:
    path = tmp_path / "sweep.sqlite"
    watch = Watch(watched_folder)
    with somewhere.driver("watched_cells()", path) as driver:
        watch.wait_for_workers(2)
        for _ in range(KILLS):
            time.sleep(rng.uniform(0, 0.05))
            with watch.held_up():
                before = watch.at_work()
                os.kill(rng.choice(list(before)), signal.SIGKILL)
                newcomer = watch.wait_for_newcomer(before)
            # Its first trial is the lost one. Nobody is killed before that is done: no trial may cost three workers.
            watch.wait_for_second_trial(newcomer)
        driver.communicate()
    assert driver.returncode == 0
    assert rows_in(path) == rows_in(whole)


def test_sweep_goes_on_when_a_node_of_the_cluster_is_gone(
    ray: Mapping[str, str], whole: Path, watched_folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sweep.sqlite"
    watch = Watch(watched_folder)
    with Somewhere("ray", ray).driver("watched_cells()", path) as driver:
        with node(ray):
            watch.wait_for_workers(3)
        driver.communicate()
    assert driver.returncode == 0
    assert rows_in(path) == rows_in(whole)


def test_cell_that_kills_its_workers_is_reported_and_the_others_are_done(somewhere: Somewhere, tmp_path: Path) -> None:
    path = tmp_path / "sweep.sqlite"
    somewhere.finish("three_cells('killed')", path)
    how = "WorkerCrashedError" if somewhere.executor == "ray" else "killed by SIGKILL"
    assert failures(path) == {2: (3, f"3 workers ended before it was done ({how}).")}
    with RunFile.open(path) as file:
        assert [len(run.done()) for run in file.runs] == [8, 8, 3]


def test_cell_that_raises_is_reported_with_its_traceback_wherever_it_runs(somewhere: Somewhere, tmp_path: Path) -> None:
    here, there = tmp_path / "here.sqlite", tmp_path / "there.sqlite"
    sweep(three_cells("stumbling"), here, processes(1))
    somewhere.finish("three_cells('stumbling')", there)
    ((trial, traceback),) = failures(there).values()
    assert trial == 3
    assert "ValueError: stumbled in cell 3\nIn trial 3 (seed " in traceback
    assert rows_in(there) == rows_in(here)
