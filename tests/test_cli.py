"""The `btai` command, as people and machines use it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import btai
from btai import envs, experiments
from btai.cli import main
from btai.experiments.environments import make_agent, make_env

FIGURES = {
    "p_solved",
    "interval",
    "trials",
    "cycles_mean",
    "seconds_per_trial",
    "microseconds_per_planning_iteration",
}
SMALL = ["run", "dsprites", "--granularity", "8", "--planning", "10", "--trials", "6"]
COMMAND = [sys.executable, "-c", "from btai.cli import main; main()"]


def btai_command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def failure(code: int, *arguments: object) -> str:
    """What is said of a call that must fail with this exit code; a traceback must not be among it."""
    result = btai_command(*arguments)
    assert result.exit_code == code
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert result.stdout == ""
    return result.stderr


def printed_json(*arguments: object) -> Any:
    result = btai_command(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def without_seconds(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if "seconds" not in name}


# --- run --------------------------------------------------------------------------------------------------


def test_run_prints_the_figures_of_the_run() -> None:
    result = btai_command(*SMALL)
    same = experiments.run(
        make_agent("dsprites", 10, granularity=8), make_env("dsprites", granularity=8), trials=6
    ).summary
    assert result.exit_code == 0
    assert f"P(solved)                  {same.p_solved:.6f}" in result.stdout
    assert "6 of 6  (0 ran out of time)" in result.stdout
    assert "--out FILE" in result.stdout  # it tells that nothing was kept


def test_run_prints_json_for_machines() -> None:
    figures = printed_json(*SMALL, "--seed", 3)
    same = experiments.run(
        make_agent("dsprites", 10, granularity=8), make_env("dsprites", granularity=8), trials=6, seed=3
    ).summary.as_dict()
    assert figures.keys() >= FIGURES
    same["interval"] = list(same["interval"])
    assert without_seconds(same).items() <= figures.items()
    assert (figures["complete"], figures["out"]) == (True, None)


def test_options_reach_the_agent_and_the_environment() -> None:
    figures = printed_json(*SMALL, "--exp-const", "1.5", "--ties", "first", "--seed", "5")
    configuration = figures["configuration"]
    agent = configuration["agent"]
    assert (agent["max_planning_steps"], agent["exp_const"], agent["ties"]) == (10, 1.5, "first")
    assert (configuration["environment"]["env"]["granularity"], configuration["seed"]) == (8, 5)


@pytest.mark.parametrize("name", ["frozenlake", "maze", "rocksample", "tiger", "tmaze"])
def test_every_environment_can_be_run(name: str) -> None:
    figures = printed_json("run", name, "--planning", 2, "--trials", 2)
    assert (figures["trials"], figures["complete"]) == (2, True)


def test_options_of_an_environment_reach_it_and_its_model() -> None:
    figures = printed_json("run", "tiger", "--trials", 4, "--set", "accuracy=0.5", "--set", "max_cycles=3")
    environment = figures["configuration"]["environment"]["gymnasium"]
    assert (environment["accuracy"], environment["max_cycles"]) == (0.5, 3)
    assert (figures["reward_mean"], figures["cycles_mean"]) == (-3.0, 3.0)  # nobody opens a door on a growl of 1/2


def test_an_option_of_another_environment_is_refused() -> None:
    message = failure(1, "run", "tiger", "--granularity", "8")
    assert message.startswith("Error: granularity: tiger has no such option; it has accuracy, ")


def test_exhaustive_run_takes_every_start() -> None:
    figures = printed_json("run", "dsprites", "--granularity", "8", "--planning", "1", "--exhaustive")
    assert (figures["trials"], figures["exhaustive"]) == (3072, True)


def test_workers_give_the_same_figures() -> None:
    assert without_seconds(printed_json(*SMALL, "--workers", "2")) == without_seconds(printed_json(*SMALL))


def test_run_is_kept_and_read_back_by_the_same_command(tmp_path: Path) -> None:
    out = tmp_path / "run.sqlite"
    result = btai_command(*SMALL, "--out", out)
    assert result.stdout.replace("\n", "").endswith(f"Kept in {out}: btai show {out} prints it again.")
    first = printed_json("show", out)
    assert printed_json(*SMALL, "--out", out) == first  # the seconds too: nothing was run again
    assert first["out"] == str(out)


def test_another_run_into_the_same_file_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "run.sqlite"
    btai_command(*SMALL, "--out", out)
    message = failure(1, *SMALL, "--seed", "9", "--out", out)
    assert message.startswith(f"Error: {out} holds another run: seed is 0 there and 9 now.")


def test_recorded_run_can_be_replayed(tmp_path: Path) -> None:
    out = tmp_path / "run.sqlite"
    printed_json(*SMALL, "--record", "--out", out)
    with experiments.RunFile.open(out) as file:
        cycles = file.cycles(0)
        assert [cycle.action for cycle in cycles[:-1]] == list(file.trials()[0].actions)
    assert cycles[0].tree().visits[0] == 1 + 10


def test_stopping_by_hand_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments, "run", interrupted)
    assert "the same command goes on" in failure(130, *SMALL)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "chess"], "'chess' is no environment; there are dsprites, "),
        (["run", "tiger", "--set", "accuracy"], "--set accuracy is no OPTION=VALUE"),
        (["run", "tiger", "--set", "tiger=-1", "--set", "tiger=-2"], "--set tiger=-2 gives tiger a second time"),
        (["run", "dsprites", "--granularity", "3"], "'3' is not one of '1', '2', '4', '8'"),
        (["run", "dsprites", "--planning", "0"], "0 is not in the range x>=1"),
        (["run", "dsprites", "--record"], "--record needs --out FILE"),
        (["run", "tmaze", "--exhaustive", "--trials", "100"], "--trials: given with --exhaustive"),
        (["dance"], "No such command 'dance'"),
    ],
)
def test_wrong_usage_exits_with_two(arguments: Sequence[str], message: str) -> None:
    assert message in failure(2, *arguments)


# --- show -------------------------------------------------------------------------------------------------


def test_show_prints_figures_and_configuration(tmp_path: Path) -> None:
    out = tmp_path / "run.sqlite"
    btai_command(*SMALL, "--out", out)
    shown = btai_command("show", out).stdout
    assert "6 of 6" in shown
    assert "agent.max_planning_steps     10" in shown
    assert "environment.env.granularity  8" in shown


def test_show_tells_a_run_that_is_not_complete(tmp_path: Path) -> None:
    out = tmp_path / "run.sqlite"
    btai_command(*SMALL, "--out", out)
    with experiments.RunFile.open(out) as file:
        configuration = file.config
    unfinished = tmp_path / "unfinished.sqlite"
    experiments.RunFile.write(unfinished, configuration).close()
    assert "0 of 6" in btai_command("show", unfinished).stdout
    figures = printed_json("show", unfinished)
    assert (figures["complete"], figures["trials"], figures["p_solved"], figures["interval"]) == (False, 0, None, None)


def test_file_that_is_no_run_is_one_clear_message(tmp_path: Path) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("Dear diary, " * 50)
    assert failure(1, "show", diary).startswith(f"Error: {diary} is no run file of btai")
    assert "No such file" in failure(1, "show", tmp_path / "nothing.sqlite")


# --- the command itself -----------------------------------------------------------------------------------


def test_version_is_that_of_btai() -> None:
    assert btai_command("--version").stdout == f"btai {btai.__version__}\n"


def test_help_names_the_commands_and_says_in_whole_sentences_what_they_do() -> None:
    for flag in ("-h", "--help"):
        shown = btai_command(flag).stdout
        assert all(command in shown for command in ("run", "show", "inspect", "model", "reproduce", "sweep", "merge"))
        assert "..." not in shown.partition("Commands:")[2]


@pytest.mark.parametrize("command", ["run", "inspect"])
def test_help_names_every_environment_and_its_first_line_is_whole(command: str) -> None:
    shown = btai_command(command, "--help").stdout
    assert re.match(rf"Usage: \S+ {command} \[OPTIONS\] \S+\n\n", shown)
    listed = shown.partition("ENVIRONMENT: ")[2].partition(".")[0]
    assert listed.replace(",", "").split() == [*envs.ENVIRONMENTS]


def test_importing_the_command_imports_nothing_heavy() -> None:
    script = "import sys, btai.cli; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numba", "gymnasium", "rich", "sqlite3", "starlette", "uvicorn", "btai.experiments", "btai.envs"}
    assert not heavy & set(modules)


def test_progress_is_shown_on_a_terminal_and_nowhere_else() -> None:
    main_end, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        [*COMMAND, *SMALL, "--json"], stdout=subprocess.PIPE, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        shown = read_terminal(main_end)
        assert process.stdout is not None
        assert json.loads(process.stdout.read()).keys() >= FIGURES
    assert "6/6" in shown
    assert "P(solved)" in shown
    quiet = subprocess.run([*COMMAND, *SMALL], capture_output=True, text=True, check=True)
    assert quiet.stderr == ""
    assert "\x1b" not in quiet.stdout


def read_terminal(descriptor: int) -> str:
    """All that is written to a terminal until everybody else has closed it."""
    shown = b""
    try:
        while part := os.read(descriptor, 4096):
            shown += part
    except OSError:  # Linux says so, not with an empty read.
        pass
    os.close(descriptor)
    return shown.decode()
