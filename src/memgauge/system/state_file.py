"""State files: what a run has changed of the machine, for the run after one that was killed.

The run that owns a file holds a lock on it: a file without a lock belongs to a run that was killed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from memgauge.model.storage.codec import UNREADABLE

State = TypeVar("State", bound=msgspec.Struct)


def state_path(directory: Path, subject: str, suffix: str = "") -> Path:
    """One file per machine, because clusters share home directories.

    Args:
        directory: Of all state files.
        subject: What was changed.
        suffix: Of the name, where a machine has several of them.
    """
    return directory / f"{subject}-{platform.node() or 'localhost'}{suffix}.json"


def hold(path: Path) -> int | None:
    """Open the file of this run, made if there is none, locked until it is closed.

    Args:
        path: From `state_path`.

    Returns:
        None: another run holds it.

    Raises:
        OSError: it cannot be opened or made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    return open_locked(path, os.O_RDWR | os.O_CREAT)


@contextmanager
def left(path: Path) -> Iterator[int | None]:
    """Open the file of a run that was killed, locked as long as this context is open.

    Yields None where there is no such file, or it is not this user's, or its run is alive.

    Args:
        path: From `state_path`.
    """
    descriptor = None
    with suppress(OSError):
        descriptor = open_locked(path, os.O_RDWR)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def read_state(descriptor: int, kind: type[State], most_bytes: int) -> State | None:
    """The content; None for a file that is not complete: nothing is changed before it is.

    Args:
        descriptor: Of the file.
        kind: What it holds.
        most_bytes: That are read.
    """
    try:
        return msgspec.json.decode(os.pread(descriptor, most_bytes, 0), type=kind)
    except UNREADABLE:
        return None


def write_state(descriptor: int, state: msgspec.Struct) -> None:
    """Replace the content, and wait until it is on the disk.

    Args:
        descriptor: Of the file.
        state: What it holds from now on.

    Raises:
        OSError: it cannot be written.
    """
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, msgspec.json.encode(state), 0)
    os.fsync(descriptor)


def clear_state(descriptor: int) -> None:
    """Leave the file without content: nothing is changed any more.

    Args:
        descriptor: Of the file.
    """
    with suppress(OSError):  # what it holds is compared with what is, before anything is put back
        os.ftruncate(descriptor, 0)


def open_locked(path: Path, flags: int) -> int | None:
    """Open a state file of this user, locked until it is closed.

    Args:
        path: Of the file; whoever removes it does so while it holds the lock.
        flags: How to open it, as of open(2).

    Returns:
        None: another process holds the lock.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    while True:
        descriptor = os.open(
            path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, 0o600
        )
        try:
            _require_regular(descriptor, path)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # noqa: PTH116
                    return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was removed between opening and locking: again


def _require_regular(descriptor: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
