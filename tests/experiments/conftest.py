"""Where sweeps are run: on processes of this machine, and on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from experiments.ray_cluster import two_nodes
from extras import need

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def watched_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `experiments.sweeps.Watched` knows as WATCHED."""
    return tmp_path_factory.mktemp("watched")


@pytest.fixture(scope="session")
def environment(watched_folder: Path) -> Mapping[str, str]:
    """Of the programs that run sweeps of the tests."""
    return {"PYTHONPATH": str(TESTS), "WATCHED": str(watched_folder)}


@pytest.fixture(scope="session")
def ray(environment: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """The same, of those that run them on a Ray cluster of two nodes on this machine."""
    need("ray", "SWEEPS ON RAY ARE NOT TESTED")
    with two_nodes(environment) as found:
        yield found
