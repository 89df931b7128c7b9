"""A team of processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from btai.errors import BtaiError
from btai.experiments.team import Died

__all__ = ["Processes"]

MOST_STILLBORN = 3
PATIENCE = 5.0  # seconds that an idle worker has to close what it has open


class _Ready:
    """What a worker says first."""


class Processes:
    """Processes of this machine, each started when there is work for it.

    Args:
        work: what they do with each job.
        workers: how many; by default one for each processor that may be used.
    """

    def __init__(self, work: Callable[[Any], Any], workers: int | None = None) -> None:
        self._work = work
        self._workers = workers or _processors()
        self._context = multiprocessing.get_context("spawn")
        self._idle: list[_Worker] = []
        self._busy: dict[Any, tuple[_Worker, Any]] = {}  # by connection
        self._stillborn = 0  # how many have died one after the other before they could do anything

    def has_room(self) -> bool:
        """Whether another job can be given."""
        return len(self._busy) < self._workers

    def give(self, job: Any) -> None:
        """Let a process do a job."""
        worker = self._idle.pop() if self._idle else _Worker(self._context, self._work)
        worker.send(job)
        self._busy[worker.connection] = worker, job

    def results(self) -> list[tuple[Any, Any]]:
        """Wait for results."""
        found: list[tuple[Any, Any]] = []
        while self._busy and not found:
            for connection in wait(list(self._busy)):
                worker, job = self._busy[connection]
                answer = worker.receive()
                if isinstance(answer, _Ready):
                    worker.ready = True
                    self._stillborn = 0
                    continue
                del self._busy[connection]
                if isinstance(answer, Died):
                    self._bury(worker, answer)
                else:
                    self._idle.append(worker)
                found.append((job, answer))
        return found

    def close(self) -> None:
        """End all processes, whatever they are doing."""
        for worker in self._idle:
            worker.dismiss()
        for worker, _ in self._busy.values():
            worker.stop()
        for worker in self._idle:
            worker.stop(PATIENCE)

    def _bury(self, worker: _Worker, death: Died) -> None:
        worker.stop()
        self._stillborn += not worker.ready
        if self._stillborn == MOST_STILLBORN:
            raise BtaiError(
                f"{MOST_STILLBORN} worker processes ended one after the other before they could begin ({death.how}). "
                "Their own messages, if they left any, stand above."
            )


class _Worker:
    """One process that does a job at a time."""

    def __init__(self, context: Any, work: Callable[[Any], Any]) -> None:
        self.ready = False
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self._process.start()
        # Only the worker holds its end now: each of the two sees at once when the other has died.
        theirs.close()

    def send(self, job: Any) -> None:
        """Give the worker its next job."""
        with suppress(ConnectionError):  # It has died; `receive` says so.
            self.connection.send(job)

    def receive(self) -> Any:
        """What the worker has to say: that it is ready, a result, or nothing any more."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):  # It has died, perhaps in the midst of its answer.
            self._process.join()
            return Died(_described(self._process.exitcode))

    def dismiss(self) -> None:
        """Let the process end by itself when it has done its job."""
        self.connection.close()

    def stop(self, patience: float = 0.0) -> None:
        """End the process, whatever it is doing after so many seconds."""
        self.dismiss()
        self._process.join(patience)
        self._process.terminate()
        self._process.join()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _described(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with suppress(ValueError):
            return f"killed by {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """The life of a worker: do what is sent until nobody is there to send."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the driver stops the workers.
    with suppress(EOFError, OSError):  # `work` raises nothing: it is the connection that has ended.
        connection.send(_Ready())
        while True:
            connection.send(work(connection.recv()))
