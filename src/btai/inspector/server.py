"""The inspector as a whole: a web server on this machine, and the thread that owns what it shows."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from btai.errors import BtaiError
from btai.inspector.events import Events
from btai.inspector.service import Service
from btai.inspector.trace import Trace
from btai.inspector.work import WorkQueue

__all__ = ["HOST", "Inspector"]

HOST = "127.0.0.1"
TOKEN_BYTES = 24


class Inspector:
    """Serves a trace on this machine alone, at an address nobody can guess: `url`.

    `serve` blocks, and the thread that calls it does everything with the trace (and its agent and environment). As a
    context manager it is served by a thread of its own.

    Args:
        open_trace: makes the trace, in the thread that will own it.
        port: 0 takes any that is free.
        closes_with_page: whether the end has come once every page has been closed.
    """

    def __init__(self, open_trace: Callable[[], Trace], port: int = 0, *, closes_with_page: bool = False) -> None:
        self._open_trace = open_trace
        self._work = WorkQueue()
        self._events = Events(self._work.close if closes_with_page else lambda: None)
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        self._socket = _listening(port)
        self.url = f"http://{HOST}:{self._socket.getsockname()[1]}/{self._token}/"
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def serve(self, when_ready: Callable[[str], None] = lambda url: None) -> None:
        """Serve until `close` is called, Ctrl-C is pressed or the pages are closed."""
        try:
            trace = self._open_trace()
        except BaseException:
            self._socket.close()
            raise
        service = Service(trace, self._work, self._events)
        server = _Server(service.app(self._token), self._events)
        thread = threading.Thread(target=self._run_server, args=(server, service), name="btai-inspector")
        thread.start()
        try:
            when_ready(self.url)
            self._work.run()
        except KeyboardInterrupt:
            pass
        finally:
            server.should_exit = True
            thread.join()
            trace.close()

    def close(self) -> None:
        """End `serve`; from any thread."""
        self._work.close()

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve_here, args=(ready,), name="btai-inspected")
        self._thread.start()
        ready.wait()
        if self._failure:
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        assert self._thread is not None
        self._thread.join()

    def _serve_here(self, ready: threading.Event) -> None:
        try:
            self.serve(lambda url: ready.set())
        except BaseException as error:
            self._failure = error
        finally:
            ready.set()

    def _run_server(self, server: uvicorn.Server, service: Service) -> None:
        try:
            asyncio.run(self._answer(server, service))
        finally:
            self._work.close()  # whatever ended the server: nobody can ask any more

    async def _answer(self, server: uvicorn.Server, service: Service) -> None:
        watching = asyncio.create_task(service.watch())
        await server.serve(sockets=[self._socket])
        watching.cancel()


class _Server(uvicorn.Server):
    """Says goodbye to the pages before it waits for them to leave."""

    def __init__(self, app: ASGIApp, events: Events) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,  # it would hold the token
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=2,
            )
        )
        self._events = events

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._events.close()
        await super().shutdown(sockets)


def _listening(port: int) -> socket.socket:
    # Asyncio sends small answers at once only if the socket says that it is TCP.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise BtaiError(f"port: {port} cannot be used ({error.strerror}). Choose another, or none for any.") from error
    return listening
