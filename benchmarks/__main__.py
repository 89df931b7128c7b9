"""Measures everything: `python -m benchmarks [quick]`."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numba
import numpy as np

import btai
from benchmarks import batches, decisions, flattening, plots, scaling, startup
from benchmarks.measure import Curve, Effort, Row

RESULTS = Path(__file__).parent / "results"


def main(effort: Effort) -> None:
    """Measure, print as it comes, write."""
    folder = RESULTS / "quick" if effort.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    machine = this_machine()
    versions = ", ".join(f"{name} {machine[name.lower()]}" for name in ("Python", "NumPy", "Numba", "btai"))
    print(f"{machine['processor']}, {machine['cores']} cores, load {machine['load']:.1f}; {versions}")
    print("Times are by the clock on the wall, the least of several repetitions, unless a note says otherwise.")
    if machine["load"] > 0.5:
        print("The machine is busy: the times below say little.")
    rows = [*printed_rows("One decision on dSprites at granularity 1", decisions.measure(effort))]
    rows += printed_rows("Many agents on dSprites at granularity 1", batches.measure(effort))
    rows += printed_rows("Start-up and memory", startup.measure(effort))
    curves = [*printed_curves(scaling.measure(effort)), *printed_curves(flattening.measure(effort))]
    results = {"machine": machine, "rows": [asdict(r) for r in rows], "curves": [asdict(c) for c in curves]}
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if plots.available():
        plots.draw(curves, folder)
    else:
        print("\nNo plots are drawn: pip install 'btai[plots]'")
    print(f"\nWritten to {folder}")


def this_machine() -> dict[str, Any]:
    """What the times depend on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "btai": btai.__version__,
    }


def processor() -> str:
    """The processor's name, as far as the system tells."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text("utf-8").splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def printed_rows(title: str, rows: Iterable[Row]) -> Sequence[Row]:
    """The rows, each printed as soon as it is measured."""
    print(f"\n{title}")
    kept = []
    for row in rows:
        kept.append(row)
        print(f"  {row.name:<60} {shown(row.value):>8} {row.unit:<4} {row.note}".rstrip(), flush=True)
    return kept


def printed_curves(curves: Iterable[Curve]) -> Sequence[Curve]:
    """The curves, each printed as soon as it is measured: a column for each point."""
    kept = []
    for curve in curves:
        kept.append(curve)
        print(f"\n{curve.title}: {curve.y}")
        points = next(iter(curve.series.values()))
        print(f"  {curve.x:<27}" + "".join(f" {x:>11,.0f}" for x, _ in points))
        for name, values in curve.series.items():
            print(f"  {name:<27}" + "".join(f" {shown(y):>11}" for _, y in values), flush=True)
    return kept


def shown(value: float | None) -> str:
    """Four digits that count, but every digit before the point."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


if __name__ == "__main__":
    main(Effort(quick=sys.argv[1:] == ["quick"]))
