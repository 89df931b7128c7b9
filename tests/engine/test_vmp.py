"""The compiled sweeps give what the readable ones give: every belief, and the same trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from spec import Spec
from strategies import evidences, models

from btai import BTAI_VMP
from btai.envs import dsprites_flat, dsprites_slice
from btai.envs.dsprites import flat_prior
from btai.model import TemporalSlice

some = settings(max_examples=60)

positive = models(max_states=4, max_observations=5, max_size=5, zeros=False)


def both(ts: TemporalSlice, iterations: int, **stopping: Any) -> tuple[BTAI_VMP, BTAI_VMP]:
    """The same agent on the kernels and in NumPy."""
    compiled, readable = (
        BTAI_VMP(ts, iterations, action_selection="lowest_cost", engine=engine, **stopping)
        for engine in ("compiled", "numpy")
    )
    return compiled, readable


def assert_same(compiled: BTAI_VMP, readable: BTAI_VMP) -> None:
    """Past, inference and tree are the same, and so are the beliefs that the search kept of every node."""
    past, expected = compiled.past, readable.past
    assert past.time == expected.time
    for time in range(past.time + 1):
        assert_all_close(past.states(time), expected.states(time))
        if time < past.time:
            assert_allclose(past.action(time), expected.action(time), rtol=0, atol=1e-12)
    assert past.settling.sweeps == expected.settling.sweeps
    assert past.settling.settled == expected.settling.settled
    assert past.settling.free_energy == pytest.approx(expected.settling.free_energy, abs=1e-11)
    assert past.settling.decrease == pytest.approx(expected.settling.decrease, abs=1e-11)
    assert_all_close(compiled.prior, readable.prior)
    for name in ("expanded", "visits", "cost", "efe"):
        assert_array_equal(getattr(compiled.tree, name), getattr(readable.tree, name))
    assert compiled.unsettled == readable.unsettled
    kept: Any = compiled._searcher
    searched: Any = readable._searcher
    rows = kept._work.rows.reshape(-1, kept._program.wires.width)
    for row, beliefs in zip(rows, searched._beliefs, strict=False):
        assert_all_close(compiled.ts.state_layout.views(row), beliefs)


def assert_all_close(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, vector in expected.items():
        assert_allclose(found[name], vector, rtol=0, atol=1e-12, err_msg=name)


@some
@given(positive, st.data())
def test_three_cycles_are_the_same_on_every_model(spec: Spec, data: st.DataObject) -> None:
    stopping = data.draw(st.sampled_from([{}, {"tolerance": 1e-5}, {"tolerance": 1e-9, "max_sweeps": 3}]))
    agents = both(spec.build(), 12, **stopping)
    for cycle in range(3):
        evidence = data.draw(evidences(spec))
        action = data.draw(st.integers(0, spec.n_actions - 1))
        for agent in agents:
            if cycle == 0:
                agent.reset(evidence)
            else:
                agent.update(action, evidence)
            agent.step()
        assert_same(*agents)


@pytest.mark.parametrize("granularity", [8, 4])
def test_trial_of_the_published_agent_is_the_same(granularity: int) -> None:
    agents = both(dsprites_flat(granularity, precision=2), 50)
    for agent in agents:
        agent.reset({"O_sprite": 0}, {"S_sprite": flat_prior(granularity, 0)})
        agent.step()
    assert_same(*agents)
    for seen in (1, 2, 7):  # the last of them, in another column, is a surprise
        action = agents[0].choose()
        for agent in agents:
            agent.update(action, {"O_sprite": seen})
            agent.step()
        assert_same(*agents)


def test_factored_dsprites_is_the_same() -> None:
    """The paper's factored slice: five states, joint preferences, no flattening."""
    agents = both(dsprites_slice(8), 30)
    seen = {"O_shape": 0, "O_scale": 1, "O_orientation": 2, "O_pos_x": 1, "O_pos_y": 2}
    for agent in agents:
        agent.reset(seen)
        agent.step()
    assert_same(*agents)
    for agent in agents:
        agent.update(0, seen | {"O_pos_y": 3})
        agent.step()
    assert_same(*agents)


def test_tree_that_outgrows_its_room_keeps_what_it_has() -> None:
    agents = both(dsprites_flat(8, precision=2), 4)
    for agent in agents:
        agent.reset({"O_sprite": 17}, {"S_sprite": flat_prior(8, 17)})
        for planned in (4, 3, 30):
            agent.plan(planned)
    assert len(agents[0].tree.expanded) == 37
    assert_same(*agents)


def test_plan_in_parts_is_the_plan_in_one() -> None:
    agents = [both(dsprites_flat(8, precision=2), 20)[0] for _ in range(2)]
    for agent, parts in zip(agents, ((20,), (1, 7, 12)), strict=True):
        agent.reset({"O_sprite": 3}, {"S_sprite": flat_prior(8, 3)})
        for planned in parts:
            agent.plan(planned)
    assert_array_equal(agents[0].tree.cost, agents[1].tree.cost)
    assert np.isfinite(agents[0].tree.cost).all()
