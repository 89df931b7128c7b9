from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from btai.interop import Loss, LossReport

TWO = LossReport((Loss("discount 0.9", "there is none"), Loss("horizon 5", "it is an option of the agent")))


def test_an_empty_report_is_false_and_says_so() -> None:
    assert not LossReport()
    assert len(LossReport()) == 0
    assert repr(LossReport()) == "LossReport: nothing was lost"


def test_a_report_lists_what_was_lost_and_why() -> None:
    assert TWO
    assert len(TWO) == 2
    assert [loss.what for loss in TWO] == ["discount 0.9", "horizon 5"]
    assert repr(TWO) == (
        "LossReport: 2 lost or changed\n  discount 0.9: there is none\n  horizon 5: it is an option of the agent"
    )


def test_a_report_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        TWO.entries = ()  # type: ignore[misc]
