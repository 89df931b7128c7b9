"""The examples run, and what they print is what a calculation by hand gives."""

from __future__ import annotations

import math
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspector.browsing import Browser

from btai import BTAI_BF, BTAI_VMP
from btai.envs import dSpritesPreProcessingWrapper

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PAPER = EXAMPLES.parents[1] / "shared" / "paper" / "btai_3mf.tex"


def output_of(name: str) -> list[str]:
    """The lines an example prints, run as a user runs it; a warning is an error."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


# --- the smallest agent ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walker() -> list[str]:
    return output_of("smallest_agent.py")


def test_smallest_agent_has_less_than_25_lines() -> None:
    assert len((EXAMPLES / "smallest_agent.py").read_text("utf-8").splitlines()) < 25


def test_walker_believes_what_bayes_rule_says(walker: list[str]) -> None:
    first, second = (line.split() for line in walker if line.startswith("I am at:"))
    # Darkness is seen with probability 0.9, 0.8, 0.5 and 0.1 at the four places: 2.3 in all.
    assert first[3:] == ["door", "39%", "bench", "35%", "stairs", "22%", "lamp", "4%"]
    # One step to the right, and dark again: 0.9 * 0.8, 0.8 * 0.5, (0.5 + 0.1) * 0.1, 1.18 in all.
    assert second[3:] == ["door", "0%", "bench", "61%", "stairs", "34%", "lamp", "5%"]


def test_walker_plans_to_go_to_the_lamp_and_stay(walker: list[str]) -> None:
    first, second = (line.removeprefix("My plan: ").split() for line in walker if line.startswith("My plan:"))
    assert first[:4] == ["right", "right", "right", "stay"]
    assert second[:3] == ["right", "right", "stay"]
    assert set(first[3:]) == set(second[2:]) == {"stay"}


def test_walker_explains_itself(walker: list[str]) -> None:
    chosen = next(line for line in walker if "was chosen" in line)
    assert chosen.startswith("right was chosen (planning iterations: 50, visits: ")
    rows = {line.split()[0]: line for line in walker if line.startswith(("  left", "  stay", "  right"))}
    assert rows["right"].endswith("chosen")
    assert "more, mainly by the risk of O_light (+" in rows["left"]
    assert "more, mainly by the risk of O_light (+" in rows["stay"]


# --- the T-maze ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def maze() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / "t_maze.py"))


NORMALISER = 1 + math.e + math.exp(-2)  # of the preference softmax([0, 1, -2]) over nothing, reward, shock
NOTHING = math.log(NORMALISER)
GAMBLE = 0.5 * (math.log(0.5) - 1) + 0.5 * (math.log(0.5) + 2) + math.log(NORMALISER)
SNOW = math.log(2)


@pytest.mark.parametrize(
    ("name", "snow", "at_cue"), [("snow", SNOW, 0.0), ("blank screen", 0.0, 0.0), ("useless cue", SNOW, 0.0)]
)
def test_first_step_costs_what_the_hand_calculates(maze: dict[str, Any], name: str, snow: float, at_cue: float) -> None:
    costs = maze["first_costs"](maze["t_maze_slice"](name))
    assert list(costs) == ["centre", "cue", "left arm", "right arm"]
    assert costs["centre"] == pytest.approx((NOTHING, snow))
    assert costs["cue"] == pytest.approx((NOTHING, at_cue))
    assert costs["left arm"] == costs["right arm"] == pytest.approx((GAMBLE, snow))


def test_gamble_beats_the_cue_unless_it_snows() -> None:
    assert GAMBLE < NOTHING < GAMBLE + SNOW


def ways(maze: dict[str, Any], name: str) -> tuple[list[list[str]], list[bool]]:
    """The ways taken and the rewards found in both contexts, reward left first."""
    trials = [maze["run"](name, context) for context in (0, 1)]
    return [trial.places for trial in trials], [trial.rewarded for trial in trials]


def test_agent_goes_to_the_cue_first_where_it_snows_elsewhere_and_finds_every_reward(maze: dict[str, Any]) -> None:
    places, rewarded = ways(maze, "snow")
    assert places == [["centre", "cue", "left arm"], ["centre", "cue", "right arm"]]
    assert rewarded == [True, True]


@pytest.mark.parametrize("seed", range(5))
def test_snow_itself_makes_no_difference(maze: dict[str, Any], seed: int) -> None:
    assert all(maze["run"]("snow", context, seed).rewarded for context in (0, 1))


def test_agent_guesses_where_nothing_is_ambiguous_though_the_cue_tells_as_much(maze: dict[str, Any]) -> None:
    places, rewarded = ways(maze, "blank screen")
    assert places[0] == places[1]
    assert [len(way) for way in places] == [2, 2]
    assert "cue" not in places[0]
    assert sorted(rewarded) == [False, True]


def test_agent_stays_at_a_clear_cue_that_tells_nothing(maze: dict[str, Any]) -> None:
    places, rewarded = ways(maze, "useless cue")
    assert places == [["centre"] + ["cue"] * 4] * 2
    assert rewarded == [False, False]


def test_t_maze_says_what_the_planner_can_and_cannot_do() -> None:
    printed = output_of("t_maze.py")
    rewards = [line.split(";")[0].strip() for line in printed if "rewards:" in line]
    assert rewards == ["rewards: 2 of 2", "rewards: 1 of 2", "rewards: 0 of 2"]
    assert "    cue        1.349 = 1.349 + 0.000" in printed
    assert "    left arm   1.849 = 1.156 + 0.693" in printed
    assert "not because it could learn something" in printed[-2]


# --- the paper's Appendix A ------------------------------------------------------------------------------------------


def test_appendix_a_solves_each_of_its_hundred_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    execute = dSpritesPreProcessingWrapper.execute
    rewards = []

    def watched(env: dSpritesPreProcessingWrapper, action: int) -> dict[str, int]:
        obs = execute(env, action)
        if env.done():
            rewards.append(env.get_reward())
        return obs

    monkeypatch.setattr(dSpritesPreProcessingWrapper, "execute", watched)
    runpy.run_path(str(EXAMPLES / "appendix_a.py"))
    assert rewards == [1.0] * 100  # whatever the starts: none of the 3,072 is missed


@pytest.mark.skipif(not PAPER.exists(), reason=f"the paper's text is not there: {PAPER}")
def test_appendix_a_is_the_papers_script_but_for_its_imports() -> None:
    appendix = PAPER.read_text("utf-8").partition("section*{Appendix A")[2].partition("section*{Appendix B")[0]
    listings = re.findall(r"\\begin\{Verbatim\}.*?\n(.*?)\\end\{Verbatim\}", appendix, re.DOTALL)
    papers = "".join(listing for listing in listings if "torch" not in listing)  # tables by hand, not of the script
    script = (EXAMPLES / "appendix_a.py").read_text("utf-8").partition("# Create the environment.")
    assert lines_of("".join(script[1:])) == lines_of(papers)


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


# --- the paper's Appendix B ------------------------------------------------------------------------------------------


def test_appendix_b_opens_the_inspector_on_an_agent_that_can_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(monkeypatch)
    agent = runpy.run_path(str(EXAMPLES / "appendix_b.py"))["agent"]
    assert len(browser.opened) == 1
    assert len(agent.tree.expanded) == 5  # what the stand-in for the browser asks for


# --- flattening ------------------------------------------------------------------------------------------------------


def test_only_the_joint_belief_remembers_that_the_lamps_agree() -> None:
    example = runpy.run_path(str(EXAMPLES / "flattening.py"))
    sure, cost = example["prediction"](example["lamps"])
    # Each lamp by itself is on or off like a coin, so two of them agree every second time: KL((.5, .5) || (.9, .1)).
    assert (sure, cost) == pytest.approx((0.5, 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)))
    sure, cost = example["prediction"](example["flatten"](example["lamps"], ["S_left", "S_right"]))
    assert (sure, cost) == pytest.approx((1.0, math.log(1 / 0.9)))


def test_lamps_are_shown_one_by_one_and_together() -> None:
    assert output_of("flattening.py") == [
        "values of the merged state: (off, off) (off, on) (on, off) (on, on)",
        " factored: S_left [0.5 0.5], S_right [0.5 0.5]",
        "           they will agree again: 50%; expected free energy 0.5108",
        "flattened: S_left_right [0.5 0.  0.  0.5]",
        "           they will agree again: 100%; expected free energy 0.1054",
    ]


# --- two futures -----------------------------------------------------------------------------------------------------


def test_filter_stays_unsure_where_variational_message_passing_commits_itself() -> None:
    futures = runpy.run_path(str(EXAMPLES / "two_futures.py"))
    present, filtered = futures["future"](BTAI_BF)
    assert present[:2] == pytest.approx([0.6, 0.4])
    assert filtered == pytest.approx([0.02, 0.548, 0.372, 0.02, 0.02, 0.02])  # 0.9 * 0.6 + 0.02 * 0.4, and so on
    present, committed = futures["future"](BTAI_VMP)
    assert present[:2] == pytest.approx([0.6, 0.4])
    assert committed[1:3] == pytest.approx([0.998, 0.001], abs=5e-4)


def test_two_futures_are_shown_beside_each_other() -> None:
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in output_of("two_futures.py")}
    assert rows["BTAI_BF", "now:"] == rows["BTAI_VMP", "now:"]
    assert rows["BTAI_BF", "next:"] == ["0.020", "0.548", "0.372", "0.020", "0.020", "0.020"]
    assert rows["BTAI_VMP", "next:"] == ["0.000", "0.998", "0.001", "0.000", "0.000", "0.000"]
