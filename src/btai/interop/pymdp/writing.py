"""A slice as the arrays of a pymdp agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import EvidenceError, TableError
from btai.extras import imported
from btai.interop.loss import Loss, LossReport
from btai.interop.pymdp.names import Names
from btai.model import Observation, TemporalSlice, Transition

__all__ = ["PymdpModel", "to_pymdp"]

Table = NDArray[np.float64]
Group = tuple[str, ...]

MAX_ENTRIES = 2**24


@dataclass(frozen=True, eq=False)
class PymdpModel:
    """The arrays of a model as pymdp's `Agent` takes them, without a batch axis, and what they leave out.

    Probabilities are exact, in float64; preferences are logarithms, so exact but for rounding. The agent that pymdp
    makes of them holds float32.

    Attributes:
        A: likelihoods `[n_O, *states]` of the modalities; the states are those of `A_dependencies`, in that order.
        B: transitions `[n_S, *states, n_actions]` of the factors; n_actions is 1 where the action does nothing.
        C: log preferences `[n_O]`.
        D: priors `[n_S]`.
        A_dependencies: the factors on which each modality depends.
        B_dependencies: the factors on which each factor depends, always itself among them.
        policies: `[n_actions, 1, factors]`, the action of each factor for each action of the slice.
        names: what pymdp only numbers.
        modalities: the slice's observations that each modality stands for: one, or all of a joint preference.
        losses: what could not be carried over as it was.
    """

    A: list[Table]
    B: list[Table]
    C: list[Table]
    D: list[Table]
    A_dependencies: list[list[int]]
    B_dependencies: list[list[int]]
    policies: NDArray[np.int32]
    names: Names
    modalities: tuple[tuple[Observation, ...], ...]
    losses: LossReport

    def arguments(self) -> dict[str, Any]:
        """The arguments of pymdp's `Agent`."""
        lists = ("A", "B", "C", "D", "A_dependencies", "B_dependencies")
        return {name: [*getattr(self, name)] for name in lists} | {"policies": self.policies}

    def agent(self, **options: Any) -> Any:
        """A `pymdp.agent.Agent` with this model; `options` are its other arguments."""
        return imported("pymdp.agent", "an agent of pymdp's").Agent(**self.arguments() | options)

    def observations(self, obs: Mapping[str, int | str]) -> list[int]:
        """What the agent of `agent()` is to be given when these indices or value names were observed, by name."""
        return [
            int(np.ravel_multi_index([_index(o, obs) for o in group], [o.size for o in group]))
            for group in self.modalities
        ]


def to_pymdp(ts: TemporalSlice, max_entries: int = MAX_ENTRIES) -> PymdpModel:
    """The model for pymdp, one factor per state and one modality per observation.

    Two things are different there, and reported. A joint preference has no place: its observations become one
    modality, whose likelihood may have up to `max_entries` entries and which the environment must emit in their stead
    (`PymdpModel.observations` does). And every modality counts in pymdp's expected free energy: one without a
    preference gets a flat one.
    """
    factor = {name: f for f, name in enumerate(ts.states)}
    groups = list(_groups(ts))
    modalities = [_modality(ts, group, max_entries) for group in groups]
    preferences = {p.observations: p.table for p in ts.preferences}
    transitions = [_transition(ts, transition) for transition in ts.transitions.values()]
    return PymdpModel(
        A=[likelihood for likelihood, _ in modalities],
        B=[table for table, _ in transitions],
        C=[
            np.log(preferences[group]).ravel() if group in preferences else np.zeros(len(likelihood))
            for group, (likelihood, _) in zip(groups, modalities, strict=True)
        ],
        D=[state.prior for state in ts.states.values()],
        A_dependencies=[[factor[name] for name in parents] for _, parents in modalities],
        B_dependencies=[[factor[name] for name in parents] for _, parents in transitions],
        policies=_policies(ts),
        names=_names(ts, groups),
        modalities=tuple(tuple(ts.observations[name] for name in group) for group in groups),
        losses=LossReport(tuple(_losses(ts))),
    )


def _groups(ts: TemporalSlice) -> Iterator[Group]:
    """The observations of each modality: a joint preference stands where the first of its observations did."""
    group_of = {name: p.observations for p in ts.preferences for name in p.observations}
    return iter(dict.fromkeys(group_of.get(name, (name,)) for name in ts.observations))


