"""Checks the space for temporary files before a program that needs it is started."""

from __future__ import annotations

import os
import tempfile

from memgauge.model.errors import RequestError


def require_temporary(what: str, size_bytes: int) -> None:
    """Check that a temporary file of this size can be written in TMPDIR; it is removed again.

    Args:
        what: what needs the space, for the message.
        size_bytes: least size of the file in bytes.

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
            f"{error.strerror}; set TMPDIR to a directory with free space, or raise ulimit -f"
        ) from error
