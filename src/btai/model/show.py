"""A slice as a small table of text, and as tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from btai.model.slice import Preference, TemporalSlice
from btai.notebook import Html, histogram, likeliest, panel, table

__all__ = ["slice_as_html", "slice_as_text"]

MOST_LABELS = 6  # that a notebook lists


def slice_as_text(ts: TemporalSlice) -> str:
    """The variables of `ts`, their sizes and what they depend on, in aligned columns."""
    group = {name: str(i + 1) for i, p in enumerate(ts.preferences) for name in p.observations}
    states = [(s.name, str(s.size), _parents(ts, s.name), "") for s in ts.states.values()]
    observations = [
        (o.name, str(o.size), ", ".join(o.parents), group.get(o.name, "-")) for o in ts.observations.values()
    ]
    rows = [("state", "values", "follows from", ""), *states]
    if observations:
        rows += [("observation", "values", "depends on", "preference"), *observations]
    return "\n".join([_head(ts), *_aligned(rows)])


def slice_as_html(ts: TemporalSlice) -> Html:
    """The same for notebooks, with the values' names, the priors and what is preferred most."""
    states = [
        (s.name, _values(ts, s.name), histogram(s.prior, ts.labels(s.name)), _parents(ts, s.name))
        for s in ts.states.values()
    ]
    observations = [(o.name, _values(ts, o.name), ", ".join(o.parents)) for o in ts.observations.values()]
    parts: list[tuple[tuple[str, ...], Sequence[Sequence[str]]]] = [
        (("action", "values"), [(ts.action.name, _values(ts, ts.action.name))]),
        (("state", "values", "prior", "follows from"), states),
        (("observation", "values", "depends on"), observations),
        (("preference over", "preferred most"), [_preferred(ts, preference) for preference in ts.preferences]),
    ]
    return panel(_head(ts), *(table(heads, rows) for heads, rows in parts if rows))


def _head(ts: TemporalSlice) -> str:
    return (
        f"TemporalSlice: {_count(len(ts.states), 'state')}, {_count(len(ts.observations), 'observation')},"
        f" {_count(ts.action.size, 'action')} ({ts.action.name}), {ts.inference} inference"
    )


def _parents(ts: TemporalSlice, state: str) -> str:
    return ", ".join(ts.transitions[state].parents) or "nothing"


def _values(ts: TemporalSlice, name: str) -> str:
    labels = ts.labels(name)
    more = ", …" if len(labels) > MOST_LABELS else ""
    return f"{len(labels)}: {', '.join(labels[:MOST_LABELS])}{more}"


def _preferred(ts: TemporalSlice, preference: Preference) -> tuple[str, str]:
    """A group, and the outcomes of it that are preferred most."""
    labels = [ts.labels(name) for name in preference.observations]

    def outcome(index: int) -> str:
        place = np.unravel_index(index, preference.table.shape)
        return " & ".join(of[i] for of, i in zip(labels, place, strict=True))

    return ", ".join(preference.observations), likeliest(preference.table.ravel(), outcome, most=3)


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(w) if i == 1 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield ("  " + "  ".join(cells)).rstrip()
