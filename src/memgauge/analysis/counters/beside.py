"""What else was counted while a GPU's kernels ran: energy, links, and memory that is not theirs.

Means: all that was counted in the regions of a kernel over the time between their readings. Energy
is reported by drivers about ten times a second, so that no single region has a figure of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.counters.figures import Kernel, kernel_of, reaches
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.counting.events import Counter
from memgauge.model.counting.readings import counted
from memgauge.model.record_kinds.counters import RegionReading

JOULES, BYTES = "J", "B"
TO_PICO, TO_GIGA = 1e12, 1e-9


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """One counter over all regions of one kernel."""

    kernel: Kernel
    counter: Counter
    per_s: float
    """Of its unit, while the kernel ran,"""
    idle_per_s: float | None
    """and while the GPU was left alone; None: not measured."""
    per_byte: float
    """Of its unit, for each byte that the kernel counts."""


def beside(figures: Figures) -> list[Beside]:
    """Counters that count other than the kernels' own traffic; levels at an instant left out."""
    found: list[Beside] = []
    for point in figures.run.points_of("stream"):
        kernel = kernel_of(point)
        samples = figures.run.counted_samples_of(point.point)
        if point.role != "counted" or kernel is None or not kernel.gpu or not samples:
            continue
        readings = [sample.reading for sample in samples if sample.reading is not None]
        idle = [sample.idle for sample in samples if sample.idle is not None]
        repetitions = sum(len(s.threads[0].begin_ns) for s in samples if s.threads and s.reading)
        made = figures.run.counters[readings[0].counters] if readings else None
        for counter in made.of if made is not None else ():
            if counter.gauge or reaches(counter, kernel) or counter.unit not in {JOULES, BYTES}:
                continue
            during = _total(counter, readings)
            if during is not None and repetitions:
                found.append(_of(kernel, counter, during, _total(counter, idle), repetitions))
    return found


def _of(
    kernel: Kernel,
    counter: Counter,
    during: tuple[float, float],
    idle: tuple[float, float] | None,
    repetitions: int,
) -> Beside:
    return Beside(
        kernel=kernel,
        counter=counter,
        per_s=during[0] / during[1],
        idle_per_s=None if idle is None else idle[0] / idle[1],
        per_byte=during[0] / (repetitions * kernel.counted_bytes),
    )


def _total(counter: Counter, readings: Sequence[RegionReading]) -> tuple[float, float] | None:
    """What was counted, and the seconds between the readings; None where one could not be read."""
    values = [counted(counter, one.before, one.after) for one in readings]
    seconds = sum(sum(one.after_ns) - sum(one.before_ns) for one in readings) / 2 * 1e-9
    known = [value.value for value in values if value is not None]
    return (sum(known), seconds) if known and len(known) == len(values) and seconds > 0 else None


def tables(figures: Figures) -> list[Table]:
    """Power of each kernel, and other traffic."""
    found = beside(figures)
    return [*_power(found), *_traffic(found)]


def _power(found: Sequence[Beside]) -> Iterator[Table]:
    mine = [one for one in found if one.counter.unit == JOULES]
    if mine:
        yield Table(
            name="kernels-power",
            title="Power while the kernels ran",
            columns=[
                Column(title="kernel"),
                Column(title="energy by"),
                Column(title="power", unit="W", digits=1),
                Column(title="idle", unit="W", digits=1),
                Column(title="a byte", unit="pJ", digits=1),
            ],
            rows=[[*_named(one), *_rates(one, 1.0), one.per_byte * TO_PICO] for one in mine],
            note="Means over all regions, between their readings. Idle: while the GPU was left "
            "alone. A byte: energy, idle power included, over the bytes that the kernel counts.",
        )


def _traffic(found: Sequence[Beside]) -> Iterator[Table]:
    mine = [one for one in found if one.counter.unit == BYTES]
    if mine:
        yield Table(
            name="kernels-beside",
            title="Other traffic while the kernels ran",
            columns=[
                Column(title="kernel"),
                Column(title="counter"),
                Column(title="meanwhile", unit="GB/s", digits=3),
                Column(title="idle", unit="GB/s", digits=3),
            ],
            rows=[[*_named(one), *_rates(one, TO_GIGA)] for one in mine],
            note="Of memory and links that the kernels do not use: what others moved. Means over "
            "all regions, between their readings.",
        )


def _named(one: Beside) -> list[Cell]:
    return [one.kernel.name, one.counter.name]


def _rates(one: Beside, unit: float) -> list[Cell]:
    idle = one.idle_per_s
    return [one.per_s * unit, None if idle is None else idle * unit]
