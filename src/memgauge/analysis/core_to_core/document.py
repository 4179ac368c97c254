"""Core to core as plain data, for `--json`; the figures of each pair are among the points."""

from __future__ import annotations

import msgspec

from memgauge.analysis.core_to_core.figures import Matrix, matrix_of, relations_of, teams_of
from memgauge.analysis.core_to_core.groups import FoundLevel, grouping_of
from memgauge.analysis.core_to_core.moves import Watched, watched_pairs
from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.figures.run import Figures


class RelationFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs that share one thing by the topology, and nothing finer."""

    shared: str
    pairs: int
    measured: int
    """Pairs; for the others the figures are inferred."""
    median_ns: dict[str, float]
    """One way, over the measured pairs, by operation; empty: none was measured."""
    low_ns: dict[str, float]
    high_ns: dict[str, float]


class ContendedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A team that contends for one line."""

    point: str
    operation: str
    threads: int
    operation_ns: Figure | None
    """Of all threads together."""
    millions_per_s: Figure | None


class CoreToCoreFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Which CPUs are near each other, and what a contended line allows."""

    cpus: list[int]
    pairs_possible: int
    pairs_measured: int
    relations: list[RelationFigures]
    levels: list[FoundLevel] | None
    """Groups of CPUs by latency; empty: there are none; None: it cannot be told."""
    distances: list[Watched]
    """Of each pair over the rounds, those that changed most first."""
    contended: list[ContendedFigures]


def core_to_core_figures(figures: Figures) -> CoreToCoreFigures | None:
    """Of a run that holds `core_to_core`; None: of any other."""
    matrix, teams = matrix_of(figures), teams_of(figures)
    if matrix is None and not teams:
        return None
    grouping = None if matrix is None else grouping_of(matrix)
    return CoreToCoreFigures(
        cpus=[] if matrix is None else sorted(matrix.cpus),
        pairs_possible=0 if matrix is None else matrix.pairs_possible,
        pairs_measured=0 if matrix is None else len(matrix.measured),
        relations=[] if matrix is None else _relations(matrix),
        levels=None if grouping is None else grouping.levels,
        distances=watched_pairs(figures),
        contended=[
            ContendedFigures(
                point=team.point.point,
                operation=team.operation,
                threads=team.threads,
                operation_ns=figure(team.summary.sustained),
                millions_per_s=figure(team.millions_per_s),
            )
            for team in teams
        ],
    )


def _relations(matrix: Matrix) -> list[RelationFigures]:
    return [
        RelationFigures(
            shared=one.name,
            pairs=one.pairs,
            measured=one.measured,
            median_ns={operation: ns[0] for operation, ns in one.ns.items()},
            low_ns={operation: ns[1] for operation, ns in one.ns.items()},
            high_ns={operation: ns[2] for operation, ns in one.ns.items()},
        )
        for one in relations_of(matrix)
    ]
