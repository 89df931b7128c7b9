"""P(solved) against seconds per trial: all agents and granularities in one picture."""

from __future__ import annotations

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


def check_figure(path: Path) -> None:
    """Refuse what could not be drawn in the end, before anything is run."""
    if path.suffix.lower() not in FORMATS:
        raise BtaiError(
            f"figure: {path} was given; a name that ends in one of {', '.join(FORMATS)} is required. Rename it."
        )
    imported("matplotlib", "a figure")


def draw_figure(lines: Sequence[Reproduced], path: Path) -> None:
    """Write the picture: a full mark for each line of the tables, a hollow one for the authors' program."""
    check_figure(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        _mark(axes, [line for line in lines if line.row.ties == "cost"])
        axes.set(xscale="log", xlabel="seconds per trial", ylabel="P(solved)", title="dSprites: how much, how fast")
        axes.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g} s" if seconds >= 1 else f"{1e3 * seconds:g} ms")
        axes.grid(which="major", color="0.85", linewidth=0.6)
        narrow = {"fontsize": "small", "columnspacing": 1.0, "handletextpad": 0.3}
        figure.legend(frameon=False, loc="outside lower center", ncols=len(STYLES), **narrow)  # a column for each agent
        try:
            figure.savefig(path, dpi=200)
        except OSError as error:
            raise BtaiError(f"{path}: cannot be written ({error.strerror}). Choose another place.") from error


def _mark(axes: Any, lines: Sequence[Reproduced]) -> None:
    """The marks of each agent, joined with their counterparts; at the last one of each granularity its number."""
    for agent, of_agent in groupby(lines, lambda line: line.row.agent):
        marker, colour = STYLES[agent]
        group = list(of_agent)
        points = [(_theirs(line), _ours(line)) for line in group]
        for pair in points:
            axes.plot(*zip(*pair, strict=True), color=colour, linewidth=0.5, alpha=0.6)
        for place, fill, label in ((0, "white", f"{agent}, authors' program"), (1, colour, f"{agent}, btai")):
            x, y = zip(*(pair[place] for pair in points), strict=True)
            axes.plot(x, y, marker, color=colour, markerfacecolor=fill, markersize=5, label=label)
        for granularity, point in {line.row.granularity: _ours(line) for line in group}.items():
            axes.annotate(f"g {granularity}", point, (-4, 4), textcoords="offset points", ha="right", color=colour)


def _ours(line: Reproduced) -> tuple[float, float]:
    return line.seconds, line.score(line.row.unfinished).p_solved


def _theirs(line: Reproduced) -> tuple[float, float]:
    """What their program solved when we ran it, or else what the paper reports, in the seconds it took us."""
    row = line.row
    solved = row.paper.p_solved if row.authors.p_solved is None else row.authors.p_solved
    assert solved is not None
    assert row.authors.seconds is not None
    return row.authors.seconds, solved
