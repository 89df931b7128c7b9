"""The tiger: behind one of two doors there is treasure, behind the other a tiger, whose growls can be listened to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from btai.envs.checks import cycles, finite, probability
from btai.envs.tables import certain
from btai.interop.gymnasium import AsGymnasium
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["TigerEnv", "tiger_slice"]

ACTIONS = ("listen", "open left", "open right")
SIDES = ("left", "right")
SCENES = ("before the doors", "listening", "left open", "right open")
BEFORE, LISTENING, LEFT_OPEN, RIGHT_OPEN = range(4)
GROWLS = ("left", "right", "none")
OUTCOMES = ("nothing", "treasure", "tiger")
NOTHING, TREASURE, TIGER = range(3)


def tiger_slice(
    accuracy: float = 0.85,
    treasure: float = 10.0,
    tiger: float = -100.0,
    listening: float = -1.0,
    caution: float = 5.0,
    precision: float = 0.2,
) -> TemporalSlice:
    """The tiger as a model, which is also how the environment works.

    "S_tiger" never moves and "S_scene" is what the last action made of the scene; a door stays open. "O_growl" tells
    the tiger's side while the agent listens, "O_outcome" what is behind the open door; the preference is over the
    latter. The search does not foresee that it will know more once it has listened: what makes it listen is that it
    dislikes the risk of opening, for which there is `caution`.

    Args:
        accuracy: how probable it is to hear the growl from the tiger's side.
        treasure: the score of finding the treasure.
        tiger: the score of finding the tiger.
        listening: the score of any cycle that ends before closed doors.
        caution: how many times the score of the tiger counts.
        precision: of the preference, softmax(precision * score).
    """
    heard = np.zeros((3, 2, 4))  # [growl, tiger, scene]
    heard[GROWLS.index("none")] = 1
    heard[:, :, LISTENING] = 0
    heard[:2, :, LISTENING] = np.where(np.eye(2), probability("accuracy", accuracy), 1 - accuracy)
    outcome = np.full((2, 4), NOTHING)  # [tiger, scene]
    outcome[:, LEFT_OPEN], outcome[:, RIGHT_OPEN] = (TIGER, TREASURE), (TREASURE, TIGER)
    scene = np.tile([LISTENING, LEFT_OPEN, RIGHT_OPEN], (4, 1))  # [scene, action]
    scene[LEFT_OPEN], scene[RIGHT_OPEN] = LEFT_OPEN, RIGHT_OPEN
    scores = _scores(treasure, finite("caution", caution, least=0) * finite("tiger", tiger), listening)
    return (
        TemporalSliceBuilder("A_do", len(ACTIONS), values=ACTIONS)
        .add_state("S_tiger", [0.5, 0.5], values=SIDES)
        .add_state("S_scene", certain(BEFORE, 4), values=SCENES)
        .add_observation("O_growl", heard, ["S_tiger", "S_scene"], values=GROWLS)
        .add_observation("O_outcome", certain(outcome, 3), ["S_tiger", "S_scene"], values=OUTCOMES)
        .add_transition("S_tiger", np.eye(2), ["S_tiger"])
        .add_transition("S_scene", certain(scene, 4), ["S_scene", "A_do"])
        .add_preference(["O_outcome"], scores=scores, precision=precision)
        .build()
    )


class TigerEnv(AsGymnasium):
    """Open the door that hides the treasure.

    Observations are O_growl (0 left, 1 right, 2 none) and O_outcome (0 nothing, 1 treasure, 2 tiger). Actions are 0
    listen, 1 open left, 2 open right. A trial terminates when a door is opened and is truncated after `max_cycles`.
    Each cycle is rewarded with the score of its outcome, as `tiger_slice` has it.

    Args:
        accuracy: how probable it is to hear the growl from the tiger's side.
        treasure: the reward for finding the treasure.
        tiger: the reward for finding the tiger.
        listening: the reward for listening.
        max_cycles: cycles after which a trial is truncated.
    """

    def __init__(
        self,
        accuracy: float = 0.85,
        treasure: float = 10.0,
        tiger: float = -100.0,
        listening: float = -1.0,
        *,
        max_cycles: int = 20,
    ) -> None:
        super().__init__(tiger_slice(accuracy, treasure, tiger, listening), cycles(max_cycles))
        self.accuracy, self.max_cycles = accuracy, max_cycles
        self.treasure, self.tiger, self.listening = treasure, tiger, listening
        self._rewards = _scores(treasure, tiger, listening)

    def ended(self) -> bool:
        """Whether a door is open."""
        return self.state["S_scene"] >= LEFT_OPEN

    def reward(self, before: Mapping[str, int], obs: dict[str, Any], truncated: bool) -> float:
        """The score of what is seen."""
        outcome: int = obs["O_outcome"]
        return self._rewards[outcome]


def _scores(treasure: float, tiger: float, listening: float) -> list[float]:
    """By outcome, [n_O]."""
    return [finite("listening", listening), finite("treasure", treasure), finite("tiger", tiger)]
