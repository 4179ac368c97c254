"""Pages that a running program refers to, from one look to the next: its working set.

The kernel notes in each page table entry that it was used (`Referenced` in /proc/PID/smaps_rollup),
and forgets it when 1 is written to /proc/PID/clear_refs. A translation that the processor still
holds in its TLB is used without a new note, above all that of a huge page. So 4 is written too,
after which the kernel empties these TLBs: it is meant for soft-dirty bits, which it clears.
Source: Linux, Documentation/admin-guide/mm/soft-dirty.rst; proc(5), clear_refs. Idle page tracking,
which needs root, reads the same notes and does not empty the TLBs.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memgauge.model.record_kinds.programs import ReferencedLook
from memgauge.system.programs.memory_seen import KIB, Viewpoint, processes_of
from memgauge.system.programs.program import lives
from memgauge.system.tree import ROOT, Tree, whole_number

LEAST_INTERVAL_S = 0.01
MOST_LOOKS = 100
COST_FACTOR = 4
"""Between two looks lies so many times what the last one took: it walks all page tables."""
FORGET = (b"1", b"4")
"""References, then the soft-dirty bits, for the sake of the TLBs."""


class ReferencedPages:
    """What a program referred to, as long as it was looked at."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.looks: list[ReferencedLook] = []
        self.why_not = ""
        """Why there are none, or no more; empty: none of the looks failed."""


def sizes_of(pid: int, root: Path = ROOT) -> tuple[int, int] | None:
    """Bytes that a process and its descendants referred to, and all that are resident.

    Args:
        pid: The process.
        root: Root of the procfs to read.

    Returns:
        None: the kernel does not show those of the process itself, or it has no memory any more.
    """
    tree = Tree(root)
    found = [_sizes(tree, one) for one in processes_of(tree, pid, root)]
    if found[0] is None:
        return None
    known = [one for one in found if one is not None]  # a descendant may have ended meanwhile
    return sum(referenced for referenced, _ in known), sum(resident for _, resident in known)


def _sizes(tree: Tree, pid: int) -> tuple[int, int] | None:
    fields = tree.fields(f"/proc/{pid}/smaps_rollup")
    words = [fields.get(name, "").split() for name in ("Referenced", "Rss")]
    referenced, resident = (whole_number(of[0]) if of else None for of in words)
    if referenced is None or resident is None:
        return None
    return referenced * KIB, resident * KIB


def forget(pid: int, root: Path = ROOT) -> None:
    """Let the kernel forget what a process and its descendants referred to.

    Args:
        pid: The process.
        root: Root of the procfs.

    Raises:
        OSError: the kernel has no such file, or refuses it, of the process itself.
    """
    tree = Tree(root)
    for one in processes_of(tree, pid, root):
        try:
            _forget(tree.path(f"/proc/{one}/clear_refs"))
        except OSError:
            if one == pid:
                raise


def _forget(file: Path) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for what in FORGET:
            os.write(descriptor, what)
    finally:
        os.close(descriptor)


@contextmanager
def referenced_pages(
    pid: int, viewpoint: Viewpoint, interval_s: float
) -> Iterator[ReferencedPages]:
    """Look at a running program at intervals, as long as this context is open.

    It slows the program down: each first reference after a look costs it a walk of the page table,
    and each first write a page fault.

    Args:
        pid: The program.
        viewpoint: From where.
        interval_s: Time from one look to the next, at least.
    """
    kept, stop = ReferencedPages(), threading.Event()

    def look() -> None:
        if viewpoint.cpus:
            with suppress(OSError):  # a cpuset that has shrunk
                os.sched_setaffinity(0, viewpoint.cpus)
        since_ns, pause_s = time.monotonic_ns(), max(interval_s, LEAST_INTERVAL_S)
        while len(kept.looks) < MOST_LOOKS and not stop.wait(pause_s):
            begin_ns = time.monotonic_ns()
            sizes = sizes_of(pid)
            if sizes is None:
                if lives(pid):
                    kept.why_not = "the kernel does not show it (smaps_rollup)"
                return
            taken_ns = time.monotonic_ns()
            kept.looks.append(
                ReferencedLook(
                    interval_ns=taken_ns - since_ns,
                    referenced_bytes=sizes[0],
                    resident_bytes=sizes[1],
                )
            )
            try:
                forget(pid)
            except OSError as error:
                kept.why_not = f"clear_refs of the program: {error.strerror}"
                return
            since_ns = time.monotonic_ns()
            cost_s = (since_ns - begin_ns) * 1e-9
            pause_s = max(interval_s, LEAST_INTERVAL_S, COST_FACTOR * cost_s)

    thread = threading.Thread(target=look, name="references of the program", daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        stop.set()
        thread.join()
