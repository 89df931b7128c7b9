"""What is published: the built wheel, installed where nothing of the sources can be imported."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path, PurePath
from zipfile import ZipFile

import httpx
import pytest
from inspector.recorded import record

import btai
from btai.inspector.page import page_files

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"benchmarks", "docs", "examples", "src", "tests", "tools"}  # of the source archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive; beside it the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder)
    (built,) = folder.glob("*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(archive: Path) -> Path:
    (built,) = archive.parent.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment of the wheel and of what it depends on, which is borrowed from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    programs = folder / "bin"
    run(sys.executable, "-m", "pip", "--python", programs / "python", "install", "--no-index", "--no-deps", wheel)
    # Only now, or pip would take the editable btai of this environment for one to be replaced. Files `.pth` in a folder
    # that is borrowed like this are not read, so the sources are out of reach.
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return programs


@pytest.fixture
def address(installed: Path, tmp_path: Path) -> Iterator[str]:
    """Of a page that `btai inspect` serves from the wheel."""
    path = record(tmp_path, "dsprites").path
    command: list[str | Path] = [installed / "btai", "inspect", path, "--no-browser"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", process.stdout.readline())
        assert found
        try:
            yield found[0]
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()  # else leaving the block would wait for it


def build(folder: Path, *options: object) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", folder, ROOT)


def run(*command: object) -> str:
    """What a command prints that finds no other on its path: no compiler, no Node, nothing."""
    done = subprocess.run(
        [*map(str, command)], cwd=Path(str(command[0])).parent, env={"PATH": ""}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_installed_btai_is_that_of_the_wheel(installed: Path) -> None:
    place = Path(run(installed / "python", "-c", "import btai; print(btai.__file__)").strip())
    assert place.is_relative_to(installed.parent)
    sources = "import sys; print(*sys.path, sep='\\n')"
    assert str(ROOT / "src") not in run(installed / "python", "-c", sources).splitlines()


def test_the_wheel_holds_all_of_the_package_and_nothing_else(wheel: Path) -> None:
    package = Path(str(files("btai")))
    wanted = {p.relative_to(package.parent).as_posix() for p in package.rglob("*") if p.is_file()}
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = {PurePath(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
    assert held == {name for name in wanted if "__pycache__" not in name}
    assert licences == {"LICENSE", *(f"LICENSE-{module}.txt" for module in ("d3-array", "htm", "preact"))}


def test_the_wheel_of_the_archive_is_to_the_byte_that_of_the_tree(wheel: Path, tmp_path: Path) -> None:
    build(tmp_path, "--wheel")
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_archive_holds_the_package_with_its_tests_and_documents_and_nothing_that_was_made(archive: Path) -> None:
    with tarfile.open(archive) as opened:
        names = {PurePath(*PurePath(member.name).parts[1:]) for member in opened}
    assert {name.parts[0] for name in names if len(name.parts) > 1} == FOLDERS
    made = {"__pycache__", "_build", "_made", "node_modules", "quick"}
    assert not [name for name in names if made.intersection(name.parts)]
    for folder in ("src/btai", "tests"):
        wanted = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert {name for name in wanted if "__pycache__" not in name.parts} <= names


def test_the_command_answers_before_anybody_notices_that_it_had_to_start(installed: Path) -> None:
    """It imports neither Numba nor a server before a command needs it."""
    command = [str(installed / "python"), "-X", "importtime", str(installed / "btai"), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"btai {btai.__version__}\n"
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in imported
    assert not imported & {"gymnasium", "matplotlib", "numba", "rich", "starlette", "uvicorn"}


def test_the_page_is_served_from_the_wheel(address: str) -> None:
    with httpx.Client(base_url=address, timeout=60) as client:
        assert client.get("api/info").json()["mode"] == "replay"
        assert client.get("").content == page_files()["index.html"].read_bytes()
        for name, file in page_files().items():
            assert client.get(f"static/{name}").content == file.read_bytes(), name
