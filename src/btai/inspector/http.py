"""HTTP as the inspector needs it: who may come in, what every answer carries, and what is accepted."""

from __future__ import annotations

import json
import logging
import re
import secrets
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from btai.errors import BtaiError
from btai.inspector.live import ConflictError

__all__ = ["Guard", "bad_request", "error_answer", "error_handlers", "json_body", "whole_number"]

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOCAL = ("127.0.0.1", "localhost")
CODES = {400: "bad_request", 404: "not_found", 405: "method", 409: "conflict", 413: "too_large", 500: "internal"}
MOST_BYTES = 65_536  # of a request's body
WHOLE = re.compile(r"\d{1,9}", re.ASCII)
LOST = "There is nothing here. The address that btai printed holds a token; open it as a whole."

log = logging.getLogger(__name__)


class Guard:
    """Lets in who knows the token, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            return
        token, _, rest = scope["path"].removeprefix("/").partition("/")
        app: ASGIApp = error_answer(404, LOST)
        if secrets.compare_digest(token.encode(), self._token.encode()) and _is_local(scope):
            app, scope = self._app, {**scope, "root_path": f"/{token}"}
        try:
            await app(scope, receive, send_with_headers)
        except Exception:  # answered already; raised once more it would cost the page its connection
            log.exception("%s %s failed", scope["method"], rest)


def _is_local(scope: Scope) -> bool:
    """Whether it was asked for by a local name: any other may have been made to point here (DNS rebinding)."""
    return Headers(scope=scope).get("host", "").partition(":")[0] in LOCAL


def error_answer(status: int, message: str) -> Response:
    """An error as the page gets it."""
    return JSONResponse({"error": {"code": CODES[status], "message": message}}, status)


def bad_request(message: str) -> HTTPException:
    """Asked for in a way that cannot be answered."""
    return HTTPException(400, message)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code if error.status_code in CODES else 400
    return error_answer(status, {404: LOST, 405: "This address does not take that method."}.get(status, error.detail))


async def _on_btai(request: Request, error: Exception) -> Response:
    return error_answer(409 if isinstance(error, ConflictError) else 400, str(error))


async def _on_other(request: Request, error: Exception) -> Response:
    # Starlette raises the error again when it is answered, for `Guard` to write it to the terminal.
    return error_answer(500, "The inspector failed; the terminal it was started from says more.")


error_handlers = {HTTPException: _on_http, BtaiError: _on_btai, Exception: _on_other}


async def json_body(request: Request) -> dict[str, Any]:
    """The object that a request brings along."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"At most {MOST_BYTES} bytes are taken.")
    try:
        value = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise bad_request("The body is not JSON.") from error
    if not isinstance(value, dict):
        raise bad_request("The body must be a JSON object.")
    return value


def whole_number(name: str, text: str) -> int:
    """A whole number from an address."""
    if not WHOLE.fullmatch(text):
        raise bad_request(f"{name}: {text[:40]!r} was given; a whole number is required.")
    return int(text)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
