"""A team of processes, whatever happens to them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from btai.errors import BtaiError
from btai.experiments.processes import Processes
from btai.experiments.team import Died


def squared(job: int) -> int:
    return job * job


def killed_in_the_midst_of_its_answer(_job: int) -> bytes:
    """The answer is more than the connection holds: sending it goes on until the driver reads it."""
    Thread(target=die_soon).start()
    return bytes(10**7)


def die_soon() -> None:
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def test_half_an_answer_is_a_death() -> None:
    with closing(Processes(killed_in_the_midst_of_its_answer, 1)) as team:
        team.give(3)
        while multiprocessing.active_children():
            time.sleep(0.01)
        assert team.results() == [(3, Died("killed by SIGKILL"))]


@pytest.fixture
def stillbirth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As long as this file is there, every worker dies before it can begin."""
    path = tmp_path / "stillbirth"
    (tmp_path / "sitecustomize.py").write_text(
        f"import os\nfrom pathlib import Path\nif Path({str(path)!r}).exists(): os._exit(7)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path.touch()
    return path


def test_three_workers_that_cannot_begin_are_enough(stillbirth: Path) -> None:
    with closing(Processes(squared, 1)) as team:
        for _ in range(2):
            team.give(3)
            assert team.results() == [(3, Died("exit code 7"))]
        team.give(3)
        with pytest.raises(BtaiError, match=r"3 worker processes ended .* before they could begin \(exit code 7\)"):
            team.results()


def test_worker_that_begins_shows_that_the_others_were_unlucky(stillbirth: Path) -> None:
    with closing(Processes(squared, 2)) as team:
        for _ in range(2):
            team.give(3)
            assert team.results() == [(3, Died("exit code 7"))]
        stillbirth.unlink()
        team.give(3)
        assert team.results() == [(3, 9)]
        stillbirth.touch()
        team.give(4)
        team.give(5)
        assert sorted(team.results() + team.results()) == [(4, 16), (5, Died("exit code 7"))]
