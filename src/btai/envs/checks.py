"""The checks of what an environment is made with or asked for."""

from __future__ import annotations

import math
from collections.abc import Container
from operator import index
from typing import Any

import numpy as np

from btai.errors import EnvError

__all__ = ["cycles", "finite", "one_of", "probability", "whole_number"]


def whole_number(name: str, value: Any, allowed: Container[int], required: str) -> int:
    """`value` as an int, if it is a whole number in `allowed`; `required` says in words what is."""
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or number not in allowed:
        raise EnvError(f"{name} is {value!r}: it must be {required}.")
    return number


def cycles(value: Any) -> int:
    """The most cycles of a trial."""
    return whole_number("max_cycles", value, range(1, 2**31), "a whole number of at least 1")


def probability(name: str, value: Any) -> float:
    """`value`, if it is one."""
    if not (isinstance(value, int | float | np.number) and 0 <= value <= 1):
        raise EnvError(f"{name} is {value!r}: it must be a probability, from 0 to 1.")
    return float(value)


def finite(name: str, value: Any, least: float = -math.inf) -> float:
    """`value`, if it is a finite number of at least `least`."""
    if not (isinstance(value, int | float | np.number) and math.isfinite(value) and value >= least):
        above = "" if least == -math.inf else f" of at least {least:g}"
        raise EnvError(f"{name} is {value!r}: it must be a finite number{above}.")
    return float(value)


def one_of(name: str, value: Any, allowed: Container[str], required: str) -> str:
    """`value`, if it is one of the words `allowed`; `required` lists them."""
    if not isinstance(value, str) or value not in allowed:
        raise EnvError(f"{name} is {value!r}: it must be {required}.")
    return value
