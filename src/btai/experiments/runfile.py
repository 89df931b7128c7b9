"""The run file: one SQLite database that holds a run, written trial by trial and readable at any moment.

Each trial is one transaction, so a run killed at any moment has lost at most the trials in flight, and the file is
always sound. It is in WAL mode: whoever reads does not wait for the one who writes. The journal is not forced to the
disk at every trial; a power cut (not a mere kill) may take the last trials with it, never the file.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from btai.errors import RunFileError
from btai.experiments.configuration import first_difference
from btai.experiments.database import check_sound, connect_to_read, connect_to_write, explained, insert, transaction
from btai.experiments.lock import WriterLock
from btai.experiments.recording import Cycle
from btai.experiments.schema import APPLICATION_ID, RANDOM, SCHEMA_VERSION, TABLES, check_header
from btai.experiments.summary import Summary, summarise
from btai.experiments.trial import Trial, as_state
from btai.model import Layout

__all__ = ["RunFile"]

TRIAL_COLUMNS = (
    "trial, seed, initial_state, reward, cycles, finished, "
    "planning_seconds, inference_seconds, environment_seconds, planning_iterations, actions"
)
CYCLE_COLUMNS = "trial, cycle, action, evidence, prior, posterior, expanded, efe"


class RunFile:
    """A run file, open for reading (`RunFile.open`) or for writing (`RunFile.write`). A context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None = None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self.config: dict[str, Any] = self._read_configuration()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a run file for reading; whether it is being written meanwhile does not matter."""
        path = Path(path)
        check_header(path)
        return cls._opened(path, connect_to_read(path))

    @classmethod
    def write(cls, path: str | os.PathLike[str], configuration: Mapping[str, Any]) -> Self:
        """Create a run file, or open one of the very same configuration to go on with it.

        Refused where another process writes it, where it is something else, or where a key of its configuration
        differs; the file is then as it was.
        """
        path = Path(path)
        lock = WriterLock(path)
        try:
            if path.exists():
                _check_configuration(path, configuration)
            else:
                _create(path, configuration)
            return cls._opened(path, connect_to_write(path), lock)
        except BaseException:
            lock.release()
            raise

    def append(self, trial: Trial, cycles: Sequence[Cycle] = ()) -> None:
        """Write one trial with its recorded cycles: all of it, or nothing."""
        if self._lock is None:
            raise RunFileError(f"{self.path} is open for reading. Open it with RunFile.write to add trials.")
        with explained(self.path), transaction(self._connection):
            self._connection.execute(insert("trials", TRIAL_COLUMNS), _trial_row(trial))
            rows = (self._cycle_row(cycle) for cycle in cycles)
            self._connection.executemany(insert("cycles", CYCLE_COLUMNS), rows)

    def trials(self) -> list[Trial]:
        """All trials, in order."""
        rows = self._rows(f"SELECT {TRIAL_COLUMNS} FROM trials ORDER BY trial")
        return [_as_trial(row) for row in rows]

    def cycles(self, trial: int) -> list[Cycle]:
        """The recorded cycles of one trial, in order; none where the run was not recorded."""
        rows = self._rows(f"SELECT {CYCLE_COLUMNS} FROM cycles WHERE trial = ? ORDER BY cycle", trial)
        with explained(self.path):
            return [self._as_cycle(row) for row in rows]

    def summary(self) -> Summary:
        """The figures of the trials so far."""
        with explained(self.path):
            return summarise(self.trials(), exhaustive=self.config["starts"] != RANDOM)

    def close(self) -> None:
        """Close the file; the last one to close it puts everything into the one file."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @classmethod
    def _opened(cls, path: Path, connection: sqlite3.Connection, lock: WriterLock | None = None) -> Self:
        try:
            check_sound(connection, path)
            return cls(path, connection, lock)
        except BaseException:
            connection.close()
            raise

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with explained(self.path):
            return self._connection.execute(query, values).fetchall()

    def _read_configuration(self) -> dict[str, Any]:
        with explained(self.path):
            rows = self._connection.execute("SELECT key, value FROM configuration ORDER BY rowid")
            return {key: json.loads(value) for key, value in rows}

    def _layouts(self) -> tuple[Layout, Layout]:
        layout = self.config["layout"]
        return Layout(layout["observations"]), Layout(layout["states"])

    def _cycle_row(self, cycle: Cycle) -> tuple[Any, ...]:
        observations, states = self._layouts()
        return (
            cycle.trial,
            cycle.cycle,
            cycle.action,
            observations.flat(cycle.evidence).astype("<f8").tobytes(),
            states.flat(cycle.prior).astype("<f8").tobytes(),
            states.flat(cycle.posterior).astype("<f8").tobytes(),
            cycle.expanded.astype("<i4").tobytes(),
            cycle.efe.astype("<f8").tobytes(),
        )

    def _as_cycle(self, row: tuple[Any, ...]) -> Cycle:
        observations, states = self._layouts()
        trial, cycle, action, evidence, prior, posterior, expanded, efe = row
        nodes = np.frombuffer(expanded, "<i4").astype(np.int32)
        costs = np.frombuffer(efe, "<f8").astype(np.float64)
        _check_search(nodes, costs, self.config["layout"]["actions"])
        return Cycle(
            trial=trial,
            cycle=cycle,
            action=action,
            evidence=_vectors(observations, evidence),
            prior=_vectors(states, prior),
            posterior=_vectors(states, posterior),
            expanded=nodes,
            efe=costs,
        )


