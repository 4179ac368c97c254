"""What one run of the program moves between caches and memory: counted, or else simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Literal

import msgspec

from memgauge.model.counting.events import MEMORY_TRAFFIC, Counter, Quantity, added_up
from memgauge.model.counting.readings import counted
from memgauge.model.points.diagnose import (
    AS_IT_IS,
    BANDWIDTH,
    COMPUTE,
    PROGRAM,
    DiagnoseActual,
    DiagnoseRequested,
)
from memgauge.model.record_kinds.counters import RegionReading
from memgauge.model.record_kinds.simulated import Simulated
from memgauge.model.records import Point, Sample
from memgauge.model.run import Run
from memgauge.model.simulated_program import TrafficPlace

Basis = Literal["counted", "simulated"]
LINE_BYTES = 64
"""Of the caches of most machines; those of larger lines fetch fewer of them."""


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """What one run moves, beside what this machine can give."""

    basis: Basis
    by: str
    """The back end that counted it, or the machine whose caches were simulated."""
    total_bytes: float
    """Read and written."""
    read_bytes: float | None
    """None: not told apart."""
    write_bytes: float | None
    run_s: float
    """Median time of a whole run, measured as it is or beside arithmetic."""
    peak_gb_per_s: float | None
    """What the bandwidth reference moved beside arithmetic, write-allocate included."""
    runs: int = 1
    """That were counted; the bytes are the median over them."""
    least_bytes: float | None = None
    """Of both together in any run that was counted,"""
    most_bytes: float | None = None
    """and most."""
    is_estimate: bool = False
    """Counters shared their hardware with others for a part of the time."""
    places: list[TrafficPlace] = []
    """Functions that make most of what was simulated."""

    @property
    def gb_per_s(self) -> float:
        """Bytes over measured time."""
        return self.total_bytes / self.run_s * 1e-9

    @property
    def peak_share(self) -> float | None:
        """Of what the bandwidth reference moved on the program's first CPU."""
        return self.gb_per_s / self.peak_gb_per_s if self.peak_gb_per_s else None

    def waits_share(self, latency_ns: float) -> float:
        """Of a run, that it would wait for the lines that it reads, if it waited for each.

        Args:
            latency_ns: Of a load from memory.
        """
        read_bytes = self.total_bytes if self.read_bytes is None else self.read_bytes
        return waits_share(read_bytes, latency_ns, self.run_s)

    @property
    def read_share(self) -> float | None:
        """Of reads in the bytes; None: not told apart, or nothing was moved."""
        if self.read_bytes is None or self.write_bytes is None or not self.total_bytes:
            return None
        return self.read_bytes / (self.read_bytes + self.write_bytes)


def waits_share(read_bytes: float, latency_ns: float, seconds: float) -> float:
    """Of a time, that waiting for each line of what is read would take; above 1: they overlap.

    Args:
        read_bytes: From memory, in that time.
        latency_ns: Of a load from memory.
        seconds: That time.
    """
    return read_bytes / LINE_BYTES * latency_ns * 1e-9 / seconds


def usual_program(run: Run, points: Sequence[Point]) -> Point | None:
    """The program's point as it is, else beside arithmetic; None: it did not run so."""
    programs = {
        requested.treatment: point
        for point in points
        if (requested := DiagnoseRequested.of(point.requested)).subject == PROGRAM
        and run.samples.get(point.point)
    }
    return programs.get(AS_IT_IS) or programs.get(COMPUTE)


def last_simulated(run: Run, points: Sequence[Point]) -> Simulated | None:
    """What was simulated of the program; None: nothing was.

    Args:
        run: The run.
        points: Of its diagnosis.
    """
    known = [one for point in points for one in run.simulated.get(point.point, {}).values()]
    return known[-1] if known else None


