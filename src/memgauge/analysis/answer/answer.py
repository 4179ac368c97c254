"""The answer of a run of several experiments."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.answer.bandwidth import bandwidth_lines, scaling_line
from memgauge.analysis.answer.latency import caches_line, latency_line, loaded_line, tlb_line
from memgauge.analysis.answer.memories import cores_line, tiers_lines
from memgauge.analysis.answer.next_steps import next_steps
from memgauge.analysis.answer.published import published_lines
from memgauge.analysis.answer.quality import quality_of
from memgauge.analysis.answer.statistics import statistic_line
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Answer, AnswerLine, Section, Verdict

LINES = (
    bandwidth_lines,
    latency_line,
    loaded_line,
    caches_line,
    tlb_line,
    tiers_lines,
    cores_line,
    scaling_line,
    published_lines,
    statistic_line,
)


def answer_of(figures: Figures, verdicts: Sequence[Verdict], sections: Sequence[Section]) -> Answer:
    """The key figures, how good the run is, and what to do next.

    Args:
        figures: Of the run.
        verdicts: Of the run as a whole.
        sections: Of its experiments; their verdicts are among what may be done next.
    """
    every = [*verdicts, *(verdict for section in sections for verdict in section.verdicts)]
    return Answer(
        quality=quality_of(figures),
        lines=_lines(figures),
        next_steps=next_steps(every),
        charts=_charts(sections),
    )


def key_lines(figures: Figures) -> list[AnswerLine]:
    """The same lines of a run of one experiment; none where it measured no key figure."""
    lines = _lines(figures)
    return lines if any(line.figures for line in lines) else []


def _lines(figures: Figures) -> list[AnswerLine]:
    return [line for lines in LINES for line in lines(figures)]


def _charts(sections: Sequence[Section]) -> list[str]:
    """Latency over footprint, and latency against bandwidth by the main load."""
    by_section = {section.name: [chart.name for chart in section.charts] for section in sections}
    found = (by_section.get(name, [])[:1] for name in ("workingset", "loaded"))
    return [name for names in found for name in names]
