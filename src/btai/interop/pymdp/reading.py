"""A pymdp agent, or the arrays of one, as a slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import ModelError, TableError
from btai.interop.loss import Imported, Loss, LossReport
from btai.interop.pymdp.arguments import Arguments
from btai.interop.pymdp.controls import Controls, control_sizes, controls_of, shared_controls
from btai.interop.pymdp.losses import settings_lost
from btai.interop.pymdp.names import Names
from btai.interop.pymdp.writing import PymdpModel
from btai.model import MAX_CLIQUE_ENTRIES, TemporalSliceBuilder

__all__ = ["from_pymdp"]

Table = NDArray[np.float64]


def from_pymdp(
    source: Any,
    *,
    batch: int = 0,
    names: Names | None = None,
    inference: str = "exact",
    max_clique: int = MAX_CLIQUE_ENTRIES,
) -> Imported:
    """The slice of a pymdp agent, and what could not be carried over: `ts, losses = from_pymdp(agent)`.

    Each factor becomes a state, each modality an observation with the preference softmax(C), and all controls together
    become one action, whose values are the joint settings, named as in "u0=1, u2=0".

    Args:
        source: a `pymdp.agent.Agent`, a mapping with the arguments of one (arrays with or without a batch axis), or
            what `to_pymdp` gave.
        batch: which element of the batch.
        names: instead of S_0, O_0, ...; those of the slice, if `to_pymdp` gave the source.
        inference: as for `TemporalSliceBuilder.build`.
        max_clique: the same.
    """
    if isinstance(source, PymdpModel):
        names = source.names if names is None else names
        source = source.arguments()
    reader = _Reader(Arguments(source, batch), names or Names())
    builder = reader.declared()
    return Imported(builder.build(inference, max_clique), LossReport(tuple(reader.losses)))


class _Reader:
    """Declares the arrays of one element of the batch, and keeps what is lost."""

    def __init__(self, arguments: Arguments, names: Names) -> None:
        self.arguments, self.names = arguments, names
        factors, modalities = range(len(arguments.get("B"))), range(len(arguments.get("A")))
        self.states = _names("states", names.states, [f"S_{f}" for f in factors])
        self.observations = _names("observations", names.observations, [f"O_{m}" for m in modalities])
        self.seen = arguments.dependencies("A_dependencies", [[*factors] for _ in modalities])
        self.followed = arguments.dependencies("B_dependencies", [[f] for f in factors])
        self.losses: list[Loss] = []

    def declared(self) -> TemporalSliceBuilder:
        """A builder with everything."""
        transitions = self._transitions()
        sizes = [len(table) for table in transitions]
        for f, table in enumerate(transitions):
            _check_axes("B", f, table.shape[1:-1], self.followed[f], sizes)
        controls, losses = controls_of(self.arguments, [table.shape[-1] for table in transitions])
        self.losses += losses
        labels = controls.labels() if self.names.actions is None else self.names.actions or None
        builder = TemporalSliceBuilder(self.names.action, len(controls.rows), labels)
        for f, table in enumerate(transitions):
            self._add_state(builder, f, table, controls)
        for m in range(len(self.observations)):
            self._add_observation(builder, m, sizes)
        self.losses += [*self._batch_lost(), *settings_lost(self.arguments)]
        return builder

    def _batch_lost(self) -> Iterator[Loss]:
        size = len(self.arguments.get("A")[0]) if self.arguments.is_batched("A", 0, 1 + len(self.seen[0])) else 1
        if size > 1:
            yield Loss(
                f"{size - 1} of the batch of {size}",
                f"a slice is one model, number {self.arguments.batch}; give batch= for another",
            )

    def _transitions(self) -> list[Table]:
        """B of each factor, its own action last: [n_S, *states, n_actions of the factor]."""
        shared = shared_controls(self.arguments)
        if shared is None or self.arguments.get("action_maps") is not None:
            return [self.arguments.probabilities("B", f, 2 + len(parents)) for f, parents in enumerate(self.followed)]
        sizes = control_sizes(self.arguments)
        tables = []
        for f, (parents, controls) in enumerate(zip(self.followed, shared, strict=True)):
            table = self.arguments.probabilities("B", f, 1 + len(parents) + len(controls))
            required = tuple(sizes[c] for c in controls)
            states = table.shape[: 1 + len(parents)]
            if table.shape[len(states) :] != required:
                raise TableError(
                    f"B[{f}]: axes of sizes {table.shape[len(states) :]} were given for the controls {controls};"
                    f" required is {required}, their sizes in num_controls."
                )
            tables.append(table.reshape(*states, -1))
        return tables

    def _add_state(self, builder: TemporalSliceBuilder, f: int, table: Table, controls: Controls) -> None:
        name, actions = self.states[f], controls.flat(f)
        parents = [self.states[parent] for parent in self.followed[f]]
        flat = np.full(len(table), 1 / len(table))
        with _about(f"D[{f}]"):
            prior = flat if self.arguments.get("D") is None else self.arguments.probabilities("D", f, 1)
            builder.add_state(name, prior, self.names.state_values.get(name))
        with _about(f"B[{f}]"):
            if (actions == actions[0]).all():
                builder.add_transition(name, table[..., actions[0]], parents)
            else:
                builder.add_transition(name, table[..., actions], [*parents, self.names.action])

    def _add_observation(self, builder: TemporalSliceBuilder, m: int, sizes: Sequence[int]) -> None:
        name = self.observations[m]
        parents = [self.states[parent] for parent in self.seen[m]]
        with _about(f"A[{m}]"):
            likelihood = self.arguments.probabilities("A", m, 1 + len(parents))
            _check_axes("A", m, likelihood.shape[1:], self.seen[m], sizes)
            builder.add_observation(name, likelihood, parents, self.names.observation_values.get(name))
        with _about(f"C[{m}]"):
            builder.add_preference([name], scores=self._scores(m, len(likelihood)))

    def _scores(self, m: int, size: int) -> Table:
        """C of a modality, [n_O]; pymdp takes a flat one where none is given."""
        if self.arguments.get("C") is None:
            return np.zeros(size)
        batched = self.arguments.is_batched("A", m, 1 + len(self.seen[m]))  # in pymdp C has a batch where A has one
        scores = self.arguments.array("C", m, batched=batched)
        if scores.ndim == 2 and len(scores):
            if not (scores == scores[0]).all():
                self.losses.append(
                    Loss(
                        f"C[{m}] at {len(scores)} times",
                        "a slice has one preference for all times; the first was taken",
                    )
                )
            return np.asarray(scores[0])
        return scores


def _names(role: str, given: Sequence[str] | None, default: list[str]) -> list[str]:
    if given is not None and len(given) != len(default):
        raise ModelError(f"names.{role}: {len(given)} names were given; {len(default)} are required, one each.")
    return default if given is None else list(given)


def _check_axes(key: str, index: int, given: tuple[int, ...], factors: Sequence[int], sizes: Sequence[int]) -> None:
    """Said in pymdp's terms: the builder would speak of axes that the array does not have there."""
    required = tuple(sizes[factor] for factor in factors)
    if given != required:
        raise TableError(
            f"{key}[{index}]: axes of sizes {given} were given for the factors {list(factors)} of {key}_dependencies;"
            f" required is {required}, their numbers of states. Transpose the array, or reorder the factors."
        )


@contextmanager
def _about(what: str) -> Iterator[None]:
    """The builder's errors name pymdp's array first."""
    try:
        yield
    except ModelError as error:
        text = str(error)
        raise type(error)(text if text.startswith(what) else f"{what}: {text}") from error
