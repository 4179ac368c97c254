"""A comparison as plain data: what `memgauge compare --json` prints."""

from typing import Literal

import msgspec

from memgauge.analysis.comparison.diagnoses import Diagnosed, DiagnosisPair, DiagnosisRow
from memgauge.analysis.comparison.diagnoses import Outcome as DiagnosisOutcome
from memgauge.analysis.comparison.figures import Direction, Source
from memgauge.analysis.comparison.judged_runs import Paces
from memgauge.analysis.comparison.names import labels_of
from memgauge.analysis.comparison.partners import Unpaired
from memgauge.analysis.comparison.ratios import Comparison, Outcome, Pair, Row
from memgauge.analysis.comparison.verdicts import pair_verdicts, source_verdicts
from memgauge.analysis.diagnose.judgement import Kind
from memgauge.analysis.diagnose.translation import TranslationKind
from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import CONFIDENCE, has_interval

COMPARISON_VERSION = 1


class RunOfSide(msgspec.Struct, frozen=True, kw_only=True):
    """One of several runs of a side."""

    name: str
    title: str
    run_id: str | None
    complete: bool


class SourceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One side."""

    label: str
    name: str
    title: str
    published: bool
    """Whether it is no run but a published table or a file of another tool."""
    run_id: str | None
    machine_id: str | None
    run_to_run_drift: float | None
    """None: not known."""
    complete: bool
    figures: int
    machine: dict[str, str]
    settings: dict[str, str]
    caveats: list[str]
    tool: str | None = None
    """What wrote the file, of a file of another tool."""
    runs: list[RunOfSide] = []
    """Of a side of several runs; `machine` and `settings` are then what all have in common."""


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
    """Other over baseline; its interval holds the run-to-run drift of both machines, or of several
    runs a side what varies between them."""
    ratio_without_drift: Figure
    """By the intervals of both figures; without an interval of several runs a side."""
    ratio_apart_from_pace: Figure | None = None
    """Of several runs a side: without what all figures of a run have in common. The verdict is of
    this ratio."""
    verdict: Outcome
    stands: bool
    """Several runs a side show the difference, among all comparisons of the pair with 5% of the
    differences false; never true of one run a side."""
    p_value: float | None
    """Of the ratio that the verdict is of."""
    differs: dict[str, str]


class PaceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What all figures of each run have in common."""

    baseline: list[float]
    """Share by which each run is faster than the mean of all runs, in the order of the runs."""
    other: list[float]
    ratio: Figure
    """Speed of the other side over the baseline's."""
    p_value: float
    differs: bool
    """At 95%."""


class DiagnosisOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """The diagnosis of one run, as far as it is compared."""

    program: str
    verdict: Kind
    why: str
    metric: str
    """What `time` is: elapsed time, or a number that was printed."""
    time: Figure | None
    latency_under_writes: Figure | None
    """Slowdown of the latency reference: how strong pressure was."""
    translation: TranslationKind | None
    """What pages tell of address translation; null: no other pages were tried."""


class DiagnosisRowFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of both diagnoses: a share of time, or a time over the usual one."""

    name: str
    baseline: Figure | None
    """Of several runs a side their mean."""
    other: Figure | None
    difference: Figure | None
    """Other less baseline."""
    verdict: DiagnosisOutcome
    stands: bool
    """Several runs a side show it, among all figures with 5% of the differences false; never true
    of one run a side."""


class DiagnosisComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two diagnoses: is the one program less sensitive to memory than the other?"""

    baseline: list[DiagnosisOfRun]
    other: list[DiagnosisOfRun]
    deciding: str | None
    """Name of the figure by which one is less sensitive; null: it cannot be told."""
    has_equal_doses: bool | None
    """Whether pressure was equally strong; null: not known."""
    rows: list[DiagnosisRowFigures]


class PairFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One source against the baseline."""

    baseline: str
    other: str
    verdicts: list[Verdict]
    rows: list[RowFigures]
    unpaired: list[Unpaired]
    paces: PaceFigures | None = None
    """Of several runs a side; null where the figures are too few."""
    diagnosis: DiagnosisComparison | None = None
    """Where all runs of both sides are diagnoses."""


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
        figures=source.figures,
        machine=source.traits,
        settings=source.settings,
        caveats=source.caveats,
        tool=source.tool or None,
        runs=[
            RunOfSide(name=run.name, title=run.title, run_id=run.run_id, complete=run.complete)
            for run in source.runs
        ],
    )


def _pair(label: str, pair: Pair) -> PairFigures:
    return PairFigures(
        baseline="A",
        other=label,
        verdicts=pair_verdicts(label, pair),
        rows=[_row(row) for row in pair.rows],
        unpaired=pair.unpaired,
        paces=None if pair.paces is None else _paces(pair.paces),
        diagnosis=None if pair.diagnosis is None else _diagnosis(pair.diagnosis),
    )


def _diagnosis(pair: DiagnosisPair) -> DiagnosisComparison:
    return DiagnosisComparison(
        baseline=[_of_run(one) for one in pair.baseline],
        other=[_of_run(one) for one in pair.other],
        deciding=pair.deciding.name if pair.deciding else None,
        has_equal_doses=pair.has_equal_doses,
        rows=[_diagnosis_row(row) for row in pair.rows],
    )


def _of_run(one: Diagnosed) -> DiagnosisOfRun:
    return DiagnosisOfRun(
        program=one.program,
        verdict=one.verdict,
        why=one.why,
        metric=one.metric,
        time=figure(one.time),
        latency_under_writes=figure(one.dose),
        translation=one.translation.kind if one.translation else None,
    )


def _diagnosis_row(row: DiagnosisRow) -> DiagnosisRowFigures:
    return DiagnosisRowFigures(
        name=row.name,
        baseline=figure(row.baseline),
        other=figure(row.other),
        difference=figure(row.difference),
        verdict=row.outcome,
        stands=row.stands,
    )


def _paces(paces: Paces) -> PaceFigures:
    return PaceFigures(
        baseline=paces.baseline,
        other=paces.other,
        ratio=_figure(paces.ratio),
        p_value=paces.p_value,
        differs=paces.differs,
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
        ratio_apart_from_pace=None if row.apart is None else _figure(row.apart),
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
