"""The records of a run, one JSON object a line, distinguished by `kind`. See docs/records.md.

The types bound what a decoder lets in: counts and stamps are not negative and fit 64 bits. Which
records may follow which is in `memgauge.model.rules`.

Everything measured is kept raw: time stamps in ns on the run's clock, work in counts. Figures with
intervals are made from these by `memgauge.analysis` and are never stored. What was known of earlier
runs when a run began is figures: their samples are not in this run.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from memgauge.model.cache_machine import CacheMachine
from memgauge.model.counting.events import Counter, Quantity, Scale
from memgauge.model.counting.partial import PartialSum
from memgauge.model.simulated_program import TrafficPlace
from memgauge.model.system import System

FORMAT_VERSION = 2

LARGEST_INTEGER = (1 << 63) - 1

LARGEST_HEADLINE = 1e30
"""Of what is kept of a run for later ones; squares of it are numbers."""

Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_INTEGER)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_INTEGER)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Integer = Annotated[int, msgspec.Meta(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
Scalar = str | Integer | float | bool | None


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all records."""


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """The clock of all stamps."""

    source: str
    ns_per_tick: float
    cost_ns: float
    resolution_ns: float
    calibration_error_ppm: float
    epoch_raw_ns: Nanoseconds
    """CLOCK_MONOTONIC_RAW when the stamps read zero."""


class EarlierRun(msgspec.Struct, frozen=True, kw_only=True):
    """The headline figures of an earlier run of the same machine with the same parameters."""

    run_id: str
    started_at: str
    """ISO 8601, UTC."""
    figures: dict[str, Annotated[float, msgspec.Meta(gt=0, le=LARGEST_HEADLINE)]]
    """By key of the headline, in the unit of the headline."""


class RankPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Which rank of a job a run is of, and where that ran."""

    rank: Count
    ranks: Count | None
    """Of the whole job; None if its launcher does not state it."""
    launcher: str
    """Such as `mpirun of Open MPI`."""
    hostname: str
    boot: str
    """Digest of the boot it ran under; ranks of one host name and boot are on one node, and share
    its clock. Empty if unknown."""
    leads: bool
    """Whether this run holds what is counted of the whole node; of several ranks on a node one
    does."""
    at_ns: Nanoseconds
    """On the run's clock, when"""
    wall_ns: Nanoseconds
    """the system's wall clock showed this, in ns since 1970: aligns ranks of different nodes."""


class RunStart(Record, frozen=True, kw_only=True, tag="run"):
    """First record of a run, and again of each resumption."""

    format_version: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)]
    memgauge_version: str
    run_id: str
    started_at: str
    """ISO 8601, UTC."""
    experiments: list[str]
    parameters: dict[str, dict[str, Scalar]]
    """Requested parameters of each experiment, in their text form."""
    budget_s: Seconds
    precision: Annotated[float, msgspec.Meta(ge=0)]
    clock: Clock
    system: System
    software: dict[str, str]
    """Versions: kernel, libc, python, compiler, memgauge."""
    resumed: bool = False
    earlier: list[EarlierRun] = []
    """Runs that were known when this one began, oldest first; see docs/earlier_runs.md."""
    rank: RankPlace | None = None
    """None: not the run of a rank."""


class Point(Record, frozen=True, kw_only=True, tag="point"):
    """One thing to measure: declared before its first sample."""

    point: str
    """Stable name inside the run, such as `stream/triad/tuned/2`."""
    experiment: str
    quantity: Literal["bandwidth", "latency"]
    requested: dict[str, Scalar]
    actual: dict[str, Scalar]
    """What was actually used: CPUs, instruction set, pages that back the range, bytes laid out."""
    bytes_counted: Count = 0
    """Bytes of one iteration by STREAM's counting; bandwidth only."""
    bytes_moved: Count = 0
    """Bytes memory really moves in one iteration, write-allocate included; bandwidth only."""
    accesses: Count = 0
    """Dependent loads of one iteration; latency only."""
    threads: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)] = 1
    role: Literal["slice", "pass", "counted", "run"] = "slice"
    """slice: short pieces sampled round-robin. pass: whole walks of all arrays, as STREAM times.
    counted: walks repeated for long enough that counters read around them measure their traffic.
    run: a program from start to end, or a reference loop just before and after it."""
    work: Literal["fixed", "counted", "window"] = "fixed"
    """fixed: every iteration does the same work. counted: each sample's threads record how many
    bytes they read and wrote between their stamps; `bytes_counted` and `bytes_moved` are then those
    of
    the smallest piece of work, and their ratio holds for all of it. Bandwidth only.
    window: threads make as many iterations as they can, each of the same `bytes_counted` and
    `bytes_moved` OF ONE THREAD; what counts is done inside `Sample.window_ns`. Bandwidth only."""
    measured_with: str | None = None
    """Point in whose sampling passes this one is measured too; None if it has its own."""

    def with_actual(self, facts: Mapping[str, Scalar]) -> Point:
        """Add facts, in the place of those of the same names."""
        return msgspec.structs.replace(self, actual={**self.actual, **facts})


