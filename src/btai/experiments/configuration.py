"""What a run was made of, as plain data: enough to tell two runs apart and to repeat one."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["code_version", "describe", "digest", "first_difference", "flattened", "warn_of_unknown"]


MOST_SHOWN = 16  # entries of an array that are written out
UNKNOWN = "unknown"  # what an object was made with and does not keep


def describe(thing: Any) -> Any:
    """`thing` in the terms of JSON: plain values as they are, arrays and models as digests.

    An object is its class and those of its constructor's parameters that it keeps, under their own names, behind an
    underscore or in a dataclass of options: what it was made with, not what has become of it since. What it does not
    keep is unknown. One that knows better has a method `configuration()`.
    """
    match thing:
        case None | bool() | int() | str():
            return thing
        case float():
            return thing if math.isfinite(thing) else str(thing)
        case np.generic():
            return describe(thing.item())
        case np.ndarray():
            return thing.tolist() if thing.size <= MOST_SHOWN else _array_digest(thing)
        case Mapping():
            return {str(key): describe(value) for key, value in thing.items()}
        case list() | tuple():
            return [describe(value) for value in thing]
    if hasattr(thing, "configuration"):
        return describe(thing.configuration())
    if isinstance(thing, type) or not hasattr(thing, "__dict__") or inspect.isroutine(thing):
        return getattr(thing, "__qualname__", _class_name(thing))
    if dataclasses.is_dataclass(thing):
        # A mapping's order counts: the order of declaration belongs to a model.
        return f"{type(thing).__name__} {digest(_fields(thing))}"
    return {"class": _class_name(thing), **_constructor_parameters(thing)}


def warn_of_unknown(configuration: Mapping[str, Any]) -> None:
    """Tell people of what a run file cannot tell apart, before they resume one run with another."""
    for key, value in flattened(configuration):
        if value == UNKNOWN:
            owner, _, name = key.rpartition(".")
            warnings.warn(
                f"{owner}: it does not tell with which {name} it was made, so the run file cannot either, and would go"
                f" on with another. Keep it as self.{name}, or give it a method configuration() that says it.",
                stacklevel=3,
            )


def code_version() -> str:
    """The version of btai that runs."""
    # Not imported: btai's own face looks down on its parts, they do not look up. As their package it is always there.
    return str(sys.modules["btai"].__version__)


def digest(description: Any) -> str:
    """A short name that two descriptions share only if they are equal."""
    return "sha256:" + hashlib.sha256(json.dumps(description).encode()).hexdigest()[:16]


def flattened(configuration: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys with their values."""
    for key, value in configuration.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def first_difference(left: Any, right: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """Where two configurations first differ: the dotted key and both values; None where they are equal."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            inner = f"{path}.{key}" if path else key
            found = first_difference(left.get(key), right.get(key), inner)
            if found:
                return found
        return None
    return None if left == right else (path, left, right)


def _class_name(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _array_digest(array: np.ndarray[Any, Any]) -> str:
    return digest([str(array.dtype), array.shape, hashlib.sha256(array.tobytes()).hexdigest()])


def _fields(thing: Any) -> dict[str, Any]:
    return {field.name: describe(getattr(thing, field.name)) for field in dataclasses.fields(thing)}


def _constructor_parameters(thing: Any) -> dict[str, Any]:
    """What `thing` was made with: the constructor's parameters that it keeps, in their order."""
    kept = dict(vars(thing))
    for value in vars(thing).values():
        if dataclasses.is_dataclass(value):
            kept = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)} | kept
    return {
        name: next((describe(kept[key]) for key in (name, f"_{name}") if key in kept), UNKNOWN)
        for name in _parameter_names(type(thing))
    }


def _parameter_names(kind: type) -> Iterator[str]:
    try:
        parameters = inspect.signature(kind).parameters
    except ValueError:  # A class written in C may have none to show.
        return
    # A source of random numbers is no parameter: its state changes, and every trial begins it anew from its seed.
    yield from (
        name for name, p in parameters.items() if name != "rng" and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    )
