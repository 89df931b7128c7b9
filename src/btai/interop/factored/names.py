"""Names from one world made to fit another."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from btai.interop.loss import Loss

__all__ = ["fitting", "fresh", "prefixed", "renamed", "short"]


def short(name: str) -> str:
    """A variable's name without its `S_`, `O_` or `A_`."""
    return name[2:]


def prefixed(prefix: str, name: str) -> str:
    """`name` as a slice wants it, starting with `S_`, `O_` or `A_`."""
    return name if name.startswith(prefix) and name != prefix else prefix + name


def fresh(name: str, taken: Container[str]) -> str:
    """`name`, with underscores after it until it is new."""
    while name in taken:
        name += "_"
    return name


def fitting(names: Iterable[str], mended: Callable[[str], str]) -> dict[str, str]:
    """A legal name for each: itself if `mended` leaves it as it is, else the mended one, made different from all."""
    given = list(names)
    chosen = {name: name for name in given if mended(name) == name}
    taken = set(chosen)
    for name in given:
        if name not in chosen:
            chosen[name] = fresh(mended(name), taken)
            taken.add(chosen[name])
    return {name: chosen[name] for name in given}


def renamed(whose: str, chosen: dict[str, str], rule: str) -> list[Loss]:
    """What to report of the names that `fitting` changed; `rule` says what the format asks of a name."""
    changed = [f"{old!r} is written as {new!r}" for old, new in chosen.items() if old != new]
    if not changed:
        return []
    rest = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return [Loss(f"names of {whose}", f"{', '.join(changed[:3])}{rest}; {rule}")]
