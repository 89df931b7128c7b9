"""Compiles a slice for variational message passing: every table of logarithms, towards every variable it touches.

A message is a contraction of a table with the beliefs over its other variables, like any other of the engine's; that
these are logarithms makes no difference to it. Beliefs lie in rows, one for each time step or tree node, with room for
every variable: the states, the observations, the action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.engine.flat import Ints, ints, starts
from btai.engine.ops import OpsBuilder
from btai.engine.program import Ops
from btai.engine.structure import Conditional, find_structure
from btai.engine.tables import cheapest
from btai.model import TemporalSlice

__all__ = ["BEFORE", "HERE", "MessageProgram", "Wires", "compile_messages"]

Table = NDArray[np.float64]
Axis = tuple[str, int]  # a variable, and the row it is in

BEFORE, HERE = 0, 1  # the rows that a message is about: of one slice, and of the one before


class Wires(NamedTuple):
    """Which messages there are, and who hears them. Variables are numbered states, observations, the action."""

    n_states: int
    n_observations: int
    n_actions: int
    width: int  # of a row
    size: Ints  # [variables]
    offset: Ints  # [variables]: in a row
    op: Ints  # [messages]: what computes it
    input_start: Ints  # [messages + 1]: where its inputs begin in the next two
    input_row: Ints  # [inputs]: BEFORE or HERE
    input_offset: Ints  # [inputs]: in the row
    arrive: Ints  # [A + 1, states]: from the slice before, under each action, and under an uncertain one
    see: Ints  # [observations]: to an observation to come, from its likelihood
    hear_start: Ints  # [states + 1]: where in `hear` the messages to a state from the observations to come begin
    hear: Ints
    echo_start: Ints  # [states + 1]: where in `echo` the messages to a state from the slice that followed begin
    echo: Ints
    act: Ints  # the messages to an action, from the slice that followed
    preferred: NDArray[np.bool_]  # [observations]: whether its entropy counts
    costs: Ints  # the messages, of one number, that add up to the rest of the cost
    constant: float  # the ambiguity that is the same whatever happens
    parent_start: Ints  # [observations + 1]: where in `parents` those of each observation begin
    parents: Ints  # by the states' numbers
    table_start: Ints  # [observations + 1]: where in the evidence of a time step each observation's table begins


@dataclass(frozen=True)
class MessageProgram:
    """A slice compiled for variational message passing."""

    ts: TemporalSlice
    ops: Ops
    wires: Wires
    operations: int
    """Products and sums of one sweep over the slices after one node, roughly; each value's softmax included."""


class _Wirer:
    """Adds messages, and keeps who hears them."""

    def __init__(self, ts: TemporalSlice) -> None:
        self.names = [*ts.states, *ts.observations, ts.action.name]
        self.sizes = [ts.sizes[name] for name in self.names]
        self.offset = dict(zip(self.names, starts(self.sizes)[:-1].tolist(), strict=True))
        self.ops = OpsBuilder()
        self.op: list[int] = []
        self.inputs: list[list[Axis]] = []

    def message(self, table: Table, inputs: Sequence[Axis]) -> int:
        """The number of the message that contracts `table` `[n_out, *inputs]`."""
        op = self.ops.add(cheapest(table, probabilities=False), len(table), range(len(inputs)), table.shape[1:])
        self.op.append(op)
        self.inputs.append([inputs[i] for i in self.ops.inputs(op)])
        return len(self.op) - 1

    def towards(self, table: Table, axes: Sequence[Axis], to: int) -> int:
        """The message from `table` `[*axes]` to the variable of one of its axes."""
        others = [axis for i, axis in enumerate(axes) if i != to]
        return self.message(np.ascontiguousarray(np.moveaxis(table, to, 0)), others)