def _create(path: Path, configuration: Mapping[str, Any]) -> None:
    """Make the file under another name first, so that it is never seen half made. The caller holds the lock."""
    unborn = path.with_name(path.name + ".new")
    unborn.unlink(missing_ok=True)  # Left by a process that was killed at this very point.
    try:
        with explained(path):
            connection = sqlite3.connect(unborn, isolation_level=None)
            try:
                connection.executescript(
                    f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; {TABLES}"
                )
                rows = [(key, json.dumps(value)) for key, value in configuration.items()]
                connection.executemany(insert("configuration", "key, value"), rows)
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
        unborn.rename(path)
    except BaseException:
        unborn.unlink(missing_ok=True)
        raise


def _check_configuration(path: Path, configuration: Mapping[str, Any]) -> None:
    with RunFile.open(path) as file:
        difference = first_difference(file.config, json.loads(json.dumps(configuration)))
    if difference:
        key, stored, given = difference
        raise RunFileError(
            f"{path} holds another run: {key} is {stored!r} there and {given!r} now. "
            "Use the same arguments to go on with it, or choose another file name."
        )


def _trial_row(trial: Trial) -> tuple[Any, ...]:
    return (
        trial.index,
        trial.seed,
        json.dumps(trial.initial_state),
        trial.reward,
        trial.cycles,
        trial.finished,
        trial.planning_seconds,
        trial.inference_seconds,
        trial.environment_seconds,
        trial.planning_iterations,
        json.dumps(trial.actions),
    )


def _vectors(layout: Layout, blob: bytes) -> Mapping[str, Any]:
    flat = np.frombuffer(blob, "<f8").astype(np.float64)
    if len(flat) != layout.size:
        raise ValueError(f"{len(flat)} numbers where {layout.size} are required")
    return layout.views(flat)


def _check_search(expanded: NDArray[np.int32], efe: NDArray[np.float64], n_actions: int) -> None:
    """Refuse what no search can have left behind: iteration i expands one of the 1 + i A nodes there are, a leaf."""
    iterations = np.arange(len(expanded))
    is_search = (expanded >= 0) & (expanded <= iterations * n_actions)
    if len(efe) != 1 + len(expanded) * n_actions or not is_search.all() or len(set(expanded.tolist())) < len(expanded):
        raise ValueError("the recorded search is not one")


def _as_trial(row: tuple[Any, ...]) -> Trial:
    index, seed, state, reward, cycles, finished, planning, inference, environment, iterations, actions = row
    return Trial(
        index=index,
        seed=seed,
        initial_state=as_state(json.loads(state)),
        reward=reward,
        cycles=cycles,
        finished=bool(finished),
        planning_seconds=planning,
        inference_seconds=inference,
        environment_seconds=environment,
        planning_iterations=iterations,
        actions=tuple(json.loads(actions)),
    )
