from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.corridor import (
    LENGTH,
    Corridor,
    Drunkard,
    Puzzling,
    Rightwards,
    Stumbling,
    Swamp,
    Vanishing,
    compiled_planner,
    contents,
    corridor_slice,
    planner,
    without_clocks,
)

from btai.errors import BtaiError, EnvError, PlanningError
from btai.experiments import Job, RunFile, Summary, derived_seed, run, run_trial


class Dice:
    """An environment of a user without seeds: throw the die until the guess is right, six times at most."""

    n_actions = 6

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def reset(self) -> dict[str, int]:
        self.thrown, self.guesses, self.right = self._throw(), 0, False
        return {"O_die": self.thrown}

    def execute(self, action: int) -> dict[str, int]:
        self.thrown = self._throw()
        self.guesses += 1
        self.right = action == self.thrown
        return {"O_die": self.thrown}

    def done(self) -> bool:
        return self.right or self.guesses == 6

    def get_reward(self) -> float:
        return 1.0 if self.right else -1.0 if self.guesses == 6 else 0.0

    def _throw(self) -> int:
        return int(self.rng.integers(6))


class Guesser:
    def reset(self, obs: dict[str, int]) -> None:
        self.last = obs["O_die"]

    def step(self) -> int:
        return self.last

    def update(self, action: int, obs: dict[str, int]) -> None:
        self.last = obs["O_die"]


def test_small_environment_of_a_user_works() -> None:
    result = run(Guesser(), Dice(), trials=200)
    assert len(result.trials) == result.summary.trials == 200
    assert all(trial.cycles == 6 or trial.reward == 1 for trial in result.trials)
    # Right within six guesses of probability 1/6 each: 1 - (5/6)^6 = 0.665, within four standard errors.
    assert result.summary.p_solved == pytest.approx(0.665, abs=4 * 0.033)


def test_trials_are_those_of_their_jobs() -> None:
    result = run(Drunkard(), Corridor(), trials=30, seed=9)
    alone = [run_trial(Drunkard(), Corridor(), Job(i, derived_seed(9, i)), 1000) for i in range(30)]
    assert contents(result) == [without_clocks(trial) for trial in alone]


def test_longer_run_begins_with_the_shorter_and_another_seed_does_not() -> None:
    short, longer, other = (
        contents(run(Drunkard(), Corridor(), trials, seed)) for trials, seed in [(10, 1), (20, 1), (10, 2)]
    )
    assert longer[:10] == short
    assert other != short


def test_exhaustive_run_tries_every_start_once() -> None:
    result = run(Rightwards(), Corridor(), exhaustive=True)
    assert [trial.initial_state for trial in result.trials] == [(cell,) for cell in range(1, LENGTH + 1)]
    assert [trial.cycles for trial in result.trials] == [7, 6, 5, 4, 3, 2, 1]
    assert (result.summary.p_solved, result.summary.exhaustive) == (1.0, True)


def test_chosen_starts_are_tried_in_their_order() -> None:
    result = run(Rightwards(), Corridor(), starts=[(5,), (2,)])
    assert [trial.initial_state for trial in result.trials] == [(5,), (2,)]


def test_environment_without_a_list_of_starts_cannot_be_exhausted() -> None:
    with pytest.raises(EnvError, match=r"Dice has no initial_states\(\)"):
        run(Guesser(), Dice(), exhaustive=True)


def test_factories_are_called_and_classes_are_factories() -> None:
    plain = run(Drunkard(0.3), Corridor(5), trials=20)
    made = run(partial(Drunkard, 0.3), lambda: Corridor(5), trials=20)
    assert contents(plain) == contents(made)
    assert contents(run(Drunkard, Corridor, trials=5)) == contents(run(Drunkard(), Corridor(), trials=5))


def test_any_number_of_workers_gives_the_same_trials() -> None:
    alone = contents(run(Drunkard, Corridor, trials=60))
    assert contents(run(Drunkard, Corridor, trials=60, workers=2)) == alone
    assert contents(run(Drunkard(), Corridor(), trials=60, workers=3)) == alone
    assert contents(run(Drunkard, Corridor, trials=1, workers=8)) == alone[:1]


