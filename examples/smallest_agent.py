"""A walker in a dark hall seeks the lamp: it knows the hall, but not where it stands."""

import numpy as np

from btai import BTAI_3MF, TemporalSliceBuilder

places, moves = ["door", "bench", "stairs", "lamp"], ["left", "stay", "right"]
walk = [np.eye(4)[:, [0, 0, 1, 2]], np.eye(4), np.eye(4)[:, [1, 2, 3, 3]]]  # where each move leads, from each place
ts = (
    TemporalSliceBuilder("A_walk", 3, values=moves)
    .add_state("S_place", [0.25, 0.25, 0.25, 0.25], values=places)
    .add_observation("O_light", [[0.9, 0.8, 0.5, 0.1], [0.1, 0.2, 0.5, 0.9]], ["S_place"], values=["dark", "bright"])
    .add_transition("S_place", np.stack(walk, axis=2), ["S_place", "A_walk"])
    .add_preference(["O_light"], [0.1, 0.9])
    .build()
)
agent = BTAI_3MF(ts, max_planning_steps=50)
agent.reset({"O_light": "dark"})
for light in ["dark", "bright"]:  # what it will see after each step
    action = agent.step()
    print("I am at:", *(f"{p} {b:.0%} " for p, b in zip(places, agent.beliefs["S_place"], strict=True)))
    print("My plan:", *(moves[a] for a in agent.tree.plan))
    print(agent.explain(), end="\n\n")
    agent.update(action, {"O_light": light})
