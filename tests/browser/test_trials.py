"""The trials of a run file: sorted by any column, opened at their start or at their worst cycle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser.models import MODELS
from browser.seen import Seen, agent_at, close, column, same
from inspector.recorded import Recorded, record
from playwright.sync_api import expect

from btai.experiments import RunFile, Trial
from btai.inspector import Inspector

COLUMNS = {"trial": "index", "reward": "reward", "cycles": "cycles", "planning iterations": "planning_iterations"}


@pytest.fixture(scope="module", params=MODELS)
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A run of several trials, of short plans that go wrong now and then."""
    return record(tmp_path_factory.mktemp("many"), request.param, 4, trials=7)


@pytest.fixture(scope="module")
def run(many: Recorded) -> Iterator[str]:
    """The address of a page that shows it."""
    with Inspector(many.trace) as inspector:
        yield inspector.url


def trials_of(many: Recorded) -> list[Trial]:
    with RunFile.open(many.path) as file:
        return file.trials()


def test_every_trial_with_its_numbers_and_those_of_all(seen: Seen, run: str, many: Recorded) -> None:
    trials = trials_of(many)
    seen.open(run, view="trials")
    rows = seen.rows("trials")
    assert column(rows, 0) == [str(trial.index) for trial in trials]
    for row, trial in zip(rows, trials, strict=True):
        same(row[1:3], [trial.reward, trial.cycles])
        assert row[3] == ("the environment" if trial.finished else "the step limit")
        same(row[4:6], [trial.planning_iterations, trial.seconds])
        assert row[7] == str(trial.seed)
    with RunFile.open(many.path) as file:
        summary = file.summary().as_dict()
    for label, key in (("mean reward", "reward_mean"), ("mean cycles", "cycles_mean"), ("share solved", "p_solved")):
        if isinstance(summary.get(key), float):
            close(seen.number(label), summary[key])


@pytest.mark.parametrize("label", COLUMNS)
def test_a_click_on_a_column_sorts_by_it_and_another_reverses(seen: Seen, run: str, many: Recorded, label: str) -> None:
    seen.open(run, view="trials", sort="cycles" if label == "trial" else "trial")
    header = seen.figure("trials").get_by_role("columnheader", name=label, exact=True)

    def key(trial: Trial) -> Any:
        return getattr(trial, COLUMNS[label])

    for direction, sign in (("ascending", 1), ("descending", -1)):
        header.get_by_role("button").click()
        expect(header).to_have_attribute("aria-sort", direction)
        expected = sorted(trials_of(many), key=lambda trial: (sign * key(trial), trial.index))
        assert column(seen.rows("trials"), 0) == [str(trial.index) for trial in expected]
    expect(header).to_contain_text("\N{DOWNWARDS ARROW}")  # said in a sign as well
    assert seen.place["sort"].startswith("-")


def test_a_trial_opens_at_its_start(seen: Seen, run: str) -> None:
    seen.open(run, view="trials")
    seen.press("Open trial 2 at its start")
    seen.expect_place(view="visualisation", trial=2, cycle=0)
    expect(seen.page.locator("[data-id=cycle]")).to_have_text("0")
    seen.page.go_back()
    seen.expect_place(view="trials")


def test_a_trial_opens_at_its_worst_cycle(seen: Seen, run: str, many: Recorded) -> None:
    for trial in trials_of(many)[:4]:
        outlooks = []
        for cycle, action in enumerate(trial.actions):
            agent = agent_at(many, cycle, many.make_agent().options.iterations, trial.index)
            outlooks.append(agent.tree.root.children[action].mean_cost)
        worst = outlooks.index(max(outlooks))
        seen.open(run, view="trials")
        seen.press(f"Open trial {trial.index} at its worst cycle")
        seen.expect_place(view="why", trial=trial.index, cycle=worst)
        rows = seen.rows("actions")
        close(float(rows[trial.actions[worst]][3] or 0), outlooks[worst])


def test_the_trial_that_is_shown_is_marked(seen: Seen, run: str) -> None:
    seen.open(run, view="trials", trial=3)
    expect(seen.figure("trials").locator("tr.marked")).to_have_attribute("data-trial", "3")
    expect(seen.figure("trials").locator("tr.marked")).to_have_attribute("aria-current", "true")
