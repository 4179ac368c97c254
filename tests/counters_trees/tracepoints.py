"""Trees whose PMUs open on any Linux: type 2 (tracepoint), events that hold a tracepoint's id.

Reads and writes are two system calls that hardly anyone makes. So everything but the hardware is
real: discovery, encoding, perf_event_open for each CPU of the cpumask, groups, scales and sums, and
a known number of calls on a known CPU must be counted exactly there.

CPU 0 is socket 0 of these trees and CPU 1 is socket 1.

    reason = tracepoints.missing()       # why not, for pytest.skip; None: they work here
    tree = tracepoints.intel_server(tmp_path)
    with tracepoints.alone():            # no other test makes the same calls meanwhile
        tree.read(1000, cpu=1)           # 1000 lines of 64 bytes "read" through socket 1
        tree.write(500, cpu=0)
"""

import ctypes
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from tests.counters_trees.machines import ALTRA_ADDRESSES
from tests.counters_trees.sysfs import LINES, FakePmu, Tree, plant

TRACEPOINT = 2
"""PERF_TYPE_TRACEPOINT."""
SOCKETS: Mapping[int, Sequence[int]] = {0: [0], 1: [1]}
BOTH = "0-1"
_ROOTS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_ID_FORMAT = {"event": "config:0-31"}


class Call(NamedTuple):
    """A system call nobody makes by chance."""

    name: str
    make: Callable[[], object]

    @property
    def id(self) -> int:
        """Of its tracepoint."""
        found = _id(self.name)
        assert found is not None
        return found


# Not getpriority and setpriority: nice(1) makes both.
READ = Call("sched_rr_get_interval", lambda: os.sched_rr_get_interval(0))
WRITE = Call("sched_getparam", lambda: os.sched_getparam(0))
CALLS = (
    READ,
    WRITE,
    Call("sched_get_priority_min", lambda: os.sched_get_priority_min(os.SCHED_FIFO)),
    Call("sched_get_priority_max", lambda: os.sched_get_priority_max(os.SCHED_FIFO)),
    Call("sched_getscheduler", lambda: os.sched_getscheduler(0)),
    Call("getresgid", os.getresgid),
    Call("getresuid", os.getresuid),
    Call("times", os.times),
)


class CountingTree(Tree, kw_only=True):
    """A tree whose counters count calls that the test makes."""

    reads: Call = READ
    writes: Call = WRITE

    def read(self, times: int, cpu: int) -> None:
        """Make the call that stands for reads so many times on a CPU."""
        _make(self.reads, times, cpu)

    def write(self, times: int, cpu: int) -> None:
        """Make the call that stands for writes."""
        _make(self.writes, times, cpu)


def missing() -> str | None:
    """Why such trees cannot be opened here."""
    if _id(READ.name) is None:
        _mount_for_this_process()
    if _id(READ.name) is None:
        return "no system call tracepoints (as root: mount -t tracefs nodev /sys/kernel/tracing)"
    if len(os.sched_getaffinity(0) & {0, 1}) < 2:
        return "CPUs 0 and 1 are needed, which stand for two sockets"
    return None if _may_count() else "neither root nor CAP_PERFMON"


@contextmanager
def alone() -> Iterator[None]:
    """Keep others from counting the same calls meanwhile, and run where we ran afterwards."""
    path = Path(tempfile.gettempdir()) / "memgauge-tests-tracepoints.lock"
    before = os.sched_getaffinity(0)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)


def intel_server(root: Path, channels: int = 2) -> CountingTree:
    """Each channel counts all calls of its socket: tracepoints do not interleave."""
    pmus = [
        FakePmu(
            name=f"uncore_imc_{number}",
            type=TRACEPOINT,
            cpumask=BOTH,
            format=_ID_FORMAT,
            events=_pair("cas_count_read", "cas_count_write"),
            scales={"cas_count_read": LINES, "cas_count_write": LINES},
        )
        for number in range(channels)
    ]
    return _counting(root, pmus)


def amd_umc(root: Path) -> CountingTree:
    """Controller 0 on socket 0, controller 1 on socket 1."""
    pmus = [
        FakePmu(
            name=f"amd_umc_{number}",
            type=TRACEPOINT,
            cpumask=str(number),
            format={"event": "config:0-31", "rdwrmask": "config:32-33"},
            events=_pair("umc_cas_cmd.rd", "umc_cas_cmd.wr"),
        )
        for number in range(2)
    ]
    return _counting(root, pmus)


def dmc620(root: Path) -> CountingTree | None:
    """Sixteen controllers; field `match` tells reads from writes, as one bit of the id.

    All their cpumasks are CPU 0, so that only calls made there are counted. None where no two calls
    have ids that differ in one bit only.
    """
    chosen = _one_bit_apart()
    if chosen is None:
        return None
    reads, writes = chosen
    bit = (reads.id ^ writes.id).bit_length() - 1
    pmus = [
        FakePmu(
            name=f"arm_dmc620_{address}",
            type=TRACEPOINT,
            cpumask="0",
            # clkdiv2 has its real meaning only; the low bit of `match` is the one that differs.
            format={"event": "config:0-31", "match": f"config:{bit}", "mask": "config1:0-44",
                    "clkdiv2": "config2:9"},
            events={"clkdiv2_rdwr": f"event={reads.id:#x},clkdiv2=1"},
        )
        for address in ALTRA_ADDRESSES
    ]  # fmt: skip
    return _counting(root, pmus, reads, writes, architecture="aarch64")


