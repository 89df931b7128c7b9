"""How far a command has got, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_of"]

PAUSE = 5.0  # seconds between two lines, where there is no terminal to draw a bar on


@contextmanager
def progress_of(title: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Gives what is told how much is done, of how much: a bar on a terminal, elsewhere a line now and then."""
    from rich.console import Console
    from rich.progress import Progress

    errors = Console(stderr=True)
    with Progress(console=errors, transient=True, disable=not errors.is_terminal) as bars:
        task = bars.add_task(title, total=None)
        said = time.monotonic()

        def report(done: int, total: int) -> None:
            nonlocal said
            bars.update(task, completed=done, total=total)
            if bars.disable and time.monotonic() - said >= PAUSE:
                said = time.monotonic()
                errors.print(f"{title}: {done} of {total} {unit}")

        yield report
