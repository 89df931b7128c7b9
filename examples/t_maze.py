"""The T-maze: a reward waits in the left or the right arm, and a screen at the cue tells in which.

Going to the cue first is wise, and in the first maze below the agent does. But it does so for a reason of its own.
The planner is open-loop: its beliefs about the future are predictions without observations, so it does not know that
reading the cue will let it choose the right arm later. What draws it is the *ambiguity* of its model, the expected
entropy of what it will see: everywhere but at the cue the screen shows snow. Two other mazes show what follows:

- blank screen: away from the cue the screen is blank instead of snowing. The cue tells just as much, but there is no
  ambiguity left to avoid: the agent no longer visits it, and finds the reward no more often than one that guesses.
- useless cue: the screen at the cue always shows the same picture, whatever the context. It tells nothing, but it
  does not snow: the agent goes there all the same, and stays. It never finds the reward.

To value an observation for the choice it enables, a planner must condition its future on what it may come to see.
"""

from dataclasses import dataclass

import numpy as np

from btai import BTAI_3MF, TemporalSlice, TemporalSliceBuilder

PLACES = ["centre", "cue", "left arm", "right arm"]
CENTRE, CUE, LEFT, RIGHT = range(4)
CONTEXTS = ["reward left", "reward right"]
OUTCOMES = ["nothing", "reward", "shock"]
SCREEN = ["left", "right", "blank"]

SNOW, BLANK = [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]  # what the screen shows away from the cue
TELLING, USELESS = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]  # at the cue [3, context]
MAZES = {"snow": (SNOW, TELLING), "blank screen": (BLANK, TELLING), "useless cue": (SNOW, USELESS)}
CYCLES = 4


@dataclass(frozen=True)
class Trial:
    """Where the agent went in one context, and whether it found the reward."""

    context: str
    places: list[str]
    rewarded: bool


def t_maze(name: str) -> TemporalSlice:
    """The model of a maze, which is also how the maze works."""
    elsewhere, at_cue = MAZES[name]
    screen = np.empty((3, 4, 2))  # [screen, place, context]
    screen[:] = np.reshape(elsewhere, (3, 1, 1))
    screen[:, CUE] = at_cue
    outcome = np.zeros((3, 4, 2))  # [outcome, place, context]
    outcome[0, :LEFT] = 1
    outcome[1:, LEFT], outcome[1:, RIGHT] = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    move = np.zeros((4, 4, 4))  # [next place, place, action]: an action leads to its place, but no arm can be left
    for action in range(4):
        move[[action, action, LEFT, RIGHT], range(4), action] = 1
    return (
        TemporalSliceBuilder("A_go", 4, values=[f"to the {place}" for place in PLACES])
        .add_state("S_place", np.eye(4)[CENTRE], values=PLACES)
        .add_state("S_context", [0.5, 0.5], values=CONTEXTS)
        .add_observation("O_outcome", outcome, ["S_place", "S_context"], values=OUTCOMES)
        .add_observation("O_screen", screen, ["S_place", "S_context"], values=SCREEN)
        .add_transition("S_place", move, ["S_place", "A_go"])
        .add_transition("S_context", np.eye(2), ["S_context"])
        .add_preference(["O_outcome"], scores=[0, 1, -2])
        .build()
    )


def observe(ts: TemporalSlice, place: int, context: int, rng: np.random.Generator) -> dict[str, int]:
    """What can be seen at a place: snow is drawn at random."""
    return {name: int(rng.choice(3, p=o.likelihood[:, place, context])) for name, o in ts.observations.items()}


def run(ts: TemporalSlice, context: int, seed: int = 0) -> Trial:
    """Let an agent act in the maze that works as `ts` says, until it is in an arm or has had enough."""
    agent, rng = BTAI_3MF(ts, max_planning_steps=100), np.random.default_rng(seed)
    place, places = CENTRE, [CENTRE]
    agent.reset(observe(ts, place, context, rng))
    while place not in (LEFT, RIGHT) and len(places) <= CYCLES:
        action = place = agent.step()  # from the centre and from the cue, each action leads to its place
        places.append(place)
        agent.update(action, observe(ts, place, context, rng))
    return Trial(CONTEXTS[context], [PLACES[p] for p in places], place == (LEFT, RIGHT)[context])


def first_costs(ts: TemporalSlice) -> dict[str, tuple[float, float]]:
    """Risk and ambiguity of each first step from the centre, while nothing is known of the context."""
    agent = BTAI_3MF(ts)
    agent.reset({})
    agent.plan(1)
    return {PLACES[n.action]: (sum(n.risk.values()), sum(n.ambiguity.values())) for n in agent.tree.root.children}


def main() -> dict[str, list[Trial]]:
    """Run every maze in both contexts and say what happened."""
    results = {}
    for name in MAZES:
        ts = t_maze(name)
        trials = results[name] = [run(ts, context) for context in (0, 1)]
        print(f"{name}\n  expected free energy of the first step = risk + ambiguity:")
        for place, (risk, ambiguity) in first_costs(ts).items():
            print(f"    {place:<10} {risk + ambiguity:.3f} = {risk:.3f} + {ambiguity:.3f}")
        for trial in trials:
            print(f"  {trial.context + ':':<13} {' -> '.join(trial.places)}")
        found = sum(trial.rewarded for trial in trials)
        print(f"  rewards: {found} of 2; an agent that guesses gets 1 of 2 on average\n")
    print("The agent goes to the cue because the screen is clear there, not because it could learn something:")
    print("where no screen snows it guesses, and a clear screen that tells nothing holds it for good.")
    return results


if __name__ == "__main__":
    main()
