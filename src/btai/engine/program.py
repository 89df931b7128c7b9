"""A compiled slice: flat arrays that one set of kernels runs for every model.

`Ops` are the contractions, `Parts` says which of them a search needs and where their results lie, `Cliques` is the
schedule of the I-step. Variables are numbered states first, then observations, in the order of declaration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from btai.engine.flat import Floats, Ints, Shorts
from btai.engine.structure import Structure
from btai.engine.tables import dense_operations
from btai.model import TemporalSlice

__all__ = [
    "COST",
    "DENSE",
    "NEW",
    "NO_OP",
    "OBSERVATION",
    "OLD",
    "OTHER",
    "SHIFTED",
    "STATE",
    "Cliques",
    "Ops",
    "Parts",
    "Program",
]

DENSE, SHIFTED = 0, 1
NO_OP = -1
STATE, OBSERVATION, COST = 0, 1, 2
OLD, NEW, OTHER = 0, 1, 2


class Ops(NamedTuple):
    """Contractions `out = sum over the inputs of table * product of beliefs`; see `btai.engine.tables`."""

    kind: Ints  # [ops]: DENSE or SHIFTED
    n_out: Ints  # [ops]
    common: Ints  # [ops]: the op (of one output) whose result is added to every output, or NO_OP
    input_start: Ints  # [ops + 1]: where the op's inputs begin in the next two
    input_variable: Ints  # [inputs]: in the order of summation
    input_size: Ints  # [inputs]
    table_start: Ints  # [ops]: DENSE: where its table begins
    table_size: Ints  # [ops]
    tables: Floats  # [entries]: DENSE tables [*inputs, n_out], end to end
    level_start: Ints  # [ops]: SHIFTED: its first level, one per input
    node_start: Ints  # [levels + 1]: the nodes of each level
    base_value: Floats  # [nodes]: on a last level, what the node begins with
    base_node: Shorts  # [nodes]: on the others, the node of the next level that it begins with
    exception_start: Ints  # [levels + 1]: the exceptions of each level
    exception_node: Shorts  # [exceptions]: the node of this level to which it belongs
    exception_index: Shorts  # [exceptions]: the entry of the input's belief
    exception_value: Floats  # [exceptions]: on a last level, what that entry is multiplied with
    exception_next: Shorts  # [exceptions]: on the others, the node of the next level

    def inputs(self, op: int) -> slice:
        """Where the op's inputs lie in `input_variable` and `input_size`."""
        return slice(int(self.input_start[op]), int(self.input_start[op + 1]))

    def exceptions(self, op: int) -> int:
        """The exceptions of one shifted op, without those of what its columns have in common."""
        first, last = self._levels(op)
        return int(self.exception_start[last] - self.exception_start[first])

    def operations(self, op: int) -> int:
        """The products and sums of one op."""
        if self.kind[op] == DENSE:
            return dense_operations((*self.input_size[self.inputs(op)].tolist(), int(self.n_out[op])))
        first, last = self._levels(op)
        nodes = int(self.node_start[last] - self.node_start[first])
        common = 0 if self.common[op] == NO_OP else int(self.n_out[op]) + self.operations(int(self.common[op]))
        return nodes + self.exceptions(op) + common

    def _levels(self, op: int) -> tuple[int, int]:
        inputs = self.inputs(op)
        first = int(self.level_start[op])
        return first, first + inputs.stop - inputs.start


class Parts(NamedTuple):
    """What a search computes.

    Each component of the states keeps a trie of histories: a node is a sequence of action classes, and holds a row of
    `width` numbers: the cost that this component alone accounts for, then its states' beliefs, then the predictions of
    its observations. A new row is filled by the units of its component and class. What spans several components is
    computed by the last group of units, for each node of the search tree.
    """

    class_of: Ints  # [components, A]
    n_classes: Ints  # [components]
    width: Ints  # [components]
    span_width: int  # room for the predictions that span components
    constant: float  # the ambiguity that is the same whatever happens
    unit_start: Ints  # [components + 1, most classes]: the first unit of each group
    unit_end: Ints  # [components + 1, most classes]
    unit_op: Ints  # [units]
    unit_kind: Ints  # [units]: STATE and OBSERVATION write a prediction, OBSERVATION and COST yield a cost
    unit_offset: Ints  # [units]: where in the row the prediction begins
    unit_input: Ints  # [units]: where the unit's inputs begin in the next two
    input_row: Ints  # [unit inputs]: OLD, NEW, or OTHER + the component in whose row the input lies
    input_offset: Ints  # [unit inputs]
    state_start: Ints  # [components + 1]
    states: Ints  # [relevant states]: grouped by component
    state_offset: Ints  # [relevant states]: in the component's row
    transition: Ints  # [states, A]: the op that predicts each state
    size: Ints  # [variables]
    flat: Ints  # [variables]: in a flat belief (states) or in flat evidence (observations)


class Cliques(NamedTuple):
    """The junction tree's schedule (`btai.model.plan_buckets`): one bucket per state, in order of elimination."""

    state: Ints  # [buckets]: the state that is summed out, axis 0 of the bucket's table
    size: Ints  # [buckets]: its number of values
    rest: Ints  # [buckets]: entries of the table over the bucket's other states
    start: Ints  # [buckets]: where the bucket's table begins in the workspace
    parent: Ints  # [buckets]: the bucket that receives its message, or -1
    map_start: Ints  # [buckets]: where, in maps, the entries of the parent's table point into the message
    likelihood_start: Ints  # [observations]: where each likelihood [n_O, *parents] begins
    likelihoods: Floats  # [entries]
    home: Ints  # [observations]: the bucket into which its likelihood is multiplied
    configurations: Ints  # [observations]: of its parents
    home_map_start: Ints  # [observations]: where, in maps, the home's entries point into the configurations
    maps: Shorts  # [entries]


@dataclass(frozen=True)
class Program:
    """A slice compiled for the engine. `describe()` says in words what the compiler found."""

    ts: TemporalSlice
    structure: Structure
    ops: Ops
    parts: Parts
    cliques: Cliques
    labels: tuple[str, ...]
    """What each unit computes: the variable that it predicts, or the cost. `[units]`"""
    operations: int
    """Predicted products, sums and logarithms per planning iteration, if no history were shared."""
    bytes_per_iteration: int
    """Memory that a planning iteration takes at most."""

    @property
    def nbytes(self) -> int:
        """The size of all arrays together."""
        groups = (self.ops, self.parts, self.cliques)
        return sum(a.nbytes for group in groups for a in group if isinstance(a, np.ndarray))

    def describe(self) -> str:
        """What the compiler found, in plain words."""
        from btai.engine.describe import program_as_text

        return program_as_text(self)
