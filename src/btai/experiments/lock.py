"""One writer per file: a lock that the kernel itself releases when its holder dies.

The lock is `flock` on a side file, `<file>.lock`, that names the holder for whoever is refused. A side file left
by a killed process holds no lock, so it is simply taken over.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from btai.errors import RunFileError
from btai.experiments.database import beside

__all__ = ["WriterLock"]


class WriterLock:
    """The right to write one file, from construction to `release()`."""

    def __init__(self, path: Path) -> None:
        self._path = beside(path, ".lock")
        self._descriptor = self._acquire(path)

    def release(self) -> None:
        """Gives the lock back and removes the side file; a second call does nothing."""
        if self._descriptor is None:
            return
        # The name goes first, while the lock still keeps everybody else out (see `_acquire`).
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None

    def _acquire(self, path: Path) -> int | None:
        import fcntl  # Here: only a POSIX system has it, and reading a run file does not need it.

        while True:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise RunFileError(
                    f"{path}: cannot write in the folder {path.parent} ({error.strerror}). "
                    "Choose a folder that exists and that you may write in."
                ) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                holder = _describe_holder(descriptor)
                os.close(descriptor)
                if not isinstance(error, BlockingIOError):
                    raise RunFileError(f"{path}: the folder's file system refuses locks ({error.strerror}).") from error
                raise RunFileError(
                    f"{path} is being written by another process ({holder}). Wait until it ends, "
                    "or choose another file name; reading the file meanwhile is fine."
                ) from error
            if self._is_still(descriptor):
                _write_holder(descriptor)
                return descriptor
            # The last holder removed the side file between our open and our lock: what we hold is a file
            # without a name, which would not keep out the next process.
            os.close(descriptor)

    def _is_still(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except FileNotFoundError:
            return False


def _write_holder(descriptor: int) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
    }
    with suppress(OSError):  # On a full disk the lock holds without a name.
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)


def _describe_holder(descriptor: int) -> str:
    try:
        holder = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return "which has not left its name"
