"""Variational message passing: how BTAI_VMP infers the past, the present and the futures it plans for.

The beliefs over all variables are independent, q = prod q(X), and as near to the posterior as such beliefs can be: each
is the softmax of the messages from the tables around it, and a message is an expected *logarithm*. What is passed on is
so sharper than what filtering passes on. A sweep updates the variables in the order in which they were created; sweeps
go on until the variational free energy has all but stopped falling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from btai.errors import EvidenceError, TableError
from btai.inference.beliefs import Beliefs
from btai.inference.evidence import evidence_vectors
from btai.inference.pstep import Prediction, expected_column
from btai.model import TemporalSlice

__all__ = [
    "ACTION_CERTAINTY",
    "Chain",
    "LogTables",
    "Settling",
    "Stopping",
    "action_prior",
    "arrivals",
    "branches",
    "checked_log",
    "log_likelihoods",
]

Table = NDArray[np.float64]
Vector = NDArray[np.float64]
Variable = tuple[str, int]  # by its name in the slice, and the time step or the branch that it belongs to

ACTION_CERTAINTY = 0.9  # of the prior over a past action: how sure the agent is to have done what it did
PRESENT = -1  # the branch of the slice that the others start from


class Term(NamedTuple):
    """The logarithm of one table, `[*variables]`."""

    variables: tuple[Variable, ...]
    table: Table


@dataclass(frozen=True)
class Stopping:
    """When sweeping ends."""

    tolerance: float = 0.01
    """A sweep in which the free energy falls by less is the last."""
    max_sweeps: int = 100
    """How many there are at most; beliefs that have not settled by then are reported as such."""


STOPPING = Stopping()


@dataclass(frozen=True)
class Settling:
    """How sweeping ended."""

    sweeps: int
    free_energy: float
    decrease: float
    """Of the free energy, in the last sweep."""
    settled: bool


class LogTables:
    """The logarithms of a slice's tables. A table with a zero is refused: it would be minus infinity."""

    def __init__(self, ts: TemporalSlice) -> None:
        self.ts = ts
        for name, state in ts.states.items():  # those of a trial are looked at when it begins
            checked_log(name, "prior", state.prior)
        self.likelihoods = {name: checked_log(name, "likelihood", o.likelihood) for name, o in ts.observations.items()}
        self.transitions = {name: checked_log(name, "transition", t.table) for name, t in ts.transitions.items()}


def checked_log(name: str, what: str, table: Table) -> Table:
    """ln of a table without zeros."""
    if not (table > 0).all():
        index = tuple(int(i) for i in np.argwhere(table <= 0)[0])
        raise TableError(
            f"{name}: the {what} is 0 at index {index}; variational message passing takes the logarithm of every entry,"
            f" so each must be above 0. Mix in a little noise: (1 - e) * table + e / {len(table)} with e = 1e-6, say."
        )
    return np.log(table)


@dataclass(frozen=True, eq=False)
class Chain:
    """Beliefs over everything since the trial began: s_0, a_0, s_1, ..., s_t, given all that was observed."""

    tables: LogTables
    stopping: Stopping
    terms: tuple[Term, ...]
    beliefs: Mapping[Variable, Vector]
    settling: Settling
    time: int

    @classmethod
    def begin(
        cls,
        tables: LogTables,
        evidence: Mapping[str, object],
        prior: Mapping[str, Vector],
        stopping: Stopping = STOPPING,
    ) -> Chain:
        """The first slice of a trial, from a prior over each state, `[n_S]`."""
        terms = [Term(((name, 0),), checked_log(name, "prior", prior[name])) for name in tables.ts.states]
        return cls._settled(tables, stopping, terms, {}, evidence, 0)

    def extended(self, action: int, evidence: Mapping[str, object]) -> Chain:
        """The chain with one action and one slice more, everything inferred anew from where it was."""
        ts, time = self.tables.ts, self.time + 1
        executed = (ts.action.name, self.time)
        terms = [*self.terms, Term((executed,), np.log(action_prior(ts.action.size, action)))]
        for name, log in self.tables.transitions.items():
            before = ((parent, self.time) for parent in ts.transitions[name].parents)
            terms.append(Term(((name, time), *before), log))
        beliefs = {**self.beliefs, executed: _uniform(ts, executed)}
        return self._settled(self.tables, self.stopping, terms, beliefs, evidence, time)

    @classmethod
    def _settled(
        cls,
        tables: LogTables,
        stopping: Stopping,
        terms: Sequence[Term],
        beliefs: Mapping[Variable, Vector],
        evidence: Mapping[str, object],
        time: int,
    ) -> Chain:
        """Add the states of `time` and what was seen of them, and infer."""
        ts = tables.ts
        seen = [
            Term(tuple((parent, time) for parent in ts.observations[name].parents), log)
            for name, log in log_likelihoods(ts, evidence).items()
        ]
        q = {**beliefs, **{(name, time): _uniform(ts, (name, time)) for name in ts.states}}
        settling = _settle([*terms, *seen], list(q), q, stopping)
        for belief in q.values():
            belief.flags.writeable = False
        return cls(tables, stopping, (*terms, *seen), q, settling, time)

    def states(self, time: int) -> dict[str, Vector]:
        """The beliefs over the states of one time step, `[n_S]` each."""
        return {name: self.beliefs[name, time] for name in self.tables.ts.states}

    def action(self, time: int) -> Vector:
        """The beliefs over the action between `time` and `time + 1`, `[A]`."""
        return self.beliefs[self.tables.ts.action.name, time]


