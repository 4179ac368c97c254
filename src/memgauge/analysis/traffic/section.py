"""What the `traffic` points say: reads and writes of loop nests, expected, simulated, measured."""

from __future__ import annotations

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Section
from memgauge.analysis.traffic.charts import charts
from memgauge.analysis.traffic.figures import NAME, curves_of
from memgauge.analysis.traffic.tables import tables
from memgauge.analysis.traffic.verdicts import verdicts

TITLE = "Expected, simulated, measured"
QUESTION = "What should a loop nest read and write, what would caches make of it, what is counted?"


def analyse(figures: Figures) -> Section:
    """Verdicts, tables and pictures."""
    curves = curves_of(figures)
    return Section(
        name=NAME,
        title=TITLE,
        question=QUESTION,
        verdicts=list(verdicts(curves)),
        tables=tables(curves),
        charts=charts(curves),
    )
