"""What is published: the built wheel, installed where nothing of the sources can be imported."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from inspector.recorded import record

from btai.inspector.page import page_files

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    (built,) = folder.iterdir()
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


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], cwd=Path(str(command[0])).parent, capture_output=True, text=True)
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
        licences = [name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    assert held == {name for name in wanted if "__pycache__" not in name}
    assert len(licences) == 1


def test_the_page_is_served_from_the_wheel(address: str) -> None:
    with httpx.Client(base_url=address, timeout=60) as client:
        assert client.get("api/info").json()["mode"] == "replay"
        assert client.get("").content == page_files()["index.html"].read_bytes()
        for name, file in page_files().items():
            assert client.get(f"static/{name}").content == file.read_bytes(), name
