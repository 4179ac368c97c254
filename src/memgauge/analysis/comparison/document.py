"""A comparison as plain data: what `memgauge compare --json` prints."""

from typing import Literal

import msgspec

from memgauge.analysis.comparison.figures import Direction, Source
from memgauge.analysis.comparison.names import labels_of
from memgauge.analysis.comparison.ratios import Comparison, Outcome, Pair, Row, Unpaired
from memgauge.analysis.comparison.verdicts import pair_verdicts, source_verdicts
from memgauge.analysis.document_figure import Figure
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import CONFIDENCE, has_interval

COMPARISON_VERSION = 1


class SourceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One side."""

    label: str
    name: str
    title: str
    published: bool
    run_id: str | None
    machine_id: str | None
    run_to_run_drift: float | None
    """None: not known."""
    complete: bool
    figures: int
    machine: dict[str, str]
    settings: dict[str, str]
    caveats: list[str]


class RowFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One figure in both."""

    name: str
    unit: str
    better: Direction
    statistic: str
    regime: str | None
    baseline: Figure
    other: Figure
    difference: float
    """Other less baseline, in the unit."""
    ratio: Figure
    """Other over baseline; its interval holds the run-to-run drift of both machines."""
    ratio_without_drift: Figure
    verdict: Outcome
    stands: bool
    """Among all comparisons of the pair, with 5% of the differences false."""
    p_value: float | None
    differs: dict[str, str]


class PairFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One source against the baseline."""

    baseline: str
    other: str
    verdicts: list[Verdict]
    rows: list[RowFigures]
    unpaired: list[Unpaired]


class ComparisonDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A whole comparison."""

    kind: Literal["comparison"]
    format_version: int
    confidence: float
    sources: list[SourceFacts]
    verdicts: list[Verdict]
    pairs: list[PairFigures]


def comparison_document(comparison: Comparison) -> ComparisonDocument:
    """Everything the report shows, in numbers; what is not known is null."""
    labels = labels_of(comparison.sources)
    return ComparisonDocument(
        kind="comparison",
        format_version=COMPARISON_VERSION,
        confidence=CONFIDENCE,
        sources=[_source(a, s) for a, s in zip(labels, comparison.sources, strict=True)],
        verdicts=source_verdicts(comparison),
        pairs=[_pair(a, p) for a, p in zip(labels[1:], comparison.pairs, strict=True)],
    )


def _source(label: str, source: Source) -> SourceFacts:
    return SourceFacts(
        label=label,
        name=source.name,
        title=source.title,
        published=source.published,
        run_id=source.run_id,
        machine_id=source.machine_id,
        run_to_run_drift=source.run_to_run_drift,
        complete=source.complete,
        figures=len(source.comparables),
        machine=source.traits,
        settings=source.settings,
        caveats=source.caveats,
    )


def _pair(label: str, pair: Pair) -> PairFigures:
    return PairFigures(
        baseline="A",
        other=label,
        verdicts=pair_verdicts(label, pair),
        rows=[_row(row) for row in pair.rows],
        unpaired=pair.unpaired,
    )


def _row(row: Row) -> RowFigures:
    return RowFigures(
        name=row.name,
        unit=row.unit,
        better=row.direction,
        statistic=row.statistic,
        regime=row.regime or None,
        baseline=_figure(row.baseline),
        other=_figure(row.other),
        difference=row.difference,
        ratio=_figure(row.widened),
        ratio_without_drift=_figure(row.ratio),
        verdict=row.outcome,
        stands=row.stands,
        p_value=row.p_value,
        differs=row.differs,
    )


def _figure(estimate: Estimate) -> Figure:
    known = has_interval(estimate)
    return Figure(
        value=estimate.value,
        low=estimate.low if known else None,
        high=estimate.high if known else None,
    )
