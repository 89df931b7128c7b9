"""SQLite as a run file needs it: connections, transactions, and errors that say what to do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from btai.errors import BtaiError, RunFileError

__all__ = [
    "attached",
    "beside",
    "check_sound",
    "connect_to_look",
    "connect_to_read",
    "connect_to_write",
    "explained",
    "insert",
    "may",
    "real",
    "transaction",
]

ADVICE = {
    "SQLITE_FULL": "the disk is full. Make room; the same command then goes on after the last trial written.",
    "SQLITE_BUSY": "another program keeps it locked. Close what else has it open.",
    "SQLITE_READONLY": "it may not be written. Change its permissions, or choose another folder.",
    "SQLITE_CANTOPEN": "it cannot be opened here. Make the folder writable, or copy the file to one that is.",
    "SQLITE_CORRUPT": "it is damaged or cut off. Restore it from a copy, or choose another file name.",
    "SQLITE_NOTADB": "it is damaged or cut off. Restore it from a copy, or choose another file name.",
}

ALONE = "mode=ro&immutable=1"  # without a journal, and without locks


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection that writes; readers need not wait for it, nor it for them."""
    return _connected(path, "mode=rw", "journal_mode = WAL", "synchronous = NORMAL")


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that changes no row.

    Where the folder may be written, SQLite is let write: it then takes away the side files of the journal at the end.
    Where it may not, and there is no journal, nobody can be writing, and the file alone is the whole.
    """
    writable = may(path, os.W_OK) and may(real(path).parent, os.W_OK)
    return _connected(path, "mode=rw" if writable else _read_only(path), "query_only = 1")


def connect_to_look(path: Path) -> sqlite3.Connection:
    """A connection that sees the file alone, without its journal, and leaves no trace whatever file it is.

    Pages that are only in the journal are no obstacle: SQLite takes a schema that may be written for one to be mended.
    """
    return _connected(path, ALONE, "writable_schema = 1")


def beside(path: Path, ending: str) -> Path:
    """The side file with this ending: beside the file itself, as SQLite has it, not beside a link to it."""
    return real(path).with_name(real(path).name + ending)


def real(path: Path) -> Path:
    """The file itself where `path` is a link to it."""
    return Path(os.path.realpath(path))


def may(path: Path, mode: int) -> bool:
    """Whether this process may read or write (`os.R_OK`, `os.W_OK`) a file or folder."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _connected(path: Path, mode: str, *settings: str) -> sqlite3.Connection:
    with explained(path):
        connection = sqlite3.connect(_uri(path, mode), uri=True, isolation_level=None)
        try:
            for setting in settings:
                connection.execute(f"PRAGMA {setting}")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def attached(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Another run file beside that of the connection, to be read under the name `other`."""
    connection.execute("ATTACH DATABASE ? AS other", (_uri(path, _read_only(path)),))
    try:
        yield
    finally:
        connection.execute("DETACH DATABASE other")


def _read_only(path: Path) -> str:
    return "mode=ro" if beside(path, "-wal").exists() else ALONE


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(real(path)))}?{mode}"


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the decoding of a file's content raise into an error that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        # Extended names such as SQLITE_IOERR_WRITE begin with the plain one.
        name = getattr(error, "sqlite_errorname", None) or ""
        advice = next((text for code, text in ADVICE.items() if name.startswith(code)), f"SQLite says: {error}.")
        raise RunFileError(f"{path}: {advice}") from error
    except BtaiError:
        raise  # It says already what is wrong, and with what.
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise RunFileError(f"{path}: {ADVICE['SQLITE_CORRUPT']}") from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is executed inside is written, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # Some errors, a full disk among them, have already rolled it back.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def insert(table: str, columns: str) -> str:
    """The statement that inserts one row."""
    places = ", ".join("?" for _ in columns.split(","))
    return f"INSERT INTO {table} ({columns}) VALUES ({places})"


def check_sound(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database whose structure is broken, a file cut off for instance."""
    with explained(path):
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("malformed")
