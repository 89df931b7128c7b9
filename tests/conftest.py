"""What holds for all tests, and what is left out for want of something: it is said where it is seen."""

from __future__ import annotations

import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine, which may be busy, than about btai.
settings.register_profile("btai", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("btai")

# A shell that is told to run the tests in the background lets them, and all that they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Reasons in capitals, such as that of the tests of the inspector's page, once more after everything else."""
    yield
    reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reasons):
        if reason.partition(":")[0].isupper():
            terminalreporter.write_sep("!", reason, red=True, bold=True)
