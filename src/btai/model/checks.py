"""The checks of single names and tables; each error names the variable, what was given, what is required, the fix."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from btai.errors import ModelError, PreferenceError, TableError, VariableError

__all__ = [
    "check_entries",
    "checked_labels",
    "checked_name",
    "checked_names",
    "checked_preference",
    "conditional",
    "is_whole",
    "read_only",
    "to_array",
]

Table = NDArray[np.float64]

SUM_TOLERANCE = 1e-6
SCORES_TOO = " If these are scores, which may be any numbers, pass scores= instead."
ROLES = {"S_": "state", "O_": "observation", "A_": "action"}


def checked_name(name: object, prefix: str, taken: Container[str]) -> str:
    """`name`, if it is a new name that starts with `prefix`."""
    role = ROLES[prefix]
    if not isinstance(name, str) or not name.startswith(prefix) or name == prefix:
        raise VariableError(
            f"{name!r} was given as the name of {'an' if role[0] in 'ao' else 'a'} {role}; such a name must be text"
            f" that starts with {prefix!r}. Rename it, for instance to {_suggested(name, prefix)!r}."
        )
    if name in taken:
        raise VariableError(
            f"{name}: this name is already declared; each variable needs a name of its own. Rename one of them."
        )
    return name


def _suggested(name: object, prefix: str) -> str:
    """A name like the one given that would do."""
    return prefix + (str(name).removeprefix(prefix).lstrip("_") or "name")


def checked_names(name: str, role: str, names: Sequence[str]) -> tuple[str, ...]:
    """`names` of the parents or observations (their `role`) that `name` refers to, as a tuple without repeats."""
    if isinstance(names, str):
        raise VariableError(
            f"{name}: the {role}s were given as the text {names!r}; a list is required. Write [{names!r}]."
        )
    given = tuple(names) if isinstance(names, Iterable) else None
    if given is None or not all(isinstance(other, str) for other in given):
        raise VariableError(f"{name}: the {role}s were given as {names!r}; a list of names is required.")
    for other in given:
        if given.count(other) > 1:
            raise VariableError(
                f"{name}: the {role} {other!r} was given twice; each may stand once. Remove one of them."
            )
    return given


def checked_labels(name: str, labels: Sequence[str] | None, size: int) -> tuple[str, ...] | None:
    """The value names of a variable of `size` values, or `None`."""
    if labels is None:
        return None
    names = tuple(labels) if isinstance(labels, Iterable) and not isinstance(labels, str) else None
    # A number as a name would not be told from an index.
    if names is None or not all(isinstance(label, str) for label in names):
        raise VariableError(f"{name}: the value names {labels!r} were given; a list of texts is required.")
    if len(names) != size or len(set(names)) != size:
        raise VariableError(
            f"{name}: the value names {list(names)} were given; {size} different names are required, one for each"
            f" value, and these are {len(set(names))}."
        )
    return names


def to_array(name: str, what: str, values: ArrayLike, error: type[ModelError] = TableError) -> Table:
    """`values` as a new float64 array.

    Always in C order: sums depend, in their last bits, on the order in memory, and equal models must act alike.
    """
    try:
        # In two steps: `numpy.array` asks for a copy in words that tensors of some age do not know.
        return np.array(np.asarray(values, dtype=np.float64), order="C")
    except (TypeError, ValueError, RuntimeError) as reason:  # the last from a tensor that is not to be looked into
        raise error(
            f"{name}: the {what} was given as {type(values).__name__}, which is not a table of numbers ({reason});"
            " anything that numpy.asarray turns into a regular array of real numbers is accepted."
        ) from None


def is_whole(value: object) -> TypeGuard[int]:
    """Whether `value` is a whole number; `True` and `1.0` are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def read_only(table: Table) -> Table:
    """`table` itself, made read-only."""
    table.flags.writeable = False
    return table


def check_entries(name: str, what: str, table: Table, error: type[ModelError] = TableError) -> None:
    """No entry is NaN, infinite or negative."""
    for bad, word, fix in (
        (~np.isfinite(table), "not a finite number", "Replace it by a probability."),
        (table < 0, "negative", f"Probabilities are at least 0.{SCORES_TOO if error is PreferenceError else ''}"),
    ):
        if bad.any():
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            raise error(f"{name}: the {what} holds {table[index]} at index {index}, which is {word}. {fix}")


