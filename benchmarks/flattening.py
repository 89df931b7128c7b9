"""The cost of not factorising: the same model with a state for each variable, and with one state for all of them.

Variables are added one by one to a model like that of dSprites. Its flattened twin, exact as it is, soon fits nowhere:
it is measured as long as no table has more than `MOST_ENTRIES` entries, and what it would take beyond is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from benchmarks.measure import Curve, Effort, Mark
from benchmarks.models import DSPRITES_LIKE, dsprites_like
from benchmarks.scaling import MICROSECONDS, pace
from btai.engine import compile
from btai.model import TemporalSlice, flatten

__all__ = ["MOST_ENTRIES", "configurations", "flat_bytes", "measure", "table_bytes"]

MOST_ENTRIES = 2**26  # of a table of float64: 512 MiB
VARIABLES = range(2, len(DSPRITES_LIKE) + 1)
FEW = 10  # planning iterations of a flattened model: each costs the same, and a lot
PAPERS = 5  # the number of variables of the paper's model
MIB = 2**20


def measure(effort: Effort) -> Iterator[Curve]:
    """Size, memory and time, by the number of variables; three panels of one picture."""
    numbers = effort.some(list(VARIABLES))
    small = [n for n in numbers if _largest_table(n) <= MOST_ENTRIES]
    yield states(numbers)
    yield memory(numbers, small)
    yield time(numbers, small, effort)


def states(numbers: Sequence[int]) -> Curve:
    """How many numbers a belief has."""
    return _curve(
        "states",
        "Values that a belief is over",
        "values",
        {
            "factored (sum)": [(n, sum(_sizes(n))) for n in numbers],
            "flattened (product)": [(n, configurations(n)) for n in numbers],
        },
        Mark("flattened (product)", PAPERS, f"the paper's: {configurations(PAPERS):,}"),
    )


def memory(numbers: Sequence[int], small: Sequence[int]) -> Curve:
    """What the tables take, and where the engine runs the model, its program too."""
    return _curve(
        "memory",
        f"Memory (run flattened up to {8 * MOST_ENTRIES / MIB:.0f} MiB a table)",
        "MiB",
        {
            "factored": [(n, _bytes(dsprites_like(n)) / MIB) for n in numbers],
            "flattened": [(n, _bytes(flattened(n)) / MIB) for n in small],
            "flattened: tables, computed": [(n, flat_bytes(n) / MIB) for n in numbers],
        },
        Mark("flattened: tables, computed", PAPERS, f"the paper's: {flat_bytes(PAPERS) / 2**40:.0f} TiB"),
    )


def time(numbers: Sequence[int], small: Sequence[int], effort: Effort) -> Curve:
    """What a planning iteration takes."""
    return _curve(
        "time",
        "Planning",
        MICROSECONDS,
        {
            "factored": [(n, pace(dsprites_like(n), effort)) for n in numbers],
            "flattened": [(n, pace(flattened(n), effort, FEW)) for n in small],
            "factored, all preferred": [(n, pace(dsprites_like(n, all_preferred=True), effort)) for n in numbers],
        },
        Mark("factored", PAPERS, "the paper's"),
    )


def configurations(n: int) -> int:
    """How many values the one state of the flattened model has."""
    return prod(_sizes(n))


def flattened(n: int) -> TemporalSlice:
    """The model of `n` variables with a single state and a single observation."""
    return flatten(dsprites_like(n), max_entries=MOST_ENTRIES)


def table_bytes(ts: TemporalSlice) -> int:
    """What the tables of a model take."""
    arrays = [
        *(s.prior for s in ts.states.values()),
        *(o.likelihood for o in ts.observations.values()),
        *(t.table for t in ts.transitions.values()),
        *(p.table for p in ts.preferences),
    ]
    return sum(a.nbytes for a in arrays)


def flat_bytes(n: int) -> int:
    """The same of the flattened model of `n` variables, whether it fits anywhere or not."""
    size = configurations(n)
    return 8 * (size + size**2 + 4 * size**2 + size)  # prior, likelihood, transition under four actions, preference


def _curve(name: str, title: str, y: str, series: dict[str, list[tuple[float, float]]], mark: Mark) -> Curve:
    marked = any(x == mark.x for x, _ in series[mark.series])
    return Curve(f"flattening_{name}", title, "latent variables", y, series, "flattening", mark if marked else None)


def _sizes(n: int) -> list[int]:
    return list(DSPRITES_LIKE.values())[:n]


def _largest_table(n: int) -> int:
    return 4 * configurations(n) ** 2


def _bytes(ts: TemporalSlice) -> int:
    return table_bytes(ts) + compile(ts).nbytes
