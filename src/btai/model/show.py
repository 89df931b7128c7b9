"""A slice as a small table of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from btai.model.slice import TemporalSlice

__all__ = ["slice_as_text"]


def slice_as_text(ts: TemporalSlice) -> str:
    """The variables of `ts`, their sizes and what they depend on, in aligned columns."""
    group = {name: str(i + 1) for i, p in enumerate(ts.preferences) for name in p.observations}
    states = [
        (s.name, str(s.size), ", ".join(ts.transitions[s.name].parents) or "nothing", "") for s in ts.states.values()
    ]
    observations = [
        (o.name, str(o.size), ", ".join(o.parents), group.get(o.name, "-")) for o in ts.observations.values()
    ]
    rows = [("state", "values", "follows from", ""), *states]
    if observations:
        rows += [("observation", "values", "depends on", "preference"), *observations]
    head = (
        f"TemporalSlice: {_count(len(ts.states), 'state')}, {_count(len(ts.observations), 'observation')},"
        f" {_count(ts.action.size, 'action')} ({ts.action.name}), {ts.inference} inference"
    )
    return "\n".join([head, *_aligned(rows)])


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(w) if i == 1 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield ("  " + "  ".join(cells)).rstrip()