def test_planning_agent_gives_the_same_trials_in_other_processes() -> None:
    alone = run(planner, Corridor, exhaustive=True)
    assert contents(run(planner, Corridor, exhaustive=True, workers=2)) == contents(alone)
    assert [trial.planning_iterations for trial in alone.trials] == [12 * trial.cycles for trial in alone.trials]


def test_what_cannot_be_sent_to_another_process_is_said_before_any_starts() -> None:
    with pytest.raises(PlanningError, match=r"env: .*lambda.* cannot be sent to another process"):
        run(Drunkard, lambda: Corridor(), trials=5, workers=2)


def test_error_of_a_trial_says_which_one() -> None:
    for workers in (1, 2):
        with pytest.raises(ValueError, match="stumbled in cell 3") as caught:
            run(Stumbling, Corridor, exhaustive=True, workers=workers)
        assert caught.value.__notes__[0].startswith("In trial 2 (seed ")


def test_error_that_cannot_travel_arrives_as_its_text() -> None:
    with pytest.raises(BtaiError, match="puzzled in 5"):
        run(Puzzling, Corridor, trials=4, workers=2)


def test_worker_that_dies_is_reported() -> None:
    with pytest.raises(BtaiError, match=r"a worker process ended \(exit code 9\) before trial 2 was done"):
        run(Vanishing, Corridor, exhaustive=True, workers=2)


def test_progress_hears_of_every_trial() -> None:
    heard: list[tuple[int, float | None, int]] = []

    def progress(summary: Summary, total: int) -> None:
        heard.append((summary.trials, summary.p_solved, total))

    run(Rightwards(), Corridor(), trials=3, progress=progress)
    assert heard == [(0, None, 3), (1, 1.0, 3), (2, 1.0, 3), (3, 1.0, 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "trials: 0 was given; a whole number of at least 1 is required"),
        ({"trials": 2.5}, "trials: 2.5 was given"),
        ({"seed": -1}, "seed: -1 was given; a whole number of at least 0 is required"),
        ({"workers": True}, "workers: True was given"),
        ({"max_cycles": 0}, "max_cycles: 0 was given"),
        ({"record": True}, "record: True was given without `out`"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanningError, match=message):
        run(Drunkard(), Corridor(), **options)


def test_run_without_starts_is_refused() -> None:
    with pytest.raises(PlanningError, match="starts: none were given"):
        run(Drunkard(), Corridor(), starts=[])


def test_trials_of_workers_are_kept_as_soon_as_they_end(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with pytest.raises(RuntimeError, match="swamp"):
        run(Rightwards, Swamp, exhaustive=True, out=path, workers=2)
    with RunFile.open(path) as file:
        assert [trial.index for trial in file.trials()] == list(range(1, LENGTH))


class Marsh(Corridor):
    """Does not keep how deep it was told to be."""

    def __init__(self, depth: float) -> None:
        super().__init__()
        self.costs = [depth]


def test_run_file_that_could_not_tell_environments_apart_warns(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="environment: it does not tell with which depth it was made"):
        run(Rightwards(), Marsh(0.5), trials=1, out=tmp_path / "marsh.sqlite")
    run(Rightwards(), Marsh(0.5), trials=1)  # nothing is kept that could be resumed


class Wall:
    def reset(self) -> dict[str, int]:
        return {}

    def execute(self, action: int) -> dict[str, int]:
        return {}


@pytest.mark.parametrize("options", [{}, {"batch": 1}])
@pytest.mark.parametrize(
    ("agent", "env", "message"),
    [
        (
            corridor_slice(),
            Corridor,
            r"^agent: TemporalSlice was .* no reset, step, update; .* slice: BTAI_3MF",
        ),
        (corridor_slice, Corridor, r"^agent: TemporalSlice was given"),
        (None, Corridor, r"^agent: NoneType was given, which has no reset, step, update; required is what has reset,"),
        (
            compiled_planner,
            Wall(),
            r"^env: Wall was given, which has no done, get_reward; required is what",
        ),
        (compiled_planner, Wall, r"^env: Wall was given"),
        (compiled_planner, 3, r"^env: int was given, which has no reset, execute, done, get_reward; required is"),
    ],
)
def test_what_is_no_agent_or_no_environment_is_refused(agent: Any, env: Any, message: str, options: Any) -> None:
    with pytest.raises(BtaiError, match=message):
        run(agent, env, trials=1, **options)