def compile_messages(
    ts: TemporalSlice, likelihoods: Mapping[str, Table], transitions: Mapping[str, Table]
) -> MessageProgram:
    """Lay out the messages; `likelihoods` and `transitions` are the logarithms of the slice's tables."""
    wirer = _Wirer(ts)
    arrive = [[_arrival(wirer, ts, s, transitions[s], action) for s in ts.states] for action in range(ts.action.size)]
    arrive.append([wirer.towards(transitions[s], _chain_axes(ts, s), 0) for s in ts.states])
    echo = {name: _echoes(wirer, ts, transitions, name) for name in [*ts.states, ts.action.name]}
    see = [wirer.towards(likelihoods[o], _seen_axes(ts, o), 0) for o in ts.observations]
    hear = {s: _heard(wirer, ts, likelihoods, s) for s in ts.states}
    costs, constant = _costs(wirer, ts)
    ops = wirer.ops.build()
    preferred = {name for p in ts.preferences for name in p.observations}
    number = {name: i for i, name in enumerate(wirer.names)}
    observations = list(ts.observations.values())
    wires = Wires(
        n_states=len(ts.states),
        n_observations=len(ts.observations),
        n_actions=ts.action.size,
        width=sum(wirer.sizes),
        size=ints(wirer.sizes),
        offset=ints(wirer.offset.values()),
        op=ints(wirer.op),
        input_start=starts(map(len, wirer.inputs)),
        input_row=ints(row for axes in wirer.inputs for _, row in axes),
        input_offset=ints(wirer.offset[name] for axes in wirer.inputs for name, _ in axes),
        arrive=np.array(arrive, dtype=np.int64),
        see=ints(see),
        hear_start=starts(len(hear[s]) for s in ts.states),
        hear=ints(m for s in ts.states for m in hear[s]),
        echo_start=starts(len(echo[s]) for s in ts.states),
        echo=ints(m for s in ts.states for m in echo[s]),
        act=ints(echo[ts.action.name]),
        preferred=np.array([o in preferred for o in ts.observations], dtype=bool),
        costs=ints(costs),
        constant=constant,
        parent_start=starts(len(o.parents) for o in observations),
        parents=ints(number[p] for o in observations for p in o.parents),
        table_start=starts(o.likelihood.size // o.size for o in observations),
    )
    swept = [*see, *(m for messages in hear.values() for m in messages)]
    operations = ts.action.size * sum(ops.operations(wirer.op[m]) for m in swept) + SOFTMAX * wires.width
    return MessageProgram(ts, ops, wires, operations)


SOFTMAX = 10  # operations of each value's exponential


def _arrival(wirer: _Wirer, ts: TemporalSlice, state: str, log: Table, action: int) -> int:
    """The message to a state from the slice before, under a certain action."""
    parents = ts.transitions[state].parents
    if ts.action.name in parents:
        log = np.take(log, action, axis=1 + parents.index(ts.action.name))
    return wirer.message(log, [(parent, BEFORE) for parent in parents if parent != ts.action.name])


def _chain_axes(ts: TemporalSlice, state: str) -> list[Axis]:
    return [(state, HERE), *((parent, BEFORE) for parent in ts.transitions[state].parents)]


def _seen_axes(ts: TemporalSlice, observation: str) -> list[Axis]:
    return [(observation, HERE), *((parent, HERE) for parent in ts.observations[observation].parents)]


def _echoes(wirer: _Wirer, ts: TemporalSlice, transitions: Mapping[str, Table], name: str) -> list[int]:
    """The messages to `name`, a state or the action, from the transitions of the slice after it."""
    listening = ((s, _chain_axes(ts, s)) for s in ts.states if name in ts.transitions[s].parents)
    return [wirer.towards(transitions[s], axes, axes.index((name, BEFORE))) for s, axes in listening]


def _heard(wirer: _Wirer, ts: TemporalSlice, likelihoods: Mapping[str, Table], state: str) -> list[int]:
    """The messages to a state from the likelihoods of its observations."""
    heard = ((o, _seen_axes(ts, o)) for o in ts.observations if state in ts.observations[o].parents)
    return [wirer.towards(likelihoods[o], axes, axes.index((state, HERE))) for o, axes in heard]


def _costs(wirer: _Wirer, ts: TemporalSlice) -> tuple[list[int], float]:
    """Minus the expected logarithm of each preference, and each ambiguity; the sum of the fixed ambiguities."""
    costs = [wirer.message(-np.log(p.table)[None], _here(p.observations)) for p in ts.preferences]
    constant = 0.0
    for ambiguity in find_structure(ts).ambiguities.values():
        if isinstance(ambiguity, Conditional):
            costs.append(wirer.message(ambiguity.table, _here(ambiguity.parents)))
        else:
            constant += ambiguity
    return costs, constant


def _here(names: Iterable[str]) -> list[Axis]:
    return [(name, HERE) for name in names]
