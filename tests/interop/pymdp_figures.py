"""What pymdp's own agents inferred and expected, recorded by `data/make_pymdp_figures.py`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from btai import expected_free_energy, p_step
from btai.model import TemporalSlice

FIGURES: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "pymdp_figures.json").read_text("utf-8"))
LISTS_OF_ARRAYS = ("A", "B", "C", "D", "H", "I")


def arguments_of(case: str) -> dict[str, Any]:
    """The arguments that the agent was made with."""
    return {name: _arrays(name, value) for name, value in FIGURES[case]["arguments"].items()}


def agent_of(case: str) -> SimpleNamespace:
    """What stands in for the agent: its attributes."""
    attributes = {name: _arrays(name, value) for name, value in FIGURES[case]["agent"].items()}
    attributes["policies"] = SimpleNamespace(policy_arr=np.array(attributes.pop("policy_arr")))
    return SimpleNamespace(**attributes)


def scores_of(case: str, batch: int) -> list[Any]:
    """The raw log preferences, [n_O] for each modality."""
    return [np.array(c)[batch] for c in FIGURES[case]["agent"]["C"]]


def free_energies(ts: TemporalSlice, beliefs: dict[str, Any]) -> list[float]:
    """The expected free energy of each action."""
    return [expected_free_energy(ts, p_step(ts, beliefs, action)).total for action in range(ts.action.size)]


def constant(scores: list[Any]) -> float:
    """The constant by which btai's expected free energy is above pymdp's."""
    return float(sum(np.log(np.exp(c).sum()) for c in scores))


def _arrays(name: str, value: Any) -> Any:
    if name in LISTS_OF_ARRAYS and value is not None:
        return [np.array(array) for array in value]
    return np.array(value) if name in ("policies", "gamma", "E") else value
