"""A run file as a trace: which are taken, which are refused, and what they need."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import httpx
import numpy as np
import pytest
from inspector.models import SevenStatesEnv, seven_states
from inspector.recorded import Recorded, dsprites_env, long_run, seven_states_agent, unpacked

from btai import BTAI_3MF
from btai.envs import dsprites_slice
from btai.errors import RunFileError
from btai.experiments import RunFile, StoredRun, run
from btai.inspector import Inspector, RunTrace, views
from btai.inspector.cursor import Cursor, CursorError
from btai.planning import replay


def test_a_run_without_cycles_is_refused_with_the_way_out(tmp_path: Path) -> None:
    run(seven_states_agent, SevenStatesEnv, 1, out=tmp_path / "run.sqlite")
    with pytest.raises(RunFileError, match="--record"):
        RunTrace(tmp_path / "run.sqlite")


def test_the_model_is_that_of_the_agent_that_was_recorded(seven: Recorded, tmp_path: Path) -> None:
    changed = dsprites_slice(4, 8).replace("S_pos_x", prior=np.eye(8)[0])
    run(partial(BTAI_3MF, changed, 5), dsprites_env, 1, out=tmp_path / "run.sqlite", record=True)
    for path, ts in ((seven.path, seven_states()), (tmp_path / "run.sqlite", changed)):
        trace = RunTrace(path)
        assert trace.ts == ts
        trace.close()


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\x00" + bytes(200)])
def test_what_is_no_run_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.sqlite"
    path.write_bytes(content)
    with pytest.raises(RunFileError):
        RunTrace(path)
    assert path.read_bytes() == content


def test_without_an_environment_there_are_no_pictures_but_the_last_reward(seven: Recorded) -> None:
    trace = RunTrace(seven.path)
    moments = trace.moments(0)
    assert {moment.image for moment in moments} == {None}
    assert [moment.reward for moment in moments] == [None] * 4 + [trace.trials()[0].reward]
    trace.close()


def test_an_environment_that_does_something_else_now_has_no_say(seven: Recorded) -> None:
    class Other(SevenStatesEnv):
        def reset(self, seed: int | None = None) -> dict[str, int]:
            return super().reset(None if seed is None else seed + 1)

    trace = RunTrace(seven.path, env=Other())
    assert {moment.image for moment in trace.moments(0)} == {None}
    trace.close()


def test_trials_from_given_starts_are_acted_out_from_there(tmp_path: Path) -> None:
    starts = [(0, 0, 0, 3, 30), (1, 0, 0, 20, 30)]
    agent = BTAI_3MF(dsprites_slice(4, 8), 5)
    run(agent, dsprites_env, out=tmp_path / "run.sqlite", record=True, starts=starts)
    trace = RunTrace(tmp_path / "run.sqlite")
    env: Any = dsprites_env()
    for trial, start in enumerate(starts):
        env.reset(state=start)
        assert trace.moments(trial)[0].image == trace.moments(trial)[0].image is not None
        assert trace.moments(trial)[-1].reward == trace.trials()[trial].reward
    trace.close()


def copied(seven: Recorded, path: Path, runs: int, *trials: int) -> None:
    """These trials of the rover's run as the last run of a file of several."""
    with RunFile.open(seven.path) as source, RunFile.write(path, *[source.config] * runs) as file:
        file.runs[-1].keep_model(source.run.model)
        for trial in trials:
            file.runs[-1].append(source.trials()[trial], source.cycles(trial))


def test_of_a_file_with_several_runs_one_is_chosen_by_its_number(seven: Recorded, tmp_path: Path) -> None:
    path = tmp_path / "sweep.sqlite"
    copied(seven, path, 3, 0, 1)
    with pytest.raises(RunFileError, match=r"holds 3 runs\. Choose one: --run 0 to 2"):
        RunTrace(path)
    with pytest.raises(RunFileError, match="run 3 was asked for; the file has the runs 0 to 2"):
        RunTrace(path, run=3)
    trace, alone = RunTrace(path, run=2), seven.trace()
    assert trace.title == "sweep.sqlite, run 2"
    assert trace.tree(Cursor(1, 2)).cost.tolist() == alone.tree(Cursor(1, 2)).cost.tolist()
    recipe = views.cycle(trace, Cursor(1, 2))["python"]
    assert "run = file.runs[2]\n" in recipe
    assert "run.cycles(1)[2]\n" in recipe
    trace.close()
    alone.close()
    empty = RunTrace(path, run=0)
    assert empty.start() is None
    empty.close()


