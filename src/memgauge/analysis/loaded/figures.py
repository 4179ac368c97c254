"""The `loaded` points of a run as curves: latency beside bandwidth, from long delays to none.

Latency and bandwidth of a curve are medians, and both of the same passes: a team seen at two
distances gives one curve for each. The walk's latency is a mean over its loads in each pass; p50
and p99 are of loads timed one by one.
"""

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.concurrency import line_bytes_of, lines_in_flight
from memgauge.analysis.figures.regimes import regime_kind, team_of
from memgauge.analysis.figures.run import Figures, once, scaled
from memgauge.analysis.figures.speeds import had_page_fault, was_switched_out
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.knee import LEAST_RISE, Knee, LoadPoint, find_knee
from memgauge.analysis.statistics.tails import LoadTimes, load_times
from memgauge.model.points.loaded import LoadedActual, LoadedRequested
from memgauge.model.records import Point

LEAST_SAMPLES = 3
"""Of a regime, where there are two: below these a point is no part of its curve."""
ISSUED_OFF = 0.005
"""Share of reads issued that may differ from the one asked for."""
UNLOADED_SHARE = 0.1
"""Of the saturated bandwidth: above it the longest delay still loads the memory."""


class LoadedPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One delay of a curve."""

    delay: int
    """Units of the generators' pause."""
    delay_ns: float | None
    latency: Estimate
    """Of the walk, ns: median over sampling passes."""
    bandwidth: Estimate
    """GB/s that the generators counted: median over the same passes."""
    moved: Estimate | None
    """With the lines that ordinary stores read first."""
    times: LoadTimes
    in_flight: Estimate | None
    """Lines, by Little's law, of the bandwidth counted."""
    in_flight_moved: Estimate | None
    """The same of the bandwidth moved; None where both are the same."""
    samples: int
    names: tuple[str, str]
    """Of the points of latency and bandwidth."""


class LoadedCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One load at all its delays, by one team in one regime."""

    read_share: float
    share_issued: float | None
    store: str
    """temporal, non-temporal, or empty: nothing is written."""
    order: str
    generators: int
    cpus: str
    """Of the generators."""
    team_cpus: str
    """With the probe's."""
    memory: str
    pages: str
    regime: str
    points: list[LoadedPoint]
    """The longest delay first."""
    knee: Knee

    @property
    def load(self) -> str:
        """The mix in words, such as `75% reads`."""
        return read_share_text(self.read_share)

    @property
    def unloaded(self) -> LoadedPoint | None:
        """The longest delay; None where even it loads the memory."""
        first = self.points[0]
        limit = UNLOADED_SHARE * self.saturated.bandwidth.value
        return first if first.bandwidth.value <= limit else None

    @property
    def saturated(self) -> LoadedPoint:
        """Where bandwidth is largest."""
        return max(self.points, key=lambda point: point.bandwidth.value)

    @property
    def reaches_saturation(self) -> bool:
        """False where latency hardly rises up to the largest bandwidth, without a knee."""
        return self.knee.status != "none" or (self.knee.rise or 0.0) >= LEAST_RISE

    @property
    def at_knee(self) -> LoadedPoint | None:
        """The point at the knee."""
        return None if self.knee.index is None else self.points[self.knee.index]

    @property
    def full_speed(self) -> LoadedPoint | None:
        """Generators without a pause."""
        last = self.points[-1]
        return last if last.delay == 0 else None


def read_share_text(read_share: float) -> str:
    """A share of reads in words."""
    if read_share >= 1:
        return "all reads"
    return f"{100 * read_share:.3g}% reads" if read_share > 0 else "all writes"