def simulated_traffic(run: Run, points: Sequence[Point]) -> Traffic | None:
    """By the simulated caches of this machine; None: it was not simulated, or did not run."""
    last, run_s = last_simulated(run, points), _run_s(run, points)
    if last is None or run_s is None:
        return None
    return Traffic(
        basis="simulated",
        by=last.machine,
        total_bytes=last.read_bytes + last.write_bytes,
        read_bytes=last.read_bytes,
        write_bytes=last.write_bytes,
        run_s=run_s,
        peak_gb_per_s=peak_gb_per_s_of(run, points),
        places=last.places,
    )


def counted_traffic(run: Run, points: Sequence[Point]) -> Traffic | None:
    """By counters around each usual run; None: none was counted, or not in any whole run."""
    program = usual_program(run, points)
    run_s = _run_s(run, points)
    if program is None or run_s is None:
        return None
    # A resumption may have opened other counters in the same slots.
    readings = [
        use.reading
        for sample, leg in zip(run.samples[program.point], run.legs[program.point], strict=True)
        for use in sample.uses
        if use.reading is not None and run.counter_legs[use.reading.counters] == leg
    ]
    found = [one for reading in readings if (one := _of_run(run, reading)) is not None]
    if not found:
        return None
    totals = [one.total for one in found]
    apart = all(one.read is not None and one.write is not None for one in found)
    return Traffic(
        basis="counted",
        by=found[0].by,
        total_bytes=median(totals),
        read_bytes=median(one.read or 0.0 for one in found) if apart else None,
        write_bytes=median(one.write or 0.0 for one in found) if apart else None,
        run_s=run_s,
        peak_gb_per_s=peak_gb_per_s_of(run, points),
        runs=len(found),
        least_bytes=min(totals),
        most_bytes=max(totals),
        is_estimate=any(one.is_estimate for one in found),
    )


def why_not_counted(points: Sequence[Point]) -> str:
    """Why no counter was read; empty: one was, or nobody asked."""
    return next((why for one in points if (why := DiagnoseActual.of(one.actual).not_counted)), "")


class _OfRun(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted around one run."""

    by: str
    total: float
    read: float | None
    write: float | None
    is_estimate: bool


def _of_run(run: Run, reading: RegionReading) -> _OfRun | None:
    """None where any counter of the sum could not be read: a part is no total."""
    counters = added_up([one for one in run.counters[reading.counters].of if _is_traffic(one)])
    values = [(one.quantity, counted(one, reading.before, reading.after)) for one in counters]
    if not values or any(value is None for _, value in values):
        return None

    def total(*quantities: Quantity) -> float | None:
        mine = [value.value for quantity, value in values if quantity in quantities and value]
        return sum(mine) if mine else None

    read, write, both = total("read_bytes"), total("write_bytes"), total("traffic_bytes")
    if both is None and (read is None or write is None):
        return None  # one direction alone is no total
    return _OfRun(
        by=counters[0].back_end,
        total=(read or 0.0) + (write or 0.0) + (both or 0.0),
        read=read if both is None else None,
        write=write if both is None else None,
        is_estimate=any(value.is_estimate for _, value in values if value),
    )


def _is_traffic(counter: Counter) -> bool:
    return counter.quantity in MEMORY_TRAFFIC and not counter.gauge and counter.basis == "measured"


def _run_s(run: Run, points: Sequence[Point]) -> float | None:
    program = usual_program(run, points)
    return median(map(mean_ns, run.samples[program.point])) * 1e-9 if program else None


def peak_gb_per_s_of(run: Run, points: Sequence[Point]) -> float | None:
    """What the bandwidth reference moved beside arithmetic, write-allocate included.

    Args:
        run: The run.
        points: Of its diagnosis.
    """
    peaks: Iterator[float] = (
        point.bytes_moved / median(map(mean_ns, taken))
        for point in points
        if (requested := DiagnoseRequested.of(point.requested)).subject == BANDWIDTH
        and requested.treatment == COMPUTE
        and (taken := run.samples.get(point.point, []))
    )
    return next(peaks, None)


def mean_ns(sample: Sample) -> float:
    """Of the iterations of a sample."""
    thread = sample.threads[0]
    spans = zip(thread.begin_ns, thread.end_ns, strict=True)
    return fmean(end - begin for begin, end in spans)