def test_trials_that_are_not_in_the_file_yet_are_no_obstacle_to_those_after_them(
    seven: Recorded, tmp_path: Path
) -> None:
    """Workers end their trials in any order."""
    path = tmp_path / "run.sqlite"
    copied(seven, path, 1, 1)
    trace, whole = RunTrace(path), seven.trace()
    assert trace.start() == Cursor(1)
    assert [row.trial for row in trace.trials()] == [1]
    assert trace.tree(Cursor(1, 1)).cost.tolist() == whole.tree(Cursor(1, 1)).cost.tolist()
    with pytest.raises(CursorError, match="trial 0 was asked for; the run has 1 trials by now"):
        trace.moments(0)
    trace.close()
    whole.close()


def test_the_options_of_the_agent_are_those_it_was_recorded_with(tmp_path: Path) -> None:
    agent = BTAI_3MF(
        seven_states(),
        9,
        0.7,
        action_selection="softmax",
        precision=2.0,
        rng=np.random.default_rng(4),
        engine="numpy",
    )
    run(agent, SevenStatesEnv, 1, out=tmp_path / "run.sqlite", record=True)
    trace = RunTrace(tmp_path / "run.sqlite")
    options = trace.options
    assert (options.max_planning_steps, options.exp_const, options.precision) == (9, 0.7, 2.0)
    assert (options.action_selection, options.engine, options.inference) == ("softmax", "numpy", "exact")
    trace.close()


def test_any_number_of_trials_can_be_looked_at_one_after_the_other(tmp_path: Path) -> None:
    run(seven_states_agent, SevenStatesEnv, 7, out=tmp_path / "run.sqlite", record=True)
    trace = RunTrace(tmp_path / "run.sqlite")
    with RunFile.open(tmp_path / "run.sqlite") as file:
        for trial in (0, 1, 2, 3, 4, 5, 6, 0, 6):
            for moment, cycle in zip(trace.moments(trial), file.cycles(trial), strict=True):
                assert moment.cycle.expanded.tolist() == cycle.expanded.tolist()
                assert trace.tree(Cursor(trial, cycle.cycle)).efe[1:].tolist() == cycle.efe[1:].tolist()
    trace.close()


def test_no_trial_but_the_one_looked_at_is_read(seven: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export looks at each: reading all of them each time would take the square of their number."""
    trace = seven.trace()

    def all_trials(_run: StoredRun) -> None:
        raise AssertionError("all trials were read")

    monkeypatch.setattr(StoredRun, "trials", all_trials)
    assert [moment.cycle.trial for moment in trace.moments(1)] == [1] * 5
    trace.close()


def test_the_file_is_not_changed_by_looking(seven: Recorded) -> None:
    before = seven.path.read_bytes()
    trace = seven.trace()
    trace.tree(Cursor(0, 1))
    trace.close()
    assert seven.path.read_bytes() == before


def test_searches_of_ten_thousand_iterations_are_stepped_through_in_less_than_a_tenth_of_a_second(
    tmp_path: Path,
) -> None:
    path = long_run(tmp_path / "run.sqlite")
    with RunFile.open(path) as file:
        recorded = file.cycles(0)
    with Inspector(lambda: RunTrace(path)) as inspector, httpx.Client(base_url=inspector.url, timeout=60) as client:

        def seconds(address: str) -> float:
            """Of this process, which client and server share: what others do on the machine does not count."""
            start = process_time()
            assert client.get(address).status_code == 200
            return process_time() - start

        client.get("api/trial?trial=0")
        shown = client.get("api/cycle?trial=0&cycle=0").json()
        assert shown["iterations"] == 10_000
        assert unpacked(shown["search"]["expanded"]).tolist() == recorded[0].expanded.tolist()
        tree = replay(4, recorded[0].expanded, recorded[0].efe, iterations=9_000)
        facts = client.get("api/facts?trial=0&cycle=0&iteration=9000&node=1").json()["facts"]
        assert (facts["visits"], facts["cost"]) == (tree.visits[1], tree.cost[1])
        steps = [seconds(f"api/facts?trial=0&cycle=0&iteration={i}&node=1") for i in (9_001, 9_002, 1, 10_000, 5_000)]
        assert sorted(steps)[-2] < 0.1, steps
        assert min(seconds(f"api/cycle?trial=0&cycle={cycle}") for cycle in range(1, len(recorded) - 1)) < 0.1
