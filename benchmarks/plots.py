"""Each curve as a picture: readable in print, in grey, and small."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.measure import Curve, Mark

__all__ = ["available", "draw"]

STYLES = (("o", "-", "#1b4f8a"), ("s", "--", "#b5541c"), ("^", "-.", "#3f7d4e"))  # told apart in grey, too


def available() -> bool:
    """Whether the extra that draws is installed."""
    return find_spec("matplotlib") is not None


def draw(curves: Sequence[Curve], folder: Path) -> None:
    """Write a picture for each curve into the folder, `<curve>.png`, or one for those that belong together."""
    import matplotlib as mpl

    mpl.use("Agg")
    pictures: dict[str, list[Curve]] = {}
    for curve in curves:
        pictures.setdefault(curve.picture or curve.name, []).append(curve)
    for name, panels in pictures.items():
        with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
            _draw(panels, folder / f"{name}.png")


def _draw(curves: Sequence[Curve], path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(curves), figsize=(4.2 * len(curves), 3.0), layout="constrained", squeeze=False
    )
    for axes, curve in zip(panels[0], curves, strict=True):
        _plot(axes, curve)
    figure.savefig(path, dpi=200)
    pyplot.close(figure)


def _plot(axes: Any, curve: Curve) -> None:
    from matplotlib import ticker

    for (name, points), (marker, line, colour) in zip(curve.series.items(), STYLES, strict=False):
        x, y = zip(*points, strict=True)
        axes.plot(x, y, marker=marker, linestyle=line, color=colour, markersize=4, linewidth=1.3, label=name)
    ticks = [x for x, _ in next(iter(curve.series.values()))]
    xscale = "log" if ticks[-1] > 8 * ticks[0] else "linear"
    axes.set(xscale=xscale, yscale="log", xlabel=curve.x, ylabel=curve.y, title=curve.title)
    axes.grid(which="major", color="0.85", linewidth=0.6)
    axes.minorticks_off()
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks], rotation=45 if len(ticks) > 7 else 0)
    low, high = axes.get_ylim()
    if high < 300 * low:  # ticks at powers of ten alone would be too few
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    if high < 1e6:  # as a power of ten beyond
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    if curve.mark is not None:
        _mark(axes, curve.mark, dict(curve.series[curve.mark.series])[curve.mark.x])
    if len(curve.series) > 1:
        axes.legend(frameon=False)


def _mark(axes: Any, mark: Mark, y: float) -> None:
    axes.plot(mark.x, y, "o", color="black", markerfacecolor="none", markersize=10)
    axes.annotate(mark.text, (mark.x, y), (-6, 6), textcoords="offset points", ha="right", va="bottom")
