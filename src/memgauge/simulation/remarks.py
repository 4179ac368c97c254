"""What callgrind says of the processes that it executes: which programs it started.

All of them write to one FIFO. A file for each process would be emptied when another program takes
the place of the first (exec), and with it the counts of the first are lost.
"""

from __future__ import annotations

import os
import re
import select
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memgauge.model.errors import SystemFailure
from memgauge.model.text import plain

CHUNK_BYTES = 1 << 16
_POLL_S = 0.1
_LONGEST_LINE = 1 << 16
_STARTED = re.compile(
    rb"^==([0-9]+)== For interactive control, run 'callgrind_control", re.MULTILINE
)
"""Said as a program starts, by exec too, and not as a process forks."""

_SAYS_NOTHING = re.compile(rb"(==[0-9]+==)?\s*")


class Remarks(threading.Thread):
    """Reads what comes through a FIFO.

    Raises:
        SystemFailure: the FIFO cannot be made.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(name="remarks", daemon=True)
        self.starts: Counter[int] = Counter()
        """Programs that each process started; complete once it is stopped."""
        self.last = ""
        """The last line that says something."""
        self._rest = b""
        self._over = threading.Event()
        try:
            os.mkfifo(path, 0o600)
            # Open for writing too, so that it has no end when no process has it open.
            self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise SystemFailure(
                f"{plain(str(path))}: cannot be made: {error.strerror}; name a directory of "
                "another file system by TMPDIR"
            ) from error

    def run(self) -> None:
        """Until it is stopped and nothing is left to read."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        while True:
            over = self._over.is_set()
            if poll.poll(0 if over else _POLL_S * 1000):
                self.take(os.read(self._descriptor, CHUNK_BYTES))
            elif over:
                break

    def take(self, text: bytes) -> None:
        """What was written next; it may end within a line."""
        whole, end, rest = (self._rest + text).rpartition(b"\n")
        self._rest = rest[-_LONGEST_LINE:]
        self.starts.update(int(pid) for pid in _STARTED.findall(whole + end))
        said = [line for line in whole.splitlines() if not _SAYS_NOTHING.fullmatch(line)]
        if said:
            self.last = plain(said[-1].decode("utf-8", "replace"))

    def stop(self) -> None:
        """And wait for it."""
        self._over.set()
        if self.is_alive():
            self.join()
        os.close(self._descriptor)


@contextmanager
def remarks(path: Path) -> Iterator[Remarks]:
    """Read what is written to a FIFO, made of that name; complete on leaving."""
    reading = Remarks(path)
    # Signals are for the thread that passes them on; a new thread inherits what is blocked.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        reading.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield reading
    finally:
        reading.stop()
