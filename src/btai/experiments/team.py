"""Who does the work: jobs go to a team, and a job whose worker dies goes to another."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

__all__ = ["Died", "Executor", "Team", "done_by"]

J = TypeVar("J")
R = TypeVar("R")


@dataclass(frozen=True)
class Died:
    """Instead of a result: the worker ended before it was there."""

    how: str


class Team(Protocol):
    """Workers that each do one job at a time."""

    def has_room(self) -> bool:
        """Whether another job can be given."""

    def give(self, job: Any) -> None:
        """Let somebody do a job."""

    def results(self) -> list[tuple[Any, Any]]:
        """Wait for results; each with its job. None if nobody is doing anything."""

    def close(self) -> None:
        """End all workers, whatever they are doing."""


Executor = Callable[[Callable[[Any], Any]], Team]
"""What makes a team that does this with every job: a function that never raises, at the top of a module."""


def done_by(
    executor: Executor, work: Callable[[J], R], jobs: Iterator[J], *, attempts: int = 1
) -> Generator[tuple[J, R | Died]]:
    """`work` done on every job; each result as soon as it is there, with its job.

    A job is taken from `jobs` only when somebody is free to do it, so who reads the results can still change their
    mind about those to come. A job whose worker dies is given away again, until it has taken `attempts` workers.
    """
    again: deque[J] = deque()
    deaths = Counter[int]()  # by id: jobs need not be hashable, and none is gone before it has been counted out

    def next_job() -> list[J]:
        return [again.popleft()] if again else list(islice(jobs, 1))

    with closing(executor(work)) as team:
        while True:
            while team.has_room() and (found := next_job()):
                team.give(found[0])
            results = team.results()
            if not results:
                return
            for job, result in results:
                if isinstance(result, Died):
                    deaths[id(job)] += 1
                    if deaths[id(job)] < attempts:
                        again.append(job)
                        continue
                deaths.pop(id(job), None)
                yield job, result
