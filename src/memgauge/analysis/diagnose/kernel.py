"""What the kernel accounts to the usual runs of a program under diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from memgauge.analysis.diagnose.working_set import WorkingSet
from memgauge.analysis.figures.resident_peak import Peak, peak
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.model.points.diagnose import AS_IT_IS, COMPUTE, PROGRAM, DiagnoseRequested
from memgauge.model.record_kinds.programs import RunUse
from memgauge.model.run import Run

MUCH_DELAY = 0.1
"""Share of a run's time that its first thread waited for a processor, from which on it is said."""
MUCH_PRESSURE = 0.01
"""Share of the time in which some task waited for memory, from which on it is said."""


class RunRange(msgspec.Struct, frozen=True, kw_only=True):
    """A figure over runs."""

    median: float
    least: float
    most: float


class KernelUse(msgspec.Struct, frozen=True, kw_only=True):
    """Of the runs under one treatment; None: the kernel does not report it."""

    treatment: str
    runs: int
    minor_faults: RunRange | None
    major_faults: RunRange | None
    peak_resident_bytes: RunRange | None
    peak_at_most_bytes: int | None
    """Instead: a peak below this cannot be told from that of memgauge's own process."""
    run_delay_s: RunRange | None
    """Of the first thread."""
    run_delay_share: float | None
    """Of the time of a run: the median."""
    memory_pressure_share: float | None
    """Share of the whole diagnosis in which some task waited for memory, on the whole machine."""


@once
def kernel_use(figures: Figures) -> KernelUse | None:
    """Of the usual way to run the program, else beside arithmetic; None: nothing was kept."""
    run = figures.run
    for treatment in (AS_IT_IS, COMPUTE):
        found = [*_uses(run, treatment)]
        if found:
            return _summed(run, treatment, found)
    return None


def _uses(run: Run, treatment: str) -> Iterator[tuple[float, RunUse]]:
    """Seconds and use of each run."""
    for point in run.points_of("diagnose"):
        requested = DiagnoseRequested.of(point.requested)
        if (requested.subject, requested.treatment) != (PROGRAM, treatment):
            continue
        for sample in run.samples.get(point.point, []):
            thread = sample.threads[0]
            for begin_ns, end_ns, use in zip(
                thread.begin_ns, thread.end_ns, sample.uses, strict=False
            ):
                yield (end_ns - begin_ns) * 1e-9, use


def _summed(run: Run, treatment: str, found: Sequence[tuple[float, RunUse]]) -> KernelUse:
    uses = [use for _, use in found]
    peaks = [known for use in uses if (known := peak(use.usage, use.peak_floor_bytes))]
    delays = [
        (use.run_delay_ns * 1e-9, seconds)
        for seconds, use in found
        if use.run_delay_ns is not None and seconds > 0
    ]
    return KernelUse(
        treatment=treatment,
        runs=len(found),
        minor_faults=_range([use.usage.minor_faults for use in uses if use.usage]),
        major_faults=_range([use.usage.major_faults for use in uses if use.usage]),
        peak_resident_bytes=_peak(peaks),
        peak_at_most_bytes=max((one.bytes for one in peaks if one.bound), default=None),
        run_delay_s=_range([delay_s for delay_s, _ in delays]),
        run_delay_share=median(delay_s / of_s for delay_s, of_s in delays) if delays else None,
        memory_pressure_share=_pressure(run),
    )


def _range(values: Sequence[float]) -> RunRange | None:
    if not values:
        return None
    return RunRange(median=float(median(values)), least=float(min(values)), most=float(max(values)))


def _peak(peaks: Sequence[Peak]) -> RunRange | None:
    """None where that of any run may be memgauge's own."""
    return None if any(one.bound for one in peaks) else _range([one.bytes for one in peaks])


def _pressure(run: Run) -> float | None:
    """Of the whole diagnosis: the kernel adds these times up every two seconds only (PSI)."""
    known = [
        (one.memory_pressure_s, one.interval_s)
        for one in run.environment
        if one.memory_pressure_s is not None
    ]
    time_s = sum(interval_s for _, interval_s in known)
    return sum(seconds for seconds, _ in known) / time_s if time_s else None


