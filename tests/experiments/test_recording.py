from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiments.corridor import Corridor, Drunkard, corridor_slice, planner

from btai import BTAI_3MF, TemporalSliceBuilder
from btai.errors import BtaiError, ModelFileError, PlanningError, RunFileError
from btai.experiments import Cycle, RunFile, run
from btai.experiments.database import explained

ITERATIONS = 12


@pytest.fixture(scope="module")
def cycles(tmp_path_factory: pytest.TempPathFactory) -> list[Cycle]:
    """A recorded trial from cell 5: 6, 7 and out."""
    path = tmp_path_factory.mktemp("recorded") / "run.sqlite"
    run(planner(ITERATIONS), Corridor(), starts=[(2,), (5,)], out=path, record=True)
    with RunFile.open(path) as file:
        return file.cycles(1)


def test_every_cycle_is_there_and_the_end(cycles: list[Cycle]) -> None:
    assert [cycle.cycle for cycle in cycles] == list(range(len(cycles)))
    assert {cycle.trial for cycle in cycles} == {1}
    assert [cycle.action for cycle in cycles] == [1, 1, 1, None]
    assert [int(cycle.evidence["O_cell"].argmax()) for cycle in cycles] == [5, 6, 7, 8]
    assert cycles[-1].tree().visits.tolist() == [1]


def test_recorded_beliefs_are_those_of_bayes_theorem(cycles: list[Cycle]) -> None:
    ts = corridor_slice()
    likelihood, transition = ts.observations["O_cell"].likelihood, ts.transitions["S_cell"].table
    prior = ts.states["S_cell"].prior
    for cycle in cycles:
        joint = likelihood[cycle.evidence["O_cell"].argmax()] * prior
        np.testing.assert_allclose(cycle.prior["S_cell"], prior, rtol=1e-12)
        np.testing.assert_allclose(cycle.posterior["S_cell"], joint / joint.sum(), rtol=1e-12)
        if cycle.action is not None:
            prior = transition[:, :, cycle.action] @ (joint / joint.sum())


def test_recorded_search_replays_every_state_of_the_tree(cycles: list[Cycle]) -> None:
    agent = planner(ITERATIONS)
    agent.reset({"O_cell": 5})
    for cycle in cycles[:-1]:
        for iteration in range(1, ITERATIONS + 1):
            agent.plan(1)
            replayed, live = cycle.tree(iteration), agent.tree
            for field in ("parent", "action", "first_child", "visits", "cost", "efe"):
                np.testing.assert_array_equal(getattr(replayed, field), getattr(live, field), err_msg=field)
        assert cycle.action is not None
        agent.update(cycle.action, {"O_cell": int(cycle.evidence["O_cell"].argmax()) + 1})


def test_back_up_of_a_replayed_search_by_hand() -> None:
    nothing: dict[str, np.ndarray] = {}
    # Two actions. The root is expanded (costs 3 and 5), then node 1 (costs 2 and 4), then node 3 (costs 7 and 6).
    cycle = Cycle(
        0, 0, 0, nothing, nothing, nothing, np.array([0, 1, 3], np.int32), np.array([np.nan, 3, 5, 2, 4, 7, 6.0])
    )
    assert cycle.tree(0).visits.tolist() == [1]
    assert cycle.tree(1).cost.tolist() == [3, 3, 5]
    assert cycle.tree(2).cost.tolist() == [3 + 2, 3 + 2, 5, 2, 4]
    assert cycle.tree().cost.tolist() == [5 + 6, 5 + 6, 5, 2 + 6, 4, 7, 6]
    assert cycle.tree().visits.tolist() == [4, 3, 1, 2, 1, 1, 1]


@pytest.mark.parametrize("iterations", [-1, ITERATIONS + 1])
def test_search_has_no_other_states(cycles: list[Cycle], iterations: int) -> None:
    with pytest.raises(PlanningError, match=f"iterations: {iterations} was given; cycle 0 has 12, so 0 to 12"):
        cycles[0].tree(iterations)


def test_what_was_not_observed_is_recorded_as_ones(tmp_path: Path) -> None:
    class Fog(Corridor):
        def execute(self, action: int) -> dict[str, int]:
            super().execute(action)
            return {}

    run(planner(), Fog(), starts=[(7,)], out=tmp_path / "run.sqlite", record=True)
    with RunFile.open(tmp_path / "run.sqlite") as file:
        first, last = file.cycles(0)
    assert first.evidence["O_cell"].tolist() == np.eye(9)[7].tolist()
    assert last.evidence["O_cell"].tolist() == [1.0] * 9


def test_agent_that_does_not_search_cannot_be_recorded(tmp_path: Path) -> None:
    with pytest.raises(PlanningError, match="record: Drunkard has no ts, prior, beliefs, tree"):
        run(Drunkard(), Corridor(), out=tmp_path / "run.sqlite", record=True)
    assert list(tmp_path.iterdir()) == []


def test_model_that_cannot_be_kept_is_not_taken_for_a_damaged_run_file(tmp_path: Path) -> None:
    long_name = "x" * 9_000_000
    ts = (
        TemporalSliceBuilder("A_wait", 1)
        .add_state("S_only", [0.5, 0.5], values=[long_name, long_name + "y"])
        .add_observation("O_only", np.eye(2), ["S_only"])
        .add_transition("S_only", np.eye(2), ["S_only"])
        .build()
    )
    with pytest.raises(ModelFileError, match="Shorten the names"):
        run(BTAI_3MF(ts, 2, engine="numpy"), Corridor(), 1, out=tmp_path / "run.sqlite", record=True)


@pytest.mark.parametrize(
    ("raised", "said"),
    [(PlanningError("so"), "^so$"), (ValueError("so"), "damaged or cut off"), (RecursionError(), "damaged or cut off")],
)
def test_only_what_was_not_raised_on_purpose_is_damage(raised: Exception, said: str) -> None:
    kind = PlanningError if isinstance(raised, BtaiError) else RunFileError
    with pytest.raises(kind, match=said), explained(Path("run.sqlite")):
        raise raised
