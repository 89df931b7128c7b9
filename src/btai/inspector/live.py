"""An agent in its environment, under the hands of whoever looks at the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from btai.agents import BTAI_3MF
from btai.agents.options import checked_whole
from btai.errors import BtaiError, EnvError, PlanningError
from btai.experiments import Cycle
from btai.experiments.workers import adapted
from btai.inference import write_evidence
from btai.inspector.cursor import Cursor, CursorError
from btai.inspector.png import picture_of
from btai.inspector.recipes import LiveRecipe
from btai.inspector.trace import Moment, Trace, TrialRow

__all__ = ["MOST_ITERATIONS", "PORTION", "ConflictError", "LiveTrace", "Step"]

PORTION = 200  # planning iterations between two looks at the page
MOST_ITERATIONS = 100_000  # that a page may ask for at once


class ConflictError(PlanningError):
    """A command that cannot be carried out now."""


@dataclass(frozen=True)
class Step:
    """What a command has come to so far: where the live end is now."""

    reason: str
    cursor: Cursor
    over: bool


@dataclass
class _Trial:
    over: bool
    moments: list[Moment] = field(default_factory=list)


class LiveTrace(Trace):
    """Trials that somebody takes an agent through, command by command.

    Everything that happens is appended; what has been is not touched again. An agent that has observed something
    already is taken as it is; otherwise agent and environment are reset first.
    """

    mode = "live"

    def __init__(self, env: Any, agent: BTAI_3MF) -> None:
        if not isinstance(agent, BTAI_3MF):
            raise PlanningError(
                f"agent: a {type(agent).__name__} was given; the inspector shows what a BTAI_3MF, or an agent derived"
                " from it such as BTAI_BF, believes and expects. Give it one of these."
            )
        super().__init__(adapted(env, agent.ts))
        self.title = f"{type(agent).__name__} in {type(getattr(env, 'unwrapped', env)).__name__}"
        self.agent_class = type(agent).__name__
        self.ts = agent.ts
        self.options = agent.options
        self._agent = agent
        self._trials: list[_Trial] = []
        seen = _perceived(agent)
        self.recipe = LiveRecipe(self.options, from_reset=seen is None)
        if seen is None:
            self._reset()
        else:
            self._trials.append(_Trial(over=bool(_asked(self._env, "done"))))
            self._arrive(seen, self._reward())

    def start(self) -> Cursor:
        """The live end."""
        moments = self._trials[-1].moments
        return Cursor(len(self._trials) - 1, len(moments) - 1, len(moments[-1].cycle.expanded))

    def trials(self) -> Sequence[TrialRow]:
        """The trials since the inspector was opened."""
        return [self._row(number) for number in range(len(self._trials))]

    def moments(self, trial: int) -> Sequence[Moment]:
        """The cycles of a trial so far."""
        return self._trial(trial).moments

    def is_over(self, trial: int) -> bool:
        """Whether the environment has ended a trial, or another has begun."""
        return self._trial(trial).over or trial < len(self._trials) - 1

    def command(self, command: str, given: Mapping[str, Any]) -> Iterator[Step]:
        """Carry out a command of the page, bit by bit: whoever iterates may stop at any time."""
        if command == "reset":
            return self._reset_steps()
        if self._trials[-1].over:
            raise ConflictError(f"{command}: the trial is over; reset begins another.")
        if command == "plan":
            iterations = checked_whole("iterations", given.get("iterations", 1), 1, MOST_ITERATIONS)
            return self._plan_steps(iterations)
        if command == "finish":
            return self._finish_steps()
        return self._act_steps(given.get("action"))

    def _reset_steps(self) -> Iterator[Step]:
        self._reset()
        yield self.here("reset")

    def _plan_steps(self, iterations: int) -> Iterator[Step]:
        while iterations > 0:
            portion = min(iterations, PORTION)
            self._agent.plan(portion)
            self._planned()
            iterations -= portion
            yield self.here("plan")

    def _finish_steps(self) -> Iterator[Step]:
        if self.options.time_limit is None:
            yield from self._plan_steps(self.options.iterations - len(self._agent.tree.expanded))
        else:
            self._agent.step()
            self._planned()
        yield self.here("plan")

    def _act_steps(self, action: Any) -> Iterator[Step]:
        chosen = self._best() if action is None else action
        executed = self.ts.action.index(chosen)
        trial = self._trials[-1]
        try:
            obs = _asked(self._env, "execute", executed)
            self._agent.update(executed, obs)
        except BtaiError as error:
            trial.over = True
            raise ConflictError(
                f"{error} Agent and environment may be out of step now; only reset is possible."
            ) from error
        last = trial.moments[-1]
        trial.moments[-1] = replace(last, cycle=replace(last.cycle, action=executed))
        self._arrive(obs, self._reward())
        trial.over = bool(_asked(self._env, "done"))
        yield self.here("act")

    def _reset(self) -> None:
        obs = _asked(self._env, "reset")
        self._agent.reset(obs)
        self._trials.append(_Trial(over=bool(_asked(self._env, "done"))))
        self._arrive(obs, None)

    def _best(self) -> int:
        if not len(self._agent.tree.expanded):
            raise ConflictError("act: nothing was planned yet, so there is no best action. Plan first, or name one.")
        return self._agent.choose()

    def _arrive(self, obs: Mapping[str, Any], reward: float | None) -> None:
        """Begin a cycle."""
        trial, agent = self._trials[-1], self._agent
        evidence = np.empty(self.ts.observation_layout.size)
        write_evidence(self.ts, obs, evidence)
        cycle = Cycle(
            trial=len(self._trials) - 1,
            cycle=len(trial.moments),
            action=None,
            evidence=self.ts.observation_layout.views(evidence),
            prior=_copied(agent.prior),
            posterior=_copied(agent.beliefs),
            expanded=np.array(agent.tree.expanded),
            efe=np.array(agent.tree.efe),
        )
        trial.moments.append(Moment(cycle, reward, picture_of(self._env)))

    def _planned(self) -> None:
        """Take in what the search has come to."""
        moments, tree = self._trials[-1].moments, self._agent.tree
        cycle = replace(moments[-1].cycle, expanded=np.array(tree.expanded), efe=np.array(tree.efe))
        moments[-1] = replace(moments[-1], cycle=cycle)

    def _reward(self) -> float:
        return float(_asked(self._env, "get_reward"))

    def here(self, reason: str) -> Step:
        """Where the live end is."""
        return Step(reason, self.start(), self._trials[-1].over)

    def _trial(self, trial: int) -> _Trial:
        if not 0 <= trial < len(self._trials):
            raise CursorError(f"trial {trial} was asked for; there are the trials 0 to {len(self._trials) - 1}.")
        return self._trials[trial]

    def _row(self, number: int) -> TrialRow:
        trial = self._trials[number]
        cycles = [moment.cycle for moment in trial.moments]
        return TrialRow(
            trial=number,
            seed=None,
            initial_state=None,
            reward=trial.moments[-1].reward,
            cycles=len(cycles) - 1,
            finished=trial.over,
            over=self.is_over(number),
            seconds=None,
            planning_iterations=sum(len(cycle.expanded) for cycle in cycles),
            actions=tuple(cycle.action for cycle in cycles if cycle.action is not None),
        )


def _perceived(agent: BTAI_3MF) -> Mapping[str, Any] | None:
    """What the agent perceived last; None if it has observed nothing yet."""
    try:
        return agent.evidence
    except PlanningError:
        return None


def _asked(env: Any, what: str, *arguments: Any) -> Any:
    """What a method of the environment gives."""
    try:
        return getattr(env, what)(*arguments)
    except BtaiError:
        raise
    except Exception as error:
        raise EnvError(f"{type(env).__name__}.{what} failed: {type(error).__name__}: {error}") from error


def _copied(vectors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.array(vector) for name, vector in vectors.items()}
