"""Marks of regions: `with memgauge.region("solve"):` for `memgauge profile` to draw.

The same lines as the C header `memgauge/region.h` writes: `MEMGAUGE_MARKS` names a file that each
process opens for appending, and each mark is one write of `b` or `e`, CLOCK_MONOTONIC_RAW in ns,
process, thread, the thread's processor time in ns and name. Where nothing profiles the program a
mark does nothing. A mark that cannot be written is left out: marking never fails.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Iterator

VARIABLE = "MEMGAUGE_MARKS"
NAME_BYTES = 200
_FIRST_FREE = 10
"""Descriptors below are what programs close and open again."""

_opened: dict[str, int] = {}
"""Descriptors by path; -1: cannot be opened."""


@contextlib.contextmanager
def region(name: str) -> Iterator[None]:
    """Mark a stretch of the program; does nothing unless `memgauge profile` runs it.

    Regions may nest and overlap. Of the name 200 bytes of UTF-8 are kept; control characters become
    `_`.
    """
    begin(name)
    try:
        yield
    finally:
        end(name)


def begin(name: str) -> None:
    """Mark where a region begins."""
    _mark("b", name)


def end(name: str) -> None:
    """Mark where the latest region of that name on this thread ends."""
    _mark("e", name)


def enabled() -> bool:
    """Whether marks are kept."""
    return _descriptor() >= 0


def _mark(kind: str, name: str) -> None:
    descriptor = _descriptor()
    if descriptor < 0:
        return
    cpu_ns = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
    stamp_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    head = f"{kind} {stamp_ns} {os.getpid()} {threading.get_native_id()} {cpu_ns} "
    with contextlib.suppress(OSError):
        os.write(descriptor, head.encode() + kept_name(name) + b"\n")


def kept_name(name: str) -> bytes:
    """What of a name stands in a mark: no control character, no half of a character."""
    raw = name.encode("utf-8", "replace")
    whole = raw[:NAME_BYTES].decode("utf-8", "ignore").encode() if len(raw) > NAME_BYTES else raw
    return bytes(ord("_") if byte < 0x20 or byte == 0x7F else byte for byte in whole) or b"?"


def _descriptor() -> int:
    path = os.environ.get(VARIABLE, "")
    if not path:
        return -1
    if path not in _opened:
        _opened[path] = _open(path)
    return _opened[path]


def _open(path: str) -> int:
    """A descriptor of the file of marks, kept to the end of the process."""
    import fcntl

    try:
        low = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return -1
    try:
        if not stat.S_ISREG(os.fstat(low).st_mode):
            return -1
        return fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
    except OSError:
        return -1
    finally:
        os.close(low)
