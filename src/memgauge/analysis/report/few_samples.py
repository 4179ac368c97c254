"""Says which figures of an experiment are medians, because there were too few samples."""

from __future__ import annotations

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Verdict

NAMED = 3
"""Points that are named; of more their number alone."""


def medians_verdict(figures: Figures, experiment: str) -> list[Verdict]:
    """A note about points whose figure is not the 90th percentile of speed; none, no note."""
    points = [p.point for p in figures.run.points_of(experiment) if p.role == "slice"]
    few = [
        point
        for point in points
        if any(one.sustained and one.statistic == "median" for one in figures.summaries[point])
    ]
    if not few:
        return []
    named = f" ({', '.join(few)})" if len(few) <= NAMED else ""
    which = "The figure" if len(points) == 1 else f"{len(few)} of {len(points)} figures"
    verb = "is the median" if len(few) == 1 else "are medians"
    return [
        Verdict(
            level="note",
            text=f"{which}{named} {verb}, in at least one regime, and not the 90th percentile of "
            "speed, which has no interval below 16 samples.",
            remedy="give more --budget, or ask for fewer points",
        )
    ]
