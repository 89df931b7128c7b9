"""The paper's two lines."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from inspector.browsing import Browser
from inspector.models import SevenStatesEnv
from inspector.recorded import seven_states_agent

from btai.inspector import GUI

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]+/(#\S*)?")


def test_the_papers_two_lines_open_the_page_and_return_when_it_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    browser = Browser(monkeypatch)
    env, agent = SevenStatesEnv(), seven_states_agent()
    gui = GUI(env, agent)
    gui.loop()
    (url,) = browser.opened
    assert ADDRESS.fullmatch(url)
    assert capsys.readouterr().out == f"The inspector is at {url}\nClose its page or press Ctrl-C to end it.\n"
    assert len(agent.tree.expanded) == 5


def test_agent_and_environment_are_used_by_the_thread_that_called_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    class Watched(SevenStatesEnv):
        def reset(self, seed: int | None = None) -> dict[str, int]:
            threads.add(threading.current_thread())
            return super().reset(seed)

    Browser(monkeypatch)
    GUI(Watched(), seven_states_agent()).loop()
    assert threads == {threading.current_thread()}


def test_the_loop_can_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    Browser(monkeypatch)
    agent = seven_states_agent()
    gui = GUI(SevenStatesEnv(), agent)
    gui.loop()
    gui.loop()
    assert len(agent.tree.expanded) == 10


SCRIPT = """
import sys
from inspector.models import SevenStatesEnv
from inspector.recorded import seven_states_agent
from btai.inspector import GUI
GUI(SevenStatesEnv(), seven_states_agent()).loop(open_browser=False)
print("returned")
"""


def test_ctrl_c_ends_the_loop() -> None:
    tests = Path(__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    process = subprocess.Popen([sys.executable, "-uc", SCRIPT], stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout
    address = ADDRESS.search(process.stdout.readline())
    assert address
    assert process.stdout.readline() == "Press Ctrl-C to end it.\n"  # closing the page would not
    assert httpx.get(f"{address[0]}api/info", timeout=60).status_code == 200
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.endswith("returned\n")
    assert process.returncode == 0
