"""From raw stamps to speeds: GB/s (1e9 bytes a second) and ns an access.

One sample gives one value: all the work of its iterations over all their time, from the first
thread's first begin to the last thread's last end, as STREAM times a parallel loop (McCalpin 1995).
Where threads make as many iterations as they can, what counts lies in the time in which all were at
work, see `windows`. Samples that something other than memory slowed down are set aside and counted,
never dropped silently.
"""

from collections.abc import Callable, Sequence

import msgspec

from memgauge.analysis.figures.windows import lost_time, window_value
from memgauge.model.memory import names_gpu
from memgauge.model.points.shared import AnyActual, AnyRequested
from memgauge.model.records import Point, Sample

FAST_SIDE = 0.9
"""The sustained figure is this quantile of speed,"""
SLOW_SIDE = 0.1
"""which is this quantile of latency."""


class Value(msgspec.Struct, frozen=True):
    """The values of one clean sample."""

    round: int
    value: float
    """GB/s or ns, after the quantity of its point."""
    pingpong_ns: float | None
    cycles_per_ns: float | None
    weight: int = 1
    """Rounds that the sample stands for."""


class Values(msgspec.Struct, frozen=True):
    """Clean values of one point in order of time, and what was set aside, by reason."""

    clean: list[Value]
    switched_out: int = 0
    """Samples in which a thread was switched out against its will; of those whose work lies in a
    window, for long enough to matter."""
    page_faults: int = 0
    """Samples in which a page had gone away, of those not switched out."""
    unusable: int = 0
    """Samples without a positive time, or whose threads stamped unequally often where they must
    not."""

    @property
    def set_aside(self) -> int:
        """All samples that take no part in the figures."""
        return self.switched_out + self.page_faults + self.unusable


def unit(point: Point) -> str:
    """Unit of the point's values."""
    return "GB/s" if point.quantity == "bandwidth" else "ns"


def fast_quantile(point: Point) -> float:
    """Quantile of the point's values that is the 90th percentile of speed."""
    return FAST_SIDE if point.quantity == "bandwidth" else SLOW_SIDE


def iteration_seconds(sample: Sample) -> list[float]:
    """Time of each iteration: from the first begin to the last end over the threads, in seconds."""
    if not sample.threads:
        return []
    begins = zip(*(thread.begin_ns for thread in sample.threads), strict=False)
    ends = zip(*(thread.end_ns for thread in sample.threads), strict=False)
    return [(max(end) - min(begin)) * 1e-9 for begin, end in zip(begins, ends, strict=False)]


def elapsed_ns(sample: Sample) -> int | None:
    """From the first begin to the last end over the threads; None without stamps."""
    if not sample.threads:
        return None
    begin_ns = min(thread.begin_ns[0] for thread in sample.threads)
    return max(thread.end_ns[-1] for thread in sample.threads) - begin_ns


def moved_bytes(sample: Sample) -> tuple[int, int]:
    """Bytes read and written by all threads, where they count what they do."""
    read_bytes = sum(thread.read_bytes for thread in sample.threads)
    write_bytes = sum(thread.write_bytes for thread in sample.threads)
    if sample.others is None:
        return read_bytes, write_bytes
    return read_bytes + sample.others.read_bytes, write_bytes + sample.others.write_bytes


def sample_value(point: Point, sample: Sample) -> float | None:
    """GB/s, or ns per access, of one sample; None if its stamps are unusable."""
    if point.work == "window":
        return window_value(point, sample)
    counts = {len(stamps) for t in sample.threads for stamps in (t.begin_ns, t.end_ns)}
    if len(counts) != 1 or 0 in counts:
        return None
    took_ns = elapsed_ns(sample)
    iterations = counts.pop()
    if took_ns is None or took_ns <= 0:
        return None
    if point.work == "counted":
        return sum(moved_bytes(sample)) / took_ns or None
    if point.quantity == "bandwidth":
        return point.bytes_counted * iterations / took_ns or None
    return took_ns / (point.accesses * iterations) if point.accesses > 0 else None


