"""Figures of each phase: its time over ranks, what it should move, and what counters saw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.fft3d.ranks import (
    Phase,
    Rank,
    Transformed,
    on,
    phases_in,
    seconds_between,
    seconds_of,
)
from memgauge.analysis.fft3d.shape import (
    ALL2ALL,
    COPY_IN,
    COPY_OUT,
    FFT,
    FFT_PHASES,
    Pencils,
)
from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.tables import counted
from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.traffic.expected import expected
from memgauge.model.records import NOT_WATCHED

TITLES = {FFT: "FFT", ALL2ALL: "All2All", COPY_IN: "copy in", COPY_OUT: "copy out"}


class PhaseTimes(msgspec.Struct, frozen=True, kw_only=True):
    """One phase of one step. Times are seconds of a rank's median transform; bytes those of a rank.

    None: of no meaning for the phase, or not known.
    """

    title: str
    least_s: float
    median_s: float
    most_s: float
    ranks: int
    """Whose times are known."""
    expected_read_bytes: int | None = None
    expected_write_bytes: int | None = None
    sent_bytes: int | None = None
    """To other ranks."""
    measured_read_bytes: float | None = None
    """By counters of memory, of all ranks of a node and whatever else ran there, over their
    number."""
    measured_write_bytes: float | None = None
    gpu_power_w: float | None = None
    """Mean power of all GPUs of the first rank's node meanwhile, where the phase lasts three
    readings of it."""

    expected_bytes_per_s: Figure | None = None
    """Expected bytes / measured time, those read and written over that of the median rank; not what
    memory moved. Its interval is that of the time over transforms: between the medians over ranks
    of the ends of each rank's own, so that it is wide enough where ranks vary together."""


class Traffic(msgspec.Struct, frozen=True):
    """Bytes of one transform and rank."""

    read_bytes: float | None
    write_bytes: float | None


class Timelines:
    """Those of ranks, each read once."""

    def __init__(self) -> None:
        self._known: dict[int, Timeline | None] = {}

    def of(self, rank: Rank) -> Timeline | None:
        """None where it has no reading."""
        if rank.rank not in self._known:
            self._known[rank.rank] = None if rank.run is None else timeline_of(rank.run)[0]
        return self._known[rank.rank]


def phase_figures(
    ranks: Sequence[Rank], step: Pencils, timelines: Timelines, *, bypass: bool = False
) -> list[PhaseTimes]:
    """Figures of the transforms of one step, in the order of the phases.

    Args:
        ranks: All ranks of the job in their order, including those without a run.
        step: The step; its grid tells on how many ranks the transforms ran.
        timelines: Timelines of the ranks' runs, for what counters measured.
        bypass: Whether the processor writes streams of stores past its caches.
    """
    taken = [on(rank, step.grid.ranks) for rank in ranks]
    phases = phases_in([one for transforms in taken for one in transforms])
    measured = _measured(ranks, step, phases, timelines)
    found = []
    for phase in phases:
        times = [seconds_of(transforms, phase) for transforms in taken]
        known = [one for one in times if one is not None]
        read, written = _expected(phase, step, bypass=bypass)
        traffic = measured.get(phase, Traffic(None, None))
        found.append(
            PhaseTimes(
                title=title_of(phase),
                least_s=min(known),
                median_s=median(known),
                most_s=max(known),
                ranks=len(known),
                expected_read_bytes=read,
                expected_write_bytes=written,
                expected_bytes_per_s=_speed(read, written, median(known), taken, phase),
                sent_bytes=step.sent_bytes(phase.occurrence) if phase.name == ALL2ALL else None,
                measured_read_bytes=traffic.read_bytes,
                measured_write_bytes=traffic.write_bytes,
                gpu_power_w=_gpu_power(ranks[0], step, phase, timelines),
            )
        )
    return found


def title_of(phase: Phase) -> str:
    """As reports name it: `FFT 2`, `re-sort 1`."""
    if phase.name in TITLES:
        return f"{TITLES[phase.name]} {phase.occurrence}"
    return phase.name.replace("resort", "re-sort")


