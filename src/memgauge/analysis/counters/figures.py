"""Bytes that memory controllers counted while a kernel was repeated: of a run, or published.

What was counted is kept by counter and region. Totals, bandwidths and what explains them are made
of it in `memgauge.analysis.counters.bandwidth`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.speeds import elapsed_ns, page_faults
from memgauge.model.counting.calibration import calibration_marks
from memgauge.model.counting.events import MEMORY_TRAFFIC, Basis, Counter, added_up, gpu_traffic
from memgauge.model.counting.readings import Counted, counted
from memgauge.model.points.counted import CountedActual, CountedRequested
from memgauge.model.record_kinds.counters import RegionReading
from memgauge.model.records import Point, Sample
from memgauge.model.units import format_count

PAGED = 0.01
"""Bytes of pages that came and went, of the kernel's: what a region may have."""


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """What was repeated, and the bytes of one repetition by the program's own loads and stores."""

    name: str
    """Such as `add, standard, 2 threads`, with the calibration of its counters if they have one."""
    elements: int
    read_bytes: int
    write_bytes: int
    evadable_bytes: int
    """Of lines written and not read: what ordinary stores read first, where hardware does not see
    that lines are written whole."""
    streams: bool
    """Whether its stores are non-temporal, which read no line first."""
    gpu: str = ""
    """The GPU that ran it in its own memory, such as `cuda:0`; empty: the host's processor."""

    @property
    def counted_bytes(self) -> int:
        """By STREAM's counting."""
        return self.read_bytes + self.write_bytes

    @property
    def allocated_bytes(self) -> int:
        """With each line read first that stores of this kind read first, were nothing evaded."""
        return self.counted_bytes + (0 if self.streams else self.evadable_bytes)


