from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.corridor import Corridor, corridor_slice, planner

from btai.agents import BTAI_3MF
from btai.envs.dsprites import dSpritesEnv, dSpritesPreProcessingWrapper
from btai.experiments.configuration import describe, digest, first_difference, warn_of_unknown


def test_plain_values_stay_as_they_are() -> None:
    things = {"a": [1, 2.5, "x", None, True], "b": (1, 2)}
    assert describe(things) == {"a": [1, 2.5, "x", None, True], "b": [1, 2]}


def test_every_description_is_strict_json() -> None:
    things = [
        np.float64(1.5),
        np.arange(3),
        np.zeros((9, 9)),
        float("inf"),
        Corridor(),
        corridor_slice(),
        len,
        Path("x"),
    ]
    assert json.loads(json.dumps(describe(things), allow_nan=False)) == describe(things)


def test_object_is_described_by_its_constructors_parameters_and_not_by_its_state() -> None:
    env = Corridor(5)
    before = describe(env)
    env.reset(state=[3])
    assert before == describe(env) == {"class": "experiments.corridor.Corridor", "length": 5}


def test_what_an_object_does_not_keep_is_unknown_and_whoever_might_resume_a_run_with_another_is_told() -> None:
    class Slope(Corridor):
        def __init__(self, steep: float, *more: int, **others: int) -> None:
            super().__init__()
            self.table = [steep]

    described = {"environment": describe(Slope(0.5)), "agent": {"inner": describe(Corridor(5))}}
    assert described["environment"]["steep"] == "unknown"
    with pytest.warns(
        UserWarning, match=r"^environment: it does not tell with which steep .*self\.steep, or .*"
    ) as told:
        warn_of_unknown(described)
    assert len(told) == 1


def test_agent_is_described_with_all_its_options_before_and_after_use() -> None:
    agent = BTAI_3MF(corridor_slice(), max_planning_steps=7, exp_const=1.5, ties="first")
    before = describe(agent)
    agent.seeded(3)
    agent.reset({"O_cell": 2})
    agent.step()
    assert describe(agent) == before
    assert (before["max_planning_steps"], before["exp_const"], before["ties"]) == (7, 1.5, "first")


def test_dsprites_is_described_through_its_wrapper() -> None:
    described = describe(dSpritesPreProcessingWrapper(dSpritesEnv(granularity=4, repeat=8)))
    assert (described["env"]["granularity"], described["env"]["repeat"], described["env"]["max_cycles"]) == (4, 8, 50)


def test_models_that_differ_in_one_table_are_told_apart() -> None:
    ts = corridor_slice()
    prior = np.full(9, 1 / 9) + np.array([1e-9, -1e-9] + [0] * 7)
    assert describe(ts) == describe(corridor_slice())
    assert describe(ts) != describe(ts.replace("S_cell", prior=prior))


def test_object_that_knows_better_describes_itself() -> None:
    class Own:
        def configuration(self) -> dict[str, Any]:
            return {"name": "mine", "size": np.int64(3)}

    assert describe(Own()) == {"name": "mine", "size": 3}


def test_large_arrays_are_told_apart_by_type_shape_and_content() -> None:
    a = np.arange(64.0)
    others = [a.astype(np.float32), a.reshape(8, 8), a + np.eye(1, 64, 63)[0]]
    assert describe(a) == describe(a.copy())
    assert len({describe(x) for x in [a, *others]}) == 4


def test_dataclass_is_a_digest_of_its_fields() -> None:
    @dataclasses.dataclass
    class Pair:
        left: int
        right: int

    assert describe(Pair(1, 2)) == f"Pair {digest({'left': 1, 'right': 2})}"
    assert describe(Pair(1, 2)) != describe(Pair(2, 1))


@pytest.mark.parametrize(
    ("left", "right", "difference"),
    [
        ({"a": 1, "b": {"c": [1, 2]}}, {"a": 1, "b": {"c": [1, 2]}}, None),
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"a": 1, "b": {"c": 2, "d": 4}}, ("b.d", 3, 4)),
        ({"a": 1}, {"a": 1, "b": 2}, ("b", None, 2)),
        ({"a": {"b": 1}}, {"a": 1}, ("a", {"b": 1}, 1)),
    ],
)
def test_first_difference_names_key_and_both_values(left: Any, right: Any, difference: Any) -> None:
    assert first_difference(left, right) == difference


def test_planner_is_described_by_budget() -> None:
    assert first_difference(describe(planner(5)), describe(planner(6))) == ("max_planning_steps", 5, 6)
