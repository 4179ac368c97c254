"""Ends a program, and everything it started, if memgauge is killed first.

A separate process waits at one end of a pipe whose other end only memgauge holds: however memgauge
ends, the kernel closes that end. The waiting process also removes the program's directory. Where
many short commands follow each other, it leads the process group that they are started in.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from memgauge.system.programs.ending import kill_tree
from memgauge.system.programs.interpreter import isolated
from memgauge.system.programs.work_directory import remove_left

_MODULE = "memgauge.system.programs.exit_with_parent"
LET_GO = b"."
"""Written into the pipe when everything ended normally."""
_GROUP = "group"
_ENDING_S = 10.0
"""Seconds to wait until memgauge and the program, both killed, have ended."""


@contextmanager
def exit_with_parent(pid: int, directory: Path | None = None) -> Iterator[None]:
    """In this context, a process and everything it started are killed if this process is killed.

    Args:
        pid: the process.
        directory: its `work_directory`, which is then removed; None if it has none.
    """
    holder = None
    with suppress(OSError):  # without it, everything else works
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


@contextmanager
def group_with_parent() -> Iterator[int | None]:
    """A process group for commands: whoever is in it is killed on leaving, or with this process.

    Yields:
        The group; None: it cannot be made, and commands belong to the group of this process.
    """
    holder = None
    with suppress(OSError):
        holder = subprocess.Popen(
            isolated(_MODULE, [_GROUP]),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    try:
        yield None if holder is None else holder.pid
    finally:
        if holder is not None:
            os.killpg(holder.pid, signal.SIGKILL)
            holder.communicate()


def main(arguments: Sequence[str]) -> int:
    """Wait until everything ended normally or no process holds the pipe any more.

    Args:
        arguments: number of the process, and the path of its directory if it has one; or that this
            process leads a group.
    """
    if list(arguments) == [_GROUP]:
        os.read(sys.stdin.fileno(), 1)
        os.killpg(0, signal.SIGKILL)
    if os.read(sys.stdin.fileno(), len(LET_GO)) != LET_GO:
        kill_tree(int(arguments[0]))
        for path in arguments[1:]:
            remove_left(path, _ENDING_S)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
