"""Many agents at once: each does bit for bit what it would do alone, for any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from golden import own_figures
from hand_made import LEVER
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from spec import Spec
from strategies import evidences, models

from btai import BTAI_3MF
from btai.agents import BatchAgent
from btai.envs import dsprites_slice
from btai.errors import EvidenceError, ImpossibleObservationError, PlanningError
from btai.model import TemporalSliceBuilder

ITERATIONS = 8
some = settings(max_examples=40)

Outcome = list[Any]  # per agent: its action and, in bytes, its beliefs


def alone(agent: BTAI_3MF) -> Outcome:
    return [agent.step(), *(belief.tobytes() for belief in agent.beliefs.values())]


def together(batch: BatchAgent, budgets: Any = None) -> list[Outcome]:
    actions = batch.step(budgets)
    beliefs = [np.ascontiguousarray(belief) for belief in batch.beliefs.values()]
    return [[int(actions[i]), *(belief[i].tobytes() for belief in beliefs)] for i in range(len(batch))]


def stacked(spec: Spec, evidence: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The evidence of all agents as vectors, `[B, n_O]`; ones where an agent did not observe."""
    vectors = {name: np.ones((len(evidence), spec.sizes[name])) for name in spec.likelihoods}
    for i, seen in enumerate(evidence):
        for name, value in seen.items():
            vectors[name][i] = np.eye(spec.sizes[name])[value] if np.ndim(value) == 0 else value
    return vectors


@some
@given(models(max_states=4, max_observations=4), st.sampled_from([1, 2, 3]), st.data())
def test_every_agent_does_bit_for_bit_what_it_would_do_alone(spec: Spec, threads: int, data: st.DataObject) -> None:
    seen = [data.draw(evidences(spec)) for _ in range(3)]
    ts = spec.build()
    batch = BatchAgent(ts, 3, ITERATIONS, threads=threads)
    agents = [BTAI_3MF(ts, ITERATIONS) for _ in range(3)]
    batch.reset(stacked(spec, seen))
    for agent, evidence in zip(agents, seen, strict=True):
        agent.reset(evidence)
    for _ in range(2):
        expected = [alone(agent) for agent in agents]
        assert together(batch) == expected
        actions = [outcome[0] for outcome in expected]
        batch.update(actions, {})
        for agent, action in zip(agents, actions, strict=True):
            agent.update(action, {})


