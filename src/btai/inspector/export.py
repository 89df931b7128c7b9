"""The page in one file, with what a run file holds inside: it opens anywhere, without a server."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from btai.errors import RunFileError
from btai.experiments.schema import is_run_file
from btai.inspector import views
from btai.inspector.cursor import Cursor
from btai.inspector.page import one_file, page_files
from btai.inspector.trace import Trace
from btai.inspector.views import Json, packed
from btai.planning import ROOT

__all__ = ["Exported", "check_place", "export_page"]

MOST_ITERATIONS = 1_000_000  # of all searches together
MOST_SLICES = 12_000  # nodes whose slice is kept, of all searches together
MOST_CELLS = 25
BEGINNING = b"<!doctype html>"  # of a page
LEAST_POOLED = 8  # numbers an array must have for its copies to be worth finding
WHY_EVERYWHERE = 30  # planning iterations up to which the choice is explained at each; beyond, ever more apart
WHY_SPACING = 1.25
UNQUOTED = "!*'()"  # what `encodeURIComponent` leaves beside what `quote` does
COMPRESSION = 6  # of gzip: 9 takes three times as long, for a percent


@dataclass(frozen=True)
class Exported:
    """What an export holds."""

    path: Path
    trials: int
    cycles: int
    slices_per_search: int | None  # None: those of all nodes


def export_page(
    trace: Trace,
    path: str | os.PathLike[str],
    trials: Sequence[int] | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Exported:
    """Write a page that shows these trials (all, if absent) as replay does.

    Slices are computed by Python, so they are computed now and kept: of every node if there are not too many, else
    of the most visited ones of each search. `progress` is told how many cycles are done, of how many.
    """
    page = Path(path)
    check_place(page)
    chosen = [row.trial for row in trace.trials()] if trials is None else [*trials]
    cursors = [Cursor(trial, m.cycle.cycle) for trial in chosen for m in trace.moments(trial)]
    iterations = [len(trace.moment(cursor).cycle.expanded) for cursor in cursors]
    if sum(iterations) > MOST_ITERATIONS:
        raise RunFileError(
            f"{path}: {sum(iterations):,} planning iterations would have to fit into one page; at most"
            f" {MOST_ITERATIONS:,} do. Choose a trial: --trial N (in Python: trials=[N])."
        )
    nodes = [1 + n * trace.ts.action.size for n in iterations]
    most = None if sum(nodes) <= MOST_SLICES else MOST_SLICES // max(1, len(nodes))
    data = _Data()
    info = views.info(trace)
    for key, answer in _overview(trace, info, chosen):
        data.add(key, answer)
    for done, cursor in enumerate(cursors):
        progress(done, len(cursors))
        plans = trace.history(cursor).plans()
        data.plans[f"trial={cursor.trial}&cycle={cursor.cycle}"] = [{"from": k, "nodes": nodes} for k, nodes in plans]
        for key, answer in _cycle(trace, info, cursor, most):
            data.add(key, answer)
    progress(len(cursors), len(cursors))
    text = one_file(data.packed(), page_files())
    with _written(page):
        page.write_text(text, "utf-8")
    return Exported(page, len(chosen), len(cursors), most)


def check_place(page: Path) -> None:
    """Refuse to write over what is no page: the run file itself, for one."""
    with _written(page):
        # Which is not opened here even to be read: see `check_header`.
        if page.exists() and (is_run_file(page) or not _begins_as_page(page)):
            raise RunFileError(f"{page}: it is there already and is no page. Choose another name.")


def _begins_as_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING


@contextmanager
def _written(page: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunFileError(f"{page}: it cannot be written ({error.strerror}). Choose another place.") from error


class _Data:
    """Answers by their addresses; arrays that occur more than once are kept once."""

    def __init__(self) -> None:
        self.plans: dict[str, Any] = {}
        self._answers: list[str] = []
        self._pool: dict[str, int] = {}  # the texts of arrays, in order

    def add(self, key: str, answer: Json) -> None:
        """Keep an answer."""
        self._answers.append(f"{json.dumps(key)}:{_text(self._pooled(answer))}")

    def packed(self) -> str:
        """All of it as base64 of gzip of JSON."""
        responses, pool = ",".join(self._answers), ",".join(self._pool)
        text = f'{{"responses":{{{responses}}},"plans":{_text(self.plans)},"pool":[{pool}]}}'
        return base64.b64encode(gzip.compress(text.encode(), COMPRESSION, mtime=0)).decode()

    def _pooled(self, value: Any) -> Any:
        match value:
            case dict():
                return {name: self._pooled(inner) for name, inner in value.items()}
            case [float(), *_] if len(value) >= LEAST_POOLED and all(isinstance(x, float) for x in value):
                return {"$": self._pool.setdefault(_text(value), len(self._pool))}
            case [dict() | list(), *_]:
                return [self._pooled(inner) for inner in value]
        return value


def _overview(trace: Trace, info: Json, trials: Sequence[int]) -> Iterator[tuple[str, Json]]:
    shown = {"mode": "export", "can": {"command": False, "what_if": False}}
    if trials:
        iteration = trace.iteration(Cursor(trials[0]))
        shown["cursor"] = info["cursor"] | {"trial": trials[0], "iteration": iteration}
    yield "info", info | shown
    table = views.trials(trace)
    rows = [row | {"recorded": row["trial"] in trials} for row in table["trials"]]
    yield "trials", table | {"trials": rows}
    for trial in trials:
        answer = views.trial(trace, Cursor(trial))
        answer["cycles"] = [_with_picture(trace, trial, cycle) for cycle in answer["cycles"]]
        yield _key("trial", trial=trial), answer
        yield _key("worst", trial=trial), views.worst(trace, Cursor(trial))


def _cycle(trace: Trace, info: Json, cursor: Cursor, most: int | None) -> Iterator[tuple[str, Json]]:
    """Everything about one cycle."""
    place = {"trial": cursor.trial, "cycle": cursor.cycle}
    yield _key("cycle", **place), _with_picture(trace, cursor.trial, views.cycle(trace, cursor))
    yield _key("curves", **place), views.curves(trace, cursor)
    for iteration in _explained(trace.iteration(cursor)):
        at = Cursor(cursor.trial, cursor.cycle, iteration)
        yield _key("why", **place, iteration=iteration), views.why(trace, at)
    nodes = _most_visited(trace, cursor, most)
    for node in nodes:
        yield _key("node", **place, node=node), views.node(trace, Cursor(cursor.trial, cursor.cycle, node=node))
    future = [node for node in nodes if node != ROOT]
    for part in views.part_names(trace.ts) if future else ():
        yield _key("cells", **place, part=part), _cells(trace, cursor, part, future)
    for x, y in info["occupancy"]:
        for node in sorted({ROOT, *(node for _, plan in trace.history(cursor).plans() for node in plan)}):
            at = Cursor(cursor.trial, cursor.cycle, node=node)
            yield _key("occupancy", **place, node=node, x=x, y=y), views.occupancy(trace, at, x, y)


def _cells(trace: Trace, cursor: Cursor, part: str, nodes: Sequence[int]) -> Json:
    """What `views.cells` tells of one part at each of these nodes, as a few long arrays; the page names the cells."""
    tree = trace.tree(cursor)
    parts = [views.part_of(trace.ts, tree.expected_free_energy(node), part) for node in nodes]
    largest = [found.largest(MOST_CELLS) for found in parts]
    factors = {name: packed(np.array([one.factors[name] for one in largest])) for name in largest[0].factors}
    return {
        "kind": parts[0].kind,
        "variables": [*parts[0].variables],
        "shape": [*parts[0].values.shape],
        "nodes": packed(np.array(nodes)),
        "total": packed(np.array([one.total for one in largest])),
        "rest": packed(np.array([one.rest for one in largest])),
        "index": packed(np.array([one.places for one in largest])),
        "factors": {"value": packed(np.array([one.value for one in largest]))} | factors,
    }


def _explained(iterations: int) -> list[int]:
    """Iterations at which the choice is explained, the last among them."""
    if iterations <= WHY_EVERYWHERE:
        return [*range(1, iterations + 1)]
    found, at = [], 1.0
    while at < iterations:
        found.append(int(at))
        at = max(at + 1, at * WHY_SPACING)
    return [*found, iterations]


def _most_visited(trace: Trace, cursor: Cursor, most: int | None) -> list[int]:
    visits = trace.tree(cursor).visits
    return sorted(np.argsort(-visits, kind="stable")[:most].tolist())


def _with_picture(trace: Trace, trial: int, cycle: Json) -> Json:
    image = trace.moments(trial)[cycle["cycle"]].image
    return cycle | {"image": image and "data:image/png;base64," + base64.b64encode(image).decode()}


def _key(name: str, **parameters: Any) -> str:
    """An address as the page writes it (`address.js`): quoted as by `encodeURIComponent`."""
    return f"{name}?" + "&".join(f"{key}={quote(str(value), safe=UNQUOTED)}" for key, value in parameters.items())


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
