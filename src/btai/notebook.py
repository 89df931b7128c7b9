"""HTML for notebooks: no script, nothing fetched, and the colours of the surrounding text, light or dark.

What is not `Html` is text and is escaped, here and nowhere else; so a variable's name cannot become markup. Everything
is well-formed, also as XML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

__all__ = ["Html", "bar", "element", "histogram", "likeliest", "panel", "table"]

Vector = NDArray[np.float64]

BLUE = "#5b8bd0"  # readable on white and on black
CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:middle;max-width:none"
NUMBER = CELL.replace("left", "right") + ";white-space:nowrap"
LEAST_NAMED = 0.0005  # a probability that is not shown as 0.0 %
MOST_COLUMNS = 128  # of a histogram; more would be thinner than a pixel


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def element(tag: str, *content: object, **attributes: str) -> Html:
    """One element and what it holds; text is escaped."""
    named = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    inner = "".join(part if isinstance(part, Html) else escape(str(part)) for part in content)
    return Html(f"<{tag}{named}>{inner}</{tag}>")


def panel(title: object, *content: object) -> Html:
    """What an object shows of itself, under its title."""
    return element("div", element("div", element("b", title)), *content, style="font-variant-numeric:tabular-nums")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> Html:
    """Rows under their heads; the columns `numbers` stand to the right."""
    styles = [NUMBER if column in numbers else CELL for column in range(len(heads))]
    head = element("tr", *(element("th", cell, style=s) for cell, s in zip(heads, styles, strict=True)))
    body = (element("tr", *(element("td", cell, style=s) for cell, s in zip(row, styles, strict=True))) for row in rows)
    shown = [element("thead", head)] if any(heads) else []
    drawn = element("table", *shown, element("tbody", *body), style="border-collapse:collapse;margin:4px 0;width:auto")
    return element("div", drawn, style="overflow-x:auto")


def bar(share: float) -> Html:
    """A horizontal bar, full at 1."""
    width = 100 * min(max(share, 0.0), 1.0)
    full = element("span", style=f"display:block;width:{width:.1f}%;height:0.6em;background:{BLUE}")
    return element("span", full, style="display:inline-block;width:100px;border-left:1px solid")


def histogram(vector: Vector, labels: Sequence[str]) -> Html:
    """A column for each value of a variable, full at probability 1; empty where there are too many values."""
    if len(vector) > MOST_COLUMNS:
        return Html()
    width = max(1, min(14, 168 // len(vector)))
    style = f"display:inline-block;width:{width}px;margin-right:1px;background:{BLUE};height:"
    columns = (
        element("span", title=f"{label}: {p:.1%}", style=f"{style}{100 * p:.1f}%")
        for p, label in zip(vector.tolist(), labels, strict=True)
    )
    whole = "display:inline-flex;align-items:flex-end;height:2em;border-bottom:1px solid"
    return element("span", *columns, style=whole)


def likeliest(vector: Vector, label: Callable[[int], str], most: int = 4) -> str:
    """The most probable values in words, the first of equals first; the others are summed up."""
    order = np.argsort(-vector, kind="stable")
    named = max(1, int((vector[order[:most]] >= LEAST_NAMED).sum()))
    words = [f"{label(i)}: {vector[i]:.1%}" for i in order[:named].tolist()]
    if others := len(order) - named:
        words.append(f"{others:,} other{'s' * (others > 1)}: {vector[order[named:]].sum():.1%}")
    return ", ".join(words)
