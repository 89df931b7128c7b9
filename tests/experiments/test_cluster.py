"""Sweeps on a Ray cluster; those whose processes are killed are in test_sweep_crash.py."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from experiments.corridor import rows_in
from experiments.sweeps import processes

from btai.errors import BtaiError
from btai.experiments.sweeps import RayCluster, read_grid, sweep

GRID = """
trials = 3
max_cycles = 10

[environment]
name = "tiger"

[agent]
name = "BTAI_3MF"
engine = "numpy"
max_planning_steps = [2, 5]
"""


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    path = tmp_path / "cats.toml"
    path.write_text(GRID)
    return path


def btai_sweep(*arguments: object, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: Ray is not for the one that runs the tests."""
    command = [sys.executable, "-c", "from btai.cli import main; main()", "sweep", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)


@pytest.mark.slow
def test_command_gives_the_same_on_a_cluster_as_on_this_machine(ray: Mapping[str, str], toml: Path) -> None:
    here = toml.with_name("here.sqlite")
    sweep(read_grid(toml), here, processes(1))
    without_address = {name: value for name, value in ray.items() if name != "RAY_ADDRESS"}
    for out, address, environment in (
        ("given.sqlite", [ray["RAY_ADDRESS"]], without_address),
        ("found.sqlite", [], ray),
    ):
        there = toml.with_name(out)
        done = btai_sweep(toml, "--out", there, "--ray", *address, environment=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert rows_in(there) == rows_in(here)


@pytest.mark.slow
def test_address_where_no_cluster_is_is_refused_at_once(ray: Mapping[str, str], toml: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        done = btai_sweep(toml, "--ray", address, environment=ray)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: ray: there is no cluster at {address} (")
    assert "Connection refused" in done.stderr


ONLY_HERE = """
from experiments.corridor import Corridor, corridor_slice
from experiments.sweeps import AGENTS, drive
from btai.envs import Registered
from btai.experiments.sweeps import grid

class OnlyHere(Corridor):
    pass

def some_cells():
    document = {"environment": {"name": "only here"}, "agent": {"name": "drunkard"}}
    return grid(document, {"only here": Registered("only here", OnlyHere, corridor_slice)}, AGENTS)
"""


@pytest.mark.slow
def test_node_that_lacks_something_is_told_from_a_cell_that_fails(ray: Mapping[str, str], tmp_path: Path) -> None:
    library = tmp_path / "library"  # not where the driver runs: Ray's workers import from there, too
    library.mkdir()
    (library / "only_here.py").write_text(ONLY_HERE)
    environment = {**ray, "PYTHONPATH": os.pathsep.join([str(library), ray["PYTHONPATH"]])}
    script = "from only_here import *; drive(some_cells(), 'sweep.sqlite', 'ray')"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=tmp_path,
        check=False,
    )
    assert "BtaiError: ray: a worker cannot run btai: " in done.stderr
    assert "No module named 'only_here'" in done.stderr
    assert done.stderr.rstrip().endswith(
        "Install the same btai, and what your own environment and agent need, on every node."
    )


class NoCluster(ModuleType):
    """Stands for Ray on a machine without a cluster."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.tried: list[str | None] = []

    def init(self, address: str | None = None, **_options: Any) -> None:
        self.tried.append(address)
        raise ConnectionError("nothing runs here")


def test_no_cluster_is_started_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would start one without an address, open to whoever can reach this machine."""
    fake = NoCluster()
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(BtaiError, match=r"no cluster that this machine is part of \(nothing runs here\)"):
        RayCluster(print)
    assert fake.tried == ["auto"]
