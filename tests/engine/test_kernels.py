"""The kernels as plain Python: every line of them runs, and gives what the compiled ones give; how they are kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kernel_figures
import numba
import numpy as np
import pytest
from hand_made import LEVER
from numpy.testing import assert_allclose

import btai
from btai import BTAI_3MF, BTAI_VMP
from btai.agents import BatchAgent
from btai.engine import begin, infer, jit, predict, settle_chain
from btai.planning import kernels

SOURCE = Path(btai.__file__).parent


def run(*command: str, path: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own, in this environment but for the variables given."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    environment |= {"PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=True)


# --- in plain Python ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The figures of the kernels as plain Python, and the report of what ran."""
    report = tmp_path_factory.mktemp("plain") / "report.json"
    done = run(kernel_figures.__file__, str(report), path=sys.path, NUMBA_DISABLE_JIT="1")
    return json.loads(done.stdout), json.loads(report.read_text("utf-8"))["files"]


def test_every_line_and_branch_of_the_kernels_runs(plain: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    _, report = plain
    assert sorted(str(Path(path).resolve()) for path in report) == kernel_figures.kernel_files()
    missing = {path: (found["missing_lines"], found["missing_branches"]) for path, found in report.items()}
    assert missing == dict.fromkeys(report, ([], []))


@pytest.mark.parametrize("name", [name for name, *_ in kernel_figures.tasks()])
def test_compiled_kernels_give_what_plain_python_gives(
    name: str, plain: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> None:
    _, model, first, second = next(task for task in kernel_figures.tasks() if task[0] == name)
    expected = dict(numbered(plain[0][name]))
    found = dict(numbered(kernel_figures.figures_of(model, first, second)))
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, str):
            assert found[key] == value
        else:
            assert_allclose(found[key], value, rtol=0, atol=1e-12, err_msg=key)


def numbered(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every list or text in nested figures, with the keys that lead to it."""
    for key, value in figures.items():
        if isinstance(value, dict):
            yield from numbered(value, f"{prefix}{key}/")
        else:
            yield prefix + key, value


# --- compiled once --------------------------------------------------------------------------------------------------


def lives_of_an_agent_and_a_batch(number: Any, whole: Any) -> list[int]:
    """Let both plan, act and observe, told their options and observations in these types; the signatures compiled."""
    ts = LEVER.build()
    agent = BTAI_3MF(ts, whole(3), exp_const=number(2))
    agent.reset({"O_0": whole(1)})
    agent.update(agent.step(), {"O_0": [0.25, number(1)]})
    agent.step()
    batch = BatchAgent(ts, 2, whole(3), exp_const=number(2))
    batch.reset({"O_0": np.array([whole(0), whole(1)])})
    batch.update(batch.step([whole(3), whole(2)]), {"O_0": np.array([[number(1), number(2)]] * 2)})
    positive = kernel_figures.positive().build()
    vmp = BTAI_VMP(
        positive, whole(3), number(2), action_selection="lowest_cost", tolerance=number(1), max_sweeps=whole(9)
    )
    vmp.reset({"O_a": whole(1)})
    vmp.update(vmp.step(), {"O_b": [number(1), 0.25]})
    vmp.step()
    searches: list[Any] = [kernels.search, kernels.plan_each]
    entries = [*searches, kernels.perceive_each, infer, predict, begin, settle_chain]
    return [len(entry.signatures) for entry in entries]


@pytest.mark.parametrize("number", [int, np.float32, np.float64])
@pytest.mark.parametrize("whole", [np.int8, np.uint64])
def test_no_kernel_is_compiled_again_for_the_types_that_a_user_happens_to_give(number: Any, whole: Any) -> None:
    """Nobody waits twice; and processes that compile at the same time write the same code."""
    assert lives_of_an_agent_and_a_batch(number, whole) == lives_of_an_agent_and_a_batch(float, int)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of btai's source, without anything compiled; the folder to import it from."""
    shutil.copytree(SOURCE, tmp_path / "src" / "btai", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


WHERE = "from btai.engine import predict; print(predict.stats.cache_path, predict.py_func.__qualname__)"


def kept_in(package: Path, **variables: str) -> tuple[Path, str]:
    """The folder where a kernel's machine code is kept, and the name by which it is found."""
    done = run("-W", "error", "-c", WHERE, path=[str(package)], **variables)
    folder, name = done.stdout.split()
    return Path(folder), name


def test_compiled_code_is_kept_beside_the_source(package: Path, tmp_path: Path) -> None:
    assert kept_in(package, HOME=str(tmp_path))[0] == package / "btai" / "engine" / "__pycache__"


def test_compiled_code_is_kept_where_the_user_says(package: Path, tmp_path: Path) -> None:
    assert kept_in(package, NUMBA_CACHE_DIR=str(tmp_path / "mine"))[0].parent == tmp_path / "mine"


def test_compiled_code_is_kept_beside_the_source_where_the_users_folder_cannot_be_written(
    package: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    folder, _ = kept_in(package, NUMBA_CACHE_DIR=str(tmp_path / "file" / "below"))
    assert folder == package / "btai" / "engine" / "__pycache__"


def unwritable(package: Path) -> None:
    """Let nothing be kept beside the source: not even the superuser can write below a file."""
    for part in ("engine", "planning"):
        (package / "btai" / part / "__pycache__").touch()


def test_compiled_code_is_kept_in_a_folder_of_the_users_where_it_cannot_be_kept_beside_the_source(
    package: Path, tmp_path: Path
) -> None:
    unwritable(package)
    folder, _ = kept_in(package, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert folder.is_relative_to(tmp_path / "cache")


def test_where_nothing_can_be_kept_one_warning_says_so_and_the_kernels_work(package: Path, tmp_path: Path) -> None:
    unwritable(package)
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "below")
    script = (
        "import numpy as np, btai.planning.kernels; from btai.engine import compile, new_workspace, predict;"
        "from btai.envs import dsprites_slice; program = compile(dsprites_slice(8)); out = np.zeros(58);"
        "predict(program.ops, program.parts, np.eye(58)[0], 3, out, new_workspace(program, 1)); print(out[1])"
    )
    done = run("-c", script, path=[str(package)], HOME=nowhere, XDG_CACHE_HOME=nowhere, NUMBA_CACHE_DIR=nowhere)
    assert done.stdout == "0.999\n"  # from the first column one to the right
    assert done.stderr.count("Warning") == 1
    assert "no folder for compiled code can be written, so each process compiles anew" in done.stderr
    assert "Set NUMBA_CACHE_DIR to a folder that can be written." in done.stderr


def test_kernel_is_compiled_without_a_cache_where_numba_finds_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def njit(**options: Any) -> Any:
        given.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    jit._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="each process compiles anew"):
        jit.kernel(lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.kernel(lambda: None)  # the second of many is silent
    assert [options.get("cache", False) for options in given] == [True, False, True, False]


def test_code_compiled_from_other_sources_is_never_found(package: Path, tmp_path: Path) -> None:
    """Numba looks only at the file of the kernel itself, not at those of the functions that it calls."""
    _, before = kept_in(package, HOME=str(tmp_path))
    with (package / "btai" / "engine" / "contract.py").open("a") as file:
        file.write("# changed\n")
    _, after = kept_in(package, HOME=str(tmp_path))
    assert before != after


# --- loaded late ----------------------------------------------------------------------------------------------------


def test_numba_is_imported_by_the_first_agent_and_not_before() -> None:
    script = (
        "import sys, btai; from btai.envs import dsprites_slice; ts = dsprites_slice(8); btai.i_step(ts, {});"
        "btai.BTAI_3MF(ts, engine='numpy'); print('numba' in sys.modules);"
        "btai.BTAI_3MF(ts); print('numba' in sys.modules)"
    )
    assert run("-c", script, path=sys.path).stdout.split() == ["False", "True"]