def _uniform(ts: TemporalSlice, variable: Variable) -> Vector:
    """What new hidden variables start from."""
    size = ts.sizes[variable[0]]
    return np.full(size, 1 / size)


def action_prior(n_actions: int, executed: int) -> Vector:
    """The prior over a past action, `[A]`: the executed one almost certainly, the others alike."""
    others = (1 - ACTION_CERTAINTY) / max(1, n_actions - 1)
    prior = np.where(np.arange(n_actions) == executed, ACTION_CERTAINTY, others)
    return np.asarray(prior / prior.sum())


def arrivals(tables: LogTables, states: Mapping[str, Vector], action: Vector) -> dict[str, Vector]:
    """What a slice and the action after it say of the states to follow, `[n_S]` each: softmax of the messages."""
    beliefs = {**states, tables.ts.action.name: action}
    messages = {
        name: expected_column(log, [beliefs[parent] for parent in tables.ts.transitions[name].parents])
        for name, log in tables.transitions.items()
    }
    return {name: _softmax(messages[name]) for name in tables.ts.states}


def branches(
    tables: LogTables, beliefs: Mapping[str, Vector], stopping: Stopping = STOPPING
) -> tuple[list[Prediction], Settling]:
    """What follows each action from slices with these beliefs, which are held fixed.

    The observations to come are hidden variables like any other: each state hears not only what it comes from, but
    also the observation that it would cause, which makes it surer of itself than a prediction is.
    """
    ts = tables.ts
    terms, hidden = [], []
    q: dict[Variable, Vector] = {(name, PRESENT): belief for name, belief in beliefs.items()}
    for action in range(ts.action.size):
        for name, log in tables.transitions.items():
            parents = [parent for parent in ts.transitions[name].parents if parent != ts.action.name]
            before = ((parent, PRESENT) for parent in parents)
            terms.append(Term(((name, action), *before), _under(ts, name, log, action)))
        for name, log in tables.likelihoods.items():
            here = ((parent, action) for parent in ts.observations[name].parents)
            terms.append(Term(((name, action), *here), log))
        hidden += [(name, action) for name in (*ts.states, *ts.observations)]
    q |= {v: _uniform(ts, v) for v in hidden}
    settling = _settle(terms, hidden, q, stopping)
    predictions = [
        Prediction(*(Beliefs(ts, {name: q[name, action] for name in kind}) for kind in (ts.states, ts.observations)))
        for action in range(ts.action.size)
    ]
    return predictions, settling


def _under(ts: TemporalSlice, state: str, log: Table, action: int) -> Table:
    """The transition's logarithms under one action, `[n_S, *parents]`."""
    parents = ts.transitions[state].parents
    return np.take(log, action, axis=1 + parents.index(ts.action.name)) if ts.action.name in parents else log


def log_likelihoods(ts: TemporalSlice, evidence: Mapping[str, object]) -> dict[str, Table]:
    """ln sum_o e(o) P(O=o | parents) of each observation that was made, `[*parents]`; one that was not says nothing."""
    logs = {}
    for name, vector in evidence_vectors(ts, evidence).items():
        with np.errstate(all="ignore"):  # what overflows or underflows is told in words
            logs[name] = np.log(np.tensordot(vector, ts.observations[name].likelihood, 1))
        if not np.isfinite(logs[name]).all():
            raise EvidenceError(
                f"{name}: the evidence {vector} was given, by which a likelihood is too small or too large for float64;"
                " its logarithm must be finite. Scale the evidence so that its largest entry is 1."
            )
    return logs


def _settle(
    terms: Sequence[Term], hidden: Sequence[Variable], beliefs: dict[Variable, Vector], stopping: Stopping
) -> Settling:
    """Sweep over the hidden variables, each from the latest beliefs over its neighbours; `beliefs` is changed."""
    around = {v: [term for term in terms if v in term.variables] for v in hidden}
    free_energy = decrease = math.inf
    for sweep in range(1, stopping.max_sweeps + 1):
        for variable in hidden:
            messages = [_message(term, variable, beliefs) for term in around[variable]]
            beliefs[variable] = _softmax(np.sum(messages, axis=0))
        before, free_energy = free_energy, _free_energy(terms, hidden, beliefs)
        decrease = before - free_energy
        if sweep > 1 and decrease < stopping.tolerance:
            return Settling(sweep, free_energy, decrease, True)
    return Settling(stopping.max_sweeps, free_energy, decrease, False)


def _message(term: Term, to: Variable, beliefs: Mapping[Variable, Vector]) -> Vector:
    """The expected logarithm under the beliefs over all other variables of the table, `[n]`."""
    axis = term.variables.index(to)
    others = [beliefs[v] for v in term.variables if v != to]
    return expected_column(np.moveaxis(term.table, axis, 0), others)


def _free_energy(terms: Sequence[Term], hidden: Sequence[Variable], beliefs: Mapping[Variable, Vector]) -> float:
    """F = E_q[ln q - ln P], over the hidden variables and the tables of all listed ones."""
    negative_entropy = sum(float(_q_log_q(beliefs[v])) for v in hidden)
    return negative_entropy - sum(
        float(_message(term, term.variables[0], beliefs) @ beliefs[term.variables[0]]) for term in terms
    )


def _q_log_q(q: Vector) -> float:
    return float(q @ np.log(np.where(q > 0, q, 1)))


def _softmax(messages: Vector) -> Vector:
    weights = np.exp(messages - messages.max())
    return np.asarray(weights / weights.sum())
