"""Ensures that only one run uses a file or device, by a lock and by a mark whose run is alive."""

from __future__ import annotations

import fcntl
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
