"""A stand-in for the browser that the inspector opens."""

from __future__ import annotations

import threading
import webbrowser

import httpx
import pytest

from btai.inspector import events


class Browser:
    """Opens the page, looks at it, and closes it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[str] = []
        monkeypatch.setattr(webbrowser, "open", self.open)
        monkeypatch.setattr(events, "GRACE", 0.1)

    def open(self, url: str) -> bool:
        self.opened.append(url)
        threading.Thread(target=self._look, args=(url.partition("#")[0],)).start()
        return True

    def _look(self, url: str) -> None:
        with httpx.stream("GET", f"{url}api/events", timeout=60) as told:
            lines = told.iter_lines()  # kept: without it the answer would be closed
            next(lines)
            httpx.post(f"{url}api/command", json={"command": "plan", "iterations": 5}, timeout=60)
