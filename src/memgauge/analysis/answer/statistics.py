"""Which statistic the figures of an answer are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.summary import Statistic
from memgauge.analysis.section import AnswerLine

MEDIANS = "medians"


def median_words(statistics: Iterable[Statistic]) -> str:
    """What to say of figures that are no 90th percentiles of speed; empty: all are."""
    found = set(statistics)
    if "median" not in found:
        return ""
    return MEDIANS if found == {"median"} else f"some {MEDIANS}"


def statistic_line(figures: Figures) -> Iterator[AnswerLine]:
    """What a figure is where its line says nothing of it; none where nothing was sampled."""
    if any(figures.summaries[point] for point in figures.run.points):
        yield AnswerLine(
            label="Figures",
            figures=[],
            detail="90th percentiles of speed in this run, unless called medians; ± is their 95% "
            "interval",
        )