class _Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Latency and traffic that were measured together."""

    latency: Point
    traffic: Point
    requested: LoadedRequested
    actual: LoadedActual


@once
def loaded_curves(figures: Figures) -> list[LoadedCurve]:
    """Curves of a run in the order of declaration, where both sides were measured."""
    points: dict[tuple[LoadedRequested, str], list[LoadedPoint]] = {}
    first: dict[tuple[LoadedRequested, str], _Pair] = {}
    for pair in _pairs(figures):
        for summary in figures.summaries[pair.latency.point]:
            found = _point(figures, pair, summary)
            if found is not None:
                curve = msgspec.structs.replace(pair.requested, delay=None)
                key = (curve, regime_kind(summary.regime))
                points.setdefault(key, []).append(found)
                first.setdefault(key, pair)
    names = _regime_names(figures)
    return [_curve(first[key], names.get(key[-1], key[-1]), points[key]) for key in points]


def _pairs(figures: Figures) -> list[_Pair]:
    declared = list(figures.run.points_of("loaded"))
    traffic = {point.measured_with: point for point in declared if point.measured_with is not None}
    found = []
    for point in declared:
        beside = traffic.get(point.point)
        requested = LoadedRequested.of(point.requested)
        known = requested.read_share is not None and requested.delay is not None
        if beside is None or not known:
            continue
        if (point.quantity, beside.quantity) == ("latency", "bandwidth"):
            actual = LoadedActual.of(point.actual)
            found.append(_Pair(latency=point, traffic=beside, requested=requested, actual=actual))
    return found


def _regime_names(figures: Figures) -> dict[str, str]:
    """The first full name of each kind of regime."""
    names: dict[str, str] = {}
    for _, summary in figures.of("loaded"):
        names.setdefault(regime_kind(summary.regime), summary.regime)
    return names


def _curve(pair: _Pair, regime: str, points: list[LoadedPoint]) -> LoadedCurve:
    requested, actual = pair.requested, pair.actual
    ordered = sorted(points, key=lambda one: -one.delay)
    return LoadedCurve(
        read_share=requested.read_share or 0.0,
        share_issued=actual.read_share_issued,
        store=requested.store,
        order=requested.order,
        generators=requested.generators or 0,
        cpus=actual.generator_cpus,
        team_cpus=actual.cpus,
        memory=requested.memory,
        pages=actual.pages,
        regime=regime,
        points=ordered,
        knee=find_knee([LoadPoint(one.bandwidth, one.latency) for one in ordered]),
    )


def _point(figures: Figures, pair: _Pair, summary: PointSummary) -> LoadedPoint | None:
    point, follower = pair.latency, pair.traffic
    kind = regime_kind(summary.regime)
    beside = _beside(figures.summaries[follower.point], kind)
    if beside is None or summary.median is None or beside.median is None:
        return None
    if kind and min(summary.samples, beside.samples) < LEAST_SAMPLES:
        return None
    line_bytes = line_bytes_of(figures.run.start.system)
    ratio = follower.bytes_moved / follower.bytes_counted if follower.bytes_counted else 0.0
    moved = scaled(beside.median, ratio) if ratio else None
    extra = moved if ratio > 1 else None
    return LoadedPoint(
        delay=pair.requested.delay or 0,
        delay_ns=pair.actual.delay_ns,
        latency=summary.median,
        bandwidth=beside.median,
        moved=moved,
        times=load_times(_histograms(figures, point, kind), figures.run.start.clock),
        in_flight=lines_in_flight(beside.median, summary.median, line_bytes),
        in_flight_moved=lines_in_flight(extra, summary.median, line_bytes),
        samples=min(summary.samples, beside.samples),
        names=(point.point, follower.point),
    )


def _beside(summaries: Sequence[PointSummary], kind: str) -> PointSummary | None:
    """The follower's figures of the same regime; a team without distinct regimes has only one."""
    return next((one for one in summaries if regime_kind(one.regime) == kind), None)


def _histograms(figures: Figures, point: Point, kind: str) -> list[list[tuple[int, int]]]:
    """Single loads of the clean samples of one regime."""
    regimes = figures.teams[team_of(point)]
    found = []
    for sample in figures.run.samples_of(point.point):
        regime = regimes.of(sample.pingpong_ns)
        clean = not (was_switched_out(sample) or had_page_fault(sample))
        if clean and regime is not None and (not kind or regime_kind(regime.name) == kind):
            found.append(sample.load_ns)
    return found
