"""The paper's four tables: what they say, running them again, and showing both side by side."""

from btai.experiments.paper.figure import check_figure, draw_figure
from btai.experiments.paper.reproduce import Reproduced, Score, reproduce
from btai.experiments.paper.rows import AUTHORS_SOURCE, PAPER_SOURCE, ROWS, Found, Row
from btai.experiments.paper.show import as_json, as_markdown, as_tables

__all__ = [
    "AUTHORS_SOURCE",
    "PAPER_SOURCE",
    "ROWS",
    "Found",
    "Reproduced",
    "Row",
    "Score",
    "as_json",
    "as_markdown",
    "as_tables",
    "check_figure",
    "draw_figure",
    "reproduce",
]
