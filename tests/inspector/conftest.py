"""What the tests of the inspector share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inspector.recorded import Recorded, record

from btai.inspector import RunTrace


@pytest.fixture(scope="session", params=["dsprites", "seven"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A recorded run, of dSprites and of the rover."""
    return record(tmp_path_factory.mktemp("runs"), request.param)


@pytest.fixture(scope="session")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A recorded run of the rover."""
    return record(tmp_path_factory.mktemp("seven"), "seven")


@pytest.fixture
def trace(recorded: Recorded) -> Iterator[RunTrace]:
    """A run file, opened."""
    trace = recorded.trace()
    yield trace
    trace.close()
