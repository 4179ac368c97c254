"""Memory of programs, from made-up procfs trees and of a real process."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.unit.system.trees import Files, plant

from memgauge.model.record_kinds.programs import ProgramMemory
from memgauge.system.programs.memory_seen import (
    Seen,
    Viewpoint,
    Watched,
    bytes_by_node,
    memory_of,
    watched,
)

KIB, MIB = 1 << 10, 1 << 20
NUMA_MAPS = """\
55d0 default file=/bin/python mapped=300 N0=200 N1=100 kernelpagesize_kB=4
7f00 bind:0 anon=1000 dirty=1000 active=0 N0=900 N1=100 kernelpagesize_kB=4
7f10 default file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048
7ff0 default stack anon=4 dirty=4 N0=4 kernelpagesize_kB=4
7fff default
"""


def a_process(pid: int, parent: int, anonymous_kib: int, huge_kib: int, *more: str) -> Files:
    rollup = [f"Anonymous: {anonymous_kib} kB", f"AnonHugePages: {huge_kib} kB", *more]
    return {
        f"/proc/{pid}/stat": f"{pid} (a) b) S {parent} {' '.join(['0'] * 17)} 1 0\n",
        f"/proc/{pid}/status": f"VmRSS:\t{anonymous_kib + 100} kB\nRssAnon:\t{anonymous_kib} kB\n",
        f"/proc/{pid}/smaps_rollup": "\n".join(rollup) + "\n",
        f"/proc/{pid}/numa_maps": NUMA_MAPS,
    }


@pytest.mark.parametrize("lists_children", [False, True])
def test_memory_is_that_of_the_largest_process(tmp_path: Path, lists_children: bool) -> None:
    files = a_process(7, 1, 50, 0) | a_process(8, 7, 4096, 2048) | a_process(9, 1, 9999, 0)
    if lists_children:  # what the kernel says there counts, and not the state of all processes
        files |= {"/proc/7/task/7/children": "", "/proc/7/task/70/children": "8 "}
        files |= {"/proc/8/task/8/children": "", "/proc/8/stat": ""}
    plant(tmp_path, files)
    assert memory_of(7, by_node=False, root=tmp_path) == Seen(
        ProgramMemory(anonymous_bytes=4 * MIB, huge_bytes=2 * MIB), (50 + 4096 + 200) * KIB
    )


def test_explicit_huge_pages_are_memory_in_huge_pages(tmp_path: Path) -> None:
    more = ("Private_Hugetlb: 2048 kB", "Shared_Hugetlb: 4096 kB")
    plant(tmp_path, a_process(7, 1, 1024, 0, *more))
    seen = memory_of(7, by_node=True, root=tmp_path).memory
    assert seen is not None
    assert (seen.anonymous_bytes, seen.huge_bytes) == (7 * MIB, 6 * MIB)
    assert seen.node_bytes == bytes_by_node(NUMA_MAPS)


@pytest.mark.parametrize("rollup", [None, "", "Anonymous: 5 kB\n", "Anonymous: x kB\n"])
def test_what_cannot_be_read_is_missing(tmp_path: Path, rollup: str | None) -> None:
    files = a_process(7, 1, 1024, 0)
    del files["/proc/7/smaps_rollup"]
    plant(tmp_path, files | ({} if rollup is None else {"/proc/7/smaps_rollup": rollup}))
    assert memory_of(7, by_node=True, root=tmp_path).memory is None
    assert memory_of(8, by_node=True, root=tmp_path) == Seen(None, 0)


def test_pages_by_node_are_those_without_a_file_in_their_own_size() -> None:
    assert bytes_by_node(NUMA_MAPS) == {0: 904 * 4 * KIB, 1: 400 * KIB + 4 * MIB}
    assert bytes_by_node("7f00 default anon=1 N0=1\nnonsense\n\n") == {}


def test_the_largest_look_is_kept() -> None:
    kept = Watched(100.0)
    for anonymous, resident in ((5, 10), (9, 8), (7, 30)):
        kept.add(Seen(ProgramMemory(anonymous_bytes=anonymous, huge_bytes=0), resident), 102.0)
    kept.add(Seen(None, 0), 109.0)
    assert kept.largest == ProgramMemory(anonymous_bytes=9, huge_bytes=0)
    assert kept.resident_bytes == 30


def test_a_program_that_was_seen_only_at_its_begin_is_not_known() -> None:
    kept = Watched(100.0)
    assert kept.memory(101.0) is None
    kept.add(Seen(ProgramMemory(anonymous_bytes=9, huge_bytes=0), 9), 102.0)
    assert kept.memory(104.1) is None
    assert kept.memory(104.0) == kept.largest
    kept.add(Seen(None, 0), 103.0)
    assert kept.memory(104.1) is None


def test_a_real_program_is_seen_while_it_runs() -> None:
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("the kernel has no smaps_rollup (before Linux 4.14)")
    script = "x = bytearray(b'x') * (32 << 20); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as program:
        with watched(program.pid, Viewpoint(by_node=True)) as seen:
            until = time.monotonic() + 60
            while time.monotonic() < until and (
                seen.largest is None or seen.largest.anonymous_bytes < 32 * MIB
            ):
                time.sleep(0.005)
        program.communicate(b"\n")
    assert seen.largest is not None
    assert 32 * MIB <= seen.largest.anonymous_bytes <= seen.resident_bytes
    assert 0 <= seen.largest.huge_bytes <= seen.largest.anonymous_bytes
