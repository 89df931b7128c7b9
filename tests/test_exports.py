"""What each package shows: `__all__` is sorted, holds all the package re-exports, and every name is there."""

from __future__ import annotations

import ast
import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import btai

PACKAGES = ["btai"] + [module.name for module in pkgutil.walk_packages(btai.__path__, "btai.") if module.ispkg]


def re_exported(source: str, package: str) -> set[str]:
    """The public names that a package's `__init__` takes from the package's own modules."""
    return {
        name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.level or f"{node.module}.".startswith(f"{package}."))
        for name in (alias.asname or alias.name for alias in node.names)
        if not name.startswith("_")
    }


def constants_classes_functions(name: str) -> tuple[bool, bool, str]:
    """The sorting key of `__all__`, which is the linter's: constants, then classes, then functions."""
    return not (len(name) > 1 and name.isupper()), not name[0].isupper(), name


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_sorted_without_repeats(package: str) -> None:
    names = import_module(package).__all__
    assert list(names) == sorted(set(names), key=constants_classes_functions)


@pytest.mark.parametrize("package", PACKAGES)
def test_all_holds_every_name_the_package_re_exports(package: str) -> None:
    module = import_module(package)
    assert module.__file__ is not None
    source = Path(module.__file__).read_text("utf-8")
    assert re_exported(source, package) - set(module.__all__) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_in_all_can_be_imported(package: str) -> None:
    module = import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_what_a_package_takes_from_elsewhere_is_not_re_exported() -> None:
    source = """
import numpy
from typing import Any
from btai.errors import TableError
from btai.modelling import wrong
from btai.model.slice import TemporalSlice, _checked
from btai.model import layout as places
from .builder import TemporalSliceBuilder
"""
    assert re_exported(source, "btai.model") == {"TemporalSlice", "places", "TemporalSliceBuilder"}
    assert re_exported(source, "btai") >= {"TableError", "TemporalSlice"}


def test_importing_btai_imports_no_package_but_numpy() -> None:
    # NumPy is imported first, so that only what btai itself adds is counted.
    script = (
        "import sys, numpy, numpy.random; before = set(sys.modules); import btai\n"
        "added = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(added - sys.stdlib_module_names - {'numpy'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["btai"]


def test_importing_btai_adds_at_most_50_milliseconds_to_importing_numpy(tmp_path: Path) -> None:
    # Processor time, since the machine may be busy; of processes that find their bytecode, as every one but the first.
    script = (
        "import time, numpy, numpy.random; begin = time.process_time(); import btai; print(time.process_time() - begin)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    command = [sys.executable, "-c", script]
    seconds = [
        float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
        for _ in range(6)
    ]
    assert min(seconds[1:]) < 0.05


def test_type_checkers_are_told_that_btai_is_typed() -> None:
    assert files("btai").joinpath("py.typed").is_file()
