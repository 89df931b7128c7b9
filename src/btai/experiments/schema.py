"""The tables of a run file, and the marks by which one is known before anything is read from it."""

from __future__ import annotations

from pathlib import Path

from btai.errors import RunFileError

__all__ = ["APPLICATION_ID", "RANDOM", "SCHEMA_VERSION", "TABLES", "check_header"]

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

# The first bytes of every SQLite database, by its file format.
MAGIC = b"SQLite format 3\x00"
HEADER_SIZE = 100
PAGE_SIZE = slice(16, 18)
PAGE_COUNT = slice(28, 32)
USER_VERSION = slice(60, 64)
APPLICATION = slice(68, 72)


def check_header(path: Path) -> None:
    """Refuse what is not a whole run file of this version, without opening it as a database (which may change it)."""
    try:
        with path.open("rb") as file:
            header = file.read(HEADER_SIZE)
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read ({error.strerror}). Give the path of a run file.") from error
    if len(header) < HEADER_SIZE or not header.startswith(MAGIC):
        state = "is empty" if not header else "is not an SQLite file, or is cut off in its first bytes"
        raise RunFileError(f"{path} is no run file of btai: it {state}. Choose another file name.")
    if _number(header, APPLICATION) != APPLICATION_ID:
        raise RunFileError(f"{path} is an SQLite file of another program. Choose another file name.")
    version = _number(header, USER_VERSION)
    if version != SCHEMA_VERSION:
        raise RunFileError(
            f"{path} is a run file of version {version}; this btai reads and writes version {SCHEMA_VERSION}. "
            "Use the btai that wrote it, or choose another file name."
        )
    _check_size(path, header)


def _check_size(path: Path, header: bytes) -> None:
    """SQLite takes a last page that is cut short for one that ends in zeros."""
    journal = path.with_name(path.name + "-wal")
    if journal.exists():
        return  # It may hold what is missing in the file itself.
    required = _number(header, PAGE_SIZE) * _number(header, PAGE_COUNT)
    size = path.stat().st_size
    if size < required:
        raise RunFileError(
            f"{path} is cut off: it has {size:,} bytes of {required:,}. Restore it from a copy, or choose another name."
        )


def _number(header: bytes, field: slice) -> int:
    return int.from_bytes(header[field], "big")