class ThreadSample(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What one thread did in one sample."""

    cpu: Count
    begin_ns: Annotated[list[Nanoseconds], msgspec.Meta(min_length=1)]
    """One per iteration."""
    end_ns: Annotated[list[Nanoseconds], msgspec.Meta(min_length=1)]
    """One per iteration, each after its begin."""
    involuntary_switches: Count = 0
    page_faults: Count = 0
    read_bytes: Count = 0
    """Bytes counted by the program, for points whose work is counted."""
    write_bytes: Count = 0


class OtherThreads(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What those threads of a large team did together whose stamps are not recorded."""

    threads: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)]
    """How many they are,"""
    involuntary_switches: Count = 0
    """and what is that of `ThreadSample`, summed over them."""
    page_faults: Count = 0
    read_bytes: Count = 0
    write_bytes: Count = 0


class CounterSet(Record, frozen=True, kw_only=True, tag="counters"):
    """Counters that are read together: declared before their first reading."""

    counters: str
    """Name of the set, unique in the run."""
    slots: Count
    """Number of raw values in one reading; some are times, see `Counter`."""
    of: list[Counter]
    notes: list[str] = []
    """Notes on fallbacks at opening, and on events that could not be opened."""
    partial: list[PartialSum] = []
    """Sums over its counters that lack controllers; the notes say it too."""
    refused: dict[str, str] = {}
    """Requested events that could not be opened, with the reasons."""


class RegionReading(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Raw counters before and after the timed part of one sample; None if not readable."""

    counters: str
    before_ns: tuple[Nanoseconds, Nanoseconds]
    """When the reading before the timed part began and ended,"""
    after_ns: tuple[Nanoseconds, Nanoseconds]
    """and when the reading after it did."""
    before: list[Count | None]
    after: list[Count | None]


class Lane(Record, frozen=True, kw_only=True, tag="lane"):
    """Counters sampled over time, in a file beside the records.

    Its format is in `memgauge.model.storage.lane_file`.
    """

    counters: str
    """The set that is sampled."""
    file: str
    """Name of the file in the run's directory."""
    interval_ns: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)]
    """Requested interval between samples."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel hands to who waits for a process (wait4(2), getrusage(2)).

    Of the process and those of its descendants that were waited for. These are the figures of
    `/usr/bin/time -v`.
    """

    user_s: Seconds
    system_s: Seconds
    peak_resident_bytes: Count
    """The largest resident size of one process. The kernel does not forget what the process was
    before its first instruction, see `peak_floor_bytes`."""
    minor_faults: Count
    major_faults: Count
    voluntary_switches: Count
    involuntary_switches: Count


class RunUse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one run of a program under diagnosis used."""

    usage: Usage | None = None
    peak_floor_bytes: Count | None = None
    """Resident size of its process before its first instruction, as in `Process`."""
    run_delay_ns: Count | None = None
    """Time for which the first thread of its process could have run and waited for a processor;
    None: the kernel does not report it."""
    reading: RegionReading | None = None
    """Counters of memory traffic around this run; None: not read."""


class CountedByThread(msgspec.Struct, frozen=True, kw_only=True):
    """An event that was counted for each thread."""

    event: str
    quantity: Quantity
    unit: str
    scale: Scale
    """Units for one raw count."""


class ThreadCount(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What an event came to in one thread."""

    value: Count
    """Raw."""
    enabled_ns: Count
    running_ns: Count
    """Less than enabled: it took turns with others, and the whole is an estimate."""


