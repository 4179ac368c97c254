"""Describes what a phase looks like: cautiously, and only from tracks that the run has.

Ratios of reads to writes: a write to a line that is not cached reads it first (write-allocate), so
that kernels leave a signature: copying with write-allocate and strided writes read two lines for
each they write, as do data re-sorting phases of a 3-D FFT; stores that bypass the cache leave one;
summing leaves none written. Source of the re-sorting and offload signatures: Barry, Jagode, Danalis
and Dongarra, "Memory Traffic and Complete Application Profiling with PAPI Multi-Component
Measurements", IPDPSW 2023, section IV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memgauge.analysis.profile.phases import Activity, Phase

LEAST_SHARE = 0.1
"""Of the busiest phase: less traffic is not worth a word,"""
LEAST_TRAFFIC = 200e6
"""nor is less than this, in bytes a second."""
LEAST_NETWORK = 5e6
NETWORK_SHARE = 0.3
"""Of the busiest phase."""
GPU_BUSY = 1.25
"""Power over that of the least busy phase,"""
GPU_LEAST_W = 10.0
"""and above it."""
IDLE_CORES = 0.05
BUSY_CORES = 0.5
LEAST_FAULTS = 2000.0
LEAST_GROWTH = 20e6
LEAST_PAGE_BYTES = 4096
OVER_AND_OVER = 4.0
"""Bytes that were faulted in over those resident: as often was memory given back and taken anew."""
MOSTLY_IDLE_CORES = 0.2
LEAST_WAITING = 0.2
"""Threads that wait for a processor, on average, and"""
WAITING_SHARE = 0.25
"""of those that run or wait: fewer are not worth a word."""
LEAST_SWITCHES = 5000.0

_RATIOS = (
    (0.0, 0.4, "mostly writes: like filling memory past the cache, or data coming from a device"),
    (0.4, 0.8, "more writes than reads: like filling memory, in part past the cache"),
    (
        *(0.8, 1.25),
        (
            "as many reads as writes: like a copy whose stores bypass the cache, or values changed "
            "in place"
        ),
    ),
    (1.25, 1.65, "somewhat more reads than writes"),
    (
        *(1.65, 2.4),
        "about twice as many reads as writes: like a copy or strided writes with write-allocate",
    ),
    (2.4, 3.6, "about three reads for each write: like adding two arrays with write-allocate"),
    (3.6, 8.0, "far more reads than writes"),
    (8.0, float("inf"), "nearly only reads: like summing, searching or feeding a device"),
)


def looks_like(phases: Sequence[Phase], at: int) -> str | None:
    """One line for the phase; None if its tracks match no pattern."""
    copying = [*_copying(phases, at)]
    rules = _RULES if not copying else [rule for rule in _RULES if rule is not _ratio]
    found = copying + [words for rule in rules for words in rule(phases, at)]
    if not found:
        found = [change.words() for change in phases[at].changes] or [*_cores(phases[at])]
    return "; ".join(found) if found else None


def _activities(phases: Sequence[Phase]) -> list[Activity]:
    return [phase.activity for phase in phases]


def _most(phases: Sequence[Phase], figure: Callable[[Activity], float | None]) -> float:
    return max((figure(a) or 0.0 for a in _activities(phases)), default=0.0)


def _traffic(activity: Activity) -> float | None:
    return activity.traffic_bytes_per_s


def _has_traffic(phases: Sequence[Phase], at: int) -> bool:
    traffic = phases[at].activity.traffic_bytes_per_s
    return traffic is not None and traffic >= max(
        LEAST_TRAFFIC, LEAST_SHARE * _most(phases, _traffic)
    )


def _exchange(phases: Sequence[Phase], at: int) -> Iterator[str]:
    rate = phases[at].activity.network_bytes_per_s
    busiest = _most(phases, lambda activity: activity.network_bytes_per_s)
    if rate is not None and rate >= max(LEAST_NETWORK, NETWORK_SHARE * busiest):
        yield "network busy: like communication with other nodes"


def _gpu_is_busy(phases: Sequence[Phase], at: int) -> bool:
    power = phases[at].activity.gpu_power_w
    known = [p for p in (a.gpu_power_w for a in _activities(phases)) if p is not None]
    if power is None or len(known) < 2:
        return False
    return power >= max(GPU_BUSY * min(known), min(known) + GPU_LEAST_W)


def _device(phases: Sequence[Phase], at: int) -> Iterator[str]:
    """Copy in, compute, copy out: power between reads and writes of the host's memory."""
    if _gpu_is_busy(phases, at):
        between = _leans(phases, at - 1, "in") and _leans(phases, at + 1, "out")
        words = "GPU at work"
        yield f"{words} between copying in and out: like offloading" if between else words


