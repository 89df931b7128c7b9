"""Breaks the code on purpose, one small change at a time, and tells which changes no test notices.

    make mutants IN=src/btai/inference/efe.py
    make mutants IN="src/btai/engine src/btai/model" MOST=40

A mutant is never written to disk: a process forked for it imports the changed source. Numba compiles nothing there, so
kernels are changed like all other code. `mutants.toml`, beside this file, says which tests each part of the package
must satisfy, and which changes make no difference that a test could see.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PRELOADED = ("gymnasium", "hypothesis", "numba", "numpy", "pytest")  # once, and not by every mutant
OPTIONS = ("-x", "-q", "-n0", "-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-profile=mutants")
MEMORY = 8 * 2**30  # bytes that a mutant may take

SWAPPED = [
    *[(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)],
    *[(ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitOr, ast.BitAnd)],
]
COUNTERPARTS: dict[type[ast.AST], Any] = {a: b for pair in SWAPPED for a, b in (pair, pair[::-1])}
COUNTERPARTS |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult}


class Mutant(NamedTuple):
    """One change to one file."""

    file: str
    line: int
    where: str  # the function it is in
    change: str
    source: bytes

    @property
    def key(self) -> tuple[str, str, str]:
        """By which it is explained, wherever in the function it stands."""
        return self.file, self.where, self.change

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.where}: {self.change}"


# --- changes --------------------------------------------------------------------------------------------------------


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    source = path.read_bytes()
    lines = source.splitlines(keepends=True)
    begin = [sum(map(len, lines[:i])) for i in range(len(lines))]
    for node, where in _nodes(ast.parse(source), ""):
        for new in _replacements(node):
            first = begin[node.lineno - 1] + node.col_offset
            last = begin[node.end_lineno - 1] + node.end_col_offset
            text = f"({ast.unparse(new)})" if isinstance(new, ast.expr) else ast.unparse(new)
            change = f"{_short(node)} -> {_short(new)}"
            yield Mutant(str(path), node.lineno, where, change, source[:first] + text.encode() + source[last:])


def _nodes(node: ast.AST, where: str) -> Iterator[tuple[Any, str]]:
    """Every statement and expression that has an effect of its own, with the function it is in."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{node.name}".removeprefix(".")
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list", "bases"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_left_alone(child):
                    yield child, where or "the module"
                    yield from _nodes(child, where)


def _is_left_alone(node: ast.AST) -> bool:
    """Words of messages, imports, the names of types, and what makes `zip` strict."""
    if isinstance(node, ast.Assign):  # Table = NDArray[...]
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id.istitle()
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    only_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return only_types or isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, [operator, *operators], others):
            yield ast.Compare(left, [COUNTERPARTS[type(operator)](), *operators], others)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(COUNTERPARTS[type(operator)](), values)
        case ast.BinOp(left, operator, right) if type(operator) in COUNTERPARTS:
            yield ast.BinOp(left, COUNTERPARTS[type(operator)](), right)
        case ast.AugAssign(target, operator, value) if type(operator) in COUNTERPARTS:
            yield ast.AugAssign(target, COUNTERPARTS[type(operator)](), value)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Return(ast.expr()) if ast.unparse(node) != "return None":
            yield ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Expr(ast.Call()) | ast.Continue():
            yield ast.Pass()


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 80 else text[:79] + "…"


# --- tests ----------------------------------------------------------------------------------------------------------


class Importer(SourceFileLoader):
    """Loads one module from changed source."""

    def __init__(self, mutant: Mutant) -> None:
        path = ROOT / mutant.file
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        super().__init__(name, str(path))
        self.source = mutant.source

    def find_spec(self, fullname: str, path: object, target: object = None) -> Any:
        """This module's alone."""
        return spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None

    def get_code(self, fullname: str) -> Any:
        """Not what was kept of the unchanged source."""
        return compile(self.source, self.path, "exec", dont_inherit=True)


