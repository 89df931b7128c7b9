"""The page in one file: it needs nothing else, and holds what the server would answer."""

from __future__ import annotations

import base64
import gzip
import json
import re
import string
from collections.abc import Iterator
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspector.recorded import Recorded, record, unpacked

from btai.errors import BtaiError, RunFileError
from btai.experiments import run
from btai.inference import expected_free_energy
from btai.inspector import RunTrace, export, export_page, page, views
from btai.inspector.cursor import Cursor
from btai.inspector.service import VIEWS
from btai.planning import view

INDEX = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<link rel="stylesheet" href="static/style/one.css">
<script type="module" src="static/main.js"></script>
</head>
<body></body>
</html>
"""
FILES = {
    "index.html": INDEX,
    "style/one.css": "body { color: red; }",
    "main.js": 'import { a } from "./lib/a.js";\nimport \'./lib/b.js\';\nimport{c}from"./vendor/c.js";\na(c);',
    "lib/a.js": 'export { a } from "../vendor/c.js";\nexport const text = "keep from here";',
    "lib/b.js": "",
    "vendor/c.js": "export const a = () => 0, c = 1;",
    "lonely.js": "nobody imports this",
}


@pytest.fixture(scope="module")
def small_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A page of a few files, in place of the real one."""
    folder = tmp_path_factory.mktemp("page")
    for name, text in FILES.items():
        path = folder / "static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page, "files", lambda package: folder)
        yield folder


