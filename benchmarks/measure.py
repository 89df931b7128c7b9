"""How times are taken, and the form of what is measured."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Curve", "Effort", "Mark", "Row", "Time", "in_new_process", "least", "peak_memory"]


class Time(NamedTuple):
    """Seconds by the clock on the wall, and seconds that all threads together spent on processors."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    quick: bool

    @property
    def seconds(self) -> float:
        """How long one time is measured again and again."""
        return 0.03 if self.quick else 1.0

    def some(self, points: Sequence[int]) -> Sequence[int]:
        """All points of a curve, or a few that take little time."""
        return points[:: max(1, len(points) // 3)][:2] if self.quick else points


@dataclass(frozen=True)
class Row:
    """One number of the table."""

    name: str
    value: float | None  # None: not measured; the note says why
    unit: str
    note: str = ""


class Mark(NamedTuple):
    """A point of a series that something is said of."""

    series: str
    x: float
    text: str


@dataclass(frozen=True)
class Curve:
    """How something grows: points (x, y) of each series, of which the first has them all."""

    name: str
    title: str
    x: str
    y: str
    series: Mapping[str, list[tuple[float, float]]] = field(default_factory=dict)
    picture: str = ""  # curves with the same one stand side by side in it; otherwise each is a picture of its own
    mark: Mark | None = None


def least(act: Callable[[], object], seconds: float, prepare: Callable[[], object] = lambda: None) -> Time:
    """The least time of `act`, each time after `prepare`, of at least three and as many as the seconds allow."""
    times: list[Time] = []
    end = time.perf_counter() + seconds
    gc.collect()
    gc.disable()
    try:
        while len(times) < 3 or time.perf_counter() < end:
            prepare()
            cpu, wall = time.process_time(), time.perf_counter()
            act()
            times.append(Time(time.perf_counter() - wall, time.process_time() - cpu))
    finally:
        gc.enable()
    return Time(min(t.wall for t in times), min(t.cpu for t in times))


def in_new_process(*command: str, **variables: str) -> Any:
    """What a Python of its own prints as JSON; `variables` are added to its environment.

    It may keep its bytecode, as everybody's Python does: else each import would compile the source anew.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | variables
    done = subprocess.run([sys.executable, *command], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def peak_memory() -> int:
    """The most bytes that this process has had in memory.

    From the kernel's own report where there is one: `getrusage` counts what the parent had when it began this process.
    """
    report = Path("/proc/self/status")
    if report.exists():
        line = next(line for line in report.read_text("utf-8").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
