"""What a reader must know about the samples behind an experiment's figures."""

from __future__ import annotations

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Verdict

NAMED = 3
"""Points that are named; of more their number alone."""


def sample_notes(figures: Figures, experiment: str) -> list[Verdict]:
    """Which figures are medians, and whose samples had two speeds by turns."""
    return [*_medians(figures, experiment), *_speeds(figures, experiment)]


def _medians(figures: Figures, experiment: str) -> list[Verdict]:
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


def _speeds(figures: Figures, experiment: str) -> list[Verdict]:
    """A note about points that were fast and slow by turns; none, no note."""
    slices = list(figures.slices(experiment))
    found = [(p, one.two_speeds) for p, one in slices if one.two_speeds is not None]
    if not found:
        return []
    point, most = max(found, key=lambda entry: entry[1].high / entry[1].low)
    ratio = most.high / most.low - 1
    is_fast_high = point.quantity == "bandwidth"
    slow_share = 1 - most.high_share if is_fast_high else most.high_share
    points = len({p.point for p, _ in found})
    which = f"{points} of {len({p.point for p, _ in slices})} points" if points > 1 else "One point"
    most_of_all = f"most of all {point.point}" if points > 1 else point.point
    return [
        Verdict(
            level="note",
            text=f"{which} had two speeds by turns, {most_of_all}: {ratio:.0%} apart, the slower "
            f"one in {slow_share:.0%} of its samples, in {most.stretches} stretches. A figure is "
            "that of the faster speed where this one lasted more than a tenth of the time.",
            remedy="measure longer to see both speeds in their usual shares",
        )
    ]
