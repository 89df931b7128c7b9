"""Tests of what btai does together with packages that only some people have: `make extras` installs them all."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

__all__ = ["need"]

REQUIRED = "BTAI_NEEDS_EXTRAS"  # set: a missing package fails the tests instead of leaving them out


def need(package: str, left_out: str) -> None:
    """Go on only where this package is installed; `left_out` says, in capitals, what is left out where it is not."""
    if find_spec(package) is None:
        reason = f"{left_out}: {package} is not installed. Run make extras"
        if os.environ.get(REQUIRED):
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)
