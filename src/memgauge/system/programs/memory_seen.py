"""What the kernel shows of the memory of a running program: its size, huge pages and nodes."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from memgauge.model.record_kinds.programs import ProgramMemory
from memgauge.system.programs.program import tree_of
from memgauge.system.tree import ROOT, Tree, whole_number

KIB = 1024
LEAST_PAUSE_S = 0.01
"""Between two looks;"""
LOOKS_IN_A_RUN = 20
"""and a twentieth of the time that a run takes;"""
COST_FACTOR = 20
"""and twenty times the processor time of the last look, which walks the program's page tables; but
at most half of the time so far, so that there is one in the second half of every run."""
_HUGETLB = ("Private_Hugetlb", "Shared_Hugetlb")
_NODE = re.compile(r"N(\d+)=(\d+)")
_PAGE = re.compile(r"kernelpagesize_kB=(\d+)")


class Seen(NamedTuple):
    """One look at a program."""

    memory: ProgramMemory | None
    """None: it could not be read."""
    resident_bytes: int
    """Of all its processes; what they share is counted for each. 0: not read."""


def memory_of(pid: int, *, by_node: bool, root: Path = ROOT) -> Seen:
    """The memory of a process and its descendants.

    Args:
        pid: The process.
        by_node: Whether to read on which nodes it lies too.
        root: Root of the procfs to read.
    """
    tree = Tree(root)
    sizes = {one: _sizes(tree, one) for one in processes_of(tree, pid, root)}
    resident = sum(all_ for all_, _ in sizes.values())
    largest = max(sizes, key=lambda one: sizes[one][1])
    return Seen(_detail(tree, largest, by_node=by_node), resident)


def processes_of(tree: Tree, pid: int, root: Path) -> list[int]:
    """A process and its descendants, without reading all processes where the kernel lists them.

    Args:
        tree: Where procfs is.
        pid: The process, which is the first.
        root: Root of that procfs.
    """
    if not tree.exists(f"/proc/{pid}/task/{pid}/children"):
        return tree_of(pid, root)
    found = [pid]
    for one in found:
        for thread in tree.names(f"/proc/{one}/task"):
            words = (tree.text(f"/proc/{one}/task/{thread}/children") or "").split()
            found += [child for word in words if (child := whole_number(word)) is not None]
    return found


def _sizes(tree: Tree, pid: int) -> tuple[int, int]:
    """Resident bytes of a process, and the anonymous ones: what is quick to read."""
    fields = tree.fields(f"/proc/{pid}/status")
    hugetlb = _kib(fields, "HugetlbPages") or 0
    resident, anonymous = (_kib(fields, name) or 0 for name in ("VmRSS", "RssAnon"))
    return resident + hugetlb, anonymous + hugetlb


def _detail(tree: Tree, pid: int, *, by_node: bool) -> ProgramMemory | None:
    fields = tree.fields(f"/proc/{pid}/smaps_rollup")
    anonymous, huge = _kib(fields, "Anonymous"), _kib(fields, "AnonHugePages")
    if anonymous is None or huge is None:
        return None
    hugetlb = sum(_kib(fields, name) or 0 for name in _HUGETLB)
    numa_maps = tree.text(f"/proc/{pid}/numa_maps") if by_node else None
    return ProgramMemory(
        anonymous_bytes=anonymous + hugetlb,
        huge_bytes=min(huge, anonymous) + hugetlb,
        node_bytes=bytes_by_node(numa_maps or ""),
    )


def _kib(fields: dict[str, str], name: str) -> int | None:
    words = fields.get(name, "").split()
    number = whole_number(words[0]) if words else None
    return None if number is None else number * KIB


def bytes_by_node(numa_maps: str) -> dict[int, int]:
    """Anonymous memory and explicit huge pages by node.

    Args:
        numa_maps: Text of /proc/PID/numa_maps (numa(7)). Mappings of ordinary files are left out.
    """
    found: dict[int, int] = {}
    for line in numa_maps.splitlines():
        words = line.split()
        is_of_file = any(word.startswith("file=") for word in words)
        page = next((int(hit[1]) for word in words if (hit := _PAGE.fullmatch(word))), None)
        if page is None or (is_of_file and "huge" not in words):
            continue
        for hit in filter(None, map(_NODE.fullmatch, words)):
            node = int(hit[1])
            found[node] = found.get(node, 0) + int(hit[2]) * page * KIB
    return dict(sorted(found.items()))


class Viewpoint(NamedTuple):
    """From where a program is looked at, and what is read."""

    cpus: Sequence[int] = ()
    """That the program does not use; empty: any."""
    by_node: bool = False
    """Whether to read on which nodes its memory is."""


class Watched:
    """What was seen of the memory of a program from one time to another."""

    def __init__(self, begin_s: float) -> None:
        """Nothing was seen yet.

        Args:
            begin_s: When the program began, on a clock that all times here are on.
        """
        self.largest: ProgramMemory | None = None
        self.resident_bytes = 0
        self._begin_s = begin_s
        self._last_s: float | None = None

    def add(self, seen: Seen, at_s: float) -> None:
        """Keep it if it is the largest so far.

        Args:
            seen: One look.
            at_s: When it began.
        """
        self.resident_bytes = max(self.resident_bytes, seen.resident_bytes)
        if seen.memory is None:
            return
        self._last_s = at_s
        if self.largest is None or seen.memory.anonymous_bytes >= self.largest.anonymous_bytes:
            self.largest = seen.memory

    def memory(self, end_s: float) -> ProgramMemory | None:
        """The largest; None where the second half of the run was not looked at.

        A program that has only begun does not have its memory yet.

        Args:
            end_s: When the program ended.
        """
        if self._last_s is None or self._last_s - self._begin_s < (end_s - self._begin_s) / 2:
            return None
        return self.largest


@contextmanager
def watched(pid: int, viewpoint: Viewpoint, run_s: float | None = None) -> Iterator[Watched]:
    """Look at a running program from time to time, as long as this context is open.

    A thread of its own looks, so that the end of the program is noticed at once.

    Args:
        pid: The program.
        viewpoint: From where, and what is read.
        run_s: Time that a run takes; None: not known.
    """
    began_s = time.monotonic()
    kept, stop = Watched(began_s), threading.Event()

    def look() -> None:
        if viewpoint.cpus:
            with suppress(OSError):  # a cpuset that has shrunk
                os.sched_setaffinity(0, viewpoint.cpus)
        pause_s = LEAST_PAUSE_S
        while not stop.wait(pause_s):
            begin_s, before_s = time.monotonic(), time.thread_time()
            kept.add(memory_of(pid, by_node=viewpoint.by_node), begin_s)
            cost_s = time.thread_time() - before_s
            wanted_s = max((run_s or 0.0) / LOOKS_IN_A_RUN, COST_FACTOR * cost_s)
            most_s = (time.monotonic() - began_s) / 2
            pause_s = max(LEAST_PAUSE_S, min(wanted_s, most_s))

    thread = threading.Thread(target=look, name="memory of the program", daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        stop.set()
        thread.join()
