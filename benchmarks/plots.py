"""Each curve as a picture: readable in print, in grey, and small."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import Curve

__all__ = ["available", "draw"]

STYLES = (("o", "-", "#1b4f8a"), ("s", "--", "#b5541c"), ("^", "-.", "#3f7d4e"))  # told apart in grey, too


def available() -> bool:
    """Whether the extra that draws is installed."""
    return find_spec("matplotlib") is not None


def draw(curves: Sequence[Curve], folder: Path) -> None:
    """Write `<curve>.png` for each into the folder."""
    import matplotlib as mpl

    mpl.use("Agg")
    for curve in curves:
        with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
            _draw(curve, folder / f"{curve.name}.png")


def _draw(curve: Curve, path: Path) -> None:
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(4.2, 3.0), layout="constrained")
    for (name, points), (marker, line, colour) in zip(curve.series.items(), STYLES, strict=False):
        x, y = zip(*points, strict=True)
        axes.plot(x, y, marker=marker, linestyle=line, color=colour, markersize=4, linewidth=1.3, label=name)
    axes.set(xscale="log", yscale="log", xlabel=curve.x, ylabel=curve.y, title=curve.title)
    axes.grid(which="major", color="0.85", linewidth=0.6)
    axes.minorticks_off()
    ticks = [x for x, _ in next(iter(curve.series.values()))]
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks], rotation=45 if len(ticks) > 6 else 0)
    low, high = axes.get_ylim()
    if high < 300 * low:  # ticks at powers of ten alone would be too few
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    if len(curve.series) > 1:
        axes.legend(frameon=False)
    figure.savefig(path, dpi=200)
    pyplot.close(figure)
