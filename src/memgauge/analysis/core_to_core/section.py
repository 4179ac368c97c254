"""What the `core_to_core` points show: latency by pair, groups, moves, and contention."""

from __future__ import annotations

from memgauge.analysis.core_to_core.charts import contended_chart, heat_map
from memgauge.analysis.core_to_core.figures import matrix_of, teams_of
from memgauge.analysis.core_to_core.groups import grouping_of
from memgauge.analysis.core_to_core.moves import watched_pairs
from memgauge.analysis.core_to_core.tables import contended_table, pairs_table, relations_table
from memgauge.analysis.core_to_core.verdicts import contended_verdicts, pair_verdicts
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Section, Verdict, section_of
from memgauge.model.points.core_to_core import STORE, SWAP


def analyse(figures: Figures) -> Section:
    """Verdicts, tables and pictures."""
    matrix, teams = matrix_of(figures), teams_of(figures)
    contended = [*contended_verdicts(teams)]
    if matrix is None:
        missing = Verdict(level="warning", text="No pair of CPUs was measured.")
        return section_of(
            "core_to_core",
            verdicts=[missing, *contended],
            tables=contended_table(teams),
            charts=contended_chart(teams),
        )
    watched = watched_pairs(figures)
    return section_of(
        "core_to_core",
        verdicts=[*pair_verdicts(figures, matrix, grouping_of(matrix), watched), *contended],
        tables=[
            relations_table(matrix),
            *contended_table(teams),
            *pairs_table(matrix, watched),
        ],
        charts=[
            *(heat_map(matrix, how) for how in (STORE, SWAP) if matrix.results.get(how)),
            *contended_chart(teams),
        ],
    )
