"""One thread does what every thread asks for."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import partial

import pytest

from btai.errors import BtaiError
from btai.inspector.work import WorkQueue


def test_jobs_are_done_in_order_by_the_thread_that_runs_the_queue() -> None:
    work = WorkQueue()
    done: list[tuple[int, threading.Thread]] = []

    def job(number: int) -> int:
        done.append((number, threading.current_thread()))
        return number

    futures = [work.submit(partial(job, number)) for number in range(5)]
    work.close()
    work.run()
    assert [future.result() for future in futures] == list(range(5))
    assert done == [(number, threading.current_thread()) for number in range(5)]


def test_what_a_job_raises_is_raised_where_it_was_asked_for() -> None:
    work = WorkQueue()
    broken: Future[float] = work.submit(lambda: 1 / 0)
    fine = work.submit(lambda: 2)
    work.close()
    work.run()
    with pytest.raises(ZeroDivisionError):
        broken.result()
    assert fine.result() == 2


def test_after_the_end_nothing_is_done_any_more() -> None:
    work = WorkQueue()
    work.close()
    waiting = work.submit(lambda: 1)
    work.run()
    late = work.submit(lambda: 1)
    for future in (waiting, late):
        with pytest.raises(BtaiError, match="has ended"):
            future.result(timeout=1)


def test_an_interrupt_in_the_middle_of_a_job_ends_the_queue_and_leaves_nobody_waiting() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    work = WorkQueue()
    futures = [work.submit(interrupted), work.submit(lambda: None)]
    with pytest.raises(KeyboardInterrupt):
        work.run()
    for future in futures:
        with pytest.raises(BtaiError, match="has ended"):
            future.result(timeout=1)
