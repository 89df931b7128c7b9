"""Other agents than BTAI_3MF: what is derived from it is shown as it is, anything else refused in words."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspector.copied import value_of
from inspector.models import SevenStatesEnv
from inspector.recorded import dsprites_env, seven_states_agent
from inspector.test_recipes import python

from btai import BTAI_3MF, BTAI_BF, BTAI_VMP
from btai.agents import BatchAgent
from btai.envs import dsprites_flat, dsprites_slice, dSpritesEnv, dSpritesFlatWrapper
from btai.errors import PlanningError, RunFileError
from btai.experiments import run
from btai.inspector import LiveTrace, RunTrace, export_page, views
from btai.inspector.cursor import Cursor
from btai.inspector.whatif import Change, what_if

SEED = 5


def flat_env() -> dSpritesFlatWrapper:
    return dSpritesFlatWrapper(dSpritesEnv(granularity=8), unfinished=0.0)


def filtering_agent(planning: int = 20) -> BTAI_BF:
    return BTAI_BF(dsprites_flat(8), planning, rng=np.random.default_rng(SEED))


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run of BTAI_BF."""
    path = tmp_path_factory.mktemp("runs") / "filtered.sqlite"
    run(filtering_agent, flat_env, 2, seed=SEED, out=path, record=True)
    return path


def relived(trace: RunTrace, trial: int) -> Any:
    """An agent that lives through a trial again, before each decision: what it plans now is what was recorded."""
    row = trace.trials()[trial]
    env, agent = flat_env(), filtering_agent()
    agent.reset(env.reset(seed=row.seed))
    for action in row.actions:
        yield agent
        agent.update(action, env.execute(action))


def test_a_recorded_btai_bf_is_at_every_iteration_what_it_was(filtered: Path) -> None:
    trace = RunTrace(filtered)
    assert (trace.agent_class, trace.options.root) == ("BTAI_BF", "kept")
    began_with = []
    for cycle, agent in enumerate(relived(trace, 0)):
        began_with.append(int(agent.tree.root.visits))
        for iteration in range(21):
            shown = trace.tree(Cursor(0, cycle, iteration))
            assert shown.visits.tolist() == agent.tree.visits.tolist()
            assert shown.cost.tolist() == agent.tree.cost.tolist()
            if iteration < 20:
                agent.plan(1)
    assert max(began_with) > 1  # so the roots kept what they had
    trace.close()


def test_the_pictures_of_a_recorded_btai_bf_are_those_of_its_environment(filtered: Path) -> None:
    trace = RunTrace(filtered)
    moments = trace.moments(1)
    assert all(moment.image for moment in moments)
    assert moments[-1].reward == trace.trials()[1].reward
    trace.close()


def test_what_if_of_a_kept_root_begins_with_it_too(filtered: Path) -> None:
    trace = RunTrace(filtered)
    actions = trace.trials()[0].actions
    for cycle, action in enumerate(actions):
        *_, both = what_if(trace, Cursor(0, cycle), Change({}, action=action))
        assert both["altered"] | {"forced": False} == both["original"]
    assert trace.history(Cursor(0, len(actions) - 1)).root[0] > 1
    trace.close()


def test_the_lines_for_a_kept_root_give_its_tree(filtered: Path, tmp_path: Path) -> None:
    trace = RunTrace(filtered)
    for here in (Cursor(0, 0, 4), Cursor(0, 1, 9)):
        visits, costs, *_ = value_of(python(trace, here, "tree"), tmp_path)
        assert visits.tolist() == trace.tree(here).visits.tolist()
        assert costs.tolist() == trace.tree(here).cost.tolist()
    trace.close()


def test_a_recorded_btai_bf_is_exported(filtered: Path, tmp_path: Path) -> None:
    trace = RunTrace(filtered)
    assert export_page(trace, tmp_path / "page.html").trials == 2
    trace.close()


def test_a_live_btai_bf_is_shown_as_it_is() -> None:
    env = flat_env()
    env.reset(seed=SEED)  # what the trace's own reset draws from: a start far enough from the goal
    trace = LiveTrace(env, filtering_agent())
    assert trace.title == "BTAI_BF in dSpritesFlatWrapper"
    for _ in range(2):
        [*trace.command("finish", {})]
        [*trace.command("act", {})]
    assert views.cycle(trace, Cursor(0, 1))["search"]["root"]["visits"] > 1
    assert views.why(trace, Cursor(0, 1))["performed"] == trace.moments(0)[1].cycle.action


def test_a_model_of_dsprites_that_was_changed_still_has_its_pictures(tmp_path: Path) -> None:
    ts = dsprites_slice(4, 8).replace("S_pos_x", prior=np.full(8, 0.125))
    run(partial(BTAI_3MF, ts, 5), dsprites_env, 1, out=tmp_path / "run.sqlite", record=True)
    trace = RunTrace(tmp_path / "run.sqlite")
    assert all(moment.image for moment in trace.moments(0))
    trace.close()


# --- agents by other equations --------------------------------------------------------------------------------


def passing_agent() -> BTAI_VMP:
    return BTAI_VMP(dsprites_flat(8), 5, rng=np.random.default_rng(SEED))


def test_a_live_agent_of_another_kind_is_refused_by_its_name() -> None:
    agents: list[Any] = [passing_agent(), BatchAgent(seven_states_agent().ts, 2), object()]
    for agent in agents:
        with pytest.raises(PlanningError, match=rf"a {type(agent).__name__} was given; .* BTAI_BF"):
            LiveTrace(SevenStatesEnv(), agent)


def test_a_recorded_agent_of_another_kind_is_refused_by_its_name(tmp_path: Path) -> None:
    run(passing_agent, flat_env, 1, seed=SEED, out=tmp_path / "run.sqlite", record=True)
    with pytest.raises(RunFileError, match=r"BTAI_VMP expected its first action to cost .* BTAI_BF"):
        RunTrace(tmp_path / "run.sqlite")
