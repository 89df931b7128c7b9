"""How kernels are compiled: once per machine, whatever the model."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["OPTIONS", "fusing_kernel", "inlined", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

# Without Numba's run time (_nrt) nothing can be allocated, and no reference is counted in the inner loops.
# Small functions are inlined by force: passing a program's many arrays on costs more than they do. With NumPy's rules
# for division no divisor is looked at first, which would keep loops from running on several entries at once.
OPTIONS = {"_nrt": False, "forceinline": True, "error_model": "numpy"}


def kernel(function: F, **options: Any) -> F:
    """Compile `function` on its first call and keep the machine code on disk.

    Numba keeps it beside the source, or in a folder of the user's where that cannot be written. Where neither can, the
    kernels are compiled anew in each process, and one warning says so.
    """
    # Numba forgets machine code when the function's own file changes, but not when a function that it calls does.
    # With the digest in its name, code compiled from other sources is never found.
    function.__qualname__ += f"_{_digest_of_sources()}"
    try:
        return cast(F, numba.njit(cache=True, nogil=True, **OPTIONS, **options)(function))
    except RuntimeError:
        _warn_once()
        return cast(F, numba.njit(nogil=True, **OPTIONS, **options)(function))


fusing_kernel = partial(kernel, fastmath={"contract"})
"""A kernel in which a product and the sum it goes into become one instruction, rounded once instead of twice."""


def inlined(function: F) -> F:
    """For a helper that few kernels call: it becomes part of them before types are inferred, which compiles faster."""
    return cast(F, numba.njit(inline="always", _nrt=False)(function))


@cache
def _digest_of_sources() -> str:
    package = Path(__file__).parents[1]
    sources = [path for part in ("engine", "planning") for path in sorted((package / part).glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


@cache
def _warn_once() -> None:
    warnings.warn(
        "btai: no folder for compiled code can be written, so each process compiles anew (some 10 seconds)."
        " Set NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=2,
    )