def why_not_measured(ranks: Sequence[Rank]) -> str | None:
    """The fact of the first rank that records it; None without any."""
    for rank in ranks:
        for warning in rank.run.warnings if rank.run is not None else []:
            component, _, reason = warning.message.partition(": ")
            if warning.code == NOT_WATCHED and component == "memory":
                return reason.partition(";")[0]
    return None


def bypasses(architecture: str) -> bool:
    """Whether ordinary stores in order are expected to be written past the caches.

    POWER does it by the study of the re-sorting loops. Arm's cores do: they stop to allocate lines
    for a stream of stores, and counts of an Ampere Altra hold no such reads. On x86-64 ordinary
    stores read each line first.
    """
    return architecture in {"ppc64le", "ppc64", "aarch64"}


def _expected(phase: Phase, step: Pencils, *, bypass: bool) -> tuple[int | None, int | None]:
    resort = next((one for one in step.resorts if one.name == phase.name), None)
    if phase.name == COPY_IN:
        return step.local_bytes, 0
    if phase.name == COPY_OUT:
        return 0, step.local_bytes
    if resort is None:
        return None, None
    found = expected(resort.kind, resort.extents, bypass=bypass)
    return found.read_bytes, found.write_bytes


def _speed(
    read: int | None,
    written: int | None,
    seconds: float,
    taken: Sequence[Sequence[Transformed]],
    phase: Phase,
) -> Figure | None:
    if read is None or written is None or not seconds:
        return None
    ends = [
        seconds_between(transforms, phase)
        for transforms in taken
        if seconds_of(transforms, phase) is not None
    ]
    least_s, most_s = (median(side) for side in zip(*ends, strict=True))
    return figure(
        Estimate(
            (read + written) / seconds,
            (read + written) / most_s,
            (read + written) / least_s if least_s and math.isfinite(most_s) else math.inf,
        )
    )


def _measured(
    ranks: Sequence[Rank], step: Pencils, phases: Sequence[Phase], timelines: Timelines
) -> dict[Phase, Traffic]:
    """Of re-sortings and copies, by the counters that one rank of each node watched."""
    names = {COPY_IN, COPY_OUT, *(resort.name for resort in step.resorts)}
    taking_part = [rank for rank in ranks if rank.rank < step.grid.ranks]
    first = {rank.node: rank for rank in reversed(taking_part)}
    found = {}
    for phase in phases:
        if phase.name in names:
            parts = [_node(rank, step, phase, timelines.of(rank)) for rank in first.values()]
            found[phase] = Traffic(
                _sum([one.read_bytes for one in parts], len(taking_part)),
                _sum([one.write_bytes for one in parts], len(taking_part)),
            )
    return found


def _node(rank: Rank, step: Pencils, phase: Phase, timeline: Timeline | None) -> Traffic:
    """What the node's memory moved while its first rank was in that phase, for one transform."""
    taken = [one.spans[phase] for one in on(rank, step.grid.ranks) if phase in one.spans]
    if timeline is None or not taken:
        return Traffic(None, None)
    roles = roles_of(timeline)
    spans = [span for parts in taken for span in parts]
    reads, writes = counted(timeline, roles.reads, spans), counted(timeline, roles.writes, spans)
    return Traffic(
        None if reads is None else reads / len(taken),
        None if writes is None else writes / len(taken),
    )


def _gpu_power(rank: Rank, step: Pencils, phase: Phase, timelines: Timelines) -> float | None:
    """Of the phases of FFTs on a GPU."""
    taken = [one.spans[phase] for one in on(rank, step.grid.ranks) if phase in one.spans]
    if phase.name not in FFT_PHASES or not taken:
        return None
    timeline = timelines.of(rank)
    power = [] if timeline is None else roles_of(timeline).gpu_power
    spans = [span for parts in taken for span in parts]
    lasts_ns = min(end - begin for begin, end in spans)
    if timeline is None or any(lasts_ns < 3 * traced.interval_ns for traced in power):
        return None
    joules = counted(timeline, power, spans)
    return None if joules is None else joules / (sum(end - begin for begin, end in spans) * 1e-9)


def _sum(parts: Sequence[float | None], ranks: int) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) / ranks if known and len(known) == len(parts) else None
