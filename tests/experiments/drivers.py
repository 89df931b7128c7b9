"""Programs that run sweeps of the tests, and a look at who is at work on them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Somewhere", "Watch"]

PATIENCE = 60  # seconds, on a busy machine


@dataclass(frozen=True)
class Somewhere:
    """Where a sweep is run, by programs of their own."""

    executor: str
    environment: Mapping[str, str]

    @contextmanager
    def driver(self, some_cells: str, out: Path) -> Iterator[subprocess.Popen[str]]:
        """A program that runs a sweep and prints a line for each trial; it has ended when the context ends."""
        script = f"from experiments.sweeps import *; drive({some_cells}, {str(out)!r}, {self.executor!r})"
        command = [sys.executable, "-c", script]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | self.environment) as process:
            try:
                yield process
            finally:
                process.kill()

    def finish(self, some_cells: str, out: Path) -> None:
        """Run a sweep to its end."""
        with self.driver(some_cells, out) as process:
            process.communicate()
        assert process.returncode == 0


class Watch:
    """Who is at work on a watched sweep."""

    def __init__(self, folder: Path) -> None:
        self._begun = folder / "begun"
        self._hold_up = folder / "held up"
        self._begun.write_text("")

    def at_work(self) -> dict[int, int]:
        """How many trials each process has begun that is still there, by its number."""
        pids = [int(line) for line in self._begun.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return {pid: pids.count(pid) for pid in sorted(set(pids)) if Path(f"/proc/{pid}").exists()}

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Nobody ends a trial: the sweep cannot be over before somebody new has begun."""
        self._hold_up.touch()
        try:
            yield
        finally:
            self._hold_up.unlink()

    def wait_for_workers(self, number: int) -> None:
        """Wait until so many are at work together."""
        with self.held_up():
            _wait_until(lambda: len(self.at_work()) == number)

    def wait_for_newcomer(self, before: Mapping[int, int]) -> int:
        """Wait until somebody is at work who was not before."""
        _wait_until(lambda: bool(self.at_work().keys() - before))
        (newcomer,) = self.at_work().keys() - before
        return newcomer

    def wait_for_second_trial(self, worker: int) -> None:
        """Wait until one has done its first trial."""
        _wait_until(lambda: self.at_work()[worker] > 1)


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "it has taken too long"
        time.sleep(0.001)
