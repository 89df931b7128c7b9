"""The kernels of prediction and cost: what a search asks of the engine."""

from __future__ import annotations

from typing import NamedTuple

from btai.engine.contract import contract
from btai.engine.entropy import sum_of_q_log_q
from btai.engine.flat import Floats
from btai.engine.jit import kernel
from btai.engine.program import COST, NEW, OBSERVATION, OLD, OTHER, STATE, Ops, Parts
from btai.engine.work import Workspace

__all__ = ["Model", "begin", "predict", "score"]

NO_CHILD = -1


class Model(NamedTuple):
    """What a search asks for costs: a program, and the workspace where its histories are kept."""

    ops: Ops
    parts: Parts
    work: Workspace

    def score(self, node: int, first: int, efe: Floats) -> None:  # pragma: no cover - in plain Python alone
        """As `btai.planning.search` asks in plain Python; its compiled form calls the kernel itself."""
        score(self, node, first, efe)


@kernel
def predict(ops: Ops, parts: Parts, beliefs: Floats, action: int, out: Floats, work: Workspace) -> None:
    """The P-step of every state: flat beliefs to flat beliefs."""
    for state in range(len(parts.transition)):
        op = parts.transition[state, action]
        for i in range(ops.input_start[op], ops.input_start[op + 1]):
            work.addresses[i - ops.input_start[op]] = parts.flat[ops.input_variable[i]]
        contract(ops, op, beliefs, work.addresses, out, parts.flat[state], work.scratch)
        if ops.input_start[op + 1] - ops.input_start[op] > 1:
            _normalise(out, parts.flat[state], ops.n_out[op])


@kernel
def _normalise(beliefs: Floats, start: int, n: int) -> None:
    """Scale a prediction to sum 1.

    The rounding errors of several parents' sums add up, so along a path of actions they would grow exponentially.
    """
    total = 0.0
    for j in range(start, start + n):
        total += beliefs[j]
    for j in range(start, start + n):
        beliefs[j] /= total


@kernel
def begin(parts: Parts, beliefs: Floats, work: Workspace) -> None:
    """Forget all histories; the empty one holds the present beliefs."""
    for c in range(len(parts.width)):
        work.used[c] = 1
        work.history[0, c] = 0
        for k in range(parts.n_classes[c]):
            work.children[work.child_start[c] + k] = NO_CHILD
        for i in range(parts.state_start[c], parts.state_start[c + 1]):
            state = parts.states[i]
            place = work.row_start[c] + parts.state_offset[i]
            for j in range(parts.size[state]):
                work.rows[place + j] = beliefs[parts.flat[state] + j]


@kernel
def score(model: Model, node: int, first: int, efe: Floats) -> None:
    """Write the expected free energies (eq:efe) of the children of `node` into `efe` `[A]`."""
    ops, parts, work = model
    components = len(parts.width)
    for action in range(len(efe)):
        child = first + action
        cost = parts.constant
        for c in range(components):
            k = parts.class_of[c, action]
            before = work.history[node, c]
            place = work.child_start[c] + before * parts.n_classes[c] + k
            after = work.children[place]
            if after == NO_CHILD:
                after = _new_history(ops, parts, work, c, k, before)
                work.children[place] = after
            row = work.row_start[c] + after * parts.width[c]
            work.history[child, c] = after
            work.bases[OTHER + c] = row
            cost += work.rows[row]
        work.bases[NEW] = 0  # what spans components is predicted at the beginning of the rows
        efe[action] = cost + _run_units(
            ops, parts, work, parts.unit_start[components, 0], parts.unit_end[components, 0]
        )


@kernel
def _new_history(ops: Ops, parts: Parts, work: Workspace, c: int, k: int, before: int) -> int:
    """Predict component `c` under action class `k` from one of its histories; the number of the new one."""
    after: int = work.used[c]
    work.used[c] += 1
    for i in range(parts.n_classes[c]):
        work.children[work.child_start[c] + after * parts.n_classes[c] + i] = NO_CHILD
    new = work.row_start[c] + after * parts.width[c]
    work.bases[OLD] = work.row_start[c] + before * parts.width[c]
    work.bases[NEW] = new
    work.rows[new] = _run_units(ops, parts, work, parts.unit_start[c, k], parts.unit_end[c, k])
    return after


@kernel
def _run_units(ops: Ops, parts: Parts, work: Workspace, first: int, last: int) -> float:
    """Write predictions into the new row; the sum of the costs.

    An observation that is predicted yields minus its entropy, the first half of a risk; the second half, minus the
    expected logarithm of the preference, is a unit of its own.
    """
    cost = 0.0
    for unit in range(first, last):
        op, kind = parts.unit_op[unit], parts.unit_kind[unit]
        inputs = ops.input_start[op + 1] - ops.input_start[op]
        for i in range(inputs):
            place = parts.unit_input[unit] + i
            work.addresses[i] = work.bases[parts.input_row[place]] + parts.input_offset[place]
        # A cost is written where the next one, and at last the row's sum, will be written: over the row's first entry.
        start = work.bases[NEW] + parts.unit_offset[unit]
        contract(ops, op, work.rows, work.addresses, work.rows, start, work.scratch)
        if kind == STATE and inputs > 1:
            _normalise(work.rows, start, ops.n_out[op])
        elif kind == COST:
            cost += work.rows[start]
        elif kind == OBSERVATION:
            cost += sum_of_q_log_q(work.rows[start : start + ops.n_out[op]], work.scratch)
    return cost
