"""The kernels of variational message passing: sweeps over the chain of what was, and over the slices to come."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from btai.engine.contract import contract
from btai.engine.flat import Floats, Ints
from btai.engine.jit import kernel
from btai.engine.messages import BEFORE, MessageProgram, Wires
from btai.engine.program import Ops

__all__ = ["Past", "VmpModel", "VmpWork", "new_vmp_work", "score_branches", "settle_chain"]


class VmpWork(NamedTuple):
    """Where a search keeps its beliefs, and a sweep what it computes with."""

    rows: Floats  # [nodes * width]: the beliefs of each node of the tree
    arriving: Floats  # [A * width]: the messages to the new states from the slice before, which stay as they are
    incoming: Floats  # [largest variable]: the sum of the messages to one variable
    message: Floats  # [largest variable]
    entropy: Floats  # [A * observations]: sum of q ln q of each new observation
    addresses: Ints  # [most inputs of a message]
    scratch: Floats
    unsettled: Ints  # [1]: how many expansions were broken off before their beliefs had settled


class VmpModel(NamedTuple):
    """What a search asks for costs."""

    ops: Ops
    wires: Wires
    work: VmpWork
    tolerance: float
    max_sweeps: int
    resolution: float  # of costs

    def score(self, node: int, first: int, efe: Floats) -> None:  # pragma: no cover - in plain Python alone
        """As `btai.planning.search` asks in plain Python; its compiled form calls the kernel itself."""
        score_branches(self, node, first, efe)


class Past(NamedTuple):
    """The chain of what was, up to the present; `rows` is what is inferred."""

    rows: Floats  # [times * width]
    priors: Floats  # [sum of n_S]: logarithms
    actions: Floats  # [(times - 1) * A]: the logarithm of each past action's prior
    seen: Ints  # [times * observations]: whether there is any evidence
    evidence: Floats  # [times * table_start[-1]]: the log-likelihoods of what was seen


def new_vmp_work(program: MessageProgram, iterations: int) -> VmpWork:
    """A workspace with room for so many planning iterations."""
    wires, ops = program.wires, program.ops
    nodes = 1 + iterations * wires.n_actions
    largest = int(wires.size.max())
    first_sizes = np.append(ops.input_size, 1)[ops.input_start[:-1]]
    scratch = max(largest, int((ops.table_size // first_sizes).max()), int(np.diff(ops.node_start).max(initial=0)))
    return VmpWork(
        rows=np.empty(nodes * wires.width),
        arriving=np.empty(wires.n_actions * wires.width),
        incoming=np.empty(largest),
        message=np.empty(largest),
        entropy=np.empty(wires.n_actions * wires.n_observations),
        addresses=np.zeros(np.diff(wires.input_start).max(initial=1), np.int64),
        scratch=np.empty(2 * scratch),
        unsettled=np.zeros(1, np.int64),
    )


# --- messages -------------------------------------------------------------------------------------------------------


@kernel
def _compute(ops: Ops, wires: Wires, work: VmpWork, message: int, rows: Floats, before: int, here: int) -> None:
    """Write a message into `work.message`; `before` and `here` are where the two rows it may be about begin."""
    first = wires.input_start[message]
    for i in range(wires.input_start[message + 1] - first):
        row = before if wires.input_row[first + i] == BEFORE else here
        work.addresses[i] = row + wires.input_offset[first + i]
    contract(ops, wires.op[message], rows, work.addresses, work.message, 0, work.scratch)


@kernel
def _add(work: VmpWork, n: int) -> None:
    for j in range(n):
        work.incoming[j] += work.message[j]


@kernel
def _believe(work: VmpWork, n: int, rows: Floats, place: int) -> float:
    """Make the beliefs `[n]` at `place` the softmax of the incoming messages; the sum of q ln q."""
    incoming = work.incoming
    largest = incoming[0]
    for j in range(1, n):
        largest = max(largest, incoming[j])
    total = 0.0
    for j in range(n):
        weight = math.exp(incoming[j] - largest)
        rows[place + j] = weight
        total += weight
    expected = 0.0
    for j in range(n):
        rows[place + j] /= total
        expected += rows[place + j] * (incoming[j] - largest)
    return expected - math.log(total)


@kernel
def _expectation(values: Floats, first: int, rows: Floats, place: int, n: int) -> float:
    total = 0.0
    for j in range(n):
        total += values[first + j] * rows[place + j]
    return total


# --- the slices to come ---------------------------------------------------------------------------------------------


@kernel
def score_branches(model: VmpModel, node: int, first: int, efe: Floats) -> None:
    """Infer the slices that follow `node`, and write their expected free energies into `efe` `[A]`."""
    wires, work = model.wires, model.work
    before, start = node * wires.width, first * wires.width
    for action in range(wires.n_actions):
        _arrive(model.ops, wires, work, action, before, start + action * wires.width)
    free_energy = math.inf
    sweeps = 0
    while True:
        previous = free_energy
        free_energy = 0.0
        for action in range(wires.n_actions):
            free_energy += _sweep_branch(model.ops, wires, work, action, before, start + action * wires.width)
        sweeps += 1
        if sweeps > 1 and previous - free_energy < model.tolerance:
            break
        if sweeps == model.max_sweeps:
            work.unsettled[0] += 1
            break
    for action in range(wires.n_actions):
        cost = _cost(model.ops, wires, work, action, start + action * wires.width)
        efe[action] = np.rint(cost / model.resolution) * model.resolution


@kernel
def _arrive(ops: Ops, wires: Wires, work: VmpWork, action: int, before: int, here: int) -> None:
    """Begin a slice: uniform beliefs, and the messages from the slice before."""
    for v in range(wires.n_states + wires.n_observations):
        for j in range(wires.size[v]):
            work.rows[here + wires.offset[v] + j] = 1.0 / wires.size[v]
    for s in range(wires.n_states):
        _compute(ops, wires, work, wires.arrive[action, s], work.rows, before, here)
        for j in range(wires.size[s]):
            work.arriving[action * wires.width + wires.offset[s] + j] = work.message[j]


@kernel
def _sweep_branch(ops: Ops, wires: Wires, work: VmpWork, action: int, before: int, here: int) -> float:
    """Update the states and then the observations of one slice to come; its free energy."""
    free_energy = 0.0
    arriving = action * wires.width
    for s in range(wires.n_states):
        n, place = wires.size[s], wires.offset[s]
        for j in range(n):
            work.incoming[j] = work.arriving[arriving + place + j]
        for i in range(wires.hear_start[s], wires.hear_start[s + 1]):
            _compute(ops, wires, work, wires.hear[i], work.rows, before, here)
            _add(work, n)
        free_energy += _believe(work, n, work.rows, here + place)
        free_energy -= _expectation(work.arriving, arriving + place, work.rows, here + place, n)
    for o in range(wires.n_observations):
        n, place = wires.size[wires.n_states + o], wires.offset[wires.n_states + o]
        _compute(ops, wires, work, wires.see[o], work.rows, before, here)
        for j in range(n):
            work.incoming[j] = work.message[j]
        entropy = _believe(work, n, work.rows, here + place)
        work.entropy[action * wires.n_observations + o] = entropy
        free_energy += entropy - _expectation(work.message, 0, work.rows, here + place, n)
    return free_energy


@kernel
def _cost(ops: Ops, wires: Wires, work: VmpWork, action: int, here: int) -> float:
    """The expected free energy (eq:efe) of a slice: risk of what it will show, and ambiguity."""
    cost = wires.constant
    for o in range(wires.n_observations):
        if wires.preferred[o]:
            cost += work.entropy[action * wires.n_observations + o]
    for i in range(len(wires.costs)):
        _compute(ops, wires, work, wires.costs[i], work.rows, here, here)
        cost += work.message[0]
    return cost


# --- what was -------------------------------------------------------------------------------------------------------


@kernel
def settle_chain(model: VmpModel, past: Past, times: int) -> tuple[int, float, float]:
    """Sweep over everything since the trial began; the number of sweeps, the free energy and its last decrease."""
    free_energy = math.inf
    sweeps = 0
    while True:
        previous = free_energy
        free_energy = 0.0
        for time in range(times):
            if time > 0:
                free_energy += _update_action(model.ops, model.wires, model.work, past, time - 1)
            free_energy += _update_states(model.ops, model.wires, model.work, past, time, time == times - 1)
        sweeps += 1
        decrease = previous - free_energy
        if (sweeps > 1 and decrease < model.tolerance) or sweeps == model.max_sweeps:
            return sweeps, free_energy, decrease


@kernel
def _update_action(ops: Ops, wires: Wires, work: VmpWork, past: Past, time: int) -> float:
    """Update the action between `time` and the next slice; its part of the free energy."""
    n, here = wires.n_actions, time * wires.width
    for j in range(n):
        work.incoming[j] = past.actions[time * n + j]
    for i in range(len(wires.act)):
        _compute(ops, wires, work, wires.act[i], past.rows, here, here + wires.width)
        _add(work, n)
    place = here + wires.offset[wires.n_states + wires.n_observations]
    return _believe(work, n, past.rows, place) - _expectation(past.actions, time * n, past.rows, place, n)


@kernel
def _update_states(ops: Ops, wires: Wires, work: VmpWork, past: Past, time: int, is_last: bool) -> float:
    """Update the states of one time step; their part of the free energy, the evidence's included."""
    free_energy = 0.0
    here = time * wires.width
    for s in range(wires.n_states):
        n, place = wires.size[s], wires.offset[s]
        _arrive_in_chain(ops, wires, work, past, time, s)
        for j in range(n):
            work.incoming[j] = work.arriving[j]
        for o in range(wires.n_observations):
            _add_evidence(wires, work, past, time, o, s)
        if not is_last:
            for i in range(wires.echo_start[s], wires.echo_start[s + 1]):
                _compute(ops, wires, work, wires.echo[i], past.rows, here, here + wires.width)
                _add(work, n)
        free_energy += _believe(work, n, past.rows, here + place)
        free_energy -= _expectation(work.arriving, 0, past.rows, here + place, n)
    for o in range(wires.n_observations):
        free_energy -= _expected_evidence(wires, past, time, o)
    return free_energy


