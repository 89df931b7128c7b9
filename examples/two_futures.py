"""What the two earlier agents of the paper make of the same uncertain present.

A walker in a ring of six rooms is in the first with probability 0.6, in the second with 0.4, and walks on to the next.
BTAI_BF predicts as a filter does, and stays as unsure as it was. To BTAI_VMP the observation to come is a hidden
variable like the room: the two are taken for independent of each other, each hears what the other leans to and leans
there itself, until one room is left. That the walker will see where it is, it takes for knowing where it will be.
"""

import numpy as np

from btai import BTAI_BF, BTAI_VMP, TemporalSliceBuilder

ROOMS = 6


def nearly(noise: float) -> np.ndarray:
    """One thing almost certainly, every other one alike: a noisy identity."""
    return np.where(np.eye(ROOMS, dtype=bool), 1 - noise, noise / (ROOMS - 1))


ring = (
    TemporalSliceBuilder("A_walk", 1)
    .add_state("S_room", np.full(ROOMS, 1 / ROOMS))
    .add_observation("O_room", nearly(0.01), ["S_room"])
    .add_transition("S_room", np.roll(nearly(0.1), 1, axis=0), ["S_room"])
    .add_preference(["O_room"], np.full(ROOMS, 1 / ROOMS))
    .build()
)


def future(kind: type[BTAI_BF] | type[BTAI_VMP]) -> tuple[np.ndarray, np.ndarray]:
    """Where an agent believes it is, and where it will be after one step, `[rooms]`."""
    present = np.full(ROOMS, 1e-12)  # nowhere else; but a probability of 0 has no logarithm
    present[:2] = 0.6, 0.4
    agent = kind(ring, rng=np.random.default_rng(0))
    agent.reset({}, {"S_room": present})
    agent.plan(1)
    return agent.beliefs["S_room"], agent.tree.root.children[0].beliefs["S_room"]


if __name__ == "__main__":
    print("          room:", *(f"{room:>6}" for room in range(1, ROOMS + 1)))
    for kind in (BTAI_BF, BTAI_VMP):
        for moment, belief in zip(("now", "next"), future(kind), strict=True):
            print(f"{kind.__name__:>8} {moment:>5}:", *(f"{p:>6.3f}" for p in belief))