class CountedRegion(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted in one stretch of time."""

    seconds: float
    repetitions: int
    """Of the kernel; 0 where the machine idled."""
    counts: dict[str, Counted | None]
    """By name of counter; None: missing."""


class HardwareCounts(msgspec.Struct, frozen=True, kw_only=True):
    """All regions of one kernel under the counters of one back end."""

    kernel: Kernel
    back_end: str
    basis: Basis
    counters: list[Counter]
    regions: list[CountedRegion]
    idle: list[CountedRegion]
    """Regions of a machine that this program left alone; empty: none were taken."""
    notes: list[str] = []
    """What opening the counters fell back to, and what published counts lack."""
    published: bool = False
    point: Point | None = None
    """Of the run; None: published."""
    set_aside: int = 0
    """Regions left out: a thread was switched out, or a page had gone away."""
    is_one_of_several: bool = False
    """Whether other back ends counted the same regions on the same basis."""

    @property
    def title(self) -> str:
        """The kernel's name, with the back end where several counted the same regions."""
        by = f", by {self.back_end}" if self.is_one_of_several else ""
        return f"{self.kernel.name}{by}"


@once
def counts_of(figures: Figures) -> list[HardwareCounts]:
    """The counted kernels of a run: one entry for each point, back end and basis."""
    found: list[HardwareCounts] = []
    for point in figures.run.points_of("stream"):
        kernel = kernel_of(point)
        if point.role == "counted" and kernel is not None:
            found += counts_of_point(point, kernel, figures)
    return found


def counts_of_point(point: Point, kernel: Kernel, figures: Figures) -> list[HardwareCounts]:
    """What was counted around a kernel that is repeated: an entry for each back end and basis.

    Args:
        point: Point whose samples have readings; one without any gives an empty list.
        kernel: What the point repeats, with the bytes of all its threads in one repetition.
        figures: The run of the point.
    """
    read = figures.run.counted_samples_of(point.point)
    if not read or read[0].reading is None:
        return []
    made = figures.run.counters[read[0].reading.counters]
    page_bytes = figures.run.start.system.base_page_bytes
    clean = [sample for sample in read if not _is_disturbed(sample, kernel, page_bytes)]
    of_memory = [counter for counter in made.of if reaches(counter, kernel)]
    routes = dict.fromkeys((counter.back_end, counter.basis) for counter in of_memory)
    bases = [basis for _, basis in routes]
    entries = []
    for back_end, basis in routes:
        known = [
            counter
            for counter in of_memory
            if (counter.back_end, counter.basis) == (back_end, basis)
        ]
        counters = added_up(known)
        marks = calibration_marks(counters)
        name = ", ".join(filter(None, [kernel.name, marks]))
        entries.append(
            HardwareCounts(
                kernel=msgspec.structs.replace(kernel, name=name),
                back_end=back_end,
                basis=basis,
                counters=counters,
                regions=list(_regions(clean, counters)),
                idle=[_idle(s.idle, counters) for s in read if s.idle is not None],
                notes=[*made.notes, *_left_out(known, counters)],
                point=point,
                set_aside=len(read) - len(clean),
                is_one_of_several=bases.count(basis) > 1,
            )
        )
    return entries


def reaches(counter: Counter, kernel: Kernel) -> bool:
    """Whether the kernel's own traffic is what the counter counts.

    While a GPU works in its memory, counters of the host's see nothing of it.
    """
    if counter.quantity not in MEMORY_TRAFFIC or counter.gauge:
        return False
    if not kernel.gpu or counter.basis != "measured":
        return True
    return counter.traffic == gpu_traffic(kernel.gpu)


def _left_out(known: Sequence[Counter], counters: Sequence[Counter]) -> Iterable[str]:
    """What is in no sum, for it would be there twice."""
    names = {counter.name for counter in counters}
    for event in dict.fromkeys(counter.event for counter in known if counter.name not in names):
        yield f"{event} is in no figure: another of the events counts the same traffic"


def _is_disturbed(sample: Sample, kernel: Kernel, page_bytes: int) -> bool:
    """Whether so many pages came and went that their traffic matters beside the kernel's.

    A thread that was switched out changes the time, which both sides share, and no byte.
    """
    repetitions = len(sample.threads[0].begin_ns) if sample.threads else 0
    return page_faults(sample) * page_bytes > PAGED * repetitions * kernel.counted_bytes


def kernel_of(point: Point) -> Kernel | None:
    """What a point of regions repeats; None: it does not describe it."""
    actual = CountedActual.of(point.actual)
    elements, evadable = actual.elements, actual.evadable_bytes
    reads, writes = actual.read_bytes, actual.write_bytes
    if elements is None or evadable is None or reads is None or writes is None:
        return None
    gpu = gpu_of(point)
    named = [
        CountedRequested.of(point.requested).label,
        gpu or format_count(point.threads, "thread"),
    ]
    return Kernel(
        name=", ".join(filter(None, named)),
        elements=elements,
        read_bytes=reads,
        write_bytes=writes,
        evadable_bytes=evadable,
        streams=actual.store == "non-temporal",
        gpu=gpu,
    )


def _regions(samples: Iterable[Sample], counters: Sequence[Counter]) -> Iterable[CountedRegion]:
    for sample in samples:
        took_ns = elapsed_ns(sample)
        if sample.reading is None or took_ns is None:
            continue
        seconds = took_ns * 1e-9
        repetitions = len(sample.threads[0].begin_ns)
        counts = _counts(sample.reading, counters)
        yield CountedRegion(seconds=seconds, repetitions=repetitions, counts=counts)


def _idle(reading: RegionReading, counters: Sequence[Counter]) -> CountedRegion:
    """From the middle of one reading to the middle of the other."""
    seconds = (sum(reading.after_ns) - sum(reading.before_ns)) / 2 * 1e-9
    return CountedRegion(seconds=seconds, repetitions=0, counts=_counts(reading, counters))


def _counts(reading: RegionReading, counters: Sequence[Counter]) -> dict[str, Counted | None]:
    return {c.name: counted(c, reading.before, reading.after) for c in counters}
