"""One thread owns the agent, the environment and the run file; the server asks it for everything."""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from btai.errors import BtaiError

__all__ = ["WorkQueue"]

T = TypeVar("T")


class WorkQueue:
    """Jobs from any thread, done one after the other by the thread that calls `run`.

    So nothing in an agent, an environment or a trace needs a lock, and what belongs to one thread (a window, a
    database) stays with the thread that made it.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._ended = False

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Have `function` called; the future holds what it returned or raised."""
        future: Future[T] = Future()
        self._jobs.put((function, future))
        if self._ended:
            self._refuse_waiting()
        return future

    def run(self) -> None:
        """Do jobs until `close` is called."""
        try:
            while (job := self._jobs.get()) is not None:
                _do(*job)
        finally:
            self._ended = True
            self._refuse_waiting()

    def close(self) -> None:
        """End `run` once the jobs asked for by now are done; from any thread."""
        self._jobs.put(None)

    def _refuse_waiting(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            if job is not None:
                job[1].set_exception(_ended())


def _do(function: Callable[[], Any], future: Future[Any]) -> None:
    try:
        result = function()
    except Exception as error:
        future.set_exception(error)
    except BaseException:  # Ctrl-C in the middle of a job ends all
        future.set_exception(_ended())
        raise
    else:
        future.set_result(result)


def _ended() -> BtaiError:
    return BtaiError("The inspector has ended.")
