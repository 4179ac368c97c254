"""Describes the memory traffic of ordinary stores beyond what a program counts.

A processor that reads a line before it writes it (write-allocate) moves it twice. That is a model:
some processors leave the read out when all of a line is written, which shows where the model asks
for more than the memory is seen to give.
"""

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds

AVOIDED = 1.05
"""Times the most that any mix reaches: beyond it some reads are surely left out."""


def words(counted: Estimate, moved: Estimate | None, most_gb_per_s: float) -> str:
    """The end of a sentence about ordinary stores; empty where nothing is read first.

    Args:
        counted: GB/s by the program's count of the bytes that it reads and writes.
        moved: GB/s with a read of each line before it is written; None: not known.
        most_gb_per_s: Largest bandwidth counted for the same team, with any mix and store.
    """
    if moved is None or moved.value <= counted.value:
        return ""
    text = (
        f"; if each line is read before it is written, {counted.value:.1f} GB/s of these move "
        f"{moved.value:.1f}"
    )
    if bounds(moved)[0] <= AVOIDED * most_gb_per_s:
        return text
    return (
        f"; if each line were read before it is written, {counted.value:.1f} GB/s of these would "
        f"move {moved.value:.1f}, more than any mix reaches here ({most_gb_per_s:.1f}): some of "
        "those reads are omitted or served by a cache"
    )
