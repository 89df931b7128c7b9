"""What pages are told, and how the inspector learns that they are gone."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from inspector.models import SevenStatesEnv, seven_states
from inspector.recorded import seven_states_agent

from btai import BTAI_3MF
from btai.experiments import run
from btai.inspector import Inspector, LiveTrace, RunTrace, events, service
from btai.inspector.cursor import Cursor
from btai.inspector.events import Events
from btai.inspector.live import PORTION

Event = tuple[str, dict[str, Any]]


@contextmanager
def listening(url: str) -> Iterator[Iterator[Event]]:
    """The events that a page gets, as they come."""
    with httpx.stream("GET", f"{url}api/events", timeout=60) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _events(answer)


def _events(answer: httpx.Response) -> Iterator[Event]:
    name = ""
    for line in answer.iter_lines():
        key, _, value = line.partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)


def live() -> LiveTrace:
    return LiveTrace(SevenStatesEnv(), seven_states_agent())


def test_a_page_is_told_where_the_live_end_is() -> None:
    with Inspector(live) as inspector, listening(inspector.url) as told:
        assert next(told) == ("hello", {"cursor": vars(Cursor(0, 0, 0)), "over": False, "busy": False})


def test_a_command_of_one_page_is_told_to_every_page() -> None:
    with Inspector(live) as inspector, listening(inspector.url) as one, listening(inspector.url) as other:
        next(one), next(other)
        httpx.post(f"{inspector.url}api/command", json={"command": "plan", "iterations": 2}, timeout=60)
        for told in (one, other):
            assert next(told) == ("busy", {"busy": True, "command": "plan"})
            assert next(told) == ("trace", {"reason": "plan", "cursor": vars(Cursor(0, 0, 2)), "over": False})
            assert next(told) == ("busy", {"busy": False, "command": "plan"})


def test_long_planning_is_told_as_it_goes_and_can_be_stopped() -> None:
    def slow() -> LiveTrace:
        return LiveTrace(SevenStatesEnv(), BTAI_3MF(seven_states(), 100 * PORTION, engine="numpy"))

    with Inspector(slow) as inspector, listening(inspector.url) as told:
        next(told)
        answers: list[httpx.Response] = []

        def finish() -> None:
            answers.append(httpx.post(f"{inspector.url}api/command", json={"command": "finish"}, timeout=60))

        finishing = threading.Thread(target=finish)
        finishing.start()
        assert next(told) == ("busy", {"busy": True, "command": "finish"})
        assert next(told)[1]["cursor"]["iteration"] == PORTION
        busy = httpx.post(f"{inspector.url}api/command", json={"command": "reset"}, timeout=60)
        assert (busy.status_code, busy.json()["error"]["code"]) == (409, "conflict")
        assert httpx.get(f"{inspector.url}api/facts?trial=0", timeout=60).status_code == 200
        assert httpx.post(f"{inspector.url}api/command", json={"command": "stop"}, timeout=60).status_code == 200
        finishing.join()
        (answer,) = answers
        assert PORTION <= answer.json()["cursor"]["iteration"] < 100 * PORTION
        assert httpx.post(f"{inspector.url}api/command", json={"command": "reset"}, timeout=60).status_code == 200


def test_pages_are_told_when_the_inspector_ends() -> None:
    with Inspector(live) as inspector:
        told = listening(inspector.url)
        with told as received:
            next(received)
            inspector.close()
            assert list(received) == [("closing", {})]


def test_the_inspector_ends_once_every_page_has_been_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "GRACE", 0.3)
    inspector = Inspector(live, closes_with_page=True)
    serving = threading.Thread(target=inspector.serve)
    serving.start()
    with listening(inspector.url) as one:
        next(one)
        with listening(inspector.url) as other:
            next(other)
        time.sleep(0.8)
        assert httpx.get(f"{inspector.url}api/info", timeout=60).status_code == 200
    serving.join(timeout=60)
    assert not serving.is_alive()


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still but for `pass_by`: no machine is too slow for it."""

    now = 0.0

    def time(self) -> float:
        """What its timers go by."""
        return self.now

    async def pass_by(self, seconds: float) -> None:
        """Let time pass, and what is due then happen."""
        self.now += seconds
        for _ in range(3):
            await asyncio.sleep(0)


def test_a_page_that_is_loaded_again_keeps_the_inspector() -> None:
    ended: list[float] = []
    loop = Clock()
    told = Events(lambda: ended.append(loop.now))

    async def pages() -> None:
        for _ in range(3):
            page = told.listen({})
            await anext(page)
            await loop.pass_by(100 * events.GRACE)
            await page.aclose()
            await loop.pass_by(0.9 * events.GRACE)
        assert ended == []
        await loop.pass_by(0.2 * events.GRACE)
        assert ended == [loop.now]

    def turn_the_pages() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(pages())

    with ThreadPoolExecutor(1) as elsewhere:  # in this thread the browser of other tests has a loop that runs
        elsewhere.submit(turn_the_pages).result()


class StopError(Exception):
    """Ends a run in the middle."""


def test_a_run_file_can_be_looked_into_while_it_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WATCH_SECONDS", 0.05)
    path = tmp_path / "run.sqlite"

    def stop_after_two(summary: Any, total: int) -> None:
        if summary.trials == 2:
            raise StopError

    def write(progress: Any = None) -> None:
        run(seven_states_agent, SevenStatesEnv, 5, out=path, record=True, progress=progress)

    with pytest.raises(StopError):
        write(stop_after_two)
    with Inspector(lambda: RunTrace(path)) as inspector, listening(inspector.url) as told:
        assert next(told) == ("hello", {"cursor": None, "over": True, "trials": 2, "busy": False})
        with httpx.Client(base_url=inspector.url, timeout=60) as client:
            before = client.get("api/trials").json()
            assert (len(before["trials"]), before["expected"]) == (2, 5)
            assert client.get("api/cycle?trial=4").status_code == 400
            time.sleep(0.2)
            seen = []

            def look(summary: Any, total: int) -> None:
                seen.append(len(client.get("api/trials").json()["trials"]))
                assert client.get("api/facts?trial=1&cycle=1").status_code == 200

            write(look)
            assert seen == [2, 3, 4, 5]
            name, data = next(told)
            while data != {"trials": 5}:
                assert name == "trials"
                name, data = next(told)
            assert client.get("api/cycle?trial=4").status_code == 200


def test_a_run_that_has_only_begun_has_nothing_to_open_yet(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"

    def stop(summary: Any, total: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        run(seven_states_agent, SevenStatesEnv, 5, out=path, record=True, progress=stop)
    with Inspector(lambda: RunTrace(path)) as inspector:
        assert httpx.get(f"{inspector.url}api/info", timeout=60).json()["cursor"] is None
        assert httpx.get(f"{inspector.url}api/trials", timeout=60).json()["trials"] == []
