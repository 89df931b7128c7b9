"""Models as Gymnasium environments: what they show is distributed as the model says."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hand_made import LEVER
from hypothesis import given, settings
from spec import Factor, Spec
from strategies import models

from btai import BTAI_3MF
from btai.errors import EnvError
from btai.experiments import run
from btai.interop.gymnasium import AsGymnasium, FromGymnasium

# Two states, the second of which follows from the first and the action; one observation of both.
WEATHER = Spec(
    action="A_wait",
    n_actions=2,
    priors={"S_b": np.array([0.25, 0.75]), "S_a": np.array([0.5, 0.5])},
    likelihoods={
        "O_z": Factor(np.array([[[0.9, 0.6], [0.3, 0.0]], [[0.1, 0.4], [0.7, 1.0]]]), ("S_a", "S_b")),
        "O_y": Factor(np.array([[0.8, 0.1], [0.2, 0.9]]), ("S_b",)),
    },
    transitions={
        "S_a": Factor(np.array([0.3, 0.7]), ()),
        "S_b": Factor(np.array([[[1.0, 0.2], [0.5, 0.0]], [[0.0, 0.8], [0.5, 1.0]]]), ("A_wait", "S_a")),
    },
    preferences={("O_y", "O_z"): np.array([[0.1, 0.2], [0.3, 0.4]])},
)


@pytest.mark.filterwarnings("error")
@settings(max_examples=20)
@given(spec=models(min_observations=1))
def test_any_model_passes_gymnasiums_own_check(spec: Spec) -> None:
    check_env(AsGymnasium(spec.build(), max_steps=5), skip_render_check=True)


def test_spaces_are_those_of_the_model_in_the_order_of_declaration() -> None:
    env = AsGymnasium(WEATHER.build())
    assert env.action_space.n == 2
    assert [*env.observation_space.spaces] == ["O_z", "O_y"]
    obs, info = env.reset(seed=0)
    assert [*obs] == ["O_z", "O_y"]
    assert info["states"] == env.state
    assert [*env.state] == ["S_b", "S_a"]


def episode(seed: int, steps: int = 30) -> list[Any]:
    env = AsGymnasium(WEATHER.build())
    return [env.reset(seed=seed), *(env.step(step % 2) for step in range(steps))]


def test_the_seed_decides_everything() -> None:
    assert episode(5) == episode(5)
    assert episode(5) != episode(6)


def assert_frequencies(counts: Counter[Any], expected: dict[Any, float]) -> None:
    """Each frequency is within five standard deviations of what it should be, and what is impossible never was."""
    total = counts.total()
    for outcome, p in expected.items():
        assert abs(counts[outcome] / total - p) <= 5 * math.sqrt(p * (1 - p) / total), outcome
    assert sum(expected.values()) == pytest.approx(1)
    assert set(counts) <= {outcome for outcome, p in expected.items() if p > 0}


def test_a_trial_starts_as_the_priors_and_likelihoods_say() -> None:
    env = AsGymnasium(WEATHER.build())
    env.reset(seed=0)
    counts: Counter[Any] = Counter()
    for _ in range(4000):
        obs, _ = env.reset()
        counts[(env.state["S_a"], env.state["S_b"], obs["O_z"], obs["O_y"])] += 1
    z, y = (WEATHER.likelihoods[name].table for name in ("O_z", "O_y"))
    prior_a, prior_b = (WEATHER.priors[name] for name in ("S_a", "S_b"))
    assert_frequencies(
        counts,
        {
            (a, b, o, p): float(prior_a[a] * prior_b[b] * z[o, a, b] * y[p, b])
            for a, b, o, p in product(range(2), repeat=4)
        },
    )


def test_states_follow_from_those_before_and_the_action() -> None:
    env = AsGymnasium(WEATHER.build())
    env.reset(seed=0)
    counts: dict[tuple[int, int], Counter[Any]] = {key: Counter() for key in product(range(2), range(2))}
    for step in range(8000):
        action, before = step % 2, env.state["S_a"]
        env.step(action)
        counts[(action, before)][(env.state["S_a"], env.state["S_b"])] += 1
    a, b = (WEATHER.transitions[name].table for name in ("S_a", "S_b"))
    for (action, before), counted in counts.items():
        # S_b follows from the S_a of the step before, not from the new one.
        after = product(range(2), repeat=2)
        assert_frequencies(counted, {(x, y): float(a[x] * b[y, action, before]) for x, y in after})


def test_the_reward_is_the_log_preference_of_what_was_observed() -> None:
    env = AsGymnasium(WEATHER.build())
    env.reset(seed=0)
    seen = set()
    for step in range(50):
        obs, reward, _, _, _ = env.step(step % 2)
        assert reward == pytest.approx(math.log([[0.1, 0.2], [0.3, 0.4]][obs["O_y"]][obs["O_z"]]))
        seen.add((obs["O_y"], obs["O_z"]))
    assert len(seen) == 4


def test_without_preferences_the_reward_is_nothing() -> None:
    env = AsGymnasium(Spec("A_wait", 1, WEATHER.priors, WEATHER.likelihoods, still(), {}).build())
    env.reset(seed=0)
    assert env.step(0)[1] == 0.0


def still() -> dict[str, Factor]:
    return {name: Factor(np.eye(2), (name,)) for name in WEATHER.priors}


def test_a_trial_is_truncated_after_its_steps_and_never_terminated() -> None:
    env = AsGymnasium(WEATHER.build(), max_steps=3)
    for _ in range(2):
        env.reset(seed=0)
        ends = [env.step(0)[2:4] for _ in range(3)]
        assert ends == [(False, False), (False, False), (False, True)]
    endless = AsGymnasium(WEATHER.build())
    endless.reset(seed=0)
    assert not any(any(endless.step(0)[2:4]) for _ in range(100))


@pytest.mark.parametrize("action", [-1, 2, 0.5, "left"])
def test_an_action_that_is_none_is_refused(action: Any) -> None:
    env = AsGymnasium(WEATHER.build())
    env.reset(seed=0)
    message = f"A_wait: {action!r} was given; required is a whole number from 0 to 1."
    with pytest.raises(EnvError, match=f"^{re.escape(message)}"):
        env.step(action)


def test_nothing_can_be_done_before_the_first_reset() -> None:
    with pytest.raises(EnvError, match="call reset"):
        AsGymnasium(WEATHER.build()).step(0)


def test_a_limit_of_no_steps_is_refused() -> None:
    with pytest.raises(EnvError, match=r"^max_steps: 0 was given; at least 1 is required, or None"):
        AsGymnasium(WEATHER.build(), max_steps=0)


def test_an_agent_acts_in_the_world_that_its_model_describes() -> None:
    ts = LEVER.build()  # one action leads to what is preferred 3 to 1
    env = FromGymnasium(AsGymnasium(ts, max_steps=4), ts)
    result = run(BTAI_3MF(ts, max_planning_steps=5), env, trials=2, seed=0)
    for trial in result.trials:
        assert trial.actions == (1, 1, 1, 1)
        assert trial.reward == pytest.approx(4 * math.log(0.75))
        assert not trial.finished
        assert [*trial.initial_state] == ["S_0"]


# --- starts and ends ----------------------------------------------------------------------------------


def test_a_trial_starts_where_it_is_told() -> None:
    env = AsGymnasium(WEATHER.build())
    for a, b in product(range(2), repeat=2):
        env.reset(seed=0, options={"state": {"S_a": a, "S_b": b}})
        assert env.state == {"S_b": b, "S_a": a}


def test_a_given_start_does_not_shift_what_is_drawn_later() -> None:
    drawn, given = AsGymnasium(WEATHER.build()), AsGymnasium(WEATHER.build())
    drawn.reset(seed=0)
    given.reset(seed=0, options={"state": drawn.state})
    assert [drawn.step(0) for _ in range(20)] == [given.step(0) for _ in range(20)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": {}}, "options has the key 'states': the only option of reset is 'state'."),
        ({"state": [0, 1]}, "state: [0, 1] was given; a value for each of S_b, S_a is required, by name."),
        ({"state": {"S_a": 0}}, "state: {'S_a': 0} was given; a value for each of S_b, S_a is required, by name."),
        ({"state": {"S_a": 0, "S_b": 2}}, "S_b: 2 was given; required is a whole number from 0 to 1."),
    ],
)
def test_a_start_that_is_none_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EnvError) as error:
        AsGymnasium(WEATHER.build()).reset(options=options)
    assert str(error.value) == message


def test_the_starts_that_the_priors_allow_are_listed() -> None:
    priors = {"S_a": np.array([0.5, 0.0, 0.5]), "S_b": np.array([0.5, 0.5])}
    still = {name: Factor(np.eye(len(prior)), (name,)) for name, prior in priors.items()}
    ts = Spec("A_wait", 1, priors, {}, still, {}).build()
    assert AsGymnasium(ts).initial_states() == [{"S_a": a, "S_b": b} for a in (0, 2) for b in (0, 1)]


def test_too_many_starts_are_counted_and_not_listed() -> None:
    priors = {f"S_{i}": np.array([0.5, 0.5]) for i in range(17)}
    still = {name: Factor(np.eye(2), (name,)) for name in priors}
    with pytest.raises(EnvError, match=r"^the priors allow 131,072 starts; at most 100,000 are listed\."):
        AsGymnasium(Spec("A_wait", 1, priors, {}, still, {}).build()).initial_states()


class Ending(AsGymnasium):
    """Is over, with a reward of 7, as soon as S_a is 1."""

    def ended(self) -> bool:
        return self.state["S_a"] == 1

    def reward(self, before: Any, obs: Any, truncated: bool) -> float:
        return 7.0 if self.ended() else -1.0 if truncated else 0.0


def test_a_task_says_when_it_is_over_and_what_it_earns() -> None:
    env = Ending(WEATHER.build(), max_steps=2)
    seen = set()
    for seed in range(30):
        env.reset(seed=seed)
        ends: list[tuple[Any, ...]] = []
        while not ends or not any(ends[-1][1:]):
            ends.append(env.step(0)[1:4])
        seen.add(tuple(ends))
        if env.state["S_a"] == 1:
            with pytest.raises(EnvError, match="the trial is over: call reset"):
                env.step(0)
    over, out_of_time, going_on = (7.0, True, False), (-1.0, False, True), (0.0, False, False)
    assert seen == {(over,), (going_on, over), (going_on, out_of_time)}
