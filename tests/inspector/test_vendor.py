"""Third-party modules of the page: as published, none but those, each with its licence."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

VENDOR = files("btai.inspector") / "static" / "vendor"
TOOLS = Path(__file__).resolve().parents[2] / "tools"
CHECKSUMS: dict[str, str] = json.loads((VENDOR / "checksums.json").read_text("utf-8"))
PACKAGES: dict[str, str] = json.loads((TOOLS / "package.json").read_text("utf-8"))["dependencies"]


@pytest.mark.parametrize("name", CHECKSUMS)
def test_a_vendored_file_is_what_the_script_took_from_npm(name: str) -> None:
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == CHECKSUMS[name]


def test_there_are_no_other_files() -> None:
    assert {entry.name for entry in VENDOR.iterdir()} == {*CHECKSUMS, "checksums.json"}


def test_every_module_comes_from_a_package_that_is_pinned_to_one_version() -> None:
    lock = json.loads((TOOLS / "package-lock.json").read_text("utf-8"))["packages"]
    for package, version in PACKAGES.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert lock[f"node_modules/{package}"]["version"] == version
        assert lock[f"node_modules/{package}"]["integrity"].startswith("sha512-")
    for name in CHECKSUMS:
        if name.endswith(".js"):
            assert re.match("|".join(PACKAGES), name), name


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_its_licence_beside_it(package: str) -> None:
    head, _, text = (VENDOR / f"LICENSE-{package}.txt").read_text("utf-8").partition("\n\n")
    assert re.fullmatch(rf"{package} {re.escape(PACKAGES[package])} \((MIT|ISC|Apache-2\.0)\)", head)
    assert "Copyright" in text or "Apache License" in text
    assert len(text) > 500
