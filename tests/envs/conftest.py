"""What the tests of the environments share."""

from __future__ import annotations

import tkinter
from types import SimpleNamespace

import pytest
from envs.fake_screen import FakeLabel, FakePicture, FakeRoot, FakeScreen

from btai.envs.dsprites import window


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> FakeScreen:
    fake = FakeScreen()
    monkeypatch.setattr(tkinter, "Tk", lambda: FakeRoot(fake))
    monkeypatch.setattr(tkinter, "Label", FakeLabel)
    monkeypatch.setattr(tkinter, "PhotoImage", FakePicture)
    monkeypatch.setattr(window, "time", SimpleNamespace(sleep=fake.sleep, monotonic=lambda: fake.now))
    return fake
