"""The paper's two lines, and the command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from inspector.models import SevenStatesEnv
from inspector.recorded import Recorded, record, seven_states_agent

from btai.inspector import GUI, events, page
from btai.inspector.commands import inspect

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]+/(#\S*)?")


class Browser:
    """Opens the page, looks at it, and closes it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[str] = []
        self.thread = ""
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


def test_the_papers_two_lines_open_the_page_and_return_when_it_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    browser = Browser(monkeypatch)
    env, agent = SevenStatesEnv(), seven_states_agent()
    gui = GUI(env, agent)
    gui.loop()
    (url,) = browser.opened
    assert ADDRESS.fullmatch(url)
    assert url in capsys.readouterr().out
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
    assert httpx.get(f"{address[0]}api/info", timeout=60).status_code == 200
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.endswith("returned\n")
    assert process.returncode == 0


@pytest.fixture(scope="module")
def dsprites_run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("runs"), "dsprites")


def run_command(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(inspect, [str(argument) for argument in arguments])
    error = f" {done.exception}" if done.exception else ""
    return done.exit_code, done.output + error


def test_the_command_opens_a_run_file_where_it_is_told(monkeypatch: pytest.MonkeyPatch, dsprites_run: Recorded) -> None:
    browser = Browser(monkeypatch)
    code, _ = run_command(dsprites_run.path, "--trial", 1, "--cycle", 2, "--iteration", 7)
    assert code == 0
    assert browser.opened[0].endswith("/#trial=1&cycle=2&iteration=7&node=0")


def test_the_command_opens_a_run_file_at_its_beginning(monkeypatch: pytest.MonkeyPatch, dsprites_run: Recorded) -> None:
    browser = Browser(monkeypatch)
    assert run_command(dsprites_run.path)[0] == 0
    assert browser.opened[0].endswith("/")


def test_the_command_opens_dsprites_live(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(monkeypatch)
    assert run_command("dsprites", "--granularity", 8, "--planning", 9)[0] == 0
    assert len(browser.opened) == 1


def test_the_command_takes_a_model_of_ones_own_from_a_file(
    monkeypatch: pytest.MonkeyPatch, seven: Recorded, tmp_path: Path
) -> None:
    Browser(monkeypatch)
    model = tmp_path / "rover.safetensors"
    seven.make_agent().ts.save(model)
    assert run_command(seven.path, "--model", model)[0] == 0
    code, said = run_command(seven.path)
    assert code != 0
    assert "--model FILE" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--trial", 9], "trial 9"),
        (["--trial", 0, "--cycle", 99], "cycle 99"),
        (["--iteration", 9999], "iteration 9999"),
        (["--granularity", 4], "--granularity is for dsprites only"),
        (["--exp-const", 4], "--exp-const is for dsprites only"),
        (["--port", 70000], "--port"),
    ],
)
def test_the_command_refuses_what_is_not_there(dsprites_run: Recorded, arguments: list[object], words: str) -> None:
    code, said = run_command(dsprites_run.path, "--no-browser", *arguments)
    assert code != 0
    assert words in said


def test_the_command_refuses_what_is_for_run_files_only() -> None:
    code, said = run_command("dsprites", "--trial", 1)
    assert code == 2
    assert "--trial is for a run file only" in said


def test_the_command_exports(monkeypatch: pytest.MonkeyPatch, dsprites_run: Recorded, tmp_path: Path) -> None:
    static = tmp_path / "static"
    static.mkdir()
    (static / "index.html").write_text('<head></head><script type="module" src="static/m.js"></script>', "utf-8")
    (static / "m.js").write_text("", "utf-8")
    monkeypatch.setattr(page, "files", lambda package: tmp_path)
    code, said = run_command(dsprites_run.path, "--trial", 1, "--export", tmp_path / "page.html")
    assert code == 0
    assert "1 trials" in said
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_asking_for_help_loads_no_server() -> None:
    script = (
        "import sys; from btai.inspector.commands import inspect\n"
        "print(*sorted({'starlette', 'uvicorn', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
