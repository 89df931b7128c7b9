"""Packages that only some features need: imported when one of these is used, and asked for in a sentence if missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from btai.errors import MissingExtraError

__all__ = ["EXTRAS", "imported"]

EXTRAS = {
    "matplotlib": ("Matplotlib", "plots"),
    "pyarrow": ("PyArrow", "parquet"),
    "pymdp": ("pymdp 1", "pymdp"),
    "ray": ("Ray", "ray"),
}
"""By package: what it is called, and the extra of btai that brings it."""


def imported(module: str, feature: str) -> Any:
    """A module of one of these packages; `feature` says what it is for, should it be missing."""
    name, extra = EXTRAS[module.partition(".")[0]]
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{feature} needs {name}, which is not installed, or not whole ({error}): pip install 'btai[{extra}]'."
        ) from error
