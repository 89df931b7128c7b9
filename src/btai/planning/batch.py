"""Inference and search for many agents of one model at once, in parallel over agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Lock

import numba
import numpy as np
from numpy.typing import NDArray

from btai.engine import Model, Workspace, compile, new_workspace
from btai.model import TemporalSlice
from btai.planning.compiled import first_portion
from btai.planning.kernels import perceive_each, plan_each
from btai.planning.reference import MEMORY_LIMIT
from btai.planning.tree import Tree, new_tree

__all__ = ["BatchEngine"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Lane = tuple[Tree, Workspace]  # what a thread works in

PORTION = 32  # agents that a thread takes at a time, if their planning is short; between portions Ctrl-C comes through
WAIT_SECONDS = 0.02  # not every system lets Ctrl-C through to a thread that waits for others


class BatchEngine:
    """A program and, for each thread, a tree and a workspace.

    Every agent is computed on its own, by the same instructions whichever thread runs them: the results do not
    depend on the number of threads.
    """

    def __init__(self, ts: TemporalSlice, threads: int | None = None) -> None:
        self._program = compile(ts)
        self._n_actions = ts.action.size
        self._threads = numba.config.NUMBA_NUM_THREADS if threads is None else threads
        self._lanes: list[Lane] = []
        self.most_iterations = MEMORY_LIMIT // (self._program.bytes_per_iteration * self._threads)
        """Of one agent's search: what MEMORY_LIMIT has room for in every thread."""

    def plan(self, beliefs: Floats, budgets: Ints, exp_const: float, *, by_visits: bool, by_cost: bool) -> Ints:
        """The action of each agent, `[B]`; -1 where the budget is 0."""
        most = max(1, int(budgets.max()))
        self._make_lanes(most)
        actions = np.full(len(beliefs), -1)
        ops, parts = self._program.ops, self._program.parts
        constant = float(exp_const)  # a kernel is compiled for each type it is given

        def portion(lane: Lane, first: int, last: int) -> None:
            tree, work = lane
            model = Model(ops, parts, work)
            plan_each(tree, model, beliefs, budgets, first, last, constant, by_visits, by_cost, actions)

        agents = max(1, min(PORTION, first_portion(self._program.operations) // most))
        self._in_parallel(portion, len(beliefs), agents)
        return actions

    def perceive(
        self, beliefs: Floats, actions: Ints, evidence: Floats, prior: Floats, posterior: Floats, active: Flags
    ) -> Flags:
        """Write `prior` and `posterior` `[B, sum of n_S]` of the active agents; which of them saw something possible.

        An agent with an action has its prior predicted from `beliefs`; the others have theirs in `prior` already.
        """
        self._make_lanes(1)
        program = (self._program.ops, self._program.parts, self._program.cliques)
        possible = active.copy()

        def portion(lane: Lane, first: int, last: int) -> None:
            perceive_each(program, lane[1], beliefs, actions, evidence, first, last, prior, posterior, possible)

        self._in_parallel(portion, len(beliefs), PORTION)
        return possible

    def _make_lanes(self, iterations: int) -> None:
        """Nothing lasts in a lane from one call to the next, so larger ones simply take their place."""
        if not self._lanes or len(self._lanes[0][0].expanded) < iterations:
            self._lanes = []  # so that the old ones are gone before the new ones come
            self._lanes = [
                (new_tree(self._n_actions, iterations), new_workspace(self._program, iterations))
                for _ in range(self._threads)
            ]

    def _in_parallel(self, portion: Callable[[Lane, int, int], None], agents: int, size: int) -> None:
        """Run all portions of `size` agents, each lane taking the next one until none is left."""
        starts = _Shared(range(0, agents, size))

        def run(lane: Lane) -> None:
            for first in starts:
                portion(lane, first, min(first + size, agents))

        if self._threads == 1 or agents <= size:
            run(self._lanes[0])
            return
        with ThreadPoolExecutor(self._threads) as pool:
            running = {pool.submit(run, lane) for lane in self._lanes}
            try:
                while running:
                    ended, running = wait(running, WAIT_SECONDS, FIRST_EXCEPTION)
                    for future in ended:
                        future.result()
            except BaseException:
                starts.stop()  # the threads end with the portions they are at
                raise


class _Shared:
    """An iterator that several threads draw from."""

    def __init__(self, values: range) -> None:
        self._values = iter(values)
        self._lock = Lock()

    def stop(self) -> None:
        """Let nobody draw any more."""
        with self._lock:
            self._values = iter(range(0))

    def __iter__(self) -> Iterator[int]:
        while True:
            with self._lock:
                value = next(self._values, None)
            if value is None:
                return
            yield value
