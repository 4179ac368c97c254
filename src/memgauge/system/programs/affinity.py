"""Which CPUs a running process may use, by the kernel's lists of all of its threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memgauge.system.programs.program import tree_of
from memgauge.system.tree import ROOT, Tree, sorted_numbers

_LINE = "Cpus_allowed_list:"
_LEAST_PAUSE_S = 0.005
_MOST_PAUSE_S = 1.0
_COST_FACTOR = 20
"""A pause between two looks is at least so many times as long as the last look took."""


def cpus_of(pid: int, root: Path = ROOT) -> list[int]:
    """CPUs that at least one thread of a process, or of what it started, may use.

    Reading them needs no privilege, also of another user's process, unless procfs hides it.

    Args:
        pid: The process.
        root: Of procfs.

    Returns:
        Empty: the process has ended, or is hidden.
    """
    tree = Tree(root)
    found: set[int] = set()
    for process in tree_of(pid, root):
        for thread in tree.names(f"/proc/{process}/task"):
            status = tree.text(f"/proc/{process}/task/{thread}/status") or ""
            for line in status.splitlines():
                if line.startswith(_LINE):
                    found.update(sorted_numbers(line.removeprefix(_LINE)) or ())
    return sorted(found)


@contextmanager
def cpus_watched(pid: int, root: Path = ROOT) -> Iterator[set[int]]:
    """Gather the CPUs that a running program may use, from time to time, while this is open.

    A launcher binds its ranks some time after it was started.

    Args:
        pid: The program.
        root: Of procfs.
    """
    found: set[int] = set()
    stop = threading.Event()

    def look() -> None:
        pause_s = _LEAST_PAUSE_S
        while not stop.wait(pause_s):
            before_s = time.thread_time()
            found.update(cpus_of(pid, root))
            cost_s = time.thread_time() - before_s
            pause_s = max(min(1.5 * pause_s, _MOST_PAUSE_S), _COST_FACTOR * cost_s)

    thread = threading.Thread(target=look, name="CPUs of the program", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()
