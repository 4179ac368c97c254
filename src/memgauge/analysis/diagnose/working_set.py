"""What a program refers to in a stretch of its run, as the kernel showed it in one run."""

from __future__ import annotations

from statistics import median

import msgspec

from memgauge.analysis.diagnose.traffic import waits_share
from memgauge.analysis.figures.run import Figures, once


class WorkingSet(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of all processes of the program, in whole pages; what they share counts for each."""

    looks: int
    interval_s: float
    """Median time from one look to the next."""
    least_bytes: int
    """Referred to in any interval;"""
    median_bytes: float
    """in half of the intervals this or more;"""
    most_bytes: int
    """and the most. The first interval, with what sets the program up, is among them."""
    resident_bytes: int
    """The most that was resident at a look."""
    base_pages: bool = False
    """Whether huge pages were switched off in that run, so that whole pages are small ones."""

    def cold_share(self, latency_ns: float) -> float:
        """Share of an interval that fetching each line of its pages once would take at most.

        It is that of a program that waits for each line; what reads a part of its pages waits less.

        Args:
            latency_ns: Of a load from memory.
        """
        return waits_share(self.most_bytes, latency_ns, self.interval_s)


@once
def working_set(figures: Figures) -> WorkingSet | None:
    """None: the kernel did not show it, or the run was too short."""
    known = [one for of in figures.run.referenced[-1:] for one in of.looks]
    looks = [one for one in known if one.interval_ns]
    if not looks:
        return None
    referenced = [one.referenced_bytes for one in looks]
    return WorkingSet(
        looks=len(looks),
        interval_s=median(one.interval_ns for one in looks) * 1e-9,
        least_bytes=min(referenced),
        median_bytes=float(median(referenced)),
        most_bytes=max(referenced),
        resident_bytes=max(one.resident_bytes for one in looks),
        base_pages=figures.run.referenced[-1].base_pages,
    )
