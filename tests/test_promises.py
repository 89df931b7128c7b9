"""What the documentation promises of the package as a whole; what it promises of its parts is tested with them."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from experiments.corridor import corridor_slice

import btai
from btai.experiments import RunFile

STORED = Path(__file__).parent / "experiments" / "data" / "version-1.sqlite"
SOURCES = sorted(Path(btai.__file__).parent.rglob("*.py"))

# --- no network, no telemetry --------------------------------------------------------------------------------------

# Python tells an audit hook of every socket that is connected, bound or sent to, and of every name that is looked up.
WATCHED = """
import sys

seen, names = [], ("connect", "bind", "sendto", "sendmsg", "getaddrinfo", "gethostbyname")
watched = {"urllib.Request", "subprocess.Popen", *(f"socket.{name}" for name in names)}
sys.addaudithook(lambda event, _: seen.append(event) if event in watched else None)
"""
WORK = """
from pathlib import Path
import btai
from btai.envs import dSpritesEnv, dSpritesPreProcessingWrapper, dsprites_slice
from btai.experiments import RunFile, run
from btai.experiments.sweeps import grid, sweep

ts = dsprites_slice(8)
ts.save("model.safetensors")
agent = btai.BTAI_3MF(btai.load("model.safetensors"), max_planning_steps=5)
env = dSpritesPreProcessingWrapper(dSpritesEnv(granularity=8))
run(agent, env, trials=2, out="run.sqlite", record=True)
run(agent, lambda: dSpritesPreProcessingWrapper(dSpritesEnv(granularity=8)), trials=2, batch=2)
agent_options = {"name": "BTAI_3MF", "engine": "numpy", "max_planning_steps": 5}
sweep(grid({"environment": {"name": "tiger"}, "agent": agent_options, "trials": 2}), "sweep.sqlite")
agent.reset({"O_shape": 0})
agent.plan(5)
str(agent.explain()), str(agent.tree.root.children[0].risk)
RunFile.open("run.sqlite").close()
"""


def watched(work: str, folder: Path) -> list[str]:
    """The connections that a program asked for."""
    script = f"{WATCHED}\n{work}\nprint(*seen)"
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout.split()


def test_declaring_planning_acting_running_and_reading_open_no_connection(tmp_path: Path) -> None:
    assert watched(WORK, tmp_path) == []


def test_a_connection_would_be_seen(tmp_path: Path) -> None:
    asked = watched("import socket\nsocket.getaddrinfo('127.0.0.1', 80)", tmp_path)
    assert asked == ["socket.getaddrinfo"]


# --- no pickle -----------------------------------------------------------------------------------------------------

EXECUTING = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle"}


def risks(source: str) -> list[str]:
    """What in a module could run code that a file holds."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in EXECUTING]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in EXECUTING:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            found += [str(word.arg) for word in node.keywords if word.arg == "allow_pickle" and not _is_false(word)]
            found += [node.func.id for _ in "." if isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"}]
    return found


def _is_false(word: ast.keyword) -> bool:
    return isinstance(word.value, ast.Constant) and word.value.value is False


def test_no_module_reads_what_could_run_code() -> None:
    assert len(SOURCES) > 100
    assert {path.name: risks(path.read_text("utf-8")) for path in SOURCES if risks(path.read_text("utf-8"))} == {}


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from pickle import loads", "import a, joblib.x", "np.load(f, allow_pickle=True)", "eval(text)"],
)
def test_what_could_run_code_would_be_seen(source: str) -> None:
    assert len(risks(source)) == 1


def test_opening_files_unpickles_nothing(tmp_path: Path) -> None:
    corridor_slice().save(tmp_path / "model.safetensors")
    corridor_slice().save(tmp_path / "model.json")
    shutil.copy(STORED, tmp_path / "run.sqlite")
    script = """
import sys, btai
from btai.experiments import RunFile
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event == "pickle.find_class" else None)
btai.load("model.safetensors"), btai.load("model.json"), RunFile.open("run.sqlite").cycles(0)
print(*seen)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == []


# --- files of 1.x open in later 1.x --------------------------------------------------------------------------------

# The model's files of version 1 are read by tests/model/test_files.py::test_files_of_version_1_stay_readable.


def test_run_file_of_version_1_stays_readable(tmp_path: Path) -> None:
    """The file is never written anew: a change that cannot read it needs another version number.

    In it, an agent that sees its cell with probability 0.9 + 0.1 / 9 leaves the corridor from cells 6 and 7.
    """
    path = shutil.copy(STORED, tmp_path)
    with RunFile.open(path) as file:
        first, second = file.trials()
        assert (first.initial_state, first.reward, first.actions) == ((6,), 1.0, (1, 1))
        assert (second.initial_state, second.reward, second.actions) == ((7,), 1.0, (1,))
        assert file.summary().p_solved == 1.0
        assert file.run.model == corridor_slice()
        cycles = file.cycles(0)
        assert [cycle.action for cycle in cycles] == [1, 1, None]
        assert cycles[0].posterior["S_cell"] == pytest.approx([0.1 / 9] * 6 + [0.9 + 0.1 / 9] + [0.1 / 9] * 2)
        assert cycles[0].evidence["O_cell"].tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0]
        tree = cycles[0].tree()
        assert tree.visits[0] == 1 + 3  # the root begins with 1, and each of the 3 iterations passes through it
        assert tree.visits[1:3].sum() == 2 + 3 - 1  # so do all but the first through one of its 2 children
