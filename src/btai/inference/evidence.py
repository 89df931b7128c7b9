"""What the agent observed: indices, value names, one-hot or likelihood vectors, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import EvidenceError
from btai.model import Observation, TemporalSlice

__all__ = ["check_observations", "evidence_vectors", "scaled", "write_evidence"]

Vector = NDArray[np.float64]

LEAST_EXPONENT = -32  # the largest entry of ordinary evidence is at least 2^-33, and below 2


def evidence_vectors(ts: TemporalSlice, evidence: Mapping[str, Any]) -> dict[str, Vector]:
    """The evidence as one vector `[n_O]` per observation that was made; a missing name was not observed."""
    flat = np.empty(ts.observation_layout.size)
    write_evidence(ts, evidence, flat)
    views = ts.observation_layout.views(flat)
    return {name: views[name] for name in ts.observations if name in evidence}


def write_evidence(ts: TemporalSlice, evidence: Mapping[str, Any], flat: Vector) -> None:
    """Write the evidence into `flat` `[sum of n_O]`, laid out by `ts.observation_layout`; 1 where not observed."""
    check_observations(ts, evidence)
    flat.fill(1.0)
    for name, value in evidence.items():
        span = ts.observation_layout.spans[name]
        if type(value) is int or isinstance(value, np.integer):  # the usual case, without a detour
            _check_index(ts.observations[name], int(value))
            flat[span] = 0.0
            flat[span.start + value] = 1.0
        else:
            flat[span] = _vector(ts.observations[name], value)


def scaled(vectors: Mapping[str, Vector]) -> tuple[dict[str, Vector], float]:
    """The evidence with what is very large or small brought near 1, and the logarithm of what it was multiplied by.

    Powers of two do it, which change no digit: evidence of ordinary size stays as it is, and from any other follow the
    same posteriors.
    """
    near, log_scale = {}, 0.0
    for name, vector in vectors.items():
        exponent = int(np.frexp(vector.max())[1])
        ordinary = LEAST_EXPONENT <= exponent <= 1
        near[name] = vector if ordinary else np.ldexp(vector, -exponent)
        log_scale += 0.0 if ordinary else exponent * math.log(2)
    return near, log_scale


def check_observations(ts: TemporalSlice, evidence: Mapping[str, Any]) -> None:
    """What was observed stands under the names of observations."""
    known = ts.observations
    if not isinstance(evidence, Mapping):
        raise EvidenceError(
            f"{evidence!r} was given as observations; a dictionary by name is required, for instance"
            f" {{{next(iter(known), 'O_name')!r}: 0}}. A name that is missing was not observed."
        )
    for name in evidence:
        if name not in known:
            raise EvidenceError(f"{name}: no such observation is declared. Declared are {', '.join(known) or 'none'}.")


def _vector(observation: Observation, value: Any) -> Vector:
    name, size = observation.name, observation.size
    if isinstance(value, str):
        return _one_hot(size, _index_of(observation, value))
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):  # the last from a tensor that is not to be looked into
        raise EvidenceError(
            f"{name}: {value!r} was given; an index, a value name or a vector of {size} numbers is required."
        ) from None
    if vector.shape == () and np.asarray(value).dtype.kind in "iu":  # a scalar of another library, an enumeration
        _check_index(observation, int(vector))
        return _one_hot(size, int(vector))
    if vector.shape != (size,):
        given = f"evidence of shape {vector.shape}" if vector.shape else repr(value)
        raise EvidenceError(
            f"{name}: {given} was given; an index from 0 to {size - 1} (a whole number) or a vector of {size} numbers"
            " is required. Leave the name out if nothing was observed."
        )
    if not (np.isfinite(vector).all() and (vector >= 0).all() and vector.any()):
        raise EvidenceError(
            f"{name}: the evidence {vector} was given; its entries must be finite, at least 0 and not all 0."
            " Leave the name out if nothing was observed."
        )
    return vector


def _index_of(observation: Observation, label: str) -> int:
    if observation.values is None or label not in observation.values:
        known = (
            ", ".join(observation.values)
            if observation.values
            else "none; declare them with add_observation(..., values=[...])"
        )
        raise EvidenceError(f"{observation.name}: {label!r} was given; the names of its values are: {known}.")
    return observation.values.index(label)


def _one_hot(size: int, index: int) -> Vector:
    vector = np.zeros(size)
    vector[index] = 1.0
    return vector


def _check_index(observation: Observation, index: int) -> None:
    if not 0 <= index < observation.size:
        raise EvidenceError(
            f"{observation.name}: index {index} was given; it must lie from 0 to {observation.size - 1}, the indices"
            f" of its {observation.size} values."
        )
