"""What the machine does beside the measurement, read in well under 100 us from kept-open files."""

from __future__ import annotations

import os
import resource
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Self

from memgauge.model.records import Environment
from memgauge.system.environment.clock import stamp_clock
from memgauge.system.environment.virtualisation import read_virtualisation
from memgauge.system.tree import Tree, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

_READ_BYTES = 4096
_PRESSURES = ("cpu", "memory", "io")
_BUSY_COLUMNS = (1, 2, 3, 6, 7)  # user, nice, system, irq, softirq; user holds guest already
_STEAL_COLUMN = 8


class CpuTimes(NamedTuple):
    """CPU time since the system started, summed over all CPUs; None if unknown."""

    busy_s: float | None
    steal_s: float | None


class Pressures(NamedTuple):
    """Time since the system started in which some task waited for a resource; None if unknown."""

    cpu_s: float | None
    memory_s: float | None
    io_s: float | None


class EnvironmentMonitor:
    """Differences between one sample and the next, from `start` on.

    Args:
        cpus: the CPUs whose frequency is read.
        clock_ns: reads the clock for `at_ns`, in ns; the run's clock by default.
        tree: the file system to read.
        own_children: whether CPU time of ended children is this process's own, not others'.
    """

    def __init__(
        self,
        cpus: Iterable[int],
        clock_ns: Callable[[], int] | None = None,
        *,
        tree: Tree | None = None,
        own_children: bool = False,
    ) -> None:
        tree = tree or Tree()
        self._clock_ns = clock_ns or stamp_clock()
        self._own_children = own_children
        self._virtual = read_virtualisation(tree).hypervisor is not None
        self._stat = _open(tree, "/proc/stat")
        self._load = _open(tree, "/proc/loadavg")
        self._tree = tree
        path = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq"
        opened = (_open(tree, path.format(cpu)) for cpu in cpus)
        self._frequencies = [descriptor for descriptor in opened if descriptor is not None]
        self._ticks_per_s = os.sysconf("SC_CLK_TCK")
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start counting from now."""
        self._last_ns = self._clock_ns()
        self._last_times = self._read_times()
        self._last_pressures = self._read_pressures()
        self._last_own_s = self._own_s()

    def sample(self, program_s: float | None = 0.0) -> Environment:
        """Differences since the last sample. /proc/stat counts in ticks, usually of 10 ms.

        Args:
            program_s: CPU time since then of a program that is not counted as others; None: it is
                not known, so that the others' is not either.
        """
        before_ns, before, before_own_s = self._last_ns, self._last_times, self._last_own_s
        pressures = self._last_pressures
        self.start()
        busy_s = _difference(before.busy_s, self._last_times.busy_s)
        own_s = self._last_own_s - before_own_s
        return Environment(
            at_ns=self._last_ns,
            interval_s=(self._last_ns - before_ns) * 1e-9,
            steal_s=self._steal_s(before),
            # Our own time is exact and the kernel's is in ticks: a difference below zero comes from
            # rounding.
            others_s=None
            if busy_s is None or program_s is None
            else max(busy_s - own_s - program_s, 0.0),
            load_1min=self._read_load(),
            frequency_khz=self._read_frequency(),
            cpu_pressure_s=_difference(pressures.cpu_s, self._last_pressures.cpu_s),
            memory_pressure_s=_difference(pressures.memory_s, self._last_pressures.memory_s),
            io_pressure_s=_difference(pressures.io_s, self._last_pressures.io_s),
        )

    def close(self) -> None:
        """Close all files; a second call does nothing."""
        for descriptor in (self._stat, self._load, *self._frequencies):
            if descriptor is not None:
                with suppress(OSError):
                    os.close(descriptor)
        self._stat = self._load = None
        self._frequencies = []

    def _own_s(self) -> float:
        own_s = time.process_time()
        if self._own_children:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            own_s += used.ru_utime + used.ru_stime
        return own_s

    def _steal_s(self, before: CpuTimes) -> float | None:
        # Under a hypervisor, a counter that has not moved since the system started is meaningless:
        # many hypervisors do not maintain it.
        if self._virtual and not self._last_times.steal_s:
            return None
        return _difference(before.steal_s, self._last_times.steal_s)

    def _read_times(self) -> CpuTimes:
        return parse_cpu_times(_pread(self._stat), self._ticks_per_s)

    def _read_pressures(self) -> Pressures:
        # Opened each time: where few files may be open, those of the run are needed more.
        read = (self._tree.raw(f"/proc/pressure/{name}") for name in _PRESSURES)
        return Pressures(*(parse_pressure(text or b"") for text in read))

    def _read_load(self) -> float | None:
        words = _pread(self._load).split(maxsplit=1)
        try:
            return float(words[0]) if words else None
        except ValueError:
            return None

    def _read_frequency(self) -> int | None:
        texts = (_pread(descriptor).strip() for descriptor in self._frequencies)
        found = [number for number in map(whole_number, texts) if number is not None]
        return round(sum(found) / len(found)) if found else None


def parse_cpu_times(stat: bytes, ticks_per_s: int) -> CpuTimes:
    """The first line of /proc/stat (proc(5)); a column the kernel lacks is None."""
    name, *words = stat.partition(b"\n")[0].split() or [b""]
    known = [number for number in map(whole_number, words) if number is not None]
    if name != b"cpu" or len(known) < len(words):
        return CpuTimes(None, None)
    ticks = [0, *known]
    found = len(ticks) > max(_BUSY_COLUMNS)
    busy_s = sum(ticks[column] for column in _BUSY_COLUMNS) / ticks_per_s if found else None
    steal_s = ticks[_STEAL_COLUMN] / ticks_per_s if len(ticks) > _STEAL_COLUMN else None
    return CpuTimes(busy_s, steal_s)


def parse_pressure(text: bytes) -> float | None:
    """Seconds of the line `some` of a file of pressures; None where there is none."""
    name, *words = text.partition(b"\n")[0].split() or [b""]
    totals = [word.removeprefix(b"total=") for word in words if word.startswith(b"total=")]
    found = whole_number(totals[0]) if name == b"some" and len(totals) == 1 else None
    return None if found is None else found * 1e-6


def _difference(before: float | None, after: float | None) -> float | None:
    # The counters may decrease when a CPU goes offline (proc(5)): such differences count as zero.
    return None if before is None or after is None else max(after - before, 0.0)


def _open(tree: Tree, path: str) -> int | None:
    try:
        return os.open(tree.path(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _pread(descriptor: int | None) -> bytes:
    if descriptor is None:
        return b""
    try:
        return os.pread(descriptor, _READ_BYTES, 0)
    except OSError:
        return b""
