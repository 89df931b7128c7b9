"""A window that shows images, for people who want to watch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from btai.errors import EnvError

if TYPE_CHECKING:
    import tkinter as tk

__all__ = ["Window"]

_ZOOM = 8  # screen pixels per pixel of the image
_INSTEAD = "choose render_mode='rgb_array' to get the images as arrays."


class Window:
    """Shows one image after the other, each for a while. Once closed, by whomever, it stays closed."""

    def __init__(self, title: str, frames_per_second: float) -> None:
        self._root: tk.Tk | None = _open_root()
        self._root.title(title)
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._label: tk.Label | None = None
        self._picture: tk.PhotoImage | None = None
        self._pause = 1 / frames_per_second
        self._next_frame = 0.0

    def show(self, frame: NDArray[np.uint8]) -> None:
        """Show a frame [rows, columns, 3], not before the previous one has been seen."""
        import tkinter as tk

        if self._root is None:
            return
        time.sleep(max(0.0, self._next_frame - time.monotonic()))
        self._next_frame = time.monotonic() + self._pause
        if self._label is None:
            self._label = tk.Label(self._root)
            self._label.pack()
        height, width, _ = frame.shape
        data = b"P6 %d %d 255 " % (width, height) + frame.tobytes()  # the simplest image format Tk reads
        # Tk keeps no reference to the picture: without this one it would vanish from the window.
        self._picture = tk.PhotoImage(master=self._root, data=data, format="ppm").zoom(_ZOOM)
        self._label.configure(image=self._picture)
        self._root.update()

    def close(self) -> None:
        """Close the window; closing it again does nothing."""
        if self._root is not None:
            self._root.destroy()
            self._root = None


def _open_root() -> tk.Tk:
    try:
        import tkinter as tk
    except ImportError as error:
        raise EnvError(
            f"render_mode='human' needs tkinter, which this Python comes without: install it, or {_INSTEAD}"
        ) from error
    try:
        return tk.Tk()
    except tk.TclError as error:
        raise EnvError(f"render_mode='human' needs a display, and none can be opened ({error}): {_INSTEAD}") from error
