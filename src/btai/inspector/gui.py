"""The paper's two lines: `gui = GUI(env, agent)` and `gui.loop()`."""

from __future__ import annotations

import webbrowser
from typing import Any

import click

from btai.agents import BTAI_3MF
from btai.inspector.live import LiveTrace
from btai.inspector.server import Inspector

__all__ = ["GUI", "announce"]


class GUI:
    """Look into an agent, and take it by hand through its environment, in the browser.

    An agent that has not observed anything yet is reset together with the environment; any other is taken as it is.

    Args:
        env: what has `reset`, `execute`, `done` and `get_reward`, or an environment of Gymnasium; its picture is shown
            if it has a `render` that gives an array.
        agent: the agent.
        port: of the page's address on this machine; 0 takes any that is free.
    """

    def __init__(self, env: Any, agent: BTAI_3MF, port: int = 0) -> None:
        self._env = env
        self._agent = agent
        self._port = port

    def loop(self, *, open_browser: bool = True) -> None:
        """Open the page, and return once it has been closed (or on Ctrl-C).

        Without `open_browser` the address is printed only, and Ctrl-C alone ends it.
        """
        inspector = Inspector(lambda: LiveTrace(self._env, self._agent), self._port, closes_with_page=open_browser)
        inspector.serve(lambda url: announce(url, open_browser=open_browser))


def announce(url: str, *, open_browser: bool) -> None:
    """Say where the page is, and open it."""
    ending = "Close its page or press" if open_browser else "Press"
    click.echo(f"The inspector is at {url}\n{ending} Ctrl-C to end it.")
    if open_browser:
        webbrowser.open(url)
