"""The figures of a run as plain data: what `--json` prints, with a schema that can be published."""

from typing import Literal

import msgspec

from memgauge.analysis.answer.quality import quality_of
from memgauge.analysis.core_to_core.document import CoreToCoreFigures, core_to_core_figures
from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.document import HardwareFigures, hardware_figures
from memgauge.analysis.counters.figures import counts_of
from memgauge.analysis.counters_compare.document import RouteFigures, route_figures
from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.analysis.diagnose.document import DiagnosisFigures, diagnosis_figures
from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.fft3d.document import JobFigures, job_figures
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.figures.speeds import PassTimes
from memgauge.analysis.figures.summary import PointSummary, Statistic
from memgauge.analysis.loaded.replay_document import ReplayDocument, replay_document
from memgauge.analysis.misses.document import WalkFigures, walk_figures
from memgauge.analysis.profile.document import ProfileFigures, profile_figures
from memgauge.analysis.profile.section import is_profile
from memgauge.analysis.report.checks import Check
from memgauge.analysis.report.cross_checks import crosschecks
from memgauge.analysis.report.earlier_runs import headline_value
from memgauge.analysis.report.headlines import headlines
from memgauge.analysis.report.run import (
    experiments_of,
    sections_of,
    status_line,
    verdicts_of,
)
from memgauge.analysis.section import BetweenRuns, Headline, Quality, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import CONFIDENCE
from memgauge.analysis.statistics.two_speeds import TwoSpeeds
from memgauge.analysis.tiers.document import TierFigures, tier_figures
from memgauge.analysis.traffic.document import NestFigures, traffic_figures
from memgauge.analysis.transfers.document import (
    BesideTransfersFigures,
    TransferFigures,
    beside_transfers_figures,
    transfer_figures,
)
from memgauge.analysis.workingset.claims import Status
from memgauge.analysis.workingset.section import find
from memgauge.model.counting.events import EventVerdict
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Validation, Warning
from memgauge.model.run import Run
from memgauge.model.system import System

DOCUMENT_VERSION = 2


class PointFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One point in one regime."""

    point: str
    quantity: Literal["bandwidth", "latency"]
    unit: str
    """Of sustained and median: GB/s (1e9 bytes a second) or ns."""
    role: Literal["slice", "pass", "counted", "run"]
    threads: int
    regime: str | None
    """None: the team was seen in one only."""
    pingpong_ns: float | None
    share: float | None
    """Of the point's clean samples that were in this regime."""
    sustained: Figure | None
    statistic: Statistic
    """What sustained is: the 90th percentile of speed, or the median of fewer than 16 samples."""
    median: Figure | None
    cycles: Figure | None
    """Sustained latency in core cycles."""
    stream: PassTimes | None
    """STREAM's best of N whole passes, of points with that role."""
    moved_per_counted: float | None
    """Bytes memory moves for each byte that the figures count; bandwidth only."""
    samples: int
    set_aside: int
    noise: float | None
    """(90th - 10th percentile) / median."""
    two_speeds: TwoSpeeds | None
    """Two levels of the samples by turns, each of which lasts; None: one, or not known."""
    requested_precision: float
    reached: bool
    requested: dict[str, Scalar]
    actual: dict[str, Scalar]


class LevelFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A level of the memory hierarchy: found in the curve, claimed by the topology, or both."""

    name: str
    status: Status
    latency_ns: float | None
    fits_bytes: int | None
    """The largest footprint wholly on the plateau."""
    capacity_low_bytes: int | None
    """The largest nearer to this level than to the next; None where no end was found."""
    capacity_high_bytes: int | None
    """The smallest nearer to the next."""
    claimed_bytes: int | None


class SectionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment."""

    name: str
    title: str
    question: str
    verdicts: list[Verdict]
    points: list[PointFigures]
    levels: list[LevelFigures]
    hardware: list[HardwareFigures] = []
    """What memory's own counters say, where they were asked for; in `stream` only."""


class CheckFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Two figures that two experiments give for the same thing."""

    what: str
    unit: str
    one_name: str
    """Point, and regime where there are several, of the first side; the next of the other."""
    other_name: str
    one: Figure | None
    other: Figure | None
    difference: float | None
    """Of the first side from the other, as a share of the other."""
    difference_low: float | None
    difference_high: float | None
    """What the intervals allow it to be; None: not known."""
    allowed: float | None
    outcome: Literal["agrees", "disagrees", "inconclusive"]
    why: str | None
    """Why it cannot be determined."""


class HeadlineFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One of the key figures at the top of a report."""

    label: str
    unit: str | None
    """Of the figure: GB/s, ns, `B` (bytes), or `%` (of a share from 0 to 1)."""
    figure: Figure
    detail: str | None
    between_runs: BetweenRuns | None
    """None: fewer than three runs of this machine made alike are known."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A run, analysed, as data."""

    format_version: int
    memgauge_version: str
    run_id: str
    started_at: str
    experiments: list[str]
    parameters: dict[str, dict[str, Scalar]]
    budget_s: float
    precision: float
    confidence: float
    """Of all intervals."""
    run_to_run_drift: float | None
    """Half width of the interval for the machine's pace in another run, as a share of it, beyond
    the intervals of the figures; None: too few points or rounds to tell."""
    end: Literal["complete", "budget", "interrupted", "failed"] | None
    """None: killed, or still being written."""
    status: str
    rounds: int
    system: System
    software: dict[str, str]
    verdicts: list[Verdict]
    quality: Quality | None = None
    """How far the run can be trusted as a whole."""
    sections: list[SectionFigures]
    headlines: list[HeadlineFigures] = []
    cross_checks: list[CheckFigures]
    """Of experiments against each other; empty where the run holds no two that measure the same."""
    validations: list[Validation]
    warnings: list[Warning]
    profile: ProfileFigures | None = None
    """Of a run of `memgauge profile`."""
    counters: list[EventVerdict] = []
    """Of a run of `memgauge counters verify`."""
    counters_compare: list[RouteFigures] = []
    """Of a run of `memgauge counters compare`."""
    tiers: list[TierFigures] = []
    """Two groups of threads beside each other, for each work, team and regime."""
    transfers: list[TransferFigures] = []
    """To and from a GPU, over the size of one; for each pair of memories and direction."""
    beside_transfers: list[BesideTransfersFigures] = []
    """The host's threads beside transfers to a GPU, of `tiers` whose group B is one."""
    traffic: list[NestFigures] = []
    """Loop nests: expected, simulated, measured."""
    misses: list[WalkFigures] = []
    """Walks of saxpy, of a run that holds `misses`: measured, modelled, counted."""
    core_to_core: CoreToCoreFigures | None = None
    """Groups of CPUs by the latency of a line, and contention, of a run that holds these."""
    fft3d: JobFigures | None = None
    """Of a job of `memgauge fft3d`."""
    diagnosis: DiagnosisFigures | None = None
    """Of a run of `memgauge diagnose`."""
    replay: ReplayDocument | None = None
    """Of a run of `memgauge loaded --like`."""


def json_document(run: Run) -> Document:
    """The figures of a run; of one that was killed, those of what was measured."""
    return document_of(figures_of(run))


