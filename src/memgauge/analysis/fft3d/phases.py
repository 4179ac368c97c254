"""Figures of each phase: its time over ranks, what it should move, and what counters saw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.fft3d.measured import Measured, PhaseTraffic, phase_traffic
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
from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.analysis.profile.totals import counted
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.traffic.expected import expected

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
    """Mean over transforms by counters of memory, of all ranks of a node and whatever else ran
    there, over their number; None too where the phase is too short for sampling."""
    measured_write_bytes: float | None = None
    measured_read: Measured | None = None
    """The same with least and most over transforms, the interval of the mean, and bounds where the
    phase is too short; None: not counted."""
    measured_write: Measured | None = None
    gpu_power_w: float | None = None
    """Mean power of all GPUs of the first rank's node meanwhile, where the phase lasts three
    readings of it."""

    expected_bytes_per_s: Figure | None = None
    """Expected bytes / measured time, those read and written over that of the median rank; not what
    memory moved. Its interval is that of the time over transforms: between the medians over ranks
    of the ends of each rank's own, so that it is wide enough where ranks vary together."""


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
    taken = [on(rank, step) for rank in ranks]
    phases = phases_in([one for transforms in taken for one in transforms])
    measured = _measured(ranks, step, phases, timelines)
    found = []
    for phase in phases:
        times = [seconds_of(transforms, phase) for transforms in taken]
        known = [one for one in times if one is not None]
        read, written = _expected(phase, step, bypass=bypass)
        traffic = measured.get(phase, PhaseTraffic(None, None))
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
                measured_read_bytes=traffic.read.mean if traffic.read else None,
                measured_write_bytes=traffic.write.mean if traffic.write else None,
                measured_read=traffic.read,
                measured_write=traffic.write,
                gpu_power_w=_gpu_power(ranks[0], step, phase, timelines),
            )
        )
    return found


def title_of(phase: Phase) -> str:
    """As reports name it: `FFT 2`, `re-sort 1`."""
    if phase.name in TITLES:
        return f"{TITLES[phase.name]} {phase.occurrence}"
    return phase.name.replace("resort", "re-sort")


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
) -> dict[Phase, PhaseTraffic]:
    """Of re-sortings and copies, by the counters that one rank of each node watched."""
    names = {COPY_IN, COPY_OUT, *(resort.name for resort in step.resorts)}
    taking_part = [rank for rank in ranks if rank.rank < step.grid.ranks]
    first = {rank.on_node: rank for rank in reversed(taking_part)}
    known = {rank.rank: timelines.of(rank) for rank in first.values()}
    return {
        phase: phase_traffic(phase, taking_part, step, known)
        for phase in phases
        if phase.name in names
    }


def _gpu_power(rank: Rank, step: Pencils, phase: Phase, timelines: Timelines) -> float | None:
    """Of the phases of FFTs on a GPU."""
    taken = [one.spans[phase] for one in on(rank, step) if phase in one.spans]
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
