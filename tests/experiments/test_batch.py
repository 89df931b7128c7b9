"""A batch gives the trials of the one-by-one path, whatever its size."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from experiments.corridor import (
    LENGTH,
    Corridor,
    Drunkard,
    compiled_planner,
    contents,
    corridor_slice,
    planner,
    without_clocks,
)

from btai.agents import BTAI_3MF
from btai.cli import main
from btai.envs.dsprites import initial_states
from btai.errors import EnvError, EvidenceError, ImpossibleObservationError, PlanningError
from btai.experiments import Job, RunFile, Summary, run, run_trial
from btai.experiments.environments import make_agent, make_env
from btai.model import TemporalSlice, TemporalSliceBuilder

TESTS = Path(__file__).parent.parent
fine_env, coarse_env = partial(make_env, "dsprites"), partial(make_env, "dsprites", granularity=8)
coarse_agent = partial(make_agent, "dsprites", 10, granularity=8)


@pytest.fixture(scope="module")
def corridor_alone() -> list[dict[str, Any]]:
    return contents(run(compiled_planner(), Corridor(), trials=20, seed=3))


# --- environments of the plain kind -----------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 64])
def test_batch_of_any_size_gives_the_same_trials(n: int, corridor_alone: list[dict[str, Any]]) -> None:
    assert len({trial["cycles"] for trial in corridor_alone}) > 1  # slots become free at different times
    assert contents(run(compiled_planner, Corridor, trials=20, seed=3, batch=n)) == corridor_alone


def test_every_start_gives_the_same_trials() -> None:
    alone = contents(run(compiled_planner(), Corridor(), exhaustive=True))
    assert contents(run(compiled_planner(), Corridor, exhaustive=True, batch=3)) == alone


def test_trials_that_end_as_they_begin_or_run_out_of_time_are_the_same() -> None:
    options: dict[str, Any] = {"starts": [(0,), (1,), (8,), (7,), (2,), (0,), (6,)], "max_cycles": 2}
    batched = run(compiled_planner, Corridor, **options, batch=2)
    assert contents(batched) == contents(run(compiled_planner, Corridor, **options))
    # The agent goes right, and the way from cell 1 out of the corridor takes it 7 cycles.
    assert [trial.cycles for trial in batched.trials] == [0, 2, 0, 1, 2, 0, 2]
    assert [trial.finished for trial in batched.trials] == [True, False, True, True, False, True, True]
    assert [trial.reward for trial in batched.trials] == [-1, 0, 1, 1, 0, -1, 1]
    assert [trial.planning_iterations for trial in batched.trials] == [0, 24, 0, 12, 24, 0, 24]


def test_trials_may_all_end_as_they_begin() -> None:
    trials = run(compiled_planner, Corridor, starts=[(0,), (8,), (0,)], batch=2).trials
    assert [(trial.cycles, trial.reward) for trial in trials] == [(0, -1), (0, 1), (0, -1)]


class Foggy(Corridor):
    """Shows its cell as a number, as a likelihood, or not at all, by turns."""

    def shown(self) -> dict[str, Any]:
        match self.cell % 3:
            case 0:
                return {}
            case 1:
                return {"O_cell": self.cell}
        near = np.exp(-np.abs(np.arange(LENGTH + 2) - self.cell))
        return {"O_cell": near}

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, Any]:
        super().reset(seed, state)
        return self.shown()

    def execute(self, action: int) -> dict[str, Any]:
        super().execute(action)
        return self.shown()


def test_evidence_of_every_kind_gives_the_same_trials() -> None:
    assert contents(run(compiled_planner, Foggy, trials=15, batch=4)) == contents(
        run(compiled_planner, Foggy, trials=15)
    )


def test_options_of_the_agent_are_those_of_the_batch() -> None:
    made = partial(make_agent, "dsprites", 20, 0.7, ties="first")
    lowest = partial(compiled_planner, 30, exp_const=0.5, action_selection="lowest_cost")
    assert contents(run(made, fine_env, trials=12, batch=5)) == contents(run(made, fine_env, trials=12))
    assert contents(run(lowest, Corridor, trials=12, batch=5)) == contents(run(lowest, Corridor, trials=12))


# --- dSprites ---------------------------------------------------------------------------------------------


oscillating = partial(make_agent, "dsprites", 60, ties="first")  # some of its trials are truncated


@pytest.fixture(scope="module")
def dsprites_alone() -> list[dict[str, Any]]:
    trials = contents(run(oscillating, fine_env, trials=40))
    assert 0 < sum(trial["finished"] for trial in trials) < 40
    return trials


@pytest.mark.parametrize("n", [1, 7, 64])
def test_dsprites_in_a_batch_gives_the_same_trials(n: int, dsprites_alone: list[dict[str, Any]]) -> None:
    assert contents(run(oscillating, fine_env, trials=40, batch=n)) == dsprites_alone


def test_dsprites_from_chosen_starts_gives_the_same_trials() -> None:
    starts = list(initial_states()[::300])
    alone = contents(run(coarse_agent, coarse_env, starts=starts))
    assert contents(run(coarse_agent, coarse_env, starts=starts, batch=4)) == alone


# --- what a batch cannot do -------------------------------------------------------------------------------


class Cautious(BTAI_3MF):
    """Another agent."""


def softmax() -> BTAI_3MF:
    return compiled_planner(action_selection="softmax", rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("made", "options", "message"),
    [
        (softmax, {}, "action_selection: 'softmax' was given; a batch offers 'most_visited' and 'lowest_cost'"),
        (partial(compiled_planner, time_limit=0.1), {}, "time_limit: the agent has 0.1; a batch requires None"),
        (planner, {}, "engine: the agent has 'numpy'; a batch requires 'compiled'"),
        (
            partial(compiled_planner, inference="loopy"),
            {},
            "inference: the agent has 'loopy'; a batch requires 'exact'",
        ),
        (Drunkard, {}, "agent: Drunkard was given with batch; a batch runs many BTAI_3MF and nothing else"),
        (partial(Cautious, corridor_slice()), {}, "agent: Cautious was given with batch"),
        (compiled_planner, {"workers": 2}, "workers: 2 was given with batch; a batch uses all processors by itself"),
        (
            compiled_planner,
            {"record": True, "out": "run.sqlite"},
            "record: True was given with batch; a batch keeps no search",
        ),
        (compiled_planner, {"batch": 0}, "batch: 0 was given; a whole number of at least 1 is required"),
        (compiled_planner, {"batch": 2.0}, "batch: 2.0 was given; a whole number of at least 1 is required"),
    ],
)
def test_what_a_batch_cannot_do_is_refused_before_anything_is_written(
    made: Callable[[], Any],
    options: dict[str, Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlanningError, match=message):
        run(made, Corridor, **{"batch": 2, **options})
    assert list(tmp_path.iterdir()) == []


def test_one_environment_is_too_few_for_a_batch_of_several() -> None:
    with pytest.raises(EnvError, match=r"env: one Corridor was given; batch=3 needs 3 of them. Give a function or"):
        run(compiled_planner(), Corridor(), batch=3)
    corridor = Corridor()
    with pytest.raises(EnvError, match=r"gave the same object twice; batch=3 needs 3. Let it make a new one"):
        run(compiled_planner(), lambda: corridor, batch=3)
    assert contents(run(compiled_planner(), corridor, trials=4, batch=1)) == contents(
        run(compiled_planner(), corridor, trials=4)
    )


# --- errors, clocks, the run file -------------------------------------------------------------------------


class Trapdoor(Corridor):
    """Who comes to cell 5 falls."""

    def execute(self, action: int) -> dict[str, int]:
        obs = super().execute(action)
        if self.cell == 5:
            raise RuntimeError("fallen")
        return obs


class Blinding(Corridor):
    """Shows a cell that there is not, once in cell 5."""

    def execute(self, action: int) -> dict[str, int]:
        obs = super().execute(action)
        return {"O_cell": 99} if self.cell == 5 else obs


@pytest.mark.parametrize(("env", "error"), [(Trapdoor, RuntimeError), (Blinding, EvidenceError)])
def test_error_of_a_trial_says_which_one(env: type[Corridor], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        run(compiled_planner, env, starts=[(6,), (7,), (7,), (4,)], batch=2)
    assert caught.value.__notes__[0].startswith("In trial 3 (seed ")


def sure_slice() -> TemporalSlice:
    """Two values that never change and are seen for certain."""
    return (
        TemporalSliceBuilder("A_move", 2)
        .add_state("S_cell", [0.5, 0.5])
        .add_observation("O_cell", np.eye(2), ["S_cell"])
        .add_transition("S_cell", np.eye(2), ["S_cell"])
        .add_preference(["O_cell"], [0.5, 0.5])
        .build()
    )


class Changing(Corridor):
    """Cell 0, then cell 1, which an agent with `sure_slice` holds to be impossible, if it began in cell 2."""

    def reset(self, seed: int | None = None, state: Sequence[int] | None = None) -> dict[str, int]:
        super().reset(seed, state)
        self.change = int(self.cell == 2)
        return {"O_cell": 0}

    def execute(self, action: int) -> dict[str, int]:
        self.cell = 0
        return {"O_cell": self.change}


def test_impossible_observation_names_the_agent_and_the_trial_of_each() -> None:
    with pytest.raises(ImpossibleObservationError, match="agent 1: O_cell") as caught:
        run(partial(BTAI_3MF, sure_slice(), 4), Changing, starts=[(1,), (1,), (1,), (2,)], batch=2)
    assert caught.value.__notes__ == ["Agents by number, in trial: 0 in 2, 1 in 3."]


def test_seconds_are_shared_out_and_add_up_to_no_more_than_went_by() -> None:
    start = perf_counter()
    twins = run(compiled_planner, Corridor, starts=[(4,), (4,), (4,), (4,)], batch=4).trials
    passed = perf_counter() - start
    for what in ("planning", "inference", "environment"):
        shares = {getattr(trial, f"{what}_seconds") for trial in twins}
        assert len(shares) == 1  # they went side by side from first to last
        assert min(shares) > 0
    assert sum(trial.seconds for trial in twins) <= passed


class Stop(Exception):
    """Raised in the midst of a run."""


@pytest.mark.parametrize("others", [{"batch": 5}, {"batch": 1}, {}, {"workers": 2}])
def test_interrupted_batch_goes_on_in_any_way(
    others: dict[str, Any], tmp_path: Path, corridor_alone: list[dict[str, Any]]
) -> None:
    def stop(summary: Summary, _total: int) -> None:
        if summary.trials == 7:
            raise Stop

    out = tmp_path / "run.sqlite"
    with pytest.raises(Stop):
        run(compiled_planner, Corridor, trials=20, seed=3, batch=3, out=out, progress=stop)
    with RunFile.open(out) as file:
        before = file.trials()
    assert len(before) == 7
    result = run(compiled_planner, Corridor, trials=20, seed=3, out=out, **others)
    assert contents(result) == corridor_alone
    assert [trial for trial in result.trials if trial in before] == before  # the clocks too: none was run again
    assert run(compiled_planner, Corridor, trials=20, seed=3, batch=3, out=out).trials == result.trials


def test_killed_batch_loses_only_the_trials_under_way(tmp_path: Path) -> None:
    out = tmp_path / "run.sqlite"
    script = (
        "import sys\nfrom experiments.corridor import Corridor, compiled_planner\n"
        "from btai.experiments import run\n"
        "tell = lambda summary, total: print(summary.trials, flush=True)\n"
        "run(compiled_planner, Corridor, trials=2000, seed=3, batch=8, out=sys.argv[1], progress=tell)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, "-c", script, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(30)]
        process.send_signal(signal.SIGKILL)
    with RunFile.open(out) as file:
        kept = file.trials()
    assert told[-1] <= len(kept) < 2000
    one = compiled_planner()
    alone = [without_clocks(run_trial(one, Corridor(), Job(t.index, t.seed), 1000)) for t in kept]
    assert [without_clocks(trial) for trial in kept] == alone
    assert run(compiled_planner, Corridor, trials=2000, seed=3, batch=64, out=out).summary.trials == 2000


# --- the command ------------------------------------------------------------------------------------------


def test_command_runs_batches_with_the_same_figures() -> None:
    def figures(*options: str) -> dict[str, Any]:
        command = ["run", "dsprites", "--granularity", "8", "--planning", "10", "--trials", "6", "--json", *options]
        printed: dict[str, Any] = json.loads(CliRunner().invoke(main, command).stdout)
        return {name: value for name, value in printed.items() if "seconds" not in name}

    assert figures("--batch", "4") == figures()


def test_command_refuses_workers_with_a_batch() -> None:
    result = CliRunner().invoke(main, ["run", "dsprites", "--batch", "4", "--workers", "2"])
    assert result.exit_code == 1
    assert "Error: workers: 2 was given with batch" in result.output