def start(tests: Sequence[Sequence[str]], mutant: Mutant | None, seconds: int) -> int:
    """Run the tests in a process of their own, on changed source or as it is; the number of the process."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # endless loops; the load of the machine plays no part
    signal.alarm(20 * seconds)  # and those who wait for ever
    if mutant:
        sys.meta_path.insert(0, Importer(mutant))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
    os._exit(any(run_tests(arguments) for arguments in tests))


def run_tests(arguments: Sequence[str]) -> int:
    """The exit status of pytest; Hypothesis draws the same examples each time, and makes no failing one smaller."""
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(
        "mutants",
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow],
    )
    already_imported = "ignore::pytest.PytestAssertRewriteWarning"
    status: int = import_module("pytest").main([*OPTIONS, "-W", already_imported, *arguments])
    return status


def tests_of(file: str, tests: dict[str, list[str]]) -> list[list[str]]:
    """What a mutant of `file` must satisfy: the tests of the file's own name, then those of its part."""
    part = next((part for part in tests if file.startswith(part + "/")), None)
    if part is None:
        sys.exit(f"{file}: tools/mutants.toml names no tests for it; it does for {', '.join(tests)}.")
    own = Path("tests", *Path(file).parts[2:-1], f"test_{Path(file).name}")
    return [*([[str(own)]] if own.exists() else []), tests[part]]


@cache
def seconds_of(tests: tuple[str, ...]) -> int:
    """How long a mutant may compute: generously more than the tests take on the unchanged source, where they pass."""
    _, status, used = os.wait4(start([tests], None, 3600), 0)
    if status:
        sys.exit(f"The tests must pass on the unchanged source first: {' '.join(tests)}")
    return int(20 + 4 * used.ru_utime)


def survivors_of(chosen: Sequence[Mutant], tests: Sequence[Sequence[str]], jobs: int) -> Iterator[Mutant]:
    """The mutants with which all tests pass."""
    seconds = seconds_of(tuple(tests[-1]))
    running: dict[int, Mutant] = {}
    waiting = list(chosen)
    while waiting or running:
        if waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[start(tests, mutant, seconds)] = mutant
        else:
            pid, status = os.wait()
            mutant = running.pop(pid)
            if os.waitstatus_to_exitcode(status) == 0:
                yield mutant


# --- the command ----------------------------------------------------------------------------------------------------


class Settings(NamedTuple):
    """What `mutants.toml` says."""

    tests: dict[str, list[str]]  # by part of the package, for pytest
    explained: set[tuple[str, str, str]]  # file, function and change of the mutants that no test can notice

    @classmethod
    def read(cls) -> Settings:
        """From the file beside this one."""
        found = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
        explained = {(s["file"], s["where"], change) for s in found["survivors"] for change in s["changes"]}
        return cls(found["tests"], explained)


def try_path(path: Path, settings: Settings, given: argparse.Namespace) -> bool:
    """Try mutants of a file or a folder; whether each is killed or explained, and each explanation still needed."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    found = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(found, min(len(found), given.most or len(found)))
    names = {mutant.file for mutant in found}
    stale = {key for key in settings.explained if key[0] in names} - {mutant.key for mutant in found}
    for key in stale:
        print("explained in mutants.toml, but no longer in the source:", *key)
    begin, survived, known = time.monotonic(), 0, 0
    for file in sorted({mutant.file for mutant in chosen}):
        own = [mutant for mutant in chosen if mutant.file == file]
        for mutant in survivors_of(own, tests_of(file, settings.tests), given.jobs):
            survived += 1
            known += mutant.key in settings.explained
            if mutant.key not in settings.explained:
                print("survived:", mutant, flush=True)
    print(
        f"{path}: {len(chosen)} of {len(found)} mutants, {len(chosen) - survived} killed, {known} explained,"
        f" {survived - known} survived, {time.monotonic() - begin:.0f} s",
        flush=True,
    )
    return survived == known and not stale


def main() -> None:
    """Exit status 1 if a mutant survives that is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files or folders below src/btai")
    parser.add_argument("--most", type=int, help="of each path, draw so many at random")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    given = parser.parse_args()
    os.chdir(ROOT)
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    for name in PRELOADED:
        import_module(name)
    settings = Settings.read()
    failed = [path for path in given.paths if not try_path(Path(path), settings, given)]
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
