"""Ends a program, and all that it started, should memgauge be killed before it.

A process of its own waits at one end of a pipe whose other end memgauge alone holds: however that
goes away, the kernel closes it. It also removes the directory that the program wrote to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from memgauge.system.programs.interpreter import isolated
from memgauge.system.programs.program import send, tree_of
from memgauge.system.programs.work_directory import remove_left

_MODULE = "memgauge.system.programs.exit_with_parent"
LET_GO = b"."
"""What is written into the pipe where all went well."""
_ENDING_S = 10.0
"""For memgauge and the program, both killed, to be gone."""


@contextmanager
def exit_with_parent(pid: int, directory: Path | None = None) -> Iterator[None]:
    """While in here, a process and what it started are killed if this one is.

    Args:
        pid: the process.
        directory: a `work_directory` of it, which is then removed.
    """
    holder = None
    with suppress(OSError):  # without it all works but that
        holder = subprocess.Popen(
            isolated(_MODULE, [str(pid), *([str(directory)] if directory else [])]),
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
    """Wait until all went well or nobody holds the pipe any more.

    Args:
        arguments: number of the process, and the path of its directory where it has one.
    """
    if os.read(sys.stdin.fileno(), len(LET_GO)) != LET_GO:
        kill_tree(int(arguments[0]))
        for path in arguments[1:]:
            remove_left(path, _ENDING_S)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
