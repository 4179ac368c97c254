"""Records of programs: their processes, marked regions and what they used. See docs/records.md."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memgauge.model.counting.events import Quantity, Scale
from memgauge.model.record_kinds.counters import RegionReading
from memgauge.model.record_kinds.fields import (
    LARGEST_INTEGER,
    Count,
    Integer,
    Nanoseconds,
    Record,
    Seconds,
)


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


class ReferencedLook(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Pages that a program referred to from one look to the next."""

    interval_ns: Count
    """From when the kernel forgot earlier references, or the program began, to this look."""
    referenced_bytes: Count
    """Of all its processes, in whole pages; what they share is counted for each (`Referenced` of
    /proc/PID/smaps_rollup)."""
    resident_bytes: Count
    """Of the same processes at the end of it (`Rss`). Explicit huge pages are in neither."""


class Referenced(Record, frozen=True, kw_only=True, tag="referenced"):
    """What a program under diagnosis referred to in one run that is in no other figure.

    The run is slower than others: at each look its references are forgotten (/proc/PID/clear_refs).
    """

    looks: Annotated[list[ReferencedLook], msgspec.Meta(min_length=1)]
    """In order of time; what was referred to after the last of them is not known."""
    base_pages: bool = False
    """Whether the program had no huge pages in that run: its pages are as small as they can be."""


class SampledReading(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Raw counters at one time."""

    begin_ns: Nanoseconds
    """When the reading began,"""
    end_ns: Nanoseconds
    """and when it ended."""
    values: list[Count | None]
    """By slot; None: not readable."""


class SampledRegions(Record, frozen=True, kw_only=True, tag="sampled-regions"):
    """Counters sampled over one run of a program under diagnosis, and where its regions lay.

    The run is in no other figure. All times are on the clock of the run.
    """

    counters: str
    """The set that was sampled."""
    interval_ns: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)]
    """Requested interval between readings."""
    begin_ns: Nanoseconds
    """When the program began,"""
    end_ns: Nanoseconds
    """and when it had ended."""
    readings: Annotated[list[SampledReading], msgspec.Meta(min_length=2)]
    """In order of time: those beside each begin and end of a region, and of the others enough that
    no two lie far apart."""
    regions: dict[str, list[tuple[Nanoseconds, Nanoseconds]]]
    """Begin and end of each stretch in which at least one thread was inside, in order of time."""


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
    threads: list[ThreadUse] = msgspec.field(default_factory=list)
    """Those that were seen while they ran; those with most processor time, where there are many."""
    thread_events: list[CountedByThread] = msgspec.field(default_factory=list)
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
