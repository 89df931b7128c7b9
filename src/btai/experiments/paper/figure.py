"""P(solved) against seconds per trial: all agents and granularities in one picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from btai.errors import BtaiError
from btai.experiments.paper.reproduce import Reproduced
from btai.extras import imported

__all__ = ["check_figure", "draw_figure"]

FORMATS = (".png", ".pdf", ".svg")
STYLES = {"BTAI_VMP": ("o", "#b5541c"), "BTAI_BF": ("s", "#3f7d4e"), "BTAI_3MF": ("^", "#1b4f8a")}  # by shape, in grey
EXPLANATION = (
    "full marks: btai, hollow ones: the authors' programs; g: granularity, n: planning iterations\n"
    "unfinished trials count as they do in the authors' programs"
)


def check_figure(path: Path) -> None:
    """Refuse what could not be drawn in the end, before anything is run."""
    if path.suffix.lower() not in FORMATS:
        raise BtaiError(
            f"figure: {path} was given; a name that ends in one of {', '.join(FORMATS)} is required. Rename it."
        )
    if not os.access(path.parent, os.W_OK):
        raise BtaiError(
            f"figure: {path} was given; a folder that exists and may be written to is required. Choose another place."
        )
    imported("matplotlib", "a figure")


def draw_figure(lines: Sequence[Reproduced], path: Path) -> None:
    """Write the picture: a full mark for each line of the tables, a hollow one for the authors' program."""
    check_figure(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.add_subplot()
        axes.margins(x=0.12)  # room for words on the left
        shown = [line for line in lines if line.row.ties == "cost"]
        for agent, of_agent in groupby(shown, lambda line: line.row.agent):
            _mark(axes, agent, list(of_agent))
        axes.set(xscale="log", xlabel="seconds per trial", ylabel="P(solved)", title="dSprites: how much, how fast")
        axes.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g} s" if seconds >= 1 else f"{1e3 * seconds:g} ms")
        axes.grid(which="major", color="0.85", linewidth=0.6)
        figure.legend(frameon=False, loc="outside lower center", ncols=3, title=EXPLANATION, title_fontsize=8)
        try:
            figure.savefig(path, dpi=200)
        except OSError as error:
            raise BtaiError(f"{path}: cannot be written ({error.strerror}). Choose another place.") from error


def _mark(axes: Any, agent: str, lines: Sequence[Reproduced]) -> None:
    """The marks of one agent, each joined with its counterpart."""
    marker, colour = STYLES[agent]
    points = [(_theirs(line), _ours(line)) for line in lines]
    for pair in points:
        axes.plot(*zip(*pair, strict=True), color=colour, linewidth=0.5, alpha=0.4)
    theirs, ours = zip(*points, strict=True)
    axes.plot(*zip(*theirs, strict=True), marker, color=colour, markerfacecolor="white", markersize=5)
    axes.plot(*zip(*ours, strict=True), marker, color=colour, markersize=5, label=agent)
    for text, (seconds, solved) in _settings(lines).items():
        is_best = solved == max(solved for _, solved in ours)
        side: dict[str, Any] = {"xytext": (-4, 4), "va": "bottom"} if is_best else {"xytext": (-4, -3), "va": "top"}
        axes.annotate(text, (seconds, solved), textcoords="offset points", ha="right", color=colour, fontsize=8, **side)


def _settings(lines: Sequence[Reproduced]) -> dict[str, tuple[float, float]]:
    """What to write beside our marks, and where; iterations only where marks of one granularity differ in height."""
    heights: dict[int, set[float]] = {}
    for line in lines:
        heights.setdefault(line.row.granularity, set()).add(round(_ours(line)[1], 2))
    return {  # at the last of those with the same words
        f"g {line.row.granularity}"
        + (f", n {line.row.planning}" if len(heights[line.row.granularity]) > 1 else ""): _ours(line)
        for line in lines
    }


def _ours(line: Reproduced) -> tuple[float, float]:
    return line.seconds, line.score(line.row.unfinished).p_solved


def _theirs(line: Reproduced) -> tuple[float, float]:
    """What their program solved when we ran it, or else what the paper reports, in the seconds it took us."""
    row = line.row
    solved = row.paper.p_solved if row.authors.p_solved is None else row.authors.p_solved
    assert solved is not None
    assert row.authors.seconds is not None
    return row.authors.seconds, solved
