"""`btai inspect`: opens what it is told to, exports, and says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from inspector.browsing import Browser
from inspector.models import SevenStatesEnv
from inspector.recorded import Recorded, record, seven_states_agent

from btai.cli import main
from btai.commands import progress
from btai.experiments import RunFile, run


@pytest.fixture(scope="module")
def dsprites_run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("runs"), "dsprites")


def inspect(*arguments: object) -> tuple[int, str]:
    """The exit code and all that is printed."""
    done = CliRunner().invoke(main, ["inspect", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_a_run_file_is_opened_where_it_is_told(monkeypatch: pytest.MonkeyPatch, dsprites_run: Recorded) -> None:
    browser = Browser(monkeypatch)
    assert inspect(dsprites_run.path, "--trial", 1, "--cycle", 2, "--iteration", 7)[0] == 0
    assert browser.opened[0].endswith("/#trial=1&cycle=2&iteration=7&node=0")


def test_a_run_file_is_opened_at_its_beginning(monkeypatch: pytest.MonkeyPatch, dsprites_run: Recorded) -> None:
    browser = Browser(monkeypatch)
    assert inspect(dsprites_run.path)[0] == 0
    assert browser.opened[0].endswith("/")


@pytest.mark.parametrize(
    "arguments", [["dsprites", "--granularity", 8, "--planning", 9], ["tiger", "--set", "accuracy=0.7"]]
)
def test_an_environment_is_opened_live(monkeypatch: pytest.MonkeyPatch, arguments: list[object]) -> None:
    browser = Browser(monkeypatch)
    code, said = inspect(*arguments)
    assert code == 0
    assert f"The inspector is at {browser.opened[0]}\n" in said


def test_a_model_of_ones_own_comes_with_its_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser = Browser(monkeypatch)
    assert inspect(record(tmp_path, "seven").path)[0] == 0
    assert browser.opened


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--trial", 9], "trial 9 was asked for; the run has 2 trials by now, the first of them 0, the last 1"),
        (["--trial", 0, "--cycle", 99], "cycle 99 was asked for; trial 0 has the cycles 0 to "),
        (["--iteration", 9999], "iteration 9999 was asked for; cycle 0 of trial 0 has 30"),
        (["--granularity", 4], "--granularity is for a live agent only"),
        (["--exp-const", 4], "--exp-const is for a live agent only"),
        (["--set", "accuracy=0.7"], "--set is for a live agent only"),
        (["--port", 70000], "--port"),
        (["--export", "page.html", "--trial", 9], "trial 9"),
        (["--export", "page.html", "--cycle", 0], "--cycle and --iteration are not for --export"),
        (["--export", "nowhere/page.html"], "nowhere/page.html: it cannot be written"),
    ],
)
def test_what_is_not_in_a_run_file_is_refused(
    dsprites_run: Recorded, arguments: list[object], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = inspect(dsprites_run.path, "--no-browser", *arguments)
    assert code in (1, 2)
    assert words in said
    assert [*tmp_path.iterdir()] == []


def test_what_is_for_run_files_is_refused_live() -> None:
    code, said = inspect("dsprites", "--trial", 1)
    assert code == 2
    assert "--trial is for a run file only" in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no such file. Give a run file, or, for a live agent, an environment: dsprites|"),
        (b"", "is no run file of btai"),
        (b"a letter to a friend", "is no run file of btai"),
    ],
)
def test_what_is_no_run_file_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "some.thing"
    if content is not None:
        path.write_bytes(content)
    code, said = inspect(path)
    assert code in (1, 2)
    assert words in said


def test_a_run_that_was_not_recorded_is_refused_with_the_way_out(tmp_path: Path) -> None:
    run(seven_states_agent, SevenStatesEnv, 1, out=tmp_path / "run.sqlite")
    code, said = inspect(tmp_path / "run.sqlite")
    assert code == 1
    assert "no cycles to look into" in said
    assert "--record" in said


def test_a_page_is_exported(dsprites_run: Recorded, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for _ in range(2):  # a page may be written again
        code, said = inspect(dsprites_run.path, "--trial", 1, "--export", page)
        assert code == 0
        assert said.startswith(f"{page}: trials: 1, cycles: ")
        assert f"{page.stat().st_size / 1e6:.1f} MB" in said
    assert 'id="btai-data"' in page.read_text("utf-8")


def test_an_export_says_how_far_it_has_got(
    dsprites_run: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PAUSE", 0)
    arguments = ["inspect", str(dsprites_run.path), "--trial", "1", "--export", str(tmp_path / "page.html")]
    done = CliRunner().invoke(main, arguments)
    with RunFile.open(dsprites_run.path) as file:
        cycles = len(file.cycles(1))
    lines = [f"Exporting page.html: {n} of {cycles} cycles" for n in range(cycles + 1)]
    assert done.stderr.splitlines() == lines
    assert "Exporting" not in done.stdout


def test_an_export_replaces_nothing_but_a_page(dsprites_run: Recorded) -> None:
    before = dsprites_run.path.read_bytes()
    code, said = inspect(dsprites_run.path, "--export", dsprites_run.path)
    assert code == 1
    assert "is no page" in said
    assert dsprites_run.path.read_bytes() == before
