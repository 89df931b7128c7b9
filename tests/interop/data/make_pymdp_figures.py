"""Writes pymdp_figures.json: agents of pymdp with what they infer and expect, so that tests need no pymdp.

Run it with inferactively-pymdp 1.0.4 (`pip install 'btai[pymdp]'`); it takes a minute:

    python tests/interop/data/make_pymdp_figures.py

Each case has the arguments of the agent, the attributes of the agent that pymdp made of them, one observation, the
posterior and the negative expected free energy of each policy, all in float64.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from pymdp.agent import Agent

jax.config.update("jax_enable_x64", True)

Array = NDArray[np.float64]

# fmt: off
ATTRIBUTES = (
    "A", "B", "C", "D", "E", "H", "I", "pA", "pB", "gamma", "A_dependencies", "B_dependencies",
    "B_action_dependencies", "num_controls", "num_controls_multi", "action_maps", "control_fac_idx", "use_utility",
    "use_states_info_gain", "use_param_info_gain", "use_inductive", "learn_A", "learn_B",
)
# fmt: on
rng = np.random.default_rng(20)


def columns(*shape: int) -> Array:
    weights = rng.uniform(0.05, 1.0, shape)
    return np.asarray(weights / weights.sum(axis=0))


def scores(*shape: int) -> Array:
    return rng.normal(size=shape)


def cases() -> dict[str, dict[str, Any]]:
    chain = {
        "A": [columns(3, 3), columns(2, 3)],
        "B": [columns(3, 3, 4)],
        "C": [scores(3), scores(2)],
        "D": [columns(3)],
    }
    return {
        "one factor, exact": chain | {"inference_algo": "exact", "A_dependencies": [[0], [0]]},
        "two factors, a modality each": {
            "A": [columns(3, 2), columns(4, 3)],
            "B": [columns(2, 2, 2), columns(3, 3, 3)],
            "C": [scores(3), scores(4)],
            "D": [columns(2), columns(3)],
            "A_dependencies": [[0], [1]],
        },
        "defaults": {"A": [columns(3, 2)], "B": [columns(2, 2, 2)]},
        "factors that depend on each other": {
            "A": [columns(3, 2), columns(4, 3), columns(2, 4)],
            "B": [columns(2, 2, 3, 3), columns(3, 3, 4, 1), columns(4, 2, 4, 2)],
            "C": [scores(3), scores(4), scores(2)],
            "D": [columns(2), columns(3), columns(4)],
            "A_dependencies": [[0], [1], [2]],
            "B_dependencies": [[0, 1], [1, 2], [0, 2]],
        },
        "modalities of several factors": {
            "A": [columns(3, 2, 3), columns(2, 3, 2, 2)],
            "B": [columns(2, 2, 2), columns(3, 3, 1), columns(2, 2, 3)],
            "C": [scores(3), scores(2)],
            "D": [columns(2), columns(3), columns(2)],
            "A_dependencies": [[0, 1], [1, 0, 2]],
        },
        "shared controls": {
            "A": [columns(3, 2), columns(2, 3)],
            "B": [columns(2, 2, 3, 2), columns(3, 2, 3, 2)],
            "C": [scores(3), scores(2)],
            "D": [columns(2), columns(3)],
            "A_dependencies": [[0], [1]],
            "B_dependencies": [[0], [0, 1]],
            "B_action_dependencies": [[1, 0], [0]],
            "num_controls": [2, 3],
        },
        "some policies only": {
            "A": [columns(3, 2), columns(2, 3)],
            "B": [columns(2, 2, 3), columns(3, 3, 2)],
            "C": [scores(3), scores(2)],
            "D": [columns(2), columns(3)],
            "A_dependencies": [[0], [1]],
            "policies": np.array([[[2, 0]], [[0, 1]], [[1, 0]]]),
        },
        "a batch of 3": {
            "A": [np.stack([columns(3, 2) for _ in range(3)])],
            "B": [np.stack([columns(2, 2, 3) for _ in range(3)])],
            "C": [scores(3, 3)],
            "D": [np.stack([columns(2) for _ in range(3)])],
            "A_dependencies": [[0]],
            "batch_size": 3,
        },
    }


def figures(arguments: dict[str, Any]) -> dict[str, Any]:
    agent = Agent(**arguments)
    observed = [rng.integers(n, size=agent.batch_size) for n in agent.num_obs]
    qs = agent.infer_states([np.asarray(o)[:, None] for o in observed], empirical_prior=agent.D)
    _, neg_efe = agent.infer_policies(qs)
    attributes = {name: getattr(agent, name) for name in ATTRIBUTES}
    return {
        "arguments": arguments,
        "agent": attributes | {"policy_arr": agent.policies.policy_arr},
        "observed": observed,
        "posterior": [q[:, -1] for q in qs],
        "neg_efe": neg_efe,
    }


def plain(thing: Any) -> Any:
    if isinstance(thing, dict):
        return {key: plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [plain(value) for value in thing]
    return np.asarray(thing).tolist() if hasattr(thing, "shape") else thing


if __name__ == "__main__":
    figures_of = {name: plain(figures(arguments)) for name, arguments in cases().items()}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in figures_of.items()]
    Path(__file__).with_name("pymdp_figures.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