def conditional(
    name: str, what: str, values: ArrayLike, parents: Sequence[str] = (), labels: Sequence[str] | None = None
) -> Table:
    """A read-only table `[n, *parents]` whose every column (over axis 0) sums to 1; `labels` of its values, if any."""
    table = to_array(name, what, values)
    if table.ndim != 1 + len(parents) or 0 in table.shape:
        axes = ", ".join([name, *parents])
        raise TableError(
            f"{name}: the {what} was given with shape {table.shape}; required is a table with {1 + len(parents)}"
            f" {'axis' if not parents else 'axes'} [{axes}] and at least one value each. Axis 0 is {name} itself, then"
            f" its parents in the order named.{_axes_amiss(table.ndim, 1 + len(parents))}"
        )
    checked_labels(name, labels, len(table))  # before the sums, which are off where a row is missing
    check_entries(name, what, table)
    return normalised(table, 0, lambda index, total: _column_error(name, what, parents, index, total))


def _axes_amiss(given: int, required: int) -> str:
    """What to do about a wrong number of axes."""
    if given > required:
        return " Name the parent that the other axis is for."
    return " Leave out the parent that it does not depend on." if 0 < given < required else ""


def checked_preference(observations: Sequence[str], values: ArrayLike, *, from_scores: bool = False) -> Table:
    """A read-only, strictly positive joint table of the observations that sums to 1."""
    name = group_name(observations)
    table = to_array(name, "preference", values, PreferenceError)
    if table.ndim != len(observations) or 0 in table.shape:
        raise PreferenceError(
            f"{name}: the preference was given with shape {table.shape}; required is one axis for each of"
            f" [{', '.join(observations)}], in this order."
        )
    check_entries(name, "preference", table, PreferenceError)
    if (table == 0).any():
        index = tuple(int(i) for i in np.argwhere(table == 0)[0])
        fix = (
            "The scores differ too much for a softmax in float64: lower the precision, or bring the scores closer"
            " together."
            if from_scores
            else "Give it a small floor (for instance 1e-6), or pass scores= instead of a table to use their softmax."
        )
        raise PreferenceError(
            f"{name}: the preference is exactly 0 at index {index}, and an outcome of preference 0 would cost"
            f" infinitely much. {fix}"
        )

    def error(_: tuple[int, ...], total: float) -> PreferenceError:
        return PreferenceError(
            f"{name}: the preference sums to {total:.6g}; it must sum to 1 over all its entries. Divide it by its sum."
            f"{SCORES_TOO}"
        )

    return normalised(table, None, error)


def normalised(table: Table, axis: int | None, error: Callable[[tuple[int, ...], float], ModelError]) -> Table:
    """`table` divided by its sums over `axis`, read-only; a sum further from 1 than the tolerance is an error.

    Sums that differ from 1 only by rounding are left alone, so that a table read back from a model, which has been
    normalised before, stays the same to the bit.
    """
    total = np.asarray(table.sum(axis=axis))
    wrong = np.abs(total - 1) > SUM_TOLERANCE
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise error(index, float(total[index]))
    summands = table.size // max(total.size, 1)
    rounding = 4 * np.finfo(np.float64).eps * summands
    return read_only(table / np.where(np.abs(total - 1) <= rounding, 1.0, total))


def group_name(observations: Sequence[str]) -> str:
    """How messages call a preference group."""
    return "(" + ", ".join(observations) + ")"


def _column_error(name: str, what: str, parents: Sequence[str], index: tuple[int, ...], total: float) -> TableError:
    where = ", ".join(f"{parent}={i}" for parent, i in zip(parents, index, strict=True))
    column = f"column for {where}" if where else "vector"
    return TableError(
        f"{name}: the {what}'s {column} sums to {total:.6g}; every column (axis 0, over the values of {name}) must sum"
        f" to 1. Divide it by its sum, or check that axis 0 is {name} and not a parent."
    )