class ThreadUse(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What one thread used, up to its last reading."""

    pid: Count
    tid: Count
    name: str
    cpu_ns: Count
    run_delay_ns: Count
    """Time for which it could have run and waited for a processor."""
    voluntary_switches: Count
    involuntary_switches: Count
    counts: list[ThreadCount | None] = []
    """Of each event of the process's `thread_events`, since the thread was found; None: it could
    not be opened or read."""


class Process(Record, frozen=True, kw_only=True, tag="process"):
    """The program that was profiled."""

    command: list[str]
    """The command as started; for an attached process, as the kernel shows it."""
    pid: Count
    attached: bool
    """Whether it was running before."""
    begin_ns: Nanoseconds
    """Time just before it was released."""
    started_ns: Nanoseconds | None = None
    """Time just after its process became the program; None if it was running before, or unknown."""
    end_ns: Nanoseconds | None = None
    """Time of its end; None if it was still running when profiling ended."""
    exit_code: Integer | None = None
    signal: Count | None = None
    """Signal that ended it."""
    usage: Usage | None = None
    """None: not a child, or not waited for."""
    peak_floor_bytes: Count | None = None
    """Resident size of its process before its first instruction, when it was a copy of memgauge's:
    the kernel reports no smaller peak. None: not known."""
    seen_peak_bytes: Count | None = None
    """The largest peak (VmHWM) of one of its processes that was read while it ran: at least so much
    was resident."""
    threads: list[ThreadUse] = []
    """Those that were seen while they ran; those with most processor time, where there are many."""
    thread_events: list[CountedByThread] = []
    """What was counted for each thread."""
    threads_left_out: Count = 0


class Region(Record, frozen=True, kw_only=True, tag="region"):
    """A stretch of time that the program marked."""

    name: str
    pid: Count
    tid: Count
    begin_ns: Nanoseconds
    end_ns: Nanoseconds | None = None
    """None: never ended."""
    cpu_ns: Count | None = None
    """Processor time that its thread used in it; None: not known."""


class ProgramMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel showed of the memory of a running program.

    It is that of its process with the most anonymous memory: of a sum over processes, pages that
    they share since a fork would be counted more than once.
    """

    anonymous_bytes: Count
    """Resident heap, stacks and other memory without a file, explicit huge pages included
    (`Anonymous`, `Private_Hugetlb` and `Shared_Hugetlb` of /proc/PID/smaps_rollup)."""
    huge_bytes: Count
    """Of these, in transparent (`AnonHugePages`) or explicit huge pages."""
    node_bytes: dict[int, Count] = {}
    """By NUMA node (/proc/PID/numa_maps), read a moment later. Empty: not read, as on a machine
    with one node."""


class Sample(Record, frozen=True, kw_only=True, tag="sample", omit_defaults=True):
    """One sampling pass of one point."""

    point: str
    round: Count
    threads: list[ThreadSample]
    """All threads of the team, in its order; of a large team those with the stamps that any figure
    is made of, and the rest are in `others`: in each iteration the first and the last to begin, the
    first and the last to end."""
    others: OtherThreads | None = None
    """None: `threads` has all."""
    stands_for: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] = 1
    """Rounds of which this one was drawn to be sampled: its weight among the point's samples."""
    pingpong_ns: Annotated[float, msgspec.Meta(ge=0, le=1e12)] | None = None
    """One-way core-to-core latency just before a multi-threaded slice; None if not measured."""
    cycles_per_ns: Annotated[float, msgspec.Meta(gt=0, le=1000)] | None = None
    """Core clock measured beside the sample; None if not measured."""
    window_ns: tuple[Nanoseconds, Nanoseconds] | None = None
    """When all threads of the pass, of this point and those measured with it, were working: from
    the latest first begin to the earliest last end. None if there is no such time."""
    load_ns: list[tuple[Count, Count]] = []
    """Histogram of individually timed loads, ascending: ns, including the clock's own cost, and how
    many loads took that long."""
    reading: RegionReading | None = None
    """Counters around exactly the timed part; None if none were requested."""
    idle: RegionReading | None = None
    """The same counters over a similar time just before, in which the team slept."""
    printed: list[Annotated[float, msgspec.Meta(gt=0, le=LARGEST_HEADLINE)]] = []
    """Numbers that a program under diagnosis, or a command beside it, printed, or seconds that the
    program spent in a region, one for each iteration; `metric_better` of the point tells which are
    faster. Empty: none was asked for."""
    program_memory: ProgramMemory | None = None
    """Of a program under diagnosis: the largest that was seen while it ran. None: it was not looked
    at in this round, or nothing could be read."""
    uses: list[RunUse] = []
    """What each run of a program under diagnosis used, one for each iteration. Empty: not kept."""


class Environment(Record, frozen=True, kw_only=True, tag="environment"):
    """What the machine did beside the measurement, since the previous such record."""

    at_ns: Nanoseconds
    interval_s: Seconds
    steal_s: float | None
    """CPU time taken by the hypervisor, summed over CPUs; None if the kernel does not report it."""
    others_s: float | None
    """CPU time of everything except this process, and of a profile except the program."""
    load_1min: float | None
    frequency_khz: Count | None
    """Mean of the CPUs used."""
    cpu_pressure_s: float | None = None
    """Time in which some task waited for a processor, anywhere on the machine (PSI, Linux,
    Documentation/accounting/psi.rst); None: the kernel does not report it."""
    memory_pressure_s: float | None = None
    """for memory: for reclaim, refaults and swap,"""
    io_pressure_s: float | None = None
    """and for input or output."""


