"""What is recorded of a large team: the stamps that figures are made of, and sums of the rest.

A sample of 192 threads takes 9 kB in the record and eight times that in memory; after a hundred
rounds of a survey that is many GB. All that is asked of threads that do the same work and start
together is when the first began and the last ended, and whether one was disturbed.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.model.records import OtherThreads, Point, Sample, ThreadSample

MOST_THREADS = 8
"""Of smaller teams, and of this one, all threads are recorded."""


def condensed(point: Point, sample: Sample) -> Sample:
    """The sample with the stamps of those threads that were first or last, and sums of the others.

    Threads are first or last to begin or to end, in any of the iterations. Unchanged: samples of
    small teams, of work in a window, to which every thread's own stamps belong, and those whose
    threads stamped unequally often, which is a fault that must stay visible.

    Args:
        point: Point of the sample.
        sample: One sampling pass with all its threads.
    """
    threads = sample.threads
    if len(threads) <= MOST_THREADS or point.work == "window":
        return sample
    if len({len(stamps) for one in threads for stamps in (one.begin_ns, one.end_ns)}) != 1:
        return sample
    kept = _extremes(threads)
    others = [one for rank, one in enumerate(threads) if rank not in kept]
    if not others:
        return sample
    return msgspec.structs.replace(
        sample,
        threads=[threads[rank] for rank in sorted(kept)],
        others=OtherThreads(
            threads=len(others),
            involuntary_switches=sum(one.involuntary_switches for one in others),
            page_faults=sum(one.page_faults for one in others),
            read_bytes=sum(one.read_bytes for one in others),
            write_bytes=sum(one.write_bytes for one in others),
        ),
    )


def _extremes(threads: Sequence[ThreadSample]) -> set[int]:
    """Ranks of the threads that are first or last to begin or to end in one of the iterations."""
    kept: set[int] = set()
    for at in range(len(threads[0].begin_ns)):
        for stamps in ([one.begin_ns[at] for one in threads], [one.end_ns[at] for one in threads]):
            kept |= {stamps.index(min(stamps)), stamps.index(max(stamps))}
        if len(kept) == len(threads):
            break
    return kept