def grace(root: Path) -> CountingTree:
    """One unit a socket; 32 bytes a read, one a write."""
    pmus = [
        FakePmu(
            name=f"nvidia_scf_pmu_{socket}",
            type=TRACEPOINT,
            cpumask=str(socket),
            format=_ID_FORMAT,
            events=_pair("cmem_rd_data", "cmem_wr_total_bytes"),
        )
        for socket in range(2)
    ]
    return _counting(root, pmus, architecture="aarch64")


def power9(root: Path) -> CountingTree:
    """Nest units of two channels on both chips."""
    pmus = [
        FakePmu(
            name=f"nest_mba{number}_imc",
            type=TRACEPOINT,
            cpumask=BOTH,
            format=_ID_FORMAT,
            events=_pair(f"PM_MBA{number}_READ_BYTES", f"PM_MBA{number}_WRITE_BYTES"),
        )
        for number in range(2)
    ]
    return _counting(root, pmus, architecture="ppc64le")


def power9_both(root: Path) -> CountingTree:
    """Nest units of two channels, and of two pairs of ports that count the same traffic."""
    channels = [
        FakePmu(
            name=f"nest_mba{number}_imc",
            type=TRACEPOINT,
            cpumask=BOTH,
            format=_ID_FORMAT,
            events=_pair(f"PM_MBA{number}_READ_BYTES", f"PM_MBA{number}_WRITE_BYTES"),
        )
        for number in range(2)
    ]
    ports = [
        FakePmu(
            name=f"nest_mcs{pair}_imc",
            type=TRACEPOINT,
            cpumask=BOTH,
            format=_ID_FORMAT,
            events=_pair(
                f"PM_MCS{pair}_128B_RD_DISP_PORT{pair}", f"PM_MCS{pair}_128B_WR_DISP_PORT{pair}"
            ),
        )
        for pair in ("01", "23")
    ]
    return _counting(root, [*channels, *ports], architecture="ppc64le")


def client(root: Path) -> CountingTree:
    """One controller on CPU 0."""
    imc = FakePmu(
        name="uncore_imc",
        type=TRACEPOINT,
        cpumask="0",
        format=_ID_FORMAT,
        events=_pair("data_reads", "data_writes"),
        scales={"data_reads": LINES, "data_writes": LINES},
    )
    return _counting(root, [imc])


TREES: dict[str, Callable[[Path], CountingTree | None]] = {
    "intel_server": intel_server,
    "amd_umc": amd_umc,
    "dmc620": dmc620,
    "grace": grace,
    "power9": power9,
    "power9_both": power9_both,
    "client": client,
}


def _counting(
    root: Path,
    pmus: Sequence[FakePmu],
    reads: Call = READ,
    writes: Call = WRITE,
    architecture: str = "x86_64",
) -> CountingTree:
    tree = plant(root, pmus, SOCKETS, architecture=architecture)
    return CountingTree(
        sysfs=tree.sysfs,
        procfs=tree.procfs,
        architecture=architecture,
        reads=reads,
        writes=writes,
    )


def _pair(read: str, write: str) -> dict[str, str]:
    return {read: f"event={READ.id:#x}", write: f"event={WRITE.id:#x}"}


def _one_bit_apart() -> tuple[Call, Call] | None:
    known = [call for call in CALLS if _id(call.name) is not None]
    return next(
        (
            (low, high)
            for low, high in permutations(known, 2)
            if high.id & low.id == low.id and (high.id ^ low.id).bit_count() == 1
        ),
        None,
    )


def _make(call: Call, times: int, cpu: int) -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        for _ in range(times):
            call.make()
    finally:
        os.sched_setaffinity(0, before)


def _id(call: str) -> int | None:
    for root in _ROOTS:
        try:
            return int((root / "events" / "syscalls" / f"sys_enter_{call}" / "id").read_text())
        except (OSError, ValueError):
            continue
    return None


_CLONE_NEWNS = 0x00020000
_MS_REC, _MS_SLAVE = 0x4000, 0x80000


@cache
def _mount_for_this_process() -> None:
    """Mount tracefs where only this process and its children see it; without root, do nothing."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.unshare(_CLONE_NEWNS) != 0:
        return
    # Else the mount would reach the namespace that this one was copied from.
    if libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_SLAVE), None) == 0:
        libc.mount(b"nodev", bytes(_ROOTS[0]), b"tracefs", ctypes.c_ulong(0), None)


def _may_count() -> bool:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    mask = next(int(line.split()[1], 16) for line in status.splitlines() if "CapEff" in line)
    return bool(mask >> 38 & 1 or mask >> 21 & 1)
