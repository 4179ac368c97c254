"""Ends a program, and all that it started, should memgauge be killed before it.

A process of its own waits at one end of a pipe whose other end memgauge alone holds: however that
goes away, the kernel closes it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from memgauge.system.program import send, tree_of

_MODULE = "memgauge.system.leash"
LET_GO = b"."
"""What is written into the pipe where all went well."""


@contextmanager
def leash(pid: int) -> Iterator[None]:
    """While in here, a process and what it started are killed if this one is."""
    holder = None
    with suppress(OSError):  # without it all works but that
        holder = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE, str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield
    finally:
        if holder is not None:
            holder.communicate(LET_GO)


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants."""
    send(signal.SIGKILL, tree_of(pid))


def main(arguments: Sequence[str]) -> int:
    """Wait until all went well or nobody holds the pipe any more."""
    if os.read(sys.stdin.fileno(), len(LET_GO)) != LET_GO:
        kill_tree(int(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
