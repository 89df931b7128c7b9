"""One run in a run file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from btai.errors import ModelError, RunFileError
from btai.experiments.configuration import describe, first_difference
from btai.experiments.database import explained, insert, transaction
from btai.experiments.recording import Cycle
from btai.experiments.rows import CYCLE_COLUMNS, TRIAL_COLUMNS, CycleRows, as_trial, trial_row
from btai.experiments.schema import RANDOM
from btai.experiments.summary import Summary, summarise
from btai.experiments.trial import WON_OR_LOST, Trial
from btai.model import TemporalSlice, from_bytes, to_bytes

__all__ = ["Failure", "StoredRun", "insert_configuration", "is_longer", "read_configurations"]

MOST_LEVELS = 100  # of a configuration, one within the other


@dataclass(frozen=True)
class Failure:
    """Why a run of a sweep was given up: the first trial that could not be run, and what happened to it."""

    trial: int
    reason: str


class StoredRun:
    """One run of a run file: its configuration, its trials, their cycles. Written to only where the file may be."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, number: int, config: dict[str, Any], *, writable: bool
    ) -> None:
        self.number = number
        self.config = config
        self._path = path
        self._connection = connection
        self._writable = writable
        self._model: TemporalSlice | None = None

    def trials(self) -> list[Trial]:
        """All trials so far, in order."""
        rows = self._rows(f"SELECT {TRIAL_COLUMNS} FROM trials WHERE run = ? ORDER BY trial")
        with explained(self._path):
            return [as_trial(row) for row in rows]

    def trial(self, number: int) -> Trial | None:
        """One trial; None if it is not in the file yet."""
        rows = self._rows(f"SELECT {TRIAL_COLUMNS} FROM trials WHERE run = ? AND trial = ?", number)
        with explained(self._path):
            return as_trial(rows[0]) if rows else None

    def done(self) -> set[int]:
        """The numbers of the trials so far."""
        return {trial for (trial,) in self._rows("SELECT trial FROM trials WHERE run = ?")}

    def cycles(self, trial: int) -> list[Cycle]:
        """The recorded cycles of one trial, in order; none where the run was not recorded."""
        rows = self._rows(f"SELECT {CYCLE_COLUMNS} FROM cycles WHERE run = ? AND trial = ? ORDER BY cycle", trial)
        if not rows:
            return []
        with explained(self._path):
            convert = CycleRows(self.model)
            cycles = [convert.cycle(row) for row in rows]
            if [cycle.cycle for cycle in cycles] != [*range(len(cycles))]:
                raise ValueError("a cycle is missing")
            return cycles

    @property
    def model(self) -> TemporalSlice:
        """The model of the agent, where the run was recorded."""
        if self._model is None:
            with explained(self._path):
                name = self.config.get("model")
                row = self._connection.execute("SELECT content FROM models WHERE model = ?", (name,)).fetchone()
            if row is None:
                raise RunFileError(
                    f"{self._path}: run {self.number} holds no model: it was not recorded, or has not begun. Record it"
                    " with --record (record=True)."
                )
            try:
                with explained(self._path):
                    self._model = from_bytes(*row)
            except ModelError as error:
                raise RunFileError(f"{self._path}: the model of run {self.number} cannot be read: {error}") from error
        return self._model

    def summary(self) -> Summary:
        """The figures of the trials so far."""
        with explained(self._path):
            rewards = self.config.get("rewards", WON_OR_LOST)
            return summarise(self.trials(), exhaustive=self.config["starts"] != RANDOM, rewards=rewards)

    @property
    def failure(self) -> Failure | None:
        """Why the run was given up; None if it was not."""
        ((trial, reason),) = self._rows("SELECT failed_trial, failure FROM runs WHERE run = ?")
        return None if trial is None else Failure(trial, reason)

    def append(self, trial: Trial, cycles: Sequence[Cycle] = ()) -> None:
        """Write one trial with its recorded cycles: all of it, or nothing."""
        self._require_writable()
        with explained(self._path), transaction(self._connection):
            self._connection.execute(insert("trials", f"run, {TRIAL_COLUMNS}"), (self.number, *trial_row(trial)))
            if cycles:
                convert = CycleRows(self.model)
                rows = ((self.number, *convert.row(cycle)) for cycle in cycles)
                self._connection.executemany(insert("cycles", f"run, {CYCLE_COLUMNS}"), rows)

    def complete(self, found: Mapping[str, Any]) -> None:
        """Add to the configuration what was found only when agent and environment were made; refused where it is there
        already and another."""
        self._require_writable()
        found = json.loads(json.dumps(found))
        new = {key: value for key, value in found.items() if key not in self.config}
        known = {key: self.config[key] for key in found if key in self.config}
        difference = first_difference(known, {key: found[key] for key in known})
        if difference:
            key, stored, given = difference
            raise RunFileError(
                f"{self._path} holds another run: {key} of run {self.number} is {stored!r} there and {given!r} now. Use"
                " the same versions of all programs everywhere, or choose another file name."
            )
        if new:
            with explained(self._path), transaction(self._connection):
                insert_configuration(self._connection, self.number, new)
            self.config |= new

    def extend(self, wanted: Mapping[str, Any]) -> None:
        """Take as many trials as are wanted now, if they are more."""
        if is_longer(wanted, self.config):
            with explained(self._path), transaction(self._connection):
                self._connection.execute(
                    "UPDATE configuration SET value = ? WHERE run = ? AND key = 'trials'",
                    (json.dumps(wanted["trials"]), self.number),
                )
            self.config["trials"] = wanted["trials"]

    def keep_model(self, ts: TemporalSlice) -> None:
        """Keep the model of the agent whose cycles are to be recorded: without it they could not be read."""
        if self._model is None:
            name, content = describe(ts), to_bytes(ts)
            self.complete({"model": name})
            with explained(self._path), transaction(self._connection):
                self._connection.execute("INSERT OR IGNORE INTO models VALUES (?, ?)", (name, content))
            self._model = ts

    def fail(self, failure: Failure) -> None:
        """Give the run up at a trial: only the trials before it stay, whoever may have run others after it."""
        self._require_writable()
        with explained(self._path), transaction(self._connection):
            for table in ("cycles", "trials"):
                self._connection.execute(
                    f"DELETE FROM {table} WHERE run = ? AND trial >= ?", (self.number, failure.trial)
                )
            self._set_failure(failure.trial, failure.reason)

    def forgive(self) -> None:
        """Forget that the run was given up, to try again."""
        self._require_writable()
        with explained(self._path), transaction(self._connection):
            self._set_failure(None, None)

    def _set_failure(self, trial: int | None, reason: str | None) -> None:
        self._connection.execute(
            "UPDATE runs SET failed_trial = ?, failure = ? WHERE run = ?", (trial, reason, self.number)
        )

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with explained(self._path):
            return self._connection.execute(query, (self.number, *values)).fetchall()

    def _require_writable(self) -> None:
        if not self._writable:
            raise RunFileError(f"{self._path} is open for reading. Open it with RunFile.write to add trials.")

    def __repr__(self) -> str:
        recorded = "recorded" if self.config.get("record") else "not recorded"
        planned = f"{self.config.get('trials')} trials planned, seed {self.config.get('seed')}"
        return f"StoredRun: run {self.number} of {self._path}: {planned}, {recorded}"