class ArrayCheck(msgspec.Struct, frozen=True, kw_only=True):
    """STREAM's check of one array."""

    array: str
    average_relative_error: float
    """Saturates at the largest double, as where an element became NaN: JSON has no infinity."""
    epsilon: float
    elements: Count
    failed_elements: Count
    first_failed: Integer
    passed: bool

    def __post_init__(self) -> None:
        """Keep the error writable, however badly the array was corrupted."""
        if not math.isfinite(self.average_relative_error):
            msgspec.structs.force_setattr(self, "average_relative_error", sys.float_info.max)


class Validation(Record, frozen=True, kw_only=True, tag="validation"):
    """Outcome of one validation of arrays."""

    experiment: str
    subject: str
    """The checked arrays, such as `double, 2 threads`."""
    checks: list[ArrayCheck]


class SimulatedMachine(Record, frozen=True, kw_only=True, tag="simulated-machine"):
    """A machine whose caches are simulated: declared before its results."""

    machine: CacheMachine


class SimulatedLevel(msgspec.Struct, frozen=True, kw_only=True):
    """What the cache model counted at one level, over all its instances."""

    level: str
    hits: Count
    misses: Count
    write_backs: Count


class Simulated(Record, frozen=True, kw_only=True, tag="simulated", omit_defaults=True):
    """What the cache model predicts for one execution of a point's work. Nothing of it is measured.

    The work is executed once, by all working cores, with caches that contain nothing of the arrays
    at the beginning; lines that are modified in the caches at the end count as written.
    """

    point: str
    machine: str
    cores: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)]
    """Working cores, each with its own arrays; the bytes below are totals over all of them."""
    accesses: Count
    load_read_bytes: Count
    """Read from memory because of loads,"""
    allocate_read_bytes: Count
    """of stores to lines that were not there,"""
    software_prefetch_read_bytes: Count
    hardware_prefetch_read_bytes: Count
    write_back_bytes: Count
    """Written to memory when modified lines were evicted,"""
    bypass_write_bytes: Count
    """and written past the caches."""
    array_read_bytes: dict[str, Count]
    """What was read, by array."""
    levels: list[SimulatedLevel]
    took_s: Seconds
    places: list[TrafficPlace] = []
    """Functions of a program that make most of it, the largest first. Empty: not known."""

    @property
    def read_bytes(self) -> int:
        """All bytes read from memory."""
        return (
            self.load_read_bytes
            + self.allocate_read_bytes
            + self.software_prefetch_read_bytes
            + self.hardware_prefetch_read_bytes
        )

    @property
    def write_bytes(self) -> int:
        """All bytes written to memory."""
        return self.write_back_bytes + self.bypass_write_bytes


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One load of a curve."""

    gb_per_s: Annotated[float, msgspec.Meta(ge=0, le=LARGEST_HEADLINE)]
    """That memory moved, the reads before ordinary stores included."""
    latency_ns: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_HEADLINE)]
    """Of a load beside it."""


class MeasuredCurve(Record, frozen=True, kw_only=True, tag="curve"):
    """Latency beside bandwidth of this machine by an earlier run, as figures.

    The samples that they were made of are in that run.
    """

    run_id: str
    started_at: str
    """ISO 8601, UTC."""
    load: str
    """In words, such as `75% reads, non-temporal stores, 3 generators`."""
    read_share: Annotated[float, msgspec.Meta(ge=0, le=1)]
    """Of reads in the bytes that memory moved."""
    points: Annotated[list[CurvePoint], msgspec.Meta(min_length=1)]
    """In order of rising load."""
    knee_gb_per_s: Annotated[float, msgspec.Meta(ge=0, le=LARGEST_HEADLINE)] | None = None
    """None: the curve has none, or none that could be resolved."""


NOT_WATCHED = "not-watched"
"""Code of a warning about a component that a profile omits."""


class Warning(Record, frozen=True, kw_only=True, tag="warning"):
    """Something a reader must know beside the numbers."""

    code: str
    message: str
    remedy: str | None = None
    experiment: str | None = None
    point: str | None = None


class RunEnd(Record, frozen=True, kw_only=True, tag="end"):
    """Last record. A run without one was killed."""

    status: Literal["complete", "budget", "interrupted", "failed"]
    """complete: every point reached the precision. budget: time ended first."""
    reason: str | None = None
    elapsed_s: Seconds
    rounds: Count


AnyRecord = (
    RunStart
    | Point
    | CounterSet
    | Sample
    | Lane
    | Process
    | Region
    | Environment
    | Validation
    | SimulatedMachine
    | Simulated
    | MeasuredCurve
    | Warning
    | RunEnd
)
