"""Bandwidth of threads while all of them were at work and steady.

Threads of a competition make as many iterations as they can, each of the same bytes, so they stamp
unequally often. What counts lies inside `Sample.window_ns`: an iteration that straddles an end of
it counts with the share of its time that lies inside.

A thread warms up until its iterations take as long as those of its second half: its first ones are
left out for as long as each of them takes less or more time than all of the second half did, by a
tenth of their median and by their range times 4 over their number besides. So one odd iteration
among like ones, or a thread that fluctuates throughout, is not taken for a warm-up; below four
iterations nothing is. Of forty iterations and more the medians of five each are compared instead,
so that a thread that warms up and now and then is slow besides is seen through. All count from when
the last thread has become steady.

The kernel takes every CPU away for a moment now and then, and of many threads at work for 10 ms
hardly any pass is spared. A pass is spoiled only where that took time: as many of the thread's
longest iterations as it was switched out, beyond its median one, and more than 2% of the window.

What would invalidate it: a warm-up that lasts longer than half of the window, which then looks like
fluctuation.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import sub
from statistics import median

import msgspec

from memgauge.model.records import Point, Sample, ThreadSample

LEAST_ITERATIONS = 4
BLOCK = 5
LEAST_BLOCKS = 8
CLEAR = 0.1
"""Of the median duration: nearer to those of the second half is like them."""
RANGE_SHARE = 4.0
"""Times the range over the number of durations: how far beyond them one more may lie by chance."""

LOST = 0.02
"""Of the window, that a thread may have lost by being switched out."""

Window = tuple[int, int]
"""Begin and end, ns."""


class Iterations(msgspec.Struct, frozen=True):
    """How the iterations of a pass's threads lie relative to the counted time."""

    inside: float
    """Iterations inside, straddling ones by their share."""
    warm_up: int
    """Left out because their thread was not steady."""
    outside_ns: int
    """Time of all threads' iterations before or after all were at work,"""
    all_ns: int
    """and of all their iterations."""


def window_value(point: Point, sample: Sample) -> float | None:
    """GB/s of the sample's threads while all were steady; None where there is no such time."""
    window = steady_window([sample])
    return None if window is None else value_in(point, sample, window)


def value_in(point: Point, sample: Sample, window: Window) -> float | None:
    """GB/s of the sample's threads in the window; None where they did nothing there.

    Args:
        point: Point of the sample; its `bytes_counted` are those of one iteration of one thread.
        sample: One sampling pass; an iteration that straddles an end counts by its share inside.
        window: Begin and end of the time that counts, in ns on the run's clock.
    """
    done = sum(_iterations_in(thread, window) for thread in sample.threads)
    return point.bytes_counted * done / (window[1] - window[0]) or None


def steady_window(samples: Sequence[Sample]) -> Window | None:
    """From when all threads of these samples of one pass are steady to when the first ends."""
    common, threads = _common(samples), _threads(samples)
    if common is None:
        return None
    return _steady_part(common, threads, [_warm_up_in(thread, common) for thread in threads])


def iterations(samples: Sequence[Sample]) -> Iterations | None:
    """How much of a pass counts; None if its threads were never all at work."""
    common, threads = _common(samples), _threads(samples)
    if common is None:
        return None
    warm_ups = [_warm_up_in(thread, common) for thread in threads]
    window = _steady_part(common, threads, warm_ups)
    if window is None:
        return None
    every = [sum(map(sub, thread.end_ns, thread.begin_ns)) for thread in threads]
    counted = [_time_in(thread, common) for thread in threads]
    return Iterations(
        inside=sum(_iterations_in(thread, window) for thread in threads),
        warm_up=sum(warm_ups),
        outside_ns=sum(every) - sum(counted),
        all_ns=sum(every),
    )


def lost_time(sample: Sample) -> bool:
    """Whether being switched out cost one of the threads more than 2% of the window."""
    window = sample.window_ns
    if window is None:
        return any(thread.involuntary_switches for thread in sample.threads)
    allowed = LOST * (window[1] - window[0])
    return any(
        _lost_ns(thread, window) > allowed
        for thread in sample.threads
        if thread.involuntary_switches
    )