def read_configurations(connection: sqlite3.Connection) -> dict[int, dict[str, Any]]:
    """The configuration of each run, by number; ValueError where one is none."""
    found: dict[int, dict[str, Any]] = {run: {} for (run,) in connection.execute("SELECT run FROM runs ORDER BY run")}
    for run, key, value in connection.execute("SELECT run, key, value FROM configuration ORDER BY rowid"):
        found[run][key] = json.loads(value)
    for config in found.values():
        _check(config)
    return found


def _check(config: dict[str, Any]) -> None:
    """Refuse what no run has written: everybody counts on some keys, and can follow so many levels."""
    if not isinstance(config.get("trials"), int) or not isinstance(config.get("starts"), str):
        raise ValueError("the number of trials or their starts are missing")
    level, depth = [config], 0
    while level:
        level = [inner for value in level for inner in _inside(value)]
        depth += 1
    if depth > MOST_LEVELS:
        raise ValueError(f"{depth} levels")


def _inside(value: Any) -> Iterable[Any]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
    return ()


def is_longer(wanted: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Whether the run wanted has more trials than the stored one, each drawn from a seed of its own."""
    drawn = wanted.get("starts") == stored.get("starts") == RANDOM
    return drawn and wanted.get("trials", 0) > stored.get("trials", 0)


def insert_configuration(connection: sqlite3.Connection, run: int, configuration: Mapping[str, Any]) -> None:
    """Add these keys to the configuration of a run."""
    rows = [(run, key, json.dumps(value)) for key, value in configuration.items()]
    connection.executemany(insert("configuration", "run, key, value"), rows)
