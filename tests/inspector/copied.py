"""What was copied as Python, run."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any


def value_of(text: str, folder: Path, ts: Any = None) -> Any:
    """The value of the last line. Where the recipe leaves the model to its reader, `ts` is the model."""
    *lines, last = text.splitlines()
    if ts is not None:
        lines = [line for line in lines if not line.startswith("ts = ...")]
    script = folder / "copied.py"
    script.write_text("\n".join([*lines, f"shown = ({last.partition('  #')[0]})"]), "utf-8")
    return runpy.run_path(str(script), init_globals={} if ts is None else {"ts": ts})["shown"]