def was_switched_out(sample: Sample) -> bool:
    """Whether the kernel took a CPU away from one of the threads meanwhile."""
    for thread in sample.threads:
        if thread.involuntary_switches:
            return True
    return sample.others is not None and sample.others.involuntary_switches > 0


def had_page_fault(sample: Sample) -> bool:
    """Whether a page had to be fetched or mapped meanwhile."""
    for thread in sample.threads:
        if thread.page_faults:
            return True
    return sample.others is not None and sample.others.page_faults > 0


def page_faults(sample: Sample) -> int:
    """Pages that were fetched or mapped meanwhile, over all threads."""
    own = sum(thread.page_faults for thread in sample.threads)
    return own if sample.others is None else own + sample.others.page_faults


def is_whole_run(point: Point) -> bool:
    """Whether each sample is of a fixed number of iterations of every thread, from start to end.

    Such a sample takes seconds, in which some thread is always switched out for a moment.
    """
    return point.work == "window" and (
        AnyRequested.of(point.requested).fixed_iterations is not None
    )


def is_timed_by_gpu(point: Point) -> bool:
    """Whether a GPU worked in its own memory and stamped that itself.

    What the host's threads and pages suffer meanwhile is in none of its times.
    """
    requested = AnyRequested.of(point.requested)
    in_its_own = names_gpu(requested.memory)
    alone = not requested.host_memory and not requested.source
    return in_its_own and alone and AnyActual.of(point.actual).timed_by.startswith("device")


def was_interrupted(point: Point, sample: Sample) -> bool:
    """Whether being switched out spoils the sample: at all, or in a window for long enough."""
    if not was_switched_out(sample):
        return False
    return point.work != "window" or lost_time(sample)


def values_of(point: Point, samples: Sequence[Sample]) -> Values:
    """Values of a point's samples, in the order given.

    Of whole runs none is set aside, nor of what a GPU did and timed alone.
    """
    clean: list[Value] = []
    switched_out = page_faults = unusable = 0
    keeps_all = is_whole_run(point) or is_timed_by_gpu(point)
    for sample in samples:
        if not keeps_all and was_interrupted(point, sample):
            switched_out += 1
        elif not keeps_all and had_page_fault(sample):
            page_faults += 1
        elif (value := sample_value(point, sample)) is None:
            unusable += 1
        else:
            clean.append(
                Value(
                    sample.round,
                    value,
                    sample.pingpong_ns,
                    sample.cycles_per_ns,
                    sample.stands_for,
                )
            )
    return Values(clean, switched_out, page_faults, unusable)


class PassTimes(msgspec.Struct, frozen=True):
    """STREAM's figures of whole walks over the arrays, the first one left out."""

    best_gb_per_s: float
    average_s: float
    minimum_s: float
    maximum_s: float
    passes: int
    """Walks that count: one less than were done."""


def pass_times(
    point: Point, samples: Sequence[Sample], counts: Callable[[Sample], bool] = lambda _: True
) -> PassTimes | None:
    """Best, average, minimum and maximum as STREAM reports them; None below two walks.

    STREAM sets nothing aside but the first walk, so neither does this.

    Args:
        point: Point of whole walks; its `bytes_counted` are those of one walk.
        samples: All samples of the point in order of time.
        counts: Whether a sample belongs to the wanted regime; by default all do. The walk that is
            left out is the point's first, whatever its regime.
    """
    seconds = [
        second
        for index, sample in enumerate(samples)
        if counts(sample)
        for second in iteration_seconds(sample)[0 if index else 1 :]
    ]
    if not seconds or min(seconds) <= 0 or not point.bytes_counted:
        return None
    return PassTimes(
        best_gb_per_s=point.bytes_counted / min(seconds) * 1e-9,
        average_s=sum(seconds) / len(seconds),
        minimum_s=min(seconds),
        maximum_s=max(seconds),
        passes=len(seconds),
    )
