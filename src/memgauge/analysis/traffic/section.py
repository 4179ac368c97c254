"""What the `traffic` points show: reads and writes of loop nests, expected, simulated, measured."""

from __future__ import annotations

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Section, section_of
from memgauge.analysis.traffic import distances, libraries
from memgauge.analysis.traffic.charts import charts
from memgauge.analysis.traffic.figures import NAME, curves_of
from memgauge.analysis.traffic.opening import opening
from memgauge.analysis.traffic.tables import tables
from memgauge.analysis.traffic.verdicts import verdicts


def analyse(figures: Figures) -> Section:
    """Verdicts, tables and pictures."""
    curves = curves_of(figures)
    compared = distances.compared(curves)
    return section_of(
        NAME,
        verdicts=[
            *verdicts(curves),
            *libraries.verdicts(curves),
            *distances.verdicts(compared),
        ],
        tables=[*libraries.tables(curves), *tables(curves), *distances.tables(compared)],
        opening=opening(curves),
        charts=[*libraries.charts(curves), *charts(curves), *distances.charts(compared)],
    )
