"""Ensures that only one run uses a file or device, by a lock and by a mark whose run is alive."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.model.errors import RequestError
from memgauge.system.owner import is_another_alive

if TYPE_CHECKING:
    from memgauge.system.areas.mark import Mark


def is_locked(descriptor: int) -> bool:
    """Lock an open file until all its duplicates are closed; return whether another run holds it.

    On a file system without locks, the result is False.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


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


def require_free(descriptor: int, mark: Mark | None, what: str) -> None:
    """Lock an open file or device.

    Args:
        descriptor: What to lock, until all duplicates of the descriptor are closed.
        mark: Mark of memgauge that was read there, which names a run; None if there is no mark.
        what: Beginning of the error message: the requested memory.

    Raises:
        RequestError: another run uses it.
    """
    if is_locked(descriptor) or (mark is not None and is_another_alive(mark.owner)):
        raise RequestError(
            f"{what}: is in use by another run; wait until that run ends, or name another"
        )