def _modality(ts: TemporalSlice, group: Group, max_entries: int) -> tuple[Table, Group]:
    """P(observations of the group | states), the joint outcome on axis 0, row-major; and the states."""
    members = [ts.observations[name] for name in group]
    if len(members) == 1:
        return members[0].likelihood, members[0].parents
    parents = tuple(dict.fromkeys(name for o in members for name in o.parents))
    shape = [o.size for o in members] + [ts.sizes[name] for name in parents]
    if prod(shape) > max_entries:
        raise TableError(
            f"({', '.join(group)}): as one modality, which pymdp needs for a joint preference, their likelihood takes"
            f" {prod(shape):,} entries; the limit is {max_entries:,}. Declare a preference on each observation instead,"
            " or raise max_entries."
        )
    axis = {name: i for i, name in enumerate([*group, *parents])}
    operands: list[Any] = [
        part for o in members for part in (o.likelihood, [axis[name] for name in (o.name, *o.parents)])
    ]
    joint = np.einsum(*operands, [*axis.values()])
    return joint.reshape(-1, *shape[len(group) :]), parents


def _transition(ts: TemporalSlice, transition: Transition) -> tuple[Table, list[str]]:
    """The table [n_S, *states, n_actions or 1] and its states, the state itself always among them."""
    action = ts.action.name
    states = [name for name in transition.parents if name != action]
    table = transition.table
    if action in transition.parents:
        table = np.moveaxis(table, 1 + transition.parents.index(action), -1)
    else:
        table = table[..., None]
    if transition.state not in states:
        size = ts.sizes[transition.state]
        table = np.repeat(table[..., None, :], size, axis=-2)
        states.append(transition.state)
    return np.ascontiguousarray(table), states


def _policies(ts: TemporalSlice) -> NDArray[np.int32]:
    listens = [ts.action.name in t.parents for t in ts.transitions.values()]
    return np.outer(np.arange(ts.action.size), listens).astype(np.int32)[:, None, :]


def _names(ts: TemporalSlice, groups: Sequence[Group]) -> Names:
    values = {
        "&".join(group): [", ".join(labels) for labels in product(*map(ts.labels, group))]
        for group in groups
        if any(ts.observations[name].values for name in group)
    }
    return Names(
        states=tuple(ts.states),
        observations=tuple("&".join(group) for group in groups),
        action=ts.action.name,
        actions=ts.action.values or (),
        state_values={s.name: s.values for s in ts.states.values() if s.values},
        observation_values=values,
    )


def _losses(ts: TemporalSlice) -> Iterator[Loss]:
    preferred = {name for p in ts.preferences for name in p.observations}
    for p in ts.preferences:
        if len(p.observations) > 1:
            yield _joint_loss(ts, p.observations)
    for name in ts.observations:
        if name not in preferred:
            yield Loss(
                f"{name} without a preference",
                "pymdp has a preference for every modality; this one's is flat, and its expected free energy has the"
                f" entropy of the predicted {name} besides",
            )
    for t in ts.transitions.values():
        if t.state not in t.parents:
            yield Loss(
                f"the parents of {t.state}",
                "pymdp wants every factor among its own parents; an axis was added along which the table is constant",
            )
    if ts.action.size > 1 and not any(ts.action.name in t.parents for t in ts.transitions.values()):
        yield Loss(
            f"the {ts.action.size} actions of {ts.action.name}",
            "no transition depends on them, so that pymdp cannot tell them apart",
        )
    if ts.inference != "exact":
        yield Loss(f"inference {ts.inference!r}", "pymdp's agents choose their inference themselves, by inference_algo")


def _joint_loss(ts: TemporalSlice, group: Group) -> Loss:
    parents = [name for o in group for name in ts.observations[o].parents]
    why = (
        f"pymdp has no joint preferences; its observations became the one modality {'&'.join(group)!r}, row-major, the"
        " last fastest, which the environment must emit in their stead"
    )
    if len(set(parents)) < len(parents):
        why += (
            ". They depend on common states: pymdp predicts them jointly and btai one by one, so that the expected free"
            " energies differ"
        )
    return Loss(f"the joint preference over ({', '.join(group)})", why)


def _index(observation: Observation, obs: Mapping[str, int | str]) -> int:
    name = observation.name
    if name not in obs:
        raise EvidenceError(f"{name}: it was not observed; pymdp needs an outcome of every modality. Give one.")
    value = obs[name]
    if isinstance(value, str) and value in (observation.values or ()):
        return (observation.values or ()).index(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < observation.size:
        return int(value)
    raise EvidenceError(
        f"{name}: {value!r} was given; required is an index from 0 to {observation.size - 1}, or the name of a value."
    )