@pytest.fixture(scope="module", params=["dsprites", "seven"])
def brief(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A run of few planning iterations."""
    return record(tmp_path_factory.mktemp("runs"), request.param, 6)


@pytest.fixture
def trace(brief: Recorded) -> Iterator[RunTrace]:
    trace = brief.trace()
    yield trace
    trace.close()


@pytest.fixture(scope="module")
def exported(brief: Recorded, small_page: Path) -> str:
    trace = brief.trace()
    export_page(trace, small_page / "page.html")
    trace.close()
    return (small_page / "page.html").read_text("utf-8")


def data_of(html: str) -> Any:
    """What stands in a page, as a browser reads it."""
    (text,) = re.findall(r'<script type="text/plain" id="btai-data">([^<]*)</script>', html)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def restored(value: Any, pool: list[Any]) -> Any:
    """An answer with its arrays put back."""
    match value:
        case {"$": number}:
            return pool[number]
        case dict():
            return {name: restored(inner, pool) for name, inner in value.items()}
        case list():
            return [restored(inner, pool) for inner in value]
    return value


def modules_of(html: str) -> dict[str, str]:
    (text,) = re.findall(r'<script type="importmap">(.*?)</script>', html)
    imports = json.loads(text)["imports"]
    prefix = "data:text/javascript;base64,"
    return {name: base64.b64decode(address.removeprefix(prefix)).decode() for name, address in imports.items()}


def test_styles_and_modules_stand_in_the_file(exported: str) -> None:
    assert "<style>body { color: red; }</style>" in exported
    modules = modules_of(exported)
    assert set(modules) == {"btai/main.js", "btai/lib/a.js", "btai/lib/b.js", "btai/vendor/c.js"}
    assert modules["btai/main.js"] == (
        'import { a } from "btai/lib/a.js";\nimport \'btai/lib/b.js\';\nimport{c}from"btai/vendor/c.js";\na(c);'
    )
    assert modules["btai/lib/a.js"] == 'export { a } from "btai/vendor/c.js";\nexport const text = "keep from here";'
    assert '<script type="module">import "btai/main.js";</script>' in exported


def test_nothing_outside_the_file_is_named_or_allowed(exported: str) -> None:
    assert not re.search(r"""(?:src|href)\s*=|https?:|@import|url\(""", exported)
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', exported)
    assert policy
    assert policy[1].startswith("default-src 'none'; ")
    assert exported.index("Content-Security-Policy") < exported.index("<style>")


def test_the_real_page_fits_into_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "files", resources.files)
    files = page.page_files()
    if "index.html" not in files:
        pytest.skip("the page's files are not there")
    html = page.one_file("", files)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!data:|#)""", html.partition("</head>")[0])
    modules = modules_of(html)
    imports = re.compile(r"""\b(?:from|import)\s*["']([^"'\n]+)["']""")
    wanted = {name for source in modules.values() for name in imports.findall(source)}
    assert {name for name in wanted if name.startswith((".", "btai/"))} <= set(modules)


def test_it_says_that_it_is_an_export(exported: str) -> None:
    data = data_of(exported)
    info = restored(data["responses"]["info"], data["pool"])
    assert (info["mode"], info["can"]) == ("export", {"command": False, "what_if": False})


def test_every_answer_is_that_of_the_view(exported: str, trace: RunTrace) -> None:
    data = data_of(exported)
    seen = set()
    for key, answer in data["responses"].items():
        name, _, query = key.partition("?")
        given = dict(pair.split("=") for pair in query.split("&") if pair)
        cursor = Cursor(**{n: int(v) for n, v in given.items() if n in ("trial", "cycle", "iteration", "node")})
        words = [given[n].replace("%3A", ":") for n in ("part", "x", "y") if n in given]
        if name in ("info", "trials", "trial", "cycle", "cells"):
            continue  # they differ, by their pictures or in form; see the tests around this one
        expected = getattr(views, name)(trace, cursor, *words)
        assert restored(answer, data["pool"]) == json.loads(json.dumps(expected)), key
        seen.add(name)
    assert seen == {"worst", "curves", "why", "node", "occupancy"}


def test_every_cell_is_that_of_the_view(exported: str, trace: RunTrace) -> None:
    responses = data_of(exported)["responses"]
    for row in trace.trials():
        for cycle in range(len(row.actions)):
            for part in views.part_names(trace.ts):
                held = responses[f"cells?trial={row.trial}&cycle={cycle}&part={part.replace(':', '%3A')}"]
                nodes = unpacked(held["nodes"]).tolist()
                assert nodes == [*range(1, len(trace.tree(Cursor(row.trial, cycle))))]
                columns = {name: unpacked(column) for name, column in held["factors"].items()}
                for number, node in enumerate(nodes):
                    said = views.cells(trace, Cursor(row.trial, cycle, node=node), part, export.MOST_CELLS)
                    assert {name: held[name] for name in ("kind", "variables", "shape")}.items() <= said.items()
                    sums = said["total"], said["rest"]["value"]
                    assert (unpacked(held["total"])[number], unpacked(held["rest"])[number]) == sums
                    index = [cell["index"] for cell in said["cells"]]
                    assert unpacked(held["index"]).reshape(len(nodes), *np.shape(index))[number].tolist() == index
                    for name, column in columns.items():
                        expected = [cell[name] for cell in said["cells"]]
                        assert column.reshape(len(nodes), *np.shape(expected))[number].tolist() == expected
                    assert {*columns} == {*said["cells"][0]} - {"index", "labels"}


def test_each_slice_is_predicted_once(trace: RunTrace, small_page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    predicted = []

    def counted(*arguments: Any) -> Any:
        predicted.append(arguments)
        return expected_free_energy(*arguments)

    monkeypatch.setattr(view, "expected_free_energy", counted)
    export_page(trace, small_page / "page.html", trials=[1])
    cycles = range(len(trace.moments(1)))
    assert len(predicted) == sum(len(trace.tree(Cursor(1, cycle))) - 1 for cycle in cycles)  # all but the roots


def test_how_far_it_has_got_is_told(trace: RunTrace, small_page: Path) -> None:
    told: list[tuple[int, int]] = []
    export_page(trace, small_page / "page.html", trials=[1], progress=lambda *now: told.append(now))
    cycles = len(trace.moments(1))
    assert told == [(done, cycles) for done in range(cycles + 1)]


def test_every_view_is_there_but_the_one_that_the_page_tells_itself(exported: str) -> None:
    assert {key.partition("?")[0] for key in data_of(exported)["responses"]} == set(VIEWS) - {"facts"}


def test_addresses_are_quoted_as_a_browser_quotes_them() -> None:
    """By the definition of encodeURIComponent in ECMAScript."""
    unquoted = string.ascii_letters + string.digits + "-_.!~*'()"
    text = string.printable + "é\N{SNOWMAN}"
    expected = "".join(c if c in unquoted else "".join(f"%{byte:02X}" for byte in c.encode()) for c in text)
    assert export._key("cells", part=text) == f"cells?part={expected}"


def test_every_slice_and_every_explanation_of_a_small_run_is_there(exported: str, trace: RunTrace) -> None:
    keys = set(data_of(exported)["responses"])
    for row in trace.trials():
        for cycle in range(len(row.actions) + 1):
            tree = trace.tree(Cursor(row.trial, cycle))
            place = f"trial={row.trial}&cycle={cycle}"
            assert {f"node?{place}&node={node.index}" for node in tree} <= keys
            assert {f"why?{place}&iteration={i}" for i in range(1, len(tree.expanded) + 1)} <= keys


def test_pictures_stand_in_the_file(exported: str, trace: RunTrace) -> None:
    data = data_of(exported)
    for cycle in data["responses"]["trial?trial=1"]["cycles"]:
        prefix, _, text = cycle["image"].partition(",")
        assert prefix == "data:image/png;base64"
        assert base64.b64decode(text) == trace.moments(1)[cycle["cycle"]].image
    assert data["responses"]["cycle?trial=1&cycle=1"]["image"].startswith("data:image/png;base64,")


def test_plans_are_those_of_every_iteration(exported: str, trace: RunTrace) -> None:
    plans = data_of(exported)["plans"]["trial=0&cycle=0"]
    for iteration in range(1, trace.iteration(Cursor(0, 0)) + 1):
        (*_, now) = (plan["nodes"] for plan in plans if plan["from"] <= iteration)
        assert now == views.facts(trace, Cursor(0, 0, iteration))["plan"]


def test_arrays_that_occur_often_are_kept_once(exported: str) -> None:
    data = data_of(exported)
    assert len({json.dumps(array) for array in data["pool"]}) == len(data["pool"]) > 0


def test_the_same_run_gives_the_same_page(trace: RunTrace, small_page: Path) -> None:
    pages = [small_page / name for name in ("one.html", "two.html")]
    for path in pages:
        export_page(trace, path)
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_trials_can_be_chosen(trace: RunTrace, small_page: Path) -> None:
    done = export_page(trace, small_page / "page.html", trials=[1])
    data = data_of((small_page / "page.html").read_text("utf-8"))
    assert (done.trials, done.cycles, done.slices_per_search) == (1, len(trace.moments(1)), None)
    assert [row["recorded"] for row in data["responses"]["trials"]["trials"]] == [False, True]
    assert data["responses"]["info"]["cursor"]["trial"] == 1
    assert not [key for key in data["responses"] if "trial=0" in key]


def test_of_a_large_run_the_most_visited_slices_are_kept(
    trace: RunTrace, small_page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MOST_SLICES", 60)
    done = export_page(trace, small_page / "page.html", trials=[0])
    data = data_of((small_page / "page.html").read_text("utf-8"))
    each = 60 // len(trace.moments(0))
    assert done.slices_per_search == each
    nodes = {int(key.rpartition("=")[2]) for key in data["responses"] if key.startswith("node?trial=0&cycle=0&")}
    visits = trace.tree(Cursor(0, 0)).visits.tolist()
    assert len(nodes) == each
    assert min(visits[n] for n in nodes) >= max(visits[n] for n in range(len(visits)) if n not in nodes)


def test_a_long_search_is_explained_at_its_end_and_ever_fewer_moments_before() -> None:
    moments = export._explained(10_000)
    assert (moments[0], moments[-1]) == (1, 10_000)
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert gaps[:-1] == sorted(gaps[:-1])
    assert len(moments) < 60


def test_a_run_too_large_for_a_page_is_refused_with_the_way_out(
    trace: RunTrace, small_page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MOST_ITERATIONS", 20)
    with pytest.raises(RunFileError, match="--trial N"):
        export_page(trace, small_page / "large.html")
    assert not (small_page / "large.html").exists()


def test_a_page_that_cannot_be_written_is_an_error_that_says_so(trace: RunTrace, small_page: Path) -> None:
    with pytest.raises(RunFileError, match="cannot be written"):
        export_page(trace, small_page / "no" / "page.html", trials=[0])


@pytest.mark.parametrize("missing", ["index.html", "lib/b.js", "main.js"])
def test_an_installation_that_lacks_a_file_is_an_error_that_says_so(small_page: Path, missing: str) -> None:
    files = page.page_files()
    del files[missing]
    with pytest.raises(BtaiError, match="missing"):
        page.one_file("", files)


def test_a_run_that_has_only_begun_gives_a_page_without_trials(
    small_page: Path, brief: Recorded, tmp_path: Path
) -> None:
    def stop(summary: Any, total: int) -> None:
        raise StopIteration

    with pytest.raises(StopIteration):
        run(brief.make_agent(), brief.make_env(), 5, out=tmp_path / "run.sqlite", record=True, progress=stop)
    trace = RunTrace(tmp_path / "run.sqlite")
    assert export_page(trace, tmp_path / "page.html").cycles == 0
    trace.close()
    data = data_of((tmp_path / "page.html").read_text("utf-8"))
    assert data["responses"]["info"]["cursor"] is None
    assert data["responses"]["trials"]["trials"] == []
