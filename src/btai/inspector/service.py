"""The addresses of the inspector, and what each of them gives."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from btai.agents.options import checked_whole
from btai.inspector import views
from btai.inspector.cursor import Cursor
from btai.inspector.events import Events
from btai.inspector.http import Guard, bad_request, error_answer, error_handlers, json_body, whole_number
from btai.inspector.live import ConflictError, LiveTrace, Step
from btai.inspector.page import page_files
from btai.inspector.trace import Trace
from btai.inspector.views import Json
from btai.inspector.whatif import Change, warm_up, what_if
from btai.inspector.work import WorkQueue

__all__ = ["VIEWS", "Service"]

T = TypeVar("T")

# What each address takes, in this order; `Cursor` says what is meant where a part of the cursor is left out.
VIEWS: dict[str, tuple[Callable[..., Json], tuple[str, ...]]] = {
    "info": (views.info, ()),
    "trials": (views.trials, ()),
    "trial": (views.trial, ("trial",)),
    "worst": (views.worst, ("trial",)),
    "cycle": (views.cycle, ("trial", "cycle", "from")),
    "curves": (views.curves, ("trial", "cycle")),
    "node": (views.node, ("trial", "cycle", "node")),
    "cells": (views.cells, ("trial", "cycle", "node", "part")),
    "occupancy": (views.occupancy, ("trial", "cycle", "node", "x", "y")),
    "facts": (views.facts, ("trial", "cycle", "iteration", "node")),
    "why": (views.why, ("trial", "cycle", "iteration")),
}
CURSOR = ("trial", "cycle", "iteration", "node")
WORDS = ("part", "x", "y")
COMMANDS = ("reset", "plan", "finish", "act")
WATCH_SECONDS = 2.0  # between two looks whether a run file has more trials


class Service:
    """Answers requests: asks the thread that owns the trace, and tells every page what has changed."""

    def __init__(self, trace: Trace, work: WorkQueue, events: Events) -> None:
        self._trace = trace
        self._work = work
        self._events = events
        self._static = page_files()
        self._running: str | None = None  # the command that is being carried out
        self._stop = False
        self._warm = trace.mode == "live"  # whether what plans is loaded: a live agent has it

    def app(self, token: str) -> ASGIApp:
        """The application, for those who know the token."""
        routes = [
            Route("/", self._file),
            Route("/static/{name:path}", self._file),
            *[Route(f"/api/{name}", partial(self._view, *VIEWS[name])) for name in VIEWS],
            Route("/api/image", self._image),
            Route("/api/what-if", self._what_if, methods=["POST"]),
            Route("/api/command", self._command, methods=["POST"]),
            Route("/api/events", self._listen),
        ]
        return Guard(Starlette(routes=routes, exception_handlers=error_handlers), token)

    async def watch(self) -> None:
        """Tell the pages when a run file that is being written has more trials."""
        known = None
        while self._trace.mode == "replay" and known != self._trace.expected:
            if self._events.listeners:
                trials = await self._ask(lambda: self._trace.count)
                if trials != known:  # at first in any case: a page may have been told less since it asked
                    self._events.publish("trials", {"trials": trials})
                known = trials
            await asyncio.sleep(WATCH_SECONDS)

    async def _ask(self, function: Callable[[], T]) -> T:
        """What `function` gives, called by the thread that owns the trace."""
        return await asyncio.wrap_future(self._work.submit(function))

    async def _each(self, make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
        """The items of an iterator that lives in the thread that owns the trace, which does other jobs between them."""
        items = await self._ask(make)
        while (item := await self._ask(partial(next, items, None))) is not None:
            yield item

    async def _file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        found = self._static.get(name)
        if found is None:
            return error_answer(404, f"The page has no file {name[:80]!r}.")
        kind = mimetypes.guess_type(name)[0] or "text/plain"
        return Response(found.read_bytes(), media_type="text/javascript" if name.endswith(".js") else kind)

    async def _view(self, view: Callable[..., Json], takes: tuple[str, ...], request: Request) -> Response:
        cursor, extras = _parameters(request, takes)
        arguments = [cursor, *extras] if takes else []
        answer = await self._ask(partial(view, self._trace, *arguments))
        if view is views.cycle:
            self._prepare_neighbours(cursor)
        return JSONResponse(answer)

    def _prepare_neighbours(self, cursor: Cursor) -> None:
        """The cycles before and after are likely to be asked for next; a long search takes a moment to prepare."""
        for cycle in (cursor.cycle + 1, cursor.cycle - 1):
            self._work.submit(partial(self._trace.history, Cursor(cursor.trial, cycle)))

    async def _image(self, request: Request) -> Response:
        cursor, _ = _parameters(request, ("trial", "cycle"))
        moment = await self._ask(partial(self._trace.moment, cursor))
        if moment.image is None:
            return error_answer(404, "The environment gave no picture of this cycle.")
        return Response(moment.image, media_type="image/png")

    async def _what_if(self, request: Request) -> Response:
        cursor, change = _change(await json_body(request))
        if not self._warm:  # by another thread: the one that owns the trace goes on answering
            await asyncio.to_thread(warm_up, self._trace.ts, self._trace.options)
            self._warm = True
        answer: Json = {}
        async for answer in self._each(lambda: what_if(self._trace, cursor, change)):
            if not answer and await request.is_disconnected():
                break
        return JSONResponse(answer)

    async def _command(self, request: Request) -> Response:
        body = await json_body(request)
        name, trace = body.get("command"), self._trace
        if not isinstance(trace, LiveTrace):
            raise ConflictError("this is a recording: there is no agent to command.")
        if name == "stop":
            self._stop = True
            return JSONResponse(await self._ask(lambda: _as_json(trace.here("stop"))))
        if name not in COMMANDS:
            raise bad_request(f"command: {str(name)[:40]!r} was given; it must be one of {', '.join(COMMANDS)}, stop.")
        if self._running:
            raise ConflictError(f"{name}: {self._running} is still running. Wait, or stop it.")
        self._running, self._stop = name, False
        self._events.publish("busy", {"busy": True, "command": name})
        answer: Json = {}
        try:
            async for step in self._each(lambda: trace.command(name, body)):
                answer = _as_json(step)
                self._events.publish("trace", {"reason": step.reason} | answer)
                if self._stop:
                    break
        finally:
            self._running = None
            self._events.publish("busy", {"busy": False, "command": name})
        return JSONResponse(answer)

    async def _listen(self, request: Request) -> Response:
        trace = self._trace
        if isinstance(trace, LiveTrace):
            hello = await self._ask(lambda: _as_json(trace.here("hello")))
        else:
            hello = {"cursor": None, "over": True, "trials": await self._ask(lambda: trace.count)}
        told = self._events.listen(hello | {"busy": self._running is not None})
        return StreamingResponse(told, media_type="text/event-stream")


def _parameters(request: Request, takes: tuple[str, ...]) -> tuple[Cursor, list[Any]]:
    """The cursor that an address gives, and the other parameters in their order."""
    given = request.query_params
    for name in given:
        if name not in takes or len(given.getlist(name)) > 1:
            raise bad_request(f"{name[:40]!r}: this address takes {', '.join(takes) or 'nothing'}, each once.")
    for name in takes:
        if name in (*WORDS, "trial") and name not in given:
            raise bad_request(f"{name}: it is missing.")
    cursor = Cursor(**{name: whole_number(name, given[name]) for name in CURSOR if name in given})
    extras = [
        given[name] if name in WORDS else whole_number(name, given[name])
        for name in takes
        if name not in CURSOR and name in given
    ]
    return cursor, extras


def _change(body: Json) -> tuple[Cursor, Change]:
    """What a page wants to be different, and where."""
    known = {"trial", "cycle", "evidence", "exp_const", "iterations", "action"}
    for name in body.keys() - known:
        raise bad_request(f"{name[:40]!r} is unknown; known are {', '.join(sorted(known))}.")
    evidence = body.get("evidence", {})
    if not isinstance(evidence, dict):
        raise bad_request("evidence: an object is required, with what is to be different of each observation.")
    place = {name: checked_whole(name, body.get(name), 0) for name in ("trial", "cycle")}
    return Cursor(**place), Change(evidence, body.get("exp_const"), body.get("iterations"), body.get("action"))


def _as_json(step: Step) -> Json:
    return {"cursor": asdict(step.cursor), "over": step.over}
