"""The environments that btai can make again from a run file, to act out its trials: for their rewards and pictures."""

from __future__ import annotations

from functools import cache
from typing import Any

from btai.envs import ENVIRONMENTS, Registered
from btai.experiments.configuration import describe, flattened
from btai.experiments.workers import adapted
from btai.model import TemporalSlice

__all__ = ["known_environment"]


def known_environment(description: Any, ts: TemporalSlice) -> Any:
    """An environment like the one that a run file describes, for an agent with the model `ts`.

    It is that of the registry which, made with the options of the description, describes itself in the same way; None
    if there is none: the environment is not btai's own, or was inside a wrapper of somebody else's.
    """
    if not isinstance(description, dict):
        return None
    found = (_made_like(description, entry, ts) for entry in ENVIRONMENTS.values())
    return next((env for env in found if env is not None), None)


def _made_like(description: dict[str, Any], entry: Registered, ts: TemporalSlice) -> Any:
    said = _said(description)
    if _classes(said) != _classes_of(entry):
        return None
    values = {_name(key): value for key, value in said.items()}
    try:
        env = adapted(entry.env(**{name: values[name] for name in entry.options if name in values}), ts)
    except Exception:  # Whatever a damaged file says, its trials can be looked into without the environment.
        return None
    return env if _said(describe(env)) == said else None


def _said(description: dict[str, Any]) -> dict[str, Any]:
    """By dotted key. How it was rendered changes no trial, and `"human"` would open a window here."""
    return {key: value for key, value in flattened(description) if _name(key) != "render_mode"}


@cache
def _classes_of(entry: Registered) -> dict[str, Any]:
    return _classes(_said(describe(adapted(entry.env()))))


def _classes(said: dict[str, Any]) -> dict[str, Any]:
    """Of the environment and of its wrappers."""
    return {key: value for key, value in said.items() if _name(key) == "class"}


def _name(key: str) -> str:
    return key.rpartition(".")[2]
