"""Server-sent events: what happens, to every page that is open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

__all__ = ["Events"]

HEARTBEAT = 10.0  # seconds: an answer nobody can receive any more is then noticed
GRACE = 4.0  # seconds a page may take to come back, when it is loaded again for instance


class Events:
    """Those who listen. Everything here happens in the server's event loop.

    `when_deserted` is called once nobody has listened for a while, after somebody has.
    """

    def __init__(self, when_deserted: Callable[[], None]) -> None:
        self._when_deserted = when_deserted
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._farewell: asyncio.TimerHandle | None = None

    @property
    def listeners(self) -> int:
        """How many pages listen."""
        return len(self._listeners)

    def publish(self, event: str, data: dict[str, Any]) -> None:
        """Tell every page."""
        for listener in self._listeners:
            listener.put_nowait(message(event, data))

    def close(self) -> None:
        """Say goodbye."""
        self.publish("closing", {})
        for listener in self._listeners:
            listener.put_nowait(None)
        if self._farewell:
            self._farewell.cancel()

    async def listen(self, hello: dict[str, Any]) -> AsyncGenerator[str]:
        """What one page is told, from now on."""
        listener: asyncio.Queue[str | None] = asyncio.Queue()
        self._listeners.add(listener)
        if self._farewell:
            self._farewell.cancel()
        try:
            yield message("hello", hello)
            while True:
                try:
                    told = await asyncio.wait_for(listener.get(), HEARTBEAT)
                except TimeoutError:
                    told = ": still here\n\n"
                if told is None:
                    return
                yield told
        finally:
            self._listeners.discard(listener)
            if not self._listeners:
                self._farewell = asyncio.get_running_loop().call_later(GRACE, self._leave)

    def _leave(self) -> None:
        if not self._listeners:
            self._when_deserted()


def message(event: str, data: dict[str, Any]) -> str:
    """One event as it goes over the wire."""
    return f"event: {event}\ndata: {json.dumps(data)}\n\n"
