"""Stored figures: those of the paper's authors (beside the repository) and our own (`golden/*.json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from spec import Array, Beliefs, Evidence, Factor, Spec

OWN = Path(__file__).resolve().parent / "golden"
AUTHORS = Path(__file__).resolve().parents[2] / "shared" / "golden"
N_AUTHORS_MODELS = 18
MARGIN = 1e-6  # every step of our own searches is at least this clear


@dataclass(frozen=True, eq=False)
class AuthorsFigures:
    """One `model_XX.npz`; its keys are explained in `../shared/golden/README.md`."""

    spec: Spec
    meta: Mapping[str, Any]
    arrays: Mapping[str, Array]

    def under(self, prefix: str) -> dict[str, Array]:
        """The arrays filed under a prefix such as "pstep/a0/", keyed by the rest of their names."""
        return {key[len(prefix) :]: array for key, array in self.arrays.items() if key.startswith(prefix)}


def authors_figures(index: int) -> AuthorsFigures:
    """Load `model_{index}.npz`, or skip the calling test where the folder is absent."""
    if not AUTHORS.is_dir():
        pytest.skip("the authors' figures are not here: ../shared/golden is absent")
    with np.load(AUTHORS / f"model_{index:02}.npz", allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    meta = json.loads(str(arrays.pop("meta_json")))
    likelihoods = {
        name: Factor(arrays[f"model/A/{name}"], tuple(observation["parents"]))
        for name, observation in meta["observations"].items()
    }
    transitions = {
        state: Factor(arrays[f"model/B/{state}"], tuple(parents))
        for state, parents in meta["transition_parents"].items()
    }
    spec = Spec(
        action=meta["action_name"],
        n_actions=meta["n_actions"],
        priors={state: arrays[f"model/D/{state}"] for state in meta["states"]},
        likelihoods=likelihoods,
        transitions=transitions,
        preferences={tuple(g): arrays[f"model/C/{k}"] for k, g in enumerate(meta["preference_groups"])},
    )
    return AuthorsFigures(spec, meta, arrays)


@dataclass(frozen=True, eq=False)
class OwnFigures:
    """One `golden/*.json`: a hand-written model and task, and what the oracle computed for them."""

    spec: Spec
    evidence: Evidence
    next_evidence: Evidence
    exp_const: float
    iterations: int
    expected: Mapping[str, Any]


def own_names() -> list[str]:
    return sorted(path.stem for path in OWN.glob("*.json"))


def own_figures(name: str) -> OwnFigures:
    """Load `golden/{name}.json`; `expected` is empty where it has not been computed yet."""
    document = json.loads((OWN / f"{name}.json").read_text(encoding="utf-8"))
    task = document["task"]
    return OwnFigures(
        spec=spec_from_json(document["model"]),
        evidence=task["evidence"],
        next_evidence=task["next_evidence"],
        exp_const=task["exp_const"],
        iterations=task["iterations"],
        expected=document.get("expected", {}),
    )


def computed(figures: OwnFigures) -> dict[str, Any]:
    """The "expected" part of `golden/*.json`, by the oracle alone."""
    spec = figures.spec
    beliefs, log_evidence = oracle.posteriors(spec, figures.evidence)
    tree = oracle.search(spec, beliefs, figures.iterations, figures.exp_const)
    if tree.margin < MARGIN:
        raise ValueError(f"two nodes are within {tree.margin} of each other: rounding may choose either")
    visits, costs = ([getattr(child, field) for child in tree.root.children] for field in ("visits", "cost"))
    chosen = oracle.choose(visits, costs)
    prior = oracle.predict(spec, beliefs, chosen).states
    return {
        "posteriors": beliefs,
        "log_evidence": log_evidence,
        "actions": [_action_figures(spec, beliefs, action) for action in range(spec.n_actions)],
        "tree": {
            "expanded": tree.expanded,
            "parent": tree.parents(),
            **{field: tree.column(field) for field in ("action", "visits", "cost", "efe")},
        },
        "chosen_action": chosen,
        "chosen_action_ties_first": oracle.choose(visits, costs, ties="first"),
        "next_posteriors": oracle.posteriors(spec, figures.next_evidence, prior)[0],
    }


def _action_figures(spec: Spec, beliefs: Beliefs, action: int) -> dict[str, Any]:
    prediction = oracle.predict(spec, beliefs, action)
    energy = oracle.efe(spec, prediction.states)
    return {
        "states": prediction.states,
        "observations": prediction.observations,
        "risk": list(energy.risks.values()),
        "ambiguity": energy.ambiguities,
        "efe": energy.total,
    }


def spec_from_json(model: Mapping[str, Any]) -> Spec:
    """The "model" part of `golden/*.json`; the order of its keys is the order of declaration."""
    return Spec(
        action=model["action"],
        n_actions=model["n_actions"],
        priors={state: np.array(prior, dtype=float) for state, prior in model["priors"].items()},
        likelihoods={name: _factor(entry) for name, entry in model["likelihoods"].items()},
        transitions={name: _factor(entry) for name, entry in model["transitions"].items()},
        preferences={
            tuple(entry["observations"]): np.array(entry["table"], dtype=float) for entry in model["preferences"]
        },
    )


def _factor(entry: Mapping[str, Any]) -> Factor:
    return Factor(np.array(entry["table"], dtype=float), tuple(entry["parents"]))
