"""What is left out for want of something is said where it is seen."""

from __future__ import annotations

from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Reasons in capitals, such as that of the tests of the inspector's page, once more after everything else."""
    yield
    reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reasons):
        if reason.partition(":")[0].isupper():
            terminalreporter.write_sep("!", reason, red=True, bold=True)
