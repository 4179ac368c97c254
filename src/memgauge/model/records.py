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

from memgauge.model.memory import MAX_WEIGHT
from memgauge.model.record_kinds.counters import CounterSet, Lane, RegionReading
from memgauge.model.record_kinds.fields import (
    LARGEST_INTEGER,
    Count,
    Integer,
    Nanoseconds,
    Record,
    Scalar,
    Seconds,
)
from memgauge.model.record_kinds.programs import (
    Process,
    ProgramMemory,
    Referenced,
    Region,
    RunUse,
    SampledRegions,
)
from memgauge.model.record_kinds.replayed import Replayed
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.system import System

FORMAT_VERSION = 2

LARGEST_HEADLINE = 1e30
"""Of what is kept of a run for later ones; squares of it are numbers."""


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
    earlier: list[EarlierRun] = msgspec.field(default_factory=list)
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
    run: a program from start to end, or a reference just before and after it, or before and after
    each replay of a profile."""
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
    pingpongs_ns: list[Annotated[float, msgspec.Meta(ge=0, le=1e12)]] = msgspec.field(
        default_factory=list
    )
    """Of a program under diagnosis: those before, while and after it ran, up to 20 of them, evenly
    spread from least to greatest; `pingpong_ns` is their median. Empty: not measured."""
    one_core_below_ns: Annotated[float, msgspec.Meta(ge=0, le=1e12)] | None = None
    """Of a program under diagnosis: CPUs whose ping-pong takes less are threads of one core, as far
    as tests between passes showed until then. None: none were, or it was not measured."""
    cycles_per_ns: Annotated[float, msgspec.Meta(gt=0, le=1000)] | None = None
    """Core clock measured beside the sample; None if not measured."""
    window_ns: tuple[Nanoseconds, Nanoseconds] | None = None
    """When all threads of the pass, of this point and those measured with it, were working: from
    the latest first begin to the earliest last end. None if there is no such time."""
    load_ns: list[tuple[Count, Count]] = msgspec.field(default_factory=list)
    """Histogram of individually timed loads, ascending: ns, including the clock's own cost, and how
    many loads took that long."""
    reading: RegionReading | None = None
    """Counters around exactly the timed part; None if none were requested."""
    idle: RegionReading | None = None
    """The same counters over a similar time just before, in which the team slept."""
    printed: list[Annotated[float, msgspec.Meta(gt=0, le=LARGEST_HEADLINE)]] = msgspec.field(
        default_factory=list
    )
    """Numbers that a program under diagnosis, or a command beside it, printed, or seconds that the
    program spent in a region, one for each iteration; `metric_better` of the point tells which are
    faster. Empty: none was asked for."""
    program_memory: ProgramMemory | None = None
    """Of a program under diagnosis: the largest that was seen while it ran. None: it was not looked
    at in this round, or nothing could be read."""
    regions_s: dict[str, list[Annotated[float, msgspec.Meta(gt=0, le=LARGEST_HEADLINE)]]] = (
        msgspec.field(default_factory=dict)
    )
    """Of a program under diagnosis: seconds in each region that it marks, one for each iteration.
    A region that was not timed in all of them is left out."""
    uses: list[RunUse] = msgspec.field(default_factory=list)
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


class MeasuredReach(Record, frozen=True, kw_only=True, tag="reach"):
    """How far the TLB of this machine reaches on base pages by an earlier run, as figures."""

    run_id: str
    started_at: str
    """ISO 8601, UTC."""
    page_bytes: Count
    """Of a base page."""
    reach_bytes: Count | None = None
    """Lines on pages of their own, spread over so much, miss all levels of the TLB; None: no end of
    the last level was seen."""
    splits_huge_pages: bool | None = None
    """Whether huge pages are translated in smaller pieces, as where a hypervisor backs them with
    small pages; None: none were measured."""


class MeasuredWeights(Record, frozen=True, kw_only=True, tag="weights"):
    """Weights of interleaved nodes of this machine that an earlier run found best."""

    run_id: str
    started_at: str
    """ISO 8601, UTC."""
    kernels: Annotated[list[str], msgspec.Meta(min_length=1)]
    """For which they are the best, with the largest team that was measured."""
    weights: Annotated[
        dict[int, Annotated[int, msgspec.Meta(ge=1, le=MAX_WEIGHT)]],
        msgspec.Meta(min_length=1),
    ]
    """By node, of nodes that get pages. One alone: no weights were faster than that node."""


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
    | Replayed
    | MeasuredReach
    | MeasuredWeights
    | Referenced
    | SampledRegions
    | Warning
    | RunEnd
)
