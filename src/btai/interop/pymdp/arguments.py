"""What a pymdp agent was made of: its arguments, and the arrays of one element of its batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from btai.errors import ModelError, TableError

__all__ = ["Arguments"]

Table = NDArray[np.float64]

# Those of Agent in pymdp 1.0.4.
# fmt: off
KNOWN = (
    "A", "B", "C", "D", "E", "pA", "pB", "H", "I", "A_dependencies", "B_dependencies", "B_action_dependencies",
    "num_controls", "control_fac_idx", "policy_len", "policies", "gamma", "alpha", "inductive_depth",
    "inductive_threshold", "inductive_epsilon", "use_utility", "use_states_info_gain", "use_param_info_gain",
    "use_inductive", "categorical_obs", "preprocess_fn", "action_selection", "sampling_mode", "inference_algo",
    "inference_horizon", "num_iter", "batch_size", "learning_mode", "learn_A", "learn_B", "learn_C", "learn_D",
    "learn_E",
)
# fmt: on
ROUNDING = 2e-5  # what pymdp lets a sum of float32 be away from 1, and a little


class Arguments:
    """The arguments of an agent, from the agent itself or from a mapping."""

    def __init__(self, source: Any, batch: int) -> None:
        self._source = source
        self.batch = batch
        if isinstance(source, Mapping):
            for name in source:
                if name not in KNOWN:
                    raise ModelError(f"{name!r}: pymdp's Agent takes no such argument; it takes {', '.join(KNOWN)}.")
        for name in ("A", "B"):
            if self.get(name) is None:
                raise ModelError(
                    f"{name}: it is missing in the {type(source).__name__} given; required is an Agent of pymdp 1.0, or"
                    " a mapping with the arguments of one, A and B at least."
                )

    def get(self, name: str) -> Any:
        """An argument; None where it is not given."""
        return self._source.get(name) if isinstance(self._source, Mapping) else getattr(self._source, name, None)

    def dependencies(self, name: str, default: Sequence[Sequence[int]]) -> list[list[int]]:
        """The factors on which each modality or factor depends."""
        given = self.get(name)
        lists = [[int(f) for f in parents] for parents in (default if given is None else given)]
        if len(lists) != len(default):
            raise ModelError(f"{name}: {len(lists)} lists were given; {len(default)} are required, one each.")
        factors = len(self.get("B"))
        for i, parents in enumerate(lists):
            if any(not 0 <= f < factors for f in parents):
                raise ModelError(f"{name}[{i}]: {parents} was given; required are factors from 0 to {factors - 1}.")
        return lists

    def is_batched(self, name: str, index: int, axes: int) -> bool:
        """Whether an array that has so many `axes` by itself has another in front, for the batch."""
        shape = np.shape(self.get(name)[index])
        if len(shape) not in (axes, axes + 1):
            raise TableError(
                f"{name}[{index}]: an array of shape {shape} was given; {axes} axes are required by its dependencies,"
                " and one in front where there is a batch. Correct the array or the dependencies."
            )
        return len(shape) == axes + 1

    def array(self, name: str, index: int, *, batched: bool) -> Table:
        """An array of the batch's element, in float64."""
        return self.of_batch(f"{name}[{index}]", self.get(name)[index], batched=batched).astype(np.float64)

    def of_batch(self, what: str, given: Any, *, batched: bool) -> NDArray[Any]:
        """The batch's element of an array, if it has a batch; one element stands for all."""
        array = np.asarray(given)
        if not batched:
            return array
        if not 0 <= self.batch < len(array) and len(array) != 1:
            raise ModelError(
                f"batch: {self.batch} was given; {what} has a batch of {len(array)}, so that one from 0 to"
                f" {len(array) - 1} is required."
            )
        return np.asarray(array[0 if len(array) == 1 else self.batch])

    def probabilities(self, name: str, index: int, axes: int) -> Table:
        """An array of the batch's element whose axis 0 sums to 1, in float64, without the rounding of float32."""
        rounded = np.asarray(self.get(name)[index]).dtype != np.float64
        table = self.array(name, index, batched=self.is_batched(name, index, axes))
        total = table.sum(axis=0)
        if rounded and (np.abs(total - 1) < ROUNDING).all():
            return np.asarray(table / total)
        return table
