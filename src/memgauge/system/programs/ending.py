"""Ends a program and everything it started: asked first, then killed."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

from memgauge.system.programs.program import lives, send, tree_of

_POLL_S = 0.02


def end_tree(pid: int, within_s: float) -> None:
    """Ask a process and its descendants to end, and kill those that have not.

    A child of this process has still to be waited for.

    Args:
        pid: The process.
        within_s: Seconds that they have.
    """
    processes = tree_of(pid)
    send(signal.SIGTERM, reversed(processes))
    await_end(processes, within_s)


def await_end(processes: Sequence[int], within_s: float) -> None:
    """Wait until none of these processes lives, and kill those that are left.

    Args:
        processes: That were asked to end.
        within_s: Seconds that they have.
    """
    until = time.monotonic() + within_s
    while (left := [pid for pid in processes if lives(pid)]) and time.monotonic() < until:
        time.sleep(_POLL_S)
    send(signal.SIGKILL, left)


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants."""
    send(signal.SIGKILL, tree_of(pid))
