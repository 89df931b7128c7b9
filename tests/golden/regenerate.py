"""Rewrite the "expected" part of every `*.json` here from the brute-force oracle, never from the package.

Run `python tests/golden/regenerate.py` after adding a model or changing a hand-written part, and read the
difference before committing it: these figures say what the package must compute.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from golden import OWN, computed, own_figures, own_names

DECIMALS = 12


def plain(value: Any) -> Any:
    """The same figures as JSON can hold and a person can read: rounded, and null where there is none."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, np.ndarray)):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(float(value), DECIMALS) + 0.0  # no -0.0
    return value


def render(document: Any) -> str:
    """Indented JSON with every innermost list on one line."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return re.sub(
        r"\[[^\[\]{}]*\]", lambda row: re.sub(r"\s+", " ", row[0]).replace("[ ", "[").replace(" ]", "]"), text
    )


def main() -> None:
    for name in own_names():
        path = OWN / f"{name}.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        document["expected"] = plain(computed(own_figures(name)))
        path.write_text(render(document) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