@kernel
def _arrive_in_chain(ops: Ops, wires: Wires, work: VmpWork, past: Past, time: int, s: int) -> None:
    """The message to a state from its prior, or from the slice before and the action in between."""
    if time > 0:
        here = time * wires.width
        _compute(ops, wires, work, wires.arrive[wires.n_actions, s], past.rows, here - wires.width, here)
    for j in range(wires.size[s]):
        work.arriving[j] = past.priors[wires.offset[s] + j] if time == 0 else work.message[j]


@kernel
def _add_evidence(wires: Wires, work: VmpWork, past: Past, time: int, o: int, s: int) -> None:
    """Add the message to state `s` from the log-likelihood of what was seen of observation `o`, if it is a parent."""
    if not past.seen[time * wires.n_observations + o]:
        return
    start = time * wires.table_start[wires.n_observations] + wires.table_start[o]
    for place in range(wires.parent_start[o], wires.parent_start[o + 1]):
        if wires.parents[place] == s:
            for c in range(wires.table_start[o + 1] - wires.table_start[o]):
                weight = _weight(wires, past, time, o, c, place)
                work.incoming[_value(wires, o, c, place)] += weight * past.evidence[start + c]


@kernel
def _expected_evidence(wires: Wires, past: Past, time: int, o: int) -> float:
    """The expected log-likelihood of what was seen."""
    if not past.seen[time * wires.n_observations + o]:
        return 0.0
    start = time * wires.table_start[wires.n_observations] + wires.table_start[o]
    total = 0.0
    for c in range(wires.table_start[o + 1] - wires.table_start[o]):
        total += _weight(wires, past, time, o, c, -1) * past.evidence[start + c]
    return total


@kernel
def _weight(wires: Wires, past: Past, time: int, o: int, configuration: int, but: int) -> float:
    """The probability that observation `o`'s parents, `but` one of them, have the values of a configuration."""
    weight = 1.0
    for place in range(wires.parent_start[o], wires.parent_start[o + 1]):
        if place != but:
            value = _value(wires, o, configuration, place)
            weight *= past.rows[time * wires.width + wires.offset[wires.parents[place]] + value]
    return weight


@kernel
def _value(wires: Wires, o: int, configuration: int, place: int) -> int:
    """The value of one parent in a configuration of all; the last parent varies fastest."""
    for after in range(wires.parent_start[o + 1] - 1, place, -1):
        configuration //= wires.size[wires.parents[after]]
    value: int = configuration % wires.size[wires.parents[place]]
    return value
