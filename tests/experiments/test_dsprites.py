from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from btai.agents import BTAI_3MF
from btai.experiments import Summary, run
from btai.experiments.dsprites import BASELINES, make_agent, make_baseline, make_env, make_flat_env

# P(solved) of whoever always reaches the goal it perceives, by the rewards alone. At granularity g the goal's cell
# holds g columns, of which those passed on the way down earn less than 1.
EXACT = {8: 0.890625, 4: 0.9765625, 2: 0.99609375, 1: 1.0}
TIES_FIRST = 0.78125  # over all starts, with 100 iterations at granularity 1


@pytest.mark.parametrize(("granularity", "planning"), [(8, 50), (4, 50), (2, 50), (1, 25), (1, 50), (1, 100), (1, 150)])
def test_every_start_gives_the_exact_figure(granularity: int, planning: int) -> None:
    summary = from_every_start(granularity, planning)
    assert (summary.trials, summary.p_solved) == (3072, EXACT[granularity])
    if planning >= 100:
        assert summary.cycles_mean == 4.875  # no agent can be faster


def test_ties_that_go_to_the_first_action_solve_less() -> None:
    assert from_every_start(1, 100, ties="first").p_solved == TIES_FIRST


def from_every_start(granularity: int, planning: int, ties: str = "cost") -> Summary:
    agent, env = partial(make_agent, granularity, planning, ties=ties), partial(make_env, granularity)
    return run(agent, env, exhaustive=True, batch=512).summary


class Forgetful:
    """Infers from the initial prior in every cycle, whatever it has done before."""

    def __init__(self, agent: BTAI_3MF) -> None:
        self.agent = agent

    def reset(self, obs: dict[str, int]) -> None:
        self.agent.reset(obs)

    def step(self) -> int:
        return self.agent.step()

    def update(self, _action: int, obs: dict[str, int]) -> None:
        self.agent.reset(obs)


@pytest.mark.slow
def test_papers_figure_comes_about_where_every_cycle_infers_from_the_initial_prior() -> None:
    forgetful = run(Forgetful(make_agent(1, 50)), make_env(1), exhaustive=True).summary
    assert forgetful.p_solved == 0.71875


# --- the baselines --------------------------------------------------------------------------------------------------

# P(solved) with unfinished trials at 0, as the authors' programs count them: of BTAI_BF in 100 trials of theirs, of
# BTAI_VMP in 200 or 300 of an independent program.
KNOWN = {
    ("BTAI_BF", 8, 50): 0.864,
    ("BTAI_BF", 4, 50): 0.983,
    ("BTAI_VMP", 8, 10): 0.808,
    ("BTAI_VMP", 8, 25): 0.849,
    ("BTAI_VMP", 8, 50): 0.879,
    ("BTAI_VMP", 4, 10): 0.873,
    ("BTAI_VMP", 4, 25): 0.906,
    ("BTAI_VMP", 4, 50): 0.962,
}


@pytest.mark.slow
@pytest.mark.parametrize("setting", KNOWN, ids=str)
def test_baselines_solve_what_is_known_of_them(setting: tuple[str, int, int]) -> None:
    name, granularity, planning = setting
    trials = run(make_baseline(name, granularity, planning), make_flat_env(name, granularity), 1000).trials
    rewards = [trial.reward if trial.finished else 0.0 for trial in trials]
    assert (sum(rewards) + 1000) / 2000 == pytest.approx(KNOWN[setting], abs=0.03)


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_begins_nearly_certain_of_the_cell_it_sees_first(name: str) -> None:
    told = make_baseline(name, 8, 5)
    told.reset({"O_sprite": 7})
    # Bayes' rule by hand: 0.9 * 0.99 for cell 7, (0.1 / 59) * (0.01 / 59) for each of the 59 others.
    likely, unlikely = 0.9 * 0.99, 0.1 / 59 * 0.01 / 59
    assert told.agent.beliefs["S_sprite"][7] == pytest.approx(likely / (likely + 59 * unlikely), rel=1e-12)
    told.reset({})
    assert told.agent.beliefs["S_sprite"] == pytest.approx(np.full(60, 1 / 60))


@pytest.mark.parametrize("name", BASELINES)
def test_trials_of_a_baseline_are_the_same_again(name: str) -> None:
    first, second = (run(make_baseline(name, 8, 10), make_flat_env(name, 8), 8, seed=3) for _ in range(2))
    assert [t.actions for t in first.trials] == [t.actions for t in second.trials]
    assert len({t.actions for t in first.trials}) > 1


@pytest.mark.parametrize(("name", "cycles", "precision"), [("BTAI_BF", 20, 1.0), ("BTAI_VMP", 30, 2.0)])
def test_baseline_has_its_published_cycles_and_precision(name: str, cycles: int, precision: float) -> None:
    env, told = make_flat_env(name, 8), make_baseline(name, 8, 5)
    env.reset(state=(0, 0, 0, 0, 0))
    executed = 0
    while not env.done():
        env.execute(0)  # UP, for ever
        executed += 1
    assert (executed, env.truncated, env.get_reward()) == (cycles, True, -1.0)
    table = told.ts.preferences[0].table
    assert np.log(table.max() / table.min()) == pytest.approx(10 * precision)
    assert (told.agent.exp_const, told.agent.options.precision) == (2.4, 100)
