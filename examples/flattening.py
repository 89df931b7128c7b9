"""What one belief over two states knows that two beliefs do not, and what it costs.

Two lamps hang from one switch or from two: nobody told the agent. It sees only whether they agree. Having seen once
that they do, it predicts what it will see next. The I-step is exact either way; but between slices the factored agent
keeps one marginal per lamp (the paper's mean field), and these are as vague as before. Only the joint belief of the
flattened model remembers that the lamps agree.
"""

import numpy as np

from btai import TemporalSliceBuilder, expected_free_energy, i_step, p_step
from btai.model import TemporalSlice, flatten

stays = np.eye(2)
agree = np.stack([np.eye(2), 1 - np.eye(2)])  # P(O_same | S_left, S_right): "yes" where the lamps are equal
lamps = (
    TemporalSliceBuilder("A_wait", 1)
    .add_state("S_left", [0.5, 0.5], ["off", "on"])
    .add_state("S_right", [0.5, 0.5], ["off", "on"])
    .add_observation("O_same", agree, ["S_left", "S_right"], ["yes", "no"])
    .add_transition("S_left", stays, ["S_left"])
    .add_transition("S_right", stays, ["S_right"])
    .add_preference(["O_same"], [0.9, 0.1])
    .build()
)


def prediction(ts: TemporalSlice) -> tuple[float, float]:
    """Having seen that the lamps agree: how sure the agent is to see it again, and what it expects that to cost."""
    predicted = p_step(ts, i_step(ts, {"O_same": "yes"}).posteriors, 0)
    return float(predicted.observations["O_same"][0]), expected_free_energy(ts, predicted).total


if __name__ == "__main__":
    flat = flatten(lamps, ["S_left", "S_right"])
    print("values of the merged state:", *(f"({label})" for label in flat.states["S_left_right"].values or ()))
    for name, ts in (("factored", lamps), ("flattened", flat)):
        beliefs = i_step(ts, {"O_same": "yes"}).posteriors
        shown = ", ".join(f"{state} {np.round(belief, 2)}" for state, belief in beliefs.items())
        sure, cost = prediction(ts)
        print(f"{name:>9}: {shown}")
        print(f"{'':>9}  they will agree again: {sure:.0%}; expected free energy {cost:.4f}")
