"""The run file: one SQLite database that holds a run, or all runs of a sweep, readable at any moment.

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

from btai.errors import RunFileError
from btai.experiments.configuration import first_difference
from btai.experiments.database import (
    attached,
    beside,
    check_sound,
    connect_to_read,
    connect_to_write,
    explained,
    insert,
    real,
    transaction,
)
from btai.experiments.lock import WriterLock
from btai.experiments.recording import Cycle
from btai.experiments.rows import CYCLE_COLUMNS, TRIAL_COLUMNS
from btai.experiments.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES, check_header
from btai.experiments.storedrun import StoredRun, insert_configuration, is_longer, read_configurations
from btai.experiments.summary import Summary
from btai.experiments.trial import Trial

__all__ = ["RunFile"]


class RunFile:
    """A run file, open for reading (`RunFile.open`) or for writing (`RunFile.write`). A context manager.

    `runs` are all the runs in it. A file of one run, which is what `run` writes, is read as if it were that run.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None = None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        with explained(path):
            configurations = read_configurations(connection)
        self.runs: tuple[StoredRun, ...] = tuple(
            StoredRun(path, connection, number, config, writable=lock is not None)
            for number, config in configurations.items()
        )

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a run file for reading; whether it is being written meanwhile does not matter."""
        path = Path(path)
        check_header(path)
        return cls._opened(path, connect_to_read(path))

    @classmethod
    def write(cls, path: str | os.PathLike[str], *configurations: Mapping[str, Any]) -> Self:
        """Create a run file for runs of these configurations, or open one of the very same to go on with it.

        A run of random trials may be asked for more of them than before.

        Refused where another process writes it, where it is something else, or where a key of a configuration differs;
        the file is then as it was.
        """
        path = Path(path)
        lock = WriterLock(path)
        try:
            if path.exists():
                _check_configurations(path, configurations)
            else:
                _create(path, configurations)
            file = cls._opened(path, connect_to_write(path), lock)
        except BaseException:
            lock.release()
            raise
        for run, configuration in zip(file.runs, configurations, strict=True):
            run.extend(configuration)
        return file

    @property
    def run(self) -> StoredRun:
        """The run, where there is only one."""
        if len(self.runs) != 1:
            raise RunFileError(
                f"{self.path} holds {len(self.runs)} runs, and none was chosen. Choose one of `runs`, by its number."
            )
        return self.runs[0]

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the one run."""
        return self.run.config

    def append(self, trial: Trial, cycles: Sequence[Cycle] = ()) -> None:
        """Write one trial of the one run with its recorded cycles: all of it, or nothing."""
        self.run.append(trial, cycles)

    def trials(self) -> list[Trial]:
        """All trials of the one run, in order."""
        return self.run.trials()

    def cycles(self, trial: int) -> list[Cycle]:
        """The recorded cycles of one trial of the one run, in order; none where the run was not recorded."""
        return self.run.cycles(trial)

    def summary(self) -> Summary:
        """The figures of the trials of the one run so far."""
        return self.run.summary()

    def take_over(self, other: RunFile) -> None:
        """Add all trials of another file of the same runs that are not here yet."""
        with explained(other.path), attached(self._connection, other.path), transaction(self._connection):
            self._connection.execute("INSERT OR IGNORE INTO models SELECT model, content FROM other.models")
            for table, columns in (("trials", TRIAL_COLUMNS), ("cycles", CYCLE_COLUMNS)):
                self._connection.execute(
                    f"INSERT OR IGNORE INTO {table} (run, {columns}) SELECT run, {columns} FROM other.{table}"
                )

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

    def __repr__(self) -> str:
        return f"RunFile: {self.path}, {len(self.runs)} run{'s' * (len(self.runs) != 1)}"

    @classmethod
    def _opened(cls, path: Path, connection: sqlite3.Connection, lock: WriterLock | None = None) -> Self:
        try:
            check_sound(connection, path)
            return cls(path, connection, lock)
        except BaseException:
            connection.close()
            raise


def _create(path: Path, configurations: Sequence[Mapping[str, Any]]) -> None:
    """Make the file under another name first, so that it is never seen half made. The caller holds the lock."""
    unborn = beside(path, ".new")
    unborn.unlink(missing_ok=True)  # Left by a process that was killed at this very point.
    try:
        with explained(path):
            connection = sqlite3.connect(unborn, isolation_level=None)
            try:
                connection.executescript(
                    f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; {TABLES}"
                )
                with transaction(connection):
                    for number, configuration in enumerate(configurations):
                        connection.execute(insert("runs", "run"), (number,))
                        insert_configuration(connection, number, configuration)
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
        unborn.rename(real(path))
    except BaseException:
        unborn.unlink(missing_ok=True)
        raise


def _check_configurations(path: Path, configurations: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a file of other runs. What a file knows beyond the keys given was found out while it was written."""
    with RunFile.open(path) as file:
        stored = [run.config for run in file.runs]
    if len(stored) != len(configurations):
        raise RunFileError(
            f"{path} holds another sweep: of {len(stored)} runs, and {len(configurations)} now. Use the same arguments"
            " to go on with it, or choose another file name."
        )
    for number, (there, now) in enumerate(zip(stored, configurations, strict=True)):
        wanted = json.loads(json.dumps(now))
        known = {key: value for key, value in there.items() if key in now}
        if is_longer(wanted, there):
            known["trials"] = wanted["trials"]
        difference = first_difference(known, wanted)
        if difference:
            key, old, new = difference
            which = f" of run {number}" if len(stored) > 1 else ""
            raise RunFileError(
                f"{path} holds another run: {key}{which} is {old!r} there and {new!r} now. "
                "Use the same arguments to go on with it, or choose another file name."
            )
