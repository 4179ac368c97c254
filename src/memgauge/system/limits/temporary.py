"""Room for temporary files, looked at before a program that needs it is started."""

from __future__ import annotations

import os
import tempfile

from memgauge.model.errors import RequestError


def require_temporary(what: str, size_bytes: int) -> None:
    """Write a temporary file of that size where TMPDIR says, and remove it again.

    Args:
        what: needs the room, for the message.
        size_bytes: of it, at least.

    Raises:
        RequestError: the directory is missing, full or not to be written, or files may not be so
            large (`ulimit -f`).
    """
    place = os.environ.get("TMPDIR") or None
    try:
        with tempfile.TemporaryFile(dir=place, buffering=0) as file:
            written = 0
            while written < size_bytes:
                written += file.write(b"\0" * (size_bytes - written))
    except OSError as error:
        where = f"TMPDIR={place}" if place else "the directory for temporary files"
        raise RequestError(
            f"{what}: {where}: no file of {size_bytes >> 10} KiB can be written there: "
            f"{error.strerror}; set TMPDIR to a directory with space, or raise ulimit -f"
        ) from error