def document_of(figures: Figures) -> Document:
    """The same, of a run whose figures are known."""
    run = figures.run
    start = run.start
    return Document(
        format_version=DOCUMENT_VERSION,
        memgauge_version=start.memgauge_version,
        run_id=start.run_id,
        started_at=start.started_at,
        experiments=experiments_of(run),
        parameters=start.parameters,
        budget_s=start.budget_s,
        precision=figures.precision,
        confidence=CONFIDENCE,
        run_to_run_drift=figures.run_to_run_drift,
        end=run.end.status if run.end else None,
        status=status_line(figures),
        rounds=run.rounds,
        system=start.system,
        software=start.software,
        verdicts=verdicts_of(figures),
        quality=quality_of(figures),
        sections=_sections(figures),
        headlines=[one for one in map(_headline, headlines(figures)) if one is not None],
        cross_checks=[_check(check) for check in crosschecks(figures)],
        validations=run.validations,
        warnings=run.warnings,
        profile=profile_figures(run) if is_profile(run) else None,
        counters=event_verdicts(run),
        counters_compare=route_figures(run),
        tiers=tier_figures(figures),
        transfers=transfer_figures(figures),
        beside_transfers=beside_transfers_figures(figures),
        traffic=traffic_figures(figures),
        misses=walk_figures(figures),
        core_to_core=core_to_core_figures(figures),
        fft3d=job_figures(run),
        diagnosis=diagnosis_figures(figures),
        replay=replay_document(figures),
    )


def _headline(headline: Headline) -> HeadlineFigures | None:
    """None where it has no number."""
    value = headline_value(headline)
    if value is None:
        return None
    known = figure(headline.value) if isinstance(headline.value, Estimate) else None
    return HeadlineFigures(
        label=headline.label,
        unit=headline.unit,
        figure=known or Figure(value=value, low=None, high=None),
        detail=headline.detail,
        between_runs=headline.between,
    )


def _check(check: Check) -> CheckFigures:
    return CheckFigures(
        what=check.what,
        unit=check.unit,
        one_name=check.one_name,
        other_name=check.other_name,
        one=figure(check.one),
        other=figure(check.other),
        difference=check.difference,
        difference_low=check.difference_low,
        difference_high=check.difference_high,
        allowed=check.allowed,
        outcome=check.outcome,
        why=check.why,
    )


def _sections(figures: Figures) -> list[SectionFigures]:
    return [
        SectionFigures(
            name=section.name,
            title=section.title,
            question=section.question,
            verdicts=section.verdicts,
            points=[_point(point, summary) for point, summary in figures.of(section.name)],
            levels=_levels(figures) if section.name == "workingset" else [],
            hardware=_hardware(figures) if section.name == "stream" else [],
        )
        for section in sections_of(figures)
    ]


def _point(point: Point, summary: PointSummary) -> PointFigures:
    counted = point.bytes_counted
    return PointFigures(
        point=point.point,
        quantity=point.quantity,
        unit=summary.unit,
        role=point.role,
        threads=point.threads,
        regime=summary.regime or None,
        pingpong_ns=summary.pingpong_ns,
        share=summary.share,
        sustained=figure(summary.sustained),
        statistic=summary.statistic,
        two_speeds=summary.two_speeds,
        median=figure(summary.median),
        cycles=figure(summary.cycles),
        stream=summary.passes,
        moved_per_counted=point.bytes_moved / counted if counted and point.bytes_moved else None,
        samples=summary.samples,
        set_aside=summary.set_aside,
        noise=summary.noise,
        requested_precision=summary.requested_precision,
        reached=summary.reached,
        requested=point.requested,
        actual=point.actual,
    )


def _hardware(figures: Figures) -> list[HardwareFigures]:
    every = [hardware_bandwidth(counts) for counts in counts_of(figures)]
    return [hardware_figures(one, every) for one in every]


def _levels(figures: Figures) -> list[LevelFigures]:
    return [
        LevelFigures(
            name=finding.name,
            status=finding.status,
            latency_ns=finding.level.latency_ns if finding.level else None,
            fits_bytes=finding.level.fits_bytes if finding.level else None,
            capacity_low_bytes=finding.level.capacity_bytes if finding.level else None,
            capacity_high_bytes=finding.level.capacity_high_bytes if finding.level else None,
            claimed_bytes=finding.claimed_bytes,
        )
        for finding in find(figures)
    ]
