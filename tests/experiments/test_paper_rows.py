"""What is stored of the paper and of its programs, against the paper's text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from btai.experiments.paper import ROWS

TEXT = Path(__file__).parents[3] / "shared" / "paper" / "btai_3mf.tex"

# Copied by hand: table, agent, granularity, planning iterations, P(solved), seconds.
PAPER = [
    (1, "BTAI_VMP", 8, 10, 0.813, 0.859),
    (1, "BTAI_VMP", 8, 25, 0.846, 0.862),
    (1, "BTAI_VMP", 8, 50, 0.885, 1.286),
    (2, "BTAI_VMP", 4, 10, 0.859, 3.957),
    (2, "BTAI_VMP", 4, 25, 0.933, 3.711),
    (2, "BTAI_VMP", 4, 50, 0.969, 5.107),
    (3, "BTAI_BF", 8, 50, 0.861, 49.93e-3),
    (3, "BTAI_BF", 4, 50, 0.977, 241.63e-3),
    (3, "BTAI_BF", 2, 50, 0.986, 17503.8e-3),
    (4, "BTAI_3MF", 8, 50, 0.895, 1.279),
    (4, "BTAI_3MF", 4, 50, 0.977, 1.279),
    (4, "BTAI_3MF", 2, 50, 0.996, 1.279),
    (4, "BTAI_3MF", 1, 50, 0.72, 2.559),
    (4, "BTAI_3MF", 1, 100, 0.77, 5.119),
    (4, "BTAI_3MF", 1, 150, 1.0, 2.559),
]
# The authors' programs where they were run: P(solved) with unfinished trials at 0 and at -1, seconds.
AUTHORS = {
    ("BTAI_VMP", 8, 10): (0.808, 0.710, 0.33),
    ("BTAI_VMP", 8, 25): (0.856, 0.828, 0.34),
    ("BTAI_VMP", 8, 50): (0.874, 0.871, 0.47),
    ("BTAI_VMP", 4, 10): (0.819, 0.646, 3.7),
    ("BTAI_VMP", 4, 25): (0.891, 0.796, 4.1),
    ("BTAI_VMP", 4, 50): (0.947, 0.917, 4.7),
    ("BTAI_BF", 8, 50): (0.864, 0.849, 0.0397),
    ("BTAI_BF", 4, 50): (0.983, 0.983, 0.604),
    ("BTAI_BF", 2, 50): (0.95, 0.90, 39.5),
    ("BTAI_3MF", 8, 50): (None, None, 0.31),
    ("BTAI_3MF", 4, 50): (None, None, 0.36),
    ("BTAI_3MF", 2, 50): (None, None, 0.37),
    ("BTAI_3MF", 1, 50): (None, None, 1.55),
    ("BTAI_3MF", 1, 100): (None, None, 2.50),
    ("BTAI_3MF", 1, 150): (None, None, 1.25),
}


def test_tables_of_the_paper_are_there_in_full() -> None:
    rows = [
        (r.table, r.agent, r.granularity, r.planning, r.paper.p_solved, r.paper.seconds)
        for r in ROWS
        if r.ties == "cost"
    ]
    assert rows == PAPER


def test_authors_programs_did_what_is_stored() -> None:
    for row in ROWS:
        found = row.authors
        known = AUTHORS[row.agent, row.granularity, row.planning]
        assert (found.p_solved, found.p_solved_by_text, found.seconds) == known
    assert [r.repaired_seconds for r in ROWS if r.agent == "BTAI_BF"] == [0.0050, 0.0148, 0.570]


def test_every_line_has_a_name_of_its_own_and_a_table() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.table for row in ROWS} == {1, 2, 3, 4}


def test_line_with_other_ties_is_that_of_the_same_setting() -> None:
    (other,) = [row for row in ROWS if row.ties != "cost"]
    (same,) = [row for row in ROWS if row.ties == "cost" and (row.granularity, row.planning) == (1, 100)]
    assert (other.ties, other.paper, other.authors) == ("first", same.paper, same.authors)
    assert (other.name, other.marked_agent) == ("BTAI_3MF-g1-n100-ties-first", "BTAI_3MF*")


@pytest.mark.skipif(not TEXT.exists(), reason=f"the paper's text is not there: {TEXT}")
def test_copied_figures_are_those_of_the_papers_text() -> None:
    text = TEXT.read_text("utf-8")
    number = r"([\d.]+)\s*"
    shapes = {  # iterations, then the granularity where the table has it, P(solved), seconds or milliseconds
        "tab:dSprites_res_8": (1, 8, 1.0),
        "tab:dSprites_res_4": (2, 4, 1.0),
        "tab:btai_bf_dSprites_res": (3, None, 1e-3),
        "tab:btai_3mf_dSprites_res": (4, None, 1.0),
    }
    for label, (table, granularity, unit) in shapes.items():
        body = text[: text.index(f"\\label{{{label}}}")].rsplit("\\begin{tabular}", 1)[1]
        pattern = rf"{number}& {'' if granularity else number + '& '}{number}&\s*{number}\$"
        found = []
        for match in re.findall(pattern, body):
            planning, *rest, solved, seconds = match
            g = granularity or int(rest[0])
            found.append((g, int(planning), float(solved), float(seconds) * unit))
        copied = [line[2:] for line in PAPER if line[0] == table]
        np.testing.assert_allclose(found, copied, rtol=1e-12)
