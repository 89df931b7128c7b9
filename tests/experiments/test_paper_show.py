"""The tables, the remarks and the picture, from lines that were made up."""

from __future__ import annotations

import io
import json
from pathlib import Path

import matplotlib.image
import pytest
from experiments.paper_lines import line, row
from rich.console import Console

from btai.errors import BtaiError
from btai.experiments.paper import ROWS, Reproduced, as_json, as_markdown, as_tables, check_figure, draw_figure
from btai.experiments.paper.remarks import remarks

FLAT, FACTORED = line(row("BTAI_BF", 2), seconds=0.05), line(row("BTAI_3MF", 1, 150), seconds=0.005)
ALL = [line(r) for r in ROWS]


def printed(lines: list[Reproduced], width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    for part in as_tables(lines):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def cells(text: str, agent: str) -> list[list[str]]:
    """The cells of an agent's lines of the tables."""
    rows = map(str.split, text.splitlines())
    return [row for row in rows if row[:1] == [agent] and row[1].isdigit()]


# --- the terminal -----------------------------------------------------------------------------------------------------


def test_line_of_an_agent_that_draws_says_what_is_known_and_what_came_out() -> None:
    solved, fast = cells(printed([FLAT]), "BTAI_BF")
    # 90 of 100 trials earn 1, 4 earn -1, 6 are unfinished; Wilson's interval of 0.93.
    assert solved == ["BTAI_BF", "2", "50", "0.986", "0.950", "0.930", "(0.86–0.97)", "0.930", "±", "0.052", "0.900"]
    # Published 17503.8 ms, measured 39.5 s, repaired 570 ms; 50 ms here.
    assert fast == ["BTAI_BF", "2", "50", "17,504", "39,500", "570", "50.0", "350", "790", "11"]


def test_line_of_btai_3mf_counts_unfinished_trials_as_its_program_does_and_every_start_without_error() -> None:
    solved, fast = cells(printed([FACTORED]), "BTAI_3MF")
    assert solved == ["BTAI_3MF", "1", "150", "1.000", "-", "0.900", "(0.83–0.94)", "1.000000", "1.000000"]
    assert fast == ["BTAI_3MF", "1", "150", "-", "1,250", "-", "5.00", "-", "250", "-"]


def test_tables_say_what_all_trials_are() -> None:
    whole = " ".join(printed([FLAT, FACTORED]).split())
    assert "all trials: 100 from random starts; of BTAI_3MF one from each of 3,072 starts." in whole
    assert "*:" not in whole


@pytest.mark.parametrize("seconds", [0.00004, 12.5])
def test_nothing_is_cut_off_on_a_terminal_of_eighty_columns(seconds: float) -> None:
    shown = printed([line(r, seconds) for r in ROWS], width=80)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "How much of dSprites is solved: P(solved) = (total reward + trials) / (2 trials)\n" in printed(
        [FLAT], width=80
    )
    wider = printed([line(r, seconds) for r in ROWS], width=200)
    for agent in ("BTAI_VMP", "BTAI_BF", "BTAI_3MF"):
        lines = cells(shown, agent)
        assert lines == cells(wider, agent)
        assert len(lines) == 2 * len([r for r in ROWS if r.marked_agent == agent])


def test_line_with_other_ties_is_marked_explained_and_not_timed() -> None:
    shown = printed(ALL)
    assert [found[:3] for found in cells(shown, "BTAI_3MF*")] == [["BTAI_3MF*", "1", "100"]]
    assert '*: ties="first", of the most visited actions the first is taken.' in " ".join(shown.split())


# --- the remarks ------------------------------------------------------------------------------------------------------


def test_remarks_are_those_of_the_agents_that_were_run() -> None:
    words = " ".join(remarks([FACTORED]))
    assert "makes the agent oscillate" in words
    assert "128 s" in words
    assert "BTAI_BF" not in words
    assert remarks([FLAT]) == []


def test_agents_are_compared_where_they_solve_most() -> None:
    told = " ".join(remarks([FLAT, FACTORED]))
    assert "takes 5 ms, one of BTAI_BF at granularity 2 (50 iterations) 50 ms: BTAI_3MF is 10 times as fast." in told


@pytest.mark.parametrize(("flat", "verdict"), [(0.002, "BTAI_BF is 2.5 times"), (0.01, "BTAI_3MF is 2 times")])
def test_flat_agent_is_said_to_be_the_faster_one_where_it_is(flat: float, verdict: str) -> None:
    (told,) = remarks([line(row("BTAI_BF", 8), flat), line(row("BTAI_3MF", 8), 0.005)])[3:]
    # Three quarters of the seconds are planning, of 100 iterations.
    assert "a trial of BTAI_3MF takes 5 ms (a planning iteration 37.5 µs)" in told
    assert f"one of BTAI_BF {1e3 * flat:g} ms ({7.5e3 * flat:g} µs): {verdict} as fast." in told
    # 5.0 ms repaired against 0.31 s
    assert told.endswith("in PyTorch and in C++ (repaired), BTAI_BF is 62 times as fast.")


# --- documents and machines -------------------------------------------------------------------------------------------


def test_markdown_has_the_cells_of_the_terminal() -> None:
    text = as_markdown([FLAT, FACTORED])
    table = [row.strip("| ").split(" | ") for row in text.splitlines() if row.startswith("|")]
    assert len(table) == 2 * 4
    assert len({len(cells) for cells in table}) == 2  # one width for each of the two tables
    for agent in ("BTAI_BF", "BTAI_3MF"):
        rows = [" ".join(cells).split() for cells in table if cells[0] == agent]
        assert rows == cells(printed([FLAT, FACTORED]), agent)
    assert "- Where they solve most: " in text
    assert "| all trials, unfinished 0 | or -1 |" in text


def test_json_has_every_figure_and_its_source() -> None:
    flat, factored = json.loads(json.dumps(as_json([FLAT, FACTORED])))
    assert (flat["agent"], flat["granularity"], flat["planning"], flat["table"]) == ("BTAI_BF", 2, 50, 3)
    assert flat["paper"]["p_solved"] == 0.986
    assert flat["authors"] == {"p_solved": 0.95, "seconds": 39.5, "trials": 10, "p_solved_by_text": 0.9}
    assert flat["p_solved"]["unfinished_as_0"]["p_solved"] == pytest.approx(0.93)
    assert flat["p_solved"]["unfinished_as_-1"]["p_solved"] == pytest.approx(0.90)
    assert flat["times_faster_than"] == pytest.approx({"paper": 350.076, "authors": 790.0, "repaired": 11.4})
    assert (flat["random"]["trials"], flat["random"]["finished"], flat["all_starts"]) == (100, 94, None)
    assert factored["times_faster_than"]["paper"] is None  # its clock ticks every 128 s
    assert factored["all_starts"]["trials"] == 3072
    assert "random trials" in factored["sources"]["paper"]


# --- the picture ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_picture_of_all_lines_is_drawn(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"figure{suffix}"
    draw_figure(ALL, path)
    if suffix == ".png":
        image = matplotlib.image.imread(path)
        assert image.shape[:2] == (880, 1280)
        assert len({tuple(pixel) for pixel in image.reshape(-1, image.shape[-1])}) > 3  # it is not blank
    elif suffix == ".svg":
        text = path.read_text("utf-8")
        assert all(f"<!-- {words} -->" in text for words in ("BTAI_VMP", "BTAI_BF", "BTAI_3MF", "P(solved)"))
        assert text.count("<!-- g 1 -->") == 1  # of the three lines at granularity 1


def test_marks_of_one_granularity_that_differ_in_height_say_their_iterations(tmp_path: Path) -> None:
    lower = line(row("BTAI_VMP", 8, 10))
    higher = Reproduced(row("BTAI_VMP", 8, 25), line(row("BTAI_3MF", 8)).all_starts or lower.random)
    draw_figure([lower, higher, line(row("BTAI_BF", 8))], tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text("utf-8")
    found = [words for words in ("g 8, n 10", "g 8, n 25", "g 8, n 50", "g 8") if f"<!-- {words} -->" in text]
    assert found == ["g 8, n 10", "g 8, n 25", "g 8"]


def test_words_below_the_picture_lie_inside_it(tmp_path: Path) -> None:
    draw_figure(ALL, tmp_path / "figure.png")
    image = matplotlib.image.imread(tmp_path / "figure.png")
    for border in (image[:, :4], image[:, -4:], image[-4:]):
        assert (border == 1).all()  # white: nothing was cut off


def test_picture_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(BtaiError, match=r"figure: figure\.txt was given; a name that ends in one of \.png"):
        check_figure(Path("figure.txt"))


def test_picture_for_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BtaiError, match=r"figure: .*nowhere.figure\.png was given; a folder that exists"):
        check_figure(tmp_path / "nowhere" / "figure.png")


def test_picture_that_cannot_be_written_is_an_error_of_btai(tmp_path: Path) -> None:
    (tmp_path / "figure.png").mkdir()
    with pytest.raises(BtaiError, match=r"figure\.png: cannot be written \(Is a directory\)"):
        draw_figure([FLAT], tmp_path / "figure.png")