def _lost_ns(thread: ThreadSample, window: Window) -> int:
    """At most what the thread lost inside: of its longest iterations what is beyond the median."""
    first, last = _touching(thread, window)
    took = sorted(map(sub, thread.end_ns[first:last], thread.begin_ns[first:last]))
    if len(took) < LEAST_ITERATIONS:
        return window[1] - window[0]
    longest = took[-thread.involuntary_switches :]
    beyond: int = sum(longest) - took[len(took) // 2] * len(longest)
    return beyond


def durations_in(thread: ThreadSample, window: Window) -> list[int]:
    """Durations of the iterations that lie wholly inside, ns."""
    first, last = _whole(thread, window)
    return list(map(sub, thread.end_ns[first:last], thread.begin_ns[first:last]))


def warm_up_iterations(durations: Sequence[int]) -> int:
    """How many of the first are unlike all of the second half."""
    if len(durations) >= LEAST_BLOCKS * BLOCK:
        blocks = range(0, len(durations) - BLOCK + 1, BLOCK)
        return BLOCK * _unlike([sorted(durations[at : at + BLOCK])[BLOCK // 2] for at in blocks])
    return _unlike(durations) if len(durations) >= LEAST_ITERATIONS else 0


def _unlike(levels: Sequence[int]) -> int:
    """How many of the first lie beyond all of the second half."""
    steady = levels[len(levels) - len(levels) // 2 :]
    low, high = min(steady), max(steady)
    margin = CLEAR * median(steady) + (high - low) * RANGE_SHARE / len(steady)
    like = (at for at, level in enumerate(levels) if low - margin <= level <= high + margin)
    return next(like)


def _common(samples: Sequence[Sample]) -> Window | None:
    """The time in which all were at work, as every sample of the pass records it."""
    windows = [sample.window_ns for sample in samples if sample.window_ns is not None]
    if not windows or len(windows) < len(samples):
        return None
    begin, end = max(w[0] for w in windows), min(w[1] for w in windows)
    return (begin, end) if begin < end else None


def _threads(samples: Sequence[Sample]) -> list[ThreadSample]:
    return [thread for sample in samples for thread in sample.threads]


def _steady_part(
    common: Window, threads: Sequence[ThreadSample], warm_ups: Sequence[int]
) -> Window | None:
    """What is left of the time in which all were at work once the last has become steady."""
    begins = (_steady_from(*one, common) for one in zip(threads, warm_ups, strict=True))
    begin = max(begins, default=common[0])
    return (begin, common[1]) if begin < common[1] else None


def _whole(thread: ThreadSample, window: Window) -> tuple[int, int]:
    """Indices of the iterations that lie wholly inside."""
    first = bisect_left(thread.begin_ns, window[0])
    return first, max(first, bisect_right(thread.end_ns, window[1]))


def _warm_up_in(thread: ThreadSample, window: Window) -> int:
    return warm_up_iterations(durations_in(thread, window))


def _steady_from(thread: ThreadSample, warm_up: int, window: Window) -> int:
    """When the thread begins its first steady iteration; the window's begin without a warm-up."""
    return thread.begin_ns[_whole(thread, window)[0] + warm_up] if warm_up else window[0]


def _touching(thread: ThreadSample, window: Window) -> tuple[int, int]:
    """Indices of the iterations that lie inside with any part."""
    return bisect_right(thread.end_ns, window[0]), bisect_left(thread.begin_ns, window[1])


def _cut(thread: ThreadSample, at: int, window: Window) -> int:
    """Time of an iteration outside of the window, ns."""
    before = max(0, window[0] - thread.begin_ns[at])
    return before + max(0, thread.end_ns[at] - window[1])


def _iterations_in(thread: ThreadSample, window: Window) -> float:
    first, last = _touching(thread, window)
    if first >= last:
        return 0.0
    cut = 0.0
    for at in {first, last - 1}:
        cut += _cut(thread, at, window) / (thread.end_ns[at] - thread.begin_ns[at])
    return last - first - cut


def _time_in(thread: ThreadSample, window: Window) -> int:
    """Time of the thread's iterations inside, ns."""
    first, last = _touching(thread, window)
    whole: int = sum(map(sub, thread.end_ns[first:last], thread.begin_ns[first:last]))
    return whole - sum(_cut(thread, at, window) for at in ({first, last - 1} if whole else ()))
