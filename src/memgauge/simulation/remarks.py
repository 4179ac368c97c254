"""Reads callgrind's messages about its processes, to learn which programs were started.

All processes write to one FIFO. With a file for each process, a program that replaces another
(exec) would truncate the file, and the messages of the first would be lost.
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
"""Printed when a program starts, also through exec, but not when a process forks."""

_SAYS_NOTHING = re.compile(rb"(==[0-9]+==)?\s*")


class Remarks(threading.Thread):
    """Reads messages from a FIFO.

    Raises:
        SystemFailure: the FIFO cannot be created.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(name="remarks", daemon=True)
        self.starts: Counter[int] = Counter()
        """Programs that each process started; complete once it is stopped."""
        self.last = ""
        """The last line with a message."""
        self._rest = b""
        self._over = threading.Event()
        try:
            os.mkfifo(path, 0o600)
            # Also opened for writing, so that reading does not end while no process has it open.
            self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise SystemFailure(
                f"{plain(str(path))}: cannot be created: {error.strerror}; set TMPDIR to a "
                "directory on another file system"
            ) from error

    def run(self) -> None:
        """Read until stopped and nothing is left."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        while True:
            over = self._over.is_set()
            if poll.poll(0 if over else _POLL_S * 1000):
                self.take(os.read(self._descriptor, CHUNK_BYTES))
            elif over:
                break

    def take(self, text: bytes) -> None:
        """The next data; it may end within a line."""
        whole, end, rest = (self._rest + text).rpartition(b"\n")
        self._rest = rest[-_LONGEST_LINE:]
        self.starts.update(int(pid) for pid in _STARTED.findall(whole + end))
        said = [line for line in whole.splitlines() if not _SAYS_NOTHING.fullmatch(line)]
        if said:
            self.last = plain(said[-1].decode("utf-8", "replace"))

    def stop(self) -> None:
        """Stop reading, and wait for the thread."""
        self._over.set()
        if self.is_alive():
            self.join()
        os.close(self._descriptor)


@contextmanager
def remarks(path: Path) -> Iterator[Remarks]:
    """Create a FIFO and read everything written to it; the result is complete on exit."""
    reading = Remarks(path)
    # A new thread inherits the blocked signals; another thread forwards them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        reading.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield reading
    finally:
        reading.stop()
