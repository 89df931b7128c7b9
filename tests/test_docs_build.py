"""The documentation as it is built: without a warning, without the network, and with every public name."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from importlib import import_module
from pathlib import Path

import pytest
from documents import ROOT
from test_exports import PACKAGES

pytestmark = pytest.mark.slow

COMMANDS = "btai.commands"  # its names are commands of `btai`, which have a page of their own
TEST = re.compile(r"`(tests/[\w/]+\.py(?:::\w+)?)`")
LINK = re.compile(r'href="_made/sources\.html#([\w-]+)"><code[^>]*><span class="pre">([^<]+)</span>')
FETCHED = re.compile(r"""(?:\bsrc=|<link\b[^>]*\bhref=|@import\s|\burl\()\s*["']?((?:https?:)?//[^"'\s>)]+)""")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the pages."""
    pytest.importorskip("furo", reason="the documentation is not built: install the extra btai[docs]")
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "--nitpicky", "--fail-on-warning", "--keep-going", "-q"]
    done = subprocess.run([*command, str(ROOT / "docs"), str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def documented(built: Path) -> set[str]:
    """The names of Python's objects that have an entry."""
    inventory = zlib.decompress((built / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    return {line.split()[0] for line in inventory.splitlines() if " py:" in line}


def test_every_public_name_has_its_entry(built: Path) -> None:
    entries = documented(built)
    shown = {
        f"{module}.{name}": id(getattr(import_module(module), name))
        for module in ["btai.errors", *PACKAGES]
        if module != COMMANDS
        for name in import_module(module).__all__
        if name != "__version__"
    }
    described = {shown[name] for name in shown.keys() & entries}  # anywhere: it counts for every package that shows it
    assert [name for name in shown if shown[name] not in described] == []
    assert {"btai.errors.BtaiError", "btai.agents.BTAI_3MF.step", "btai.planning.select"} <= entries


def test_what_import_btai_shows_stands_in_the_first_table() -> None:
    text = (ROOT / "docs" / "reference" / "index.md").read_text("utf-8")
    names = import_module("btai").__all__
    assert [name for name in names if not re.search(rf"btai\.(\w+\.)?{name}`", text)] == []


def test_every_test_that_a_page_names_is_a_link_to_its_source(built: Path) -> None:
    sources = (built / "_made" / "sources.html").read_text("utf-8")
    for page in ("promises", "decisions", "theory", "results"):
        named = TEST.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8"))
        links = LINK.findall((built / f"{page}.html").read_text("utf-8"))
        assert sorted(text for _, text in links if text.startswith("tests/")) == sorted(named)
        assert [place for place, _ in links if f'id="{place}"' not in sources] == []
    assert '<span class="nf">test_killed_batch_loses_only_the_trials_under_way</span>' in sources


def test_no_page_fetches_anything_from_elsewhere(built: Path) -> None:
    files = [path for suffix in ("html", "css") for path in built.rglob(f"*.{suffix}")]
    assert len(files) > 10
    assert {(f.name, found) for f in files for found in FETCHED.findall(f.read_text("utf-8"))} == set()
