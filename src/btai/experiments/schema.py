"""The tables of a run file, and the marks by which one is known before anything is read from it."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from stat import S_ISDIR

from btai.errors import RunFileError
from btai.experiments.database import beside, connect_to_look, explained, may

__all__ = ["APPLICATION_ID", "RANDOM", "SCHEMA_VERSION", "TABLES", "check_header", "is_run_file"]

APPLICATION_ID = int.from_bytes(b"btai", "big")
SCHEMA_VERSION = 1
RANDOM = "random"  # the configuration's `starts` where the environment drew them; else a digest of the list

# REAL is float64, so every number comes back as it went in. Blobs are little-endian, without padding: float64 except
# `expanded`, which is int32. Each variable's vector lies in them where the model's order of declaration puts it.
TABLES = """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,          -- 0, 1, ...: one run, or those of a sweep
    failed_trial INTEGER,             -- where the run was given up; NULL: it was not
    failure TEXT                      -- why: a traceback, or how the worker ended
);
CREATE TABLE models (                 -- of the agents whose cycles were recorded
    model TEXT PRIMARY KEY,           -- as a run's configuration names it
    content BLOB NOT NULL             -- a model file, as `ts.save` writes it
);
CREATE TABLE configuration (
    run INTEGER NOT NULL REFERENCES runs,
    key TEXT NOT NULL,
    value TEXT NOT NULL,              -- JSON
    PRIMARY KEY (run, key)
);
CREATE TABLE trials (
    run INTEGER NOT NULL REFERENCES runs,
    trial INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    initial_state TEXT NOT NULL,      -- JSON
    reward REAL NOT NULL,
    cycles INTEGER NOT NULL,
    finished INTEGER NOT NULL,        -- 0: stopped after the most cycles allowed
    planning_seconds REAL NOT NULL,
    inference_seconds REAL NOT NULL,
    environment_seconds REAL NOT NULL,
    planning_iterations INTEGER NOT NULL,
    actions TEXT NOT NULL,            -- JSON
    PRIMARY KEY (run, trial)
);
CREATE TABLE cycles (
    run INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    cycle INTEGER NOT NULL,
    action INTEGER,                   -- NULL: the end of the trial
    evidence BLOB NOT NULL,           -- the observations' vectors
    prior BLOB NOT NULL,              -- the states' vectors, before the evidence
    posterior BLOB NOT NULL,          -- the states' vectors
    expanded BLOB NOT NULL,           -- the node that each planning iteration expanded
    efe BLOB NOT NULL,                -- expected free energy of each node in order of creation, NaN at the root
    PRIMARY KEY (run, trial, cycle),
    FOREIGN KEY (run, trial) REFERENCES trials
);
"""

HEADER_SIZE = 100  # bytes that every SQLite database has at least


def check_header(path: Path) -> None:
    """Refuse what is not a whole run file of this version, and leave no trace.

    SQLite itself looks. A process that opened the file by other means would lose, on closing it, every lock that its
    connections hold on it, and another process might take away the journal in which they write.
    """
    size = _size(path)
    if size < HEADER_SIZE:
        state = "is cut off in its first bytes" if size else "is empty"
        raise RunFileError(f"{path} is no run file of btai: it {state}. Choose another file name.")
    with closing(connect_to_look(path)) as connection:
        application, version = _marks(connection, path)
        if application != APPLICATION_ID:
            raise RunFileError(f"{path} is an SQLite file of another program. Choose another file name.")
        if version != SCHEMA_VERSION:
            raise RunFileError(
                f"{path} is a run file of version {version}; this btai reads and writes version {SCHEMA_VERSION}. "
                "Use the btai that wrote it, or choose another file name."
            )
        if not beside(path, "-wal").exists():  # It may hold what is missing in the file itself.
            _check_pages(connection, path)


def is_run_file(path: Path) -> bool:
    """Whether it is a file that btai has made, whatever its version and its state."""
    if not path.is_file():
        return False  # Looking into a device or a pipe may take for ever.
    try:
        with closing(connect_to_look(path)) as connection:
            return _marks(connection, path)[0] == APPLICATION_ID
    except RunFileError:
        return False


def _size(path: Path) -> int:
    """The size of a file that can be read."""
    try:
        found = path.stat()
        for wrong, number in ((S_ISDIR(found.st_mode), errno.EISDIR), (not may(path, os.R_OK), errno.EACCES)):
            if wrong:
                raise OSError(number, os.strerror(number))
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read ({error.strerror}). Give the path of a run file.") from error
    return found.st_size


def _marks(connection: sqlite3.Connection, path: Path) -> tuple[int, int]:
    """The number of the program that made the file, and that of its version."""
    try:
        application, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
    except sqlite3.DatabaseError as error:
        raise RunFileError(
            f"{path} is no run file of btai: it is not an SQLite file, or is cut off. Choose another file name."
        ) from error
    return application, version


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    size, (page_size,) = path.stat().st_size, connection.execute("PRAGMA page_size").fetchone()
    if size % page_size:  # SQLite takes a last page that is cut short for one that ends in zeros.
        raise RunFileError(
            f"{path} is cut off after {size:,} bytes. Restore it from a copy, or choose another file name."
        )
    with explained(path):
        connection.execute("PRAGMA writable_schema = 0")  # Now SQLite minds if pages are missing.
        connection.execute("PRAGMA page_count")
