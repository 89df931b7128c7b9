"""A slice in the making: what the file declares and what has to be added to carry the rest."""

from __future__ import annotations

import numpy as np

from btai.interop.factored.names import fresh, short
from btai.interop.factored.network import Network, Ref, Table, Variable
from btai.interop.factored.source import Position, Source
from btai.interop.loss import Loss
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["Draft"]

Labels = tuple[str, ...] | None


class Draft:
    """Collects states, observations and preferences under names that do not clash, and what was lost."""

    def __init__(self, network: Network, source: Source) -> None:
        (self.action,) = network.actions
        self.source = source
        self.losses = list(network.losses)
        self.sizes = network.sizes
        self._builder = TemporalSliceBuilder(self.action.name, self.action.size, self.action.values)
        self._names = {variable.name for variable in (*network.states, *network.observations)}
        self._memory: str | None = None

    def lose(self, what: str, why: str) -> None:
        """Report something lost or changed."""
        self.losses.append(Loss(what, why))

    def fresh(self, name: str) -> str:
        """A name for an added variable, `name` if it is free."""
        chosen = fresh(name, self._names)
        self._names.add(chosen)
        return chosen

    def add_state(self, name: str, prior: Table, values: Labels, parents: tuple[Ref, ...], table: Table) -> None:
        """A state with its transition `[n_S, *parents]`."""
        self._builder.add_state(name, prior, values)
        self._builder.add_transition(name, table, [ref.name for ref in parents])

    def add_observation(self, variable: Variable, parents: tuple[Ref, ...], table: Table) -> None:
        """An observation with its likelihood `[n_O, *parents]`, which may depend on the action, or on nothing."""
        parents, table = self._without_idle_action(parents, table)
        names = [ref.name for ref in parents]
        if self.action.name in names:
            axis = 1 + names.index(self.action.name)
            names[axis - 1] = self._remembered(variable)
            self.source.allow_table(variable.at, f"the table of {variable.name}", [table.size])
            unsaid = np.full((len(table), *np.delete(table.shape, axis)[1:]), 1 / len(table))
            table = np.concatenate([table, np.expand_dims(unsaid, axis)], axis=axis)
        elif not names:  # what depends on nothing says nothing of any state: declare it on the first
            state, size = next((ref.name, size) for ref, size in self.sizes.items() if ref.role == "now")
            self.source.allow_table(variable.at, f"the table of {variable.name}", [len(table), size])
            names, table = [state], np.repeat(table[:, None], size, axis=1)
        self._builder.add_observation(variable.name, table, names, variable.values)

    def add_preference(self, observations: tuple[str, ...], table: Table) -> None:
        """A preference over a group of observations."""
        self._builder.add_preference(observations, table)

    def build(self, inference: str) -> TemporalSlice:
        """The slice."""
        return self._builder.build(inference)

    def _without_idle_action(self, parents: tuple[Ref, ...], table: Table) -> tuple[tuple[Ref, ...], Table]:
        """The same likelihood without the action, if it is the same for every action."""
        action = Ref("action", self.action.name)
        if action not in parents:
            return parents, table
        axis = 1 + parents.index(action)
        first = np.take(table, [0], axis=axis)
        if not (table == first).all():
            return parents, table
        return tuple(ref for ref in parents if ref != action), np.squeeze(first, axis)

    def _remembered(self, variable: Variable) -> str:
        """The state that holds the last action, added when the first observation needs it."""
        if self._memory is None:
            self._memory = self._add_memory(variable.at)
        self.lose(
            f"{variable.name} given the action",
            f"an observation depends on states alone; it depends on the added state {self._memory}, the last action"
            " (before the first action it says nothing)",
        )
        return self._memory

    def _add_memory(self, at: Position) -> str:
        n = self.action.size
        name = self.fresh("S_last_" + short(self.action.name))
        self.source.allow_table(at, f"the table of {name}", [n + 1, n])
        labels = self.action.values or tuple(f"a{i}" for i in range(n))
        values = (*labels, fresh("none", labels))
        self.add_state(name, np.eye(n + 1)[n], values, (Ref("action", self.action.name),), np.eye(n + 1, n))
        return name
