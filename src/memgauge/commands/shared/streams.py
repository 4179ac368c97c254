"""The standard streams of the process, made fit for use however the process was started.

A closed one is occupied, so that no file that memgauge opens takes its descriptor and gets what is
printed. What cannot be written to standard error is dropped: a message nobody can read must change
neither what memgauge does nor its exit code.
"""

from __future__ import annotations

import fcntl
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT = 1
_STDERR = 2


def take_streams() -> None:
    """Occupy closed descriptors and give `sys` the streams that belong to them, for good."""
    _occupy_closed()
    with suppress(OSError):
        if sys.stdout is None:
            sys.stdout = sys.__stdout__ = _text(io.FileIO(STDOUT, "w", closefd=False))  # type: ignore[misc]
    with suppress(OSError):
        sys.stderr = sys.__stderr__ = _text(_Dropping(_STDERR, "w", closefd=False))  # type: ignore[misc]
    _encode_anything()


def stdout_is_closed() -> bool:
    """Whether nothing can be written to standard output because it was closed, or given to read."""
    try:
        return fcntl.fcntl(STDOUT, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    except OSError:
        return True


class _Dropping(io.FileIO):
    """A file that takes everything and drops what it cannot write."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write it; returns its whole size in any case."""
        with suppress(OSError):
            written = super().write(data)
            if written is not None:
                return written
        return memoryview(data).nbytes


def _encode_anything() -> None:
    """Let standard output show `?` for a character that its encoding lacks, and not fail."""
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
        stream.reconfigure(errors="replace")


def _occupy_closed() -> None:
    """As GNU's tools do: reading or writing fails there as on a closed descriptor.

    The descriptors are closed on exec: programs that are started find them closed, as given.
    """
    for number, contrary in ((0, os.O_WRONLY), (STDOUT, os.O_RDONLY), (_STDERR, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, contrary | os.O_CLOEXEC)


def _text(raw: io.FileIO) -> io.TextIOWrapper:
    """Like Python's own stream of this descriptor, where it has one."""
    given = sys.__stderr__ if raw.fileno() == _STDERR else None
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=None if given is None else given.encoding,
        errors="backslashreplace",
        line_buffering=True,
    )
