"""A screen for the tests: what a window would show is recorded instead of drawn."""

from __future__ import annotations

from collections.abc import Callable


class FakeScreen:
    """Stands for tkinter and the clock; keeps the raw picture data in the order in which they were shown."""

    def __init__(self) -> None:
        self.pictures: list[bytes] = []
        self.pauses: list[float] = []
        self.open_windows = 0
        self.titles: list[str] = []
        self.now = 100.0
        self.click_on_close: Callable[[], None] = lambda: None
        self.closing_at_next_update = False

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class FakeRoot:
    def __init__(self, screen: FakeScreen) -> None:
        self.screen = screen
        screen.open_windows += 1

    def title(self, text: str) -> None:
        self.screen.titles.append(text)

    def protocol(self, name: str, function: Callable[[], None]) -> None:
        assert name == "WM_DELETE_WINDOW"
        self.screen.click_on_close = function

    def update(self) -> None:
        if self.screen.closing_at_next_update:
            self.screen.click_on_close()

    def destroy(self) -> None:
        self.screen.open_windows -= 1


class FakePicture:
    def __init__(self, master: FakeRoot, data: bytes, format: str) -> None:  # noqa: A002 - Tk's name
        assert format == "ppm"
        self.data = data

    def zoom(self, factor: int) -> FakePicture:
        assert factor > 1
        return self


class FakeLabel:
    def __init__(self, root: FakeRoot) -> None:
        self.screen = root.screen

    def pack(self) -> None:
        pass

    def configure(self, image: FakePicture) -> None:
        self.screen.pictures.append(image.data)