def dsprites_evidence(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    sizes = {"O_pos_x": 8, "O_pos_y": 8, "O_shape": 3, "O_scale": 6, "O_orientation": 40}
    return {name: rng.integers(0, size, n) for name, size in sizes.items()}


def course(threads: int | None, n: int = 200) -> list[list[Outcome]]:
    """Two cycles of many agents; more than a thread takes at a time."""
    ts = dsprites_slice(granularity=4)
    batch = BatchAgent(ts, n, 25, threads=threads)
    batch.reset(dsprites_evidence(n))
    first = together(batch)
    batch.update([outcome[0] for outcome in first], {"O_shape": dsprites_evidence(n)["O_shape"]})
    return [first, together(batch)]


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_many_agents_do_bit_for_bit_what_they_would_do_alone_for_any_number_of_threads(threads: int | None) -> None:
    first, second = course(threads)
    agent = BTAI_3MF(dsprites_slice(granularity=4), 25)
    seen = dsprites_evidence(200)
    for i in range(0, 200, 7):
        agent.reset({name: int(values[i]) for name, values in seen.items()})
        assert alone(agent) == first[i]
        agent.update(first[i][0], {"O_shape": int(seen["O_shape"][i])})
        assert alone(agent) == second[i]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_results_do_not_depend_on_how_many_threads_numba_may_use(threads: str) -> None:
    script = """
import numba, numpy as np
from btai.agents import BatchAgent
from btai.envs import dsprites_slice
batch = BatchAgent(dsprites_slice(granularity=4), 200, 25)
rng = np.random.default_rng(0)
sizes = {"O_pos_x": 8, "O_pos_y": 8, "O_shape": 3, "O_scale": 6, "O_orientation": 40}
batch.reset({name: rng.integers(0, size, 200) for name, size in sizes.items()})
print(numba.config.NUMBA_NUM_THREADS, *batch.step())
"""
    environment = os.environ | {"NUMBA_NUM_THREADS": threads, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    used, *actions = done.stdout.split()
    assert used == threads
    assert [int(action) for action in actions] == [outcome[0] for outcome in course(threads=1)[0]]


# --- what belongs to one agent ----------------------------------------------------------------------------------------


def in_grid(n: int = 4, **options: Any) -> BatchAgent:
    """Agents at the top of a small grid, all at the same place."""
    figures = own_figures("absorbing")
    batch = BatchAgent(figures.spec.build(), n, **options)
    batch.reset({name: np.full(n, value) for name, value in figures.evidence.items()})
    return batch


def alone_in_grid(iterations: int, **options: Any) -> BTAI_3MF:
    figures = own_figures("absorbing")
    agent = BTAI_3MF(figures.spec.build(), iterations, **options)
    agent.reset(figures.evidence)
    return agent


def test_each_agent_has_its_own_budget() -> None:
    budgets = [1, 3, 17, 60]
    expected = [alone_in_grid(budget).step() for budget in budgets]
    assert len(set(expected)) > 1  # so that a common budget would be noticed
    assert in_grid().step(budgets).tolist() == expected


@pytest.mark.parametrize("options", [{"action_selection": "lowest_cost"}, {"ties": "first"}, {"exp_const": 0.5}])
def test_options_are_those_of_a_single_agent(options: Mapping[str, Any]) -> None:
    for iterations in range(1, 12):
        expected = alone_in_grid(iterations, **options).step()
        assert in_grid(2, max_planning_steps=iterations, **options).step().tolist() == [expected] * 2


def test_finished_agents_are_passed_over_until_they_are_reset() -> None:
    batch = in_grid(3, max_planning_steps=5)
    batch.finish([False, True, False])
    assert batch.active.tolist() == [True, False, True]
    before = batch.beliefs["S_x"].copy()
    action = int(batch.step()[0])
    assert batch.step().tolist() == [action, -1, action]
    batch.update([0, -1, 1], {"O_x": [1, 77, 0]})  # what is given for the finished one does not count
    assert batch.beliefs["S_x"][1].tobytes() == before[1].tobytes()
    assert batch.beliefs["S_x"][0].tobytes() != before[0].tobytes()
    batch.reset({"O_x": [99, 1, 99]}, which=[False, True, False])  # the others' observations are ignored
    assert batch.active.all()
    fresh = BTAI_3MF(batch.ts, 5)
    fresh.reset({"O_x": 1})
    assert batch.beliefs["S_x"][1].tobytes() == fresh.beliefs["S_x"].tobytes()
    assert batch.step()[1] == fresh.step()


def test_reset_of_some_leaves_the_others_in_their_trials() -> None:
    batch = in_grid(3)
    batch.update([3, 3, 3], {"O_x": [1, 1, 1]})
    before = {name: belief.copy() for name, belief in batch.beliefs.items()}
    batch.reset({}, which=np.array([False, False, True]))
    for name, belief in batch.beliefs.items():
        assert belief[:2].tobytes() == before[name][:2].tobytes()
        assert_array_equal(belief[2], batch.ts.states[name].prior)
    batch.update([3, 3, 3], {})


def test_when_all_have_finished_nothing_is_planned() -> None:
    batch = in_grid(3)
    batch.finish([True, True, True])
    assert batch.step().tolist() == [-1, -1, -1]


def test_beliefs_and_active_agents_cannot_be_changed_from_outside() -> None:
    batch = in_grid(2)
    with pytest.raises(ValueError, match="read-only"):
        batch.beliefs["S_x"][0] = 1
    batch.active[:] = False
    assert batch.active.all()


def test_a_batch_says_what_it_is() -> None:
    batch = in_grid(2, max_planning_steps=7)
    assert len(batch) == 2
    assert repr(batch) == "BatchAgent(2 agents; 7 planning iterations, exp_const=2.4)"


# --- what is refused --------------------------------------------------------------------------------------------------


def state_of(batch: BatchAgent) -> list[bytes]:
    beliefs = [belief.tobytes() for belief in batch.beliefs.values()]
    return [*beliefs, batch.active.tobytes(), batch._prior.tobytes(), batch.step().tobytes()]


def in_corridor() -> BatchAgent:
    """Three agents in a corridor of four places with a wall at its end; the second has finished."""
    figures = own_figures("zeros")
    batch = BatchAgent(figures.spec.build(), 3, 6)
    batch.reset({name: [value] * 3 for name, value in figures.evidence.items()})
    batch.finish([False, True, False])
    return batch


@pytest.mark.parametrize("cycle", ["reset", "update"])
@pytest.mark.parametrize(
    ("obs", "message"),
    [
        ({"O_y": [0, 0, 0]}, r"^O_y: no such observation is declared\. Declared are O_x, O_wall\.$"),
        ({"O_x": [0, 0, 4]}, r"^O_x: index 4 was given for agent 2; it must lie from 0 to 3\.$"),
        ({"O_x": [-1, 0, 0]}, r"^O_x: index -1 was given for agent 0"),
        (
            {"O_x": [0, 0]},
            r"^O_x: int64 of shape \(2,\) was given; 3 indices \(whole numbers\) or vectors of shape \(3, 4\) are",
        ),
        ({"O_x": [0.0, 1.0, 2.0]}, r"^O_x: float64 of shape \(3,\) was given"),
        ({"O_x": [True, False, True]}, r"^O_x: bool of shape \(3,\) was given"),
        ({"O_x": ["a", "b", "c"]}, r"^O_x: <U1 of shape \(3,\) was given"),
        ({"O_x": [[1, 0, 0, 0], [1], [1]]}, r"^O_x: object of shape \(\) was given"),
        ({"O_x": np.ones((3, 5))}, r"^O_x: float64 of shape \(3, 5\) was given"),
        (
            {"O_x": [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]},
            r"^O_x: the evidence \[0\. 0\. 0\. 0\.\] was given for agent 2; its entries must be finite",
        ),
        ({"O_x": [[1, 0, np.nan, 0]] * 3}, r"was given for agent 0; its entries must be finite"),
        ({"O_x": [[1, 0, -1, 0]] * 3}, r"was given for agent 0; its entries must be finite, at least 0"),
    ],
)  # fmt: skip
def test_evidence_that_cannot_be_used_names_the_agent_and_leaves_all_as_they_were(
    cycle: str, obs: Mapping[str, Any], message: str
) -> None:
    batch = in_corridor()
    before = state_of(batch)
    with pytest.raises(EvidenceError, match=message):
        batch.reset(obs, which=[True, False, True]) if cycle == "reset" else batch.update([1, -1, 1], obs)
    assert state_of(batch) == before


def test_impossible_evidence_names_the_first_such_agent_and_leaves_all_as_they_were() -> None:
    batch = in_corridor()
    before = state_of(batch)
    with pytest.raises(ImpossibleObservationError, match=r"^agent 2: O_x: the value 3 was observed"):
        batch.reset({"O_x": [1, 3, 3]}, which=[True, False, True])  # the prior excludes the last place
    assert state_of(batch) == before
    wall = [[1, 1], [1, 1], [0, 1]]  # seen by the last agent alone
    with pytest.raises(ImpossibleObservationError, match=r"^agent 2: O_wall: the value 1 .* together with O_x=3 under"):
        batch.update([1, -1, 1], {"O_x": [2, 0, 3], "O_wall": wall})
    assert state_of(batch) == before
    batch.update([1, -1, 1], {"O_x": [2, 0, 3]})


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda b: b.update([0, 0, 2], {}),
            "A_step: 2 for agent 2 was given; 3 whole numbers from 0 to 1 are required \\(for finished agents, any",
        ),
        (lambda b: b.update([-1, 0, 0], {}), "A_step: -1 for agent 0 was given"),
        (lambda b: b.update([0, 0], {}), "A_step: int64 of shape \\(2,\\) was given"),
        (lambda b: b.update([0.0, 0.5, 1.0], {}), "A_step: float64 of shape \\(3,\\) was given"),
        (lambda b: b.update([[0], [1, 0], 1], {}), "A_step: object of shape"),
        (lambda b: b.update("left", {}), "A_step: <U4 of shape \\(\\) was given"),
        (
            lambda b: b.finish([True, False]),
            "finish: bool of shape \\(2,\\) was given; a mask of 3 booleans is required",
        ),
        (lambda b: b.finish([0, 1, 1]), "finish: int64 of shape \\(3,\\) was given"),
        (lambda b: b.reset({}, which=1), "reset: int64 of shape \\(\\) was given"),
        (lambda b: b.step([1, 1, 0]), "budgets: \\[1 1 0\\] was given; 3 whole numbers of at least 1 are required"),
        (lambda b: b.step([1, 1]), "budgets: \\[1 1\\] was given"),
        (lambda b: b.step([1.0, 2.0, 3.0]), "budgets: \\[1. 2. 3.\\] was given"),
        (
            lambda b: b.step([1, 1, 10**15]),
            "plan: 1,000,000,000,000,000 iterations in all were asked for; this model's tree may have .* Ask for fewer",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_all_as_they_were(
    act: Callable[[BatchAgent], object], message: str
) -> None:
    batch = in_corridor()
    before = state_of(batch)
    with pytest.raises(PlanningError, match=f"^{message}"):
        act(batch)
    assert state_of(batch) == before


def test_evidence_takes_memory_for_each_agent_and_not_for_each_pair_of_values() -> None:
    n = 5_000
    ts = (
        TemporalSliceBuilder("A_0", 1)
        .add_state("S_0", [0.5, 0.5])
        .add_observation("O_0", np.full((n, 2), 1 / n), ["S_0"])
        .add_transition("S_0", np.eye(2), ["S_0"])
        .build()
    )
    batch = BatchAgent(ts, 4, 1)
    tracemalloc.start()
    try:
        batch.reset({"O_0": np.arange(4)})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * 4 * n  # an identity matrix would take 8 n^2, ten times as much


def test_budget_of_a_finished_agent_does_not_count() -> None:
    batch = in_corridor()
    assert batch.step([6, 0, 6]).tolist() == batch.step([6, 10**15, 6]).tolist() == batch.step().tolist()


def test_a_batch_that_has_observed_nothing_says_so() -> None:
    batch = BatchAgent(LEVER.build(), 2)
    for act in (lambda: batch.step(), lambda: batch.update([0, 0], {}), lambda: batch.beliefs):
        with pytest.raises(
            PlanningError, match=r"^\w+: the agents have observed nothing yet; call reset\(obs\) first\.$"
        ):
            act()


@pytest.mark.parametrize(
    ("obs", "message"),
    [
        ([1, 3], r"^\[1, 3\] was given as observations; a dictionary by name is required, for instance \{'O_x': 0\}"),
        ({"O_y": [1, 2]}, r"^O_y: no such observation is declared\. Declared are O_x, O_wall\.$"),
    ],
)
def test_observations_that_are_none_are_refused_as_those_of_one_agent_are(obs: Any, message: str) -> None:
    ts = own_figures("zeros").spec.build()
    for agent in (BatchAgent(ts, 2), BTAI_3MF(ts)):
        with pytest.raises(EvidenceError, match=message):
            agent.reset(obs)


def test_refused_first_observations_leave_the_batch_waiting_for_them() -> None:
    batch = BatchAgent(own_figures("zeros").spec.build(), 2)
    with pytest.raises(ImpossibleObservationError, match=r"^agent 1: O_x: the value 3 was observed"):
        batch.reset({"O_x": [1, 3]})  # the prior excludes the last place
    with pytest.raises(PlanningError, match="observed nothing yet"):
        batch.step()
    assert not batch.active.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size: 0 was given; a whole number of at least 1 is required"),
        ({"batch_size": True}, "batch_size: True was given"),
        ({"batch_size": 2.0}, "batch_size: 2.0 was given"),
        ({"threads": 0}, "threads: 0 was given; a whole number of at least 1 is required"),
        ({"threads": "all"}, "threads: 'all' was given"),
        ({"max_planning_steps": 0}, "max_planning_steps: 0 was given"),
        ({"ties": "last"}, "ties: 'last' was given; it must be one of 'cost', 'first'"),
        (
            {"action_selection": "softmax"},
            "action_selection: 'softmax' was given; a batch offers 'most_visited' and 'lowest_cost'",
        ),
    ],
)
def test_options_that_a_batch_does_not_have_are_refused(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(PlanningError, match=f"^{message}"):
        BatchAgent(LEVER.build(), **{"batch_size": 2, **options})


def test_slice_built_for_loopy_propagation_is_refused() -> None:
    with pytest.raises(PlanningError, match=r"^inference: the slice was built for loopy propagation; a batch infers"):
        BatchAgent(LEVER.build(inference="loopy"), 2)


def test_a_thread_that_fails_stops_the_others_and_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = BatchAgent(dsprites_slice(granularity=8), 500, 3, threads=2)
    batch.reset({})
    portions = []

    def fails(*given: Any) -> None:
        portions.append(given)
        raise MemoryError("no room")

    monkeypatch.setattr("btai.planning.batch.plan_each", fails)
    with pytest.raises(MemoryError, match="no room"):
        batch.step()
    assert len(portions) <= 2
