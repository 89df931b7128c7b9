"""The window, on a screen that only records."""

from __future__ import annotations

import sys
import tkinter

import numpy as np
import pytest
from envs.fake_screen import FakeScreen

from btai.envs import dSpritesEnv
from btai.envs.dsprites.window import Window
from btai.errors import EnvError

FRAME = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def test_a_frame_is_shown_as_a_picture_of_its_size(screen: FakeScreen) -> None:
    Window("a title", frames_per_second=4).show(FRAME)
    assert screen.titles == ["a title"]
    assert screen.pictures == [b"P6 3 2 255 " + bytes(range(18))]


def test_each_frame_stays_long_enough_to_be_seen(screen: FakeScreen) -> None:
    window = Window("", frames_per_second=4)
    window.show(FRAME)
    screen.now += 0.1  # what the agent took to decide
    window.show(FRAME)
    screen.now += 9
    window.show(FRAME)
    assert screen.pauses == pytest.approx([0, 0.15, 0])


def test_a_window_that_was_closed_by_hand_stays_closed(screen: FakeScreen) -> None:
    window = Window("", frames_per_second=4)
    screen.closing_at_next_update = True
    window.show(FRAME)
    window.show(FRAME)
    window.close()
    assert len(screen.pictures) == 1
    assert screen.open_windows == 0


def test_without_a_display_the_error_names_the_other_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_display() -> None:
        raise tkinter.TclError("no display name and no $DISPLAY environment variable")

    monkeypatch.setattr(tkinter, "Tk", no_display)
    with pytest.raises(EnvError) as error:
        dSpritesEnv(render_mode="human").reset()
    assert str(error.value) == (
        "render_mode='human' needs a display, and none can be opened (no display name and no $DISPLAY"
        " environment variable): choose render_mode='rgb_array' to get the images as arrays."
    )


def test_without_tkinter_the_error_names_the_other_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tkinter", None)
    with pytest.raises(EnvError) as error:
        dSpritesEnv(render_mode="human").reset()
    assert str(error.value) == (
        "render_mode='human' needs tkinter, which this Python comes without: install it, or choose"
        " render_mode='rgb_array' to get the images as arrays."
    )
