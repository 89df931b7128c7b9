"""Branching time active inference with many modalities and factors.

Declare a model with `TemporalSliceBuilder`, give it to `BTAI_3MF`, and act::

    agent = BTAI_3MF(ts, max_planning_steps=150)
    agent.reset(obs)
    action = agent.step()
    agent.update(action, obs)
"""

from btai.agents import BTAI_3MF, BTAI_BF, BTAI_VMP, BatchAgent
from btai.errors import BtaiError
from btai.inference import expected_free_energy, i_step, p_step
from btai.model import TemporalSlice, TemporalSliceBuilder, load

__all__ = [
    "BTAI_3MF",
    "BTAI_BF",
    "BTAI_VMP",
    "BatchAgent",
    "BtaiError",
    "TemporalSlice",
    "TemporalSliceBuilder",
    "__version__",
    "expected_free_energy",
    "i_step",
    "load",
    "p_step",
]

__version__ = "0.1.0"
