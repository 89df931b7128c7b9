from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from experiments.corridor import Corridor, Drunkard, Rightwards, Stumbling, without_clocks

from btai.errors import EnvError
from btai.experiments import Job, derived_seed, run_trial, trial
from btai.experiments.trial import trial_rewards


class Clock:
    """A clock that moves only when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def taking(self, seconds: float, function: Callable[..., Any]) -> Callable[..., Any]:
        def slow(*args: Any, **kwargs: Any) -> Any:
            self.now += seconds
            return function(*args, **kwargs)

        return slow


def test_trial_counts_cycles_actions_and_reward_by_hand() -> None:
    result = run_trial(Rightwards(), Corridor(), Job(4, 11, (6,)), max_cycles=100)
    assert (result.index, result.seed, result.initial_state) == (4, 11, (6,))
    assert (result.actions, result.cycles, result.reward, result.finished) == ((1, 1), 2, 1.0, True)
    assert result.planning_iterations == 0


def test_seconds_go_to_planning_inference_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, agent, env = Clock(), Rightwards(), Corridor()
    monkeypatch.setattr(trial, "perf_counter", clock)
    for thing, method, seconds in [
        (agent, "step", 100.0),
        (agent, "reset", 10.0),
        (agent, "update", 20.0),
        (env, "reset", 1.0),
        (env, "execute", 2.0),
    ]:
        monkeypatch.setattr(thing, method, clock.taking(seconds, getattr(thing, method)))
    result = run_trial(agent, env, Job(0, 0), max_cycles=1)
    assert result.planning_seconds == 100
    assert result.inference_seconds == 10 + 20
    assert result.environment_seconds == 1 + 2
    assert result.seconds == 133


def test_job_gives_the_same_trial_alone_and_in_any_order() -> None:
    agent, env = Drunkard(), Corridor()
    jobs = [Job(i, derived_seed(5, i)) for i in range(20)]
    in_order = [run_trial(agent, env, job, 100) for job in jobs]
    backwards = [run_trial(agent, env, job, 100) for job in reversed(jobs)]
    alone = [run_trial(Drunkard(), Corridor(), job, 100) for job in jobs]
    assert list(map(without_clocks, in_order)) == list(map(without_clocks, reversed(backwards)))
    assert list(map(without_clocks, in_order)) == list(map(without_clocks, alone))
    assert len({result.actions for result in in_order}) > 5  # they do differ from each other


def test_derived_seeds_are_those_of_a_spawned_seed_sequence() -> None:
    children = np.random.SeedSequence(42).spawn(5)
    expected = [int(child.generate_state(1, np.uint64)[0]) // 2**11 for child in children]
    assert [derived_seed(42, i) for i in range(5)] == expected
    assert max(expected) < 2**53


def test_trial_that_does_not_end_is_stopped_and_not_finished() -> None:
    result = run_trial(Drunkard(bias=0.5), Corridor(10**6), Job(0, 1, (500,)), max_cycles=30)
    assert (result.cycles, result.finished, result.reward) == (30, False, 0.0)


def test_trial_that_the_environment_gave_up_is_not_finished() -> None:
    class Impatient(Corridor):
        truncated = True

        def done(self) -> bool:
            return True

    assert run_trial(Rightwards(), Impatient(), Job(0, 1), 10).finished is False


def test_environment_without_seed_and_state_is_simply_reset() -> None:
    class Plain:
        def __init__(self) -> None:
            self.left = 0

        def reset(self) -> dict[str, int]:
            self.left = 3
            return {"O_cell": 0}

        def execute(self, action: int) -> dict[str, int]:
            self.left -= 1
            return {"O_cell": 0}

        def done(self) -> bool:
            return self.left == 0

        def get_reward(self) -> float:
            return 0.25

    result = run_trial(Rightwards(), Plain(), Job(0, 1), 10)
    assert (result.cycles, result.reward, result.initial_state) == (3, 0.25, None)
    with pytest.raises(EnvError, match=r"Plain\.reset takes no `state`"):
        run_trial(Rightwards(), Plain(), Job(0, 1, (2,)), 10)


def test_environment_that_takes_any_keyword_is_given_seed_and_state() -> None:
    class Open(Corridor):
        def reset(self, **options: Any) -> dict[str, int]:  # type: ignore[override]
            self.options = options
            return super().reset(**options)

    env = Open()
    run_trial(Rightwards(), env, Job(0, 17, (2,)), 10)
    assert env.options == {"seed": 17, "state": (2,)}


@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_reward_that_is_no_number_is_refused(reward: float) -> None:
    class Odd(Corridor):
        def get_reward(self) -> float:
            return reward

    with pytest.raises(EnvError, match=r"Odd.get_reward\(\) gave (nan|inf)"):
        run_trial(Rightwards(), Odd(), Job(0, 1), 10)


def test_agent_that_raises_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="stumbled in cell 3"):
        run_trial(Stumbling(), Corridor(), Job(0, 1, (3,)), 10)


def test_witness_sees_each_decision_and_the_end() -> None:
    seen: list[tuple[int, int | None]] = []

    class Eye:
        def decided(self, obs: Mapping[str, Any], action: int) -> None:
            seen.append((obs["O_cell"], action))

        def ended(self, obs: Mapping[str, Any]) -> None:
            seen.append((obs["O_cell"], None))

    run_trial(Rightwards(), Corridor(), Job(0, 1, (5,)), 10, Eye())
    assert seen == [(5, 1), (6, 1), (7, 1), (8, None)]


@pytest.mark.parametrize("given", [(1.0, -1.0), (0.0, 0.0), (0.0, math.inf), (math.nan, 1.0), (1.0,), 1.0, ("a", "b")])
def test_rewards_that_do_not_tell_failure_from_success_are_refused(given: object) -> None:
    class Odd(Corridor):
        trial_rewards = given

    with pytest.raises(EnvError, match=r"trial_rewards: Odd has .*; two numbers are required"):
        trial_rewards(Odd())


def test_rewards_of_a_failure_and_a_success_are_the_papers_unless_said_otherwise() -> None:
    class Scored(Corridor):
        trial_rewards: object = np.array([0, 100])

    class Open(Corridor):
        trial_rewards: object = None

    assert [trial_rewards(env) for env in (Corridor(), Scored(), Open())] == [(-1.0, 1.0), (0.0, 100.0), None]