def kernel_table(use: KernelUse, pages: WorkingSet | None = None) -> Table:
    """One row a figure; what is not known has a dash.

    Args:
        use: Of the usual runs.
        pages: What it referred to in one run more; None: not known.
    """
    beside = "" if use.treatment == AS_IT_IS else ", beside arithmetic"
    peak_words = "largest process, by the kernel"
    bound = ""
    if use.peak_at_most_bytes is not None:
        peak_words = f"at most {use.peak_at_most_bytes * 1e-6:.1f} MB"
        bound = (
            f" The peak is {peak_words}: so much was resident of memgauge itself, from which the "
            "kernel does not tell a smaller peak."
        )
    rows: list[list[Cell]] = [
        _row("page faults, minor", use.minor_faults, "", "with those of what it started"),
        _row("page faults, major", use.major_faults, "", "waited for storage"),
        _row("peak resident size", use.peak_resident_bytes, "MB", peak_words, 1e-6),
        _row("waiting for a processor", use.run_delay_s, "s", "its first thread only"),
        _working_set_row(pages),
    ]
    pressure = use.memory_pressure_share
    rows.append(
        [
            "some task waited for memory",
            None if pressure is None else _whole(100 * pressure),
            None,
            None,
            "% of the time",
            "any task of the machine, during the whole diagnosis",
        ]
    )
    return Table(
        name="diagnose-kernel",
        title=f"What the kernel accounts to a run{beside}",
        columns=[
            Column(title="what"),
            Column(title="median", digits=3),
            Column(title="least", digits=3),
            Column(title="most", digits=3),
            Column(title="in"),
            Column(title="of", narrow=False),
        ],
        rows=rows,
        note=f"Of {use.runs} usual runs, each from its start to its end (wait4, "
        "/proc/PID/schedstat). Waiting for memory: reclaim, refaults and swap (PSI), which the "
        f"kernel adds up every two seconds. A dash means not known.{bound}{_pages_note(pages)}",
    )


def _working_set_row(pages: WorkingSet | None) -> list[Cell]:
    if pages is None:
        return ["working set", None, None, None, "MB", "pages that it refers to: not known"]
    values = (pages.median_bytes, pages.least_bytes, pages.most_bytes)
    words = f"pages that it refers to in {pages.interval_s:.3g} s"
    return ["working set", *(_whole(1e-6 * one) for one in values), "MB", words]


def _pages_note(pages: WorkingSet | None) -> str:
    if pages is None:
        return ""
    return (
        f" The working set is that of {pages.looks} intervals of one run more, of all processes, "
        f"with at most {pages.resident_bytes * 1e-6:.1f} MB resident, "
        + (
            "huge pages switched off; whole pages are counted"
            if pages.base_pages
            else "whole pages are counted, which of huge pages is more than what is used"
        )
        + " (/proc/PID/clear_refs)."
    )


def _row(
    name: str, found: RunRange | None, unit: str, words: str, scale: float = 1.0
) -> list[Cell]:
    values: list[Cell] = [None, None, None]
    if found is not None:
        values = [_whole(scale * one) for one in (found.median, found.least, found.most)]
    return [name, *values, unit or None, words]


def _whole(value: float) -> float | int:
    """Counts have no decimals."""
    return int(value) if value.is_integer() else value


def kernel_verdicts(use: KernelUse) -> Iterator[Verdict]:
    """What would make its time one of something else than its own work and memory."""
    share = use.run_delay_share
    if share is not None and share >= MUCH_DELAY:
        yield Verdict(
            level="warning",
            text=f"Its first thread waited for a processor for {share:.0%} of a run: its CPUs are "
            "shared with other programs, or with its own threads.",
            remedy="give it other CPUs or more of them (--program-cpus), or stop other programs",
            about="conditions",
        )
    faults = use.major_faults
    if faults is not None and faults.median >= 1:
        yield Verdict(
            level="note",
            text=f"{faults.median:,.0f} page faults of a run waited for storage: part of its time "
            "is that of files or swap, not of memory.",
            about="conditions",
        )
    pressure = use.memory_pressure_share
    if pressure is not None and pressure >= MUCH_PRESSURE:
        yield Verdict(
            level="warning",
            text=f"For {pressure:.0%} of the time some task of this machine waited for memory to "
            "be freed or read back.",
            remedy="stop other programs, or use a machine with more memory",
            about="conditions",
        )
