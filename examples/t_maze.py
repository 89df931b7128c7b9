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

from btai import BTAI_3MF, TemporalSlice
from btai.envs import TMazeEnv, t_maze_slice
from btai.envs.t_maze import CENTRE, CONTEXTS, PLACES, T_MAZES
from btai.experiments import run as run_trials


@dataclass(frozen=True)
class Trial:
    """Where the agent went in one context, and whether it found the reward."""

    context: str
    places: list[str]
    rewarded: bool


def run(name: str, context: int, seed: int = 0) -> Trial:
    """Let an agent act in the maze until it is in an arm or has had enough."""
    agent = BTAI_3MF(t_maze_slice(name), max_planning_steps=100)
    start = {"S_place": CENTRE, "S_context": context}
    (trial,) = run_trials(agent, TMazeEnv(name), seed=seed, starts=[start]).trials
    # From the centre and from the cue, each action leads to its place, and in an arm the trial is over.
    return Trial(CONTEXTS[context], [PLACES[place] for place in (CENTRE, *trial.actions)], trial.reward == 1)


def first_costs(ts: TemporalSlice) -> dict[str, tuple[float, float]]:
    """Risk and ambiguity of each first step from the centre, while nothing is known of the context."""
    agent = BTAI_3MF(ts)
    agent.reset({})
    agent.plan(1)
    return {PLACES[n.action]: (sum(n.risk.values()), sum(n.ambiguity.values())) for n in agent.tree.root.children}


def main() -> dict[str, list[Trial]]:
    """Run every maze in both contexts and say what happened."""
    results = {}
    for name in T_MAZES:
        trials = results[name] = [run(name, context) for context in (0, 1)]
        print(f"{name}\n  expected free energy of the first step = risk + ambiguity:")
        for place, (risk, ambiguity) in first_costs(t_maze_slice(name)).items():
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