def _copying(phases: Sequence[Phase], at: int) -> Iterator[str]:
    if _gpu_is_busy(phases, at):
        return
    if at + 1 < len(phases) and _gpu_is_busy(phases, at + 1) and _leans(phases, at, "in"):
        yield "mostly reads before the GPU works: like copying to it"
    elif at and _gpu_is_busy(phases, at - 1) and _leans(phases, at, "out"):
        yield "mostly writes after the GPU worked: like copying back from it"


def _leans(phases: Sequence[Phase], at: int, way: str) -> bool:
    """Whether the host's memory is mostly read (in) or mostly written (out)."""
    if not 0 <= at < len(phases) or not _has_traffic(phases, at):
        return False
    activity = phases[at].activity
    reads, writes = activity.read_bytes_per_s, activity.write_bytes_per_s
    if reads is None or writes is None:
        return False
    return reads > 1.65 * writes if way == "in" else writes > 1.25 * reads


def _ratio(phases: Sequence[Phase], at: int) -> Iterator[str]:
    activity = phases[at].activity
    if not _has_traffic(phases, at) or activity.read_bytes_per_s is None:
        return
    if activity.write_bytes_per_s is None:
        return
    share = activity.read_share
    if share is None:
        share = float("inf")
    yield next(words for low, high, words in _RATIOS if low <= share < high or share == high)


def _first_touch(phases: Sequence[Phase], at: int) -> Iterator[str]:
    activity = phases[at].activity
    faults, growth = activity.page_faults_per_s, activity.resident_growth_bytes_per_s
    if faults is not None and growth is not None and faults >= LEAST_FAULTS:
        if growth >= LEAST_GROWTH:
            yield "page faults while resident memory grows: like allocating and first touch"
        elif _touched_bytes(phases[at]) >= OVER_AND_OVER * (activity.resident_bytes or 0.0):
            yield (
                "page faults without growth: like memory that is allocated and released repeatedly"
            )
    elif growth is not None and growth <= -LEAST_GROWTH and _gave_back(phases[at], -growth):
        yield "resident memory shrinks: memory is released"


def _gave_back(phase: Phase, lost_bytes_per_s: float) -> bool:
    """Throughout, so that about half is there on average: not at once, as when a program ends."""
    resident = phase.activity.resident_bytes
    return resident is not None and 4 * resident >= lost_bytes_per_s * phase.duration_s


def _touched_bytes(phase: Phase) -> float:
    """At least, by its page faults."""
    return (phase.activity.page_faults_per_s or 0.0) * phase.duration_s * LEAST_PAGE_BYTES


def _processor(phases: Sequence[Phase], at: int) -> Iterator[str]:
    activity = phases[at].activity
    cores = activity.cpu_cores
    if cores is None:
        return
    if _is_starved(activity):
        yield (
            f"waiting for a processor: {activity.waiting_threads:.1f} threads could have run and "
            "did not, as other threads used the processors"
        )
    elif cores < IDLE_CORES:
        others = _has_traffic(phases, at) or _gpu_is_busy(phases, at)
        yield "CPU idle" if others else "CPU idle: waiting"
    elif (
        cores >= BUSY_CORES
        and activity.traffic_bytes_per_s is not None
        and not _has_traffic(phases, at)
    ):
        yield "CPU busy with little memory traffic: like computing in caches"
    elif activity.traffic_bytes_per_s is None and cores < MOSTLY_IDLE_CORES:
        yield "CPU mostly idle"


def _is_starved(activity: Activity) -> bool:
    """Whether its threads waited for processors instead of having nothing to do."""
    waiting, cores = activity.waiting_threads, activity.cpu_cores or 0.0
    if waiting is None or waiting < LEAST_WAITING:
        return False
    return waiting >= WAITING_SHARE * (waiting + cores)


def _cores(phase: Phase) -> Iterator[str]:
    """Where nothing else can be said."""
    cores = phase.activity.cpu_cores
    if cores is not None and phase.activity.traffic_bytes_per_s is None:
        yield f"about {cores:.1f} cores busy"


def _switching(phases: Sequence[Phase], at: int) -> Iterator[str]:
    rate = phases[at].activity.switches_per_s
    if rate is not None and rate >= LEAST_SWITCHES:
        yield "many context switches: like threads waiting for each other or for input"


_RULES = (_exchange, _device, _ratio, _first_touch, _processor, _switching)
