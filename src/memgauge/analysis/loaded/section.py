"""What the `loaded` points say: latency under load, saturation, the knee, lines in flight."""

from collections.abc import Sequence

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.scaling import scaling_of
from memgauge.analysis.loaded.charts import charts, generators_chart
from memgauge.analysis.loaded.figures import LoadedCurve, LoadedPoint, loaded_curves
from memgauge.analysis.loaded.replay import ReplayFigures, replay_figures
from memgauge.analysis.loaded.replay_section import (
    replay_chart,
    replay_opening,
    replay_table,
)
from memgauge.analysis.loaded.replay_verdicts import replay_verdicts
from memgauge.analysis.loaded.verdicts import full_speed_teams, main_curves, verdicts
from memgauge.analysis.section import Cell, Column, Section, Table, section_of
from memgauge.analysis.statistics.knee import share_of

NOTE = (
    "NT: non-temporal stores, others are ordinary. By: generating threads. Idle: latency beside "
    "the longest pause. Most: the largest bandwidth, by the generators' own count. Knee (Kneedle): "
    "where latency over bandwidth lies furthest below its chord; the interval reaches to the "
    "neighbouring delays. Lines: in flight at the knee, bandwidth x latency / line (Little's law)."
)
POINTS_NOTE = (
    "Medians over passes. Latency: of a walk of dependent loads, the mean over its loads. p50 and "
    "p99: of loads timed one by one beside the same traffic, the clock's cost taken off; p50 lies "
    "below the walk where a few loads wait much longer than most, and each has a fence at both "
    "ends, which the walk has not. Lines in flight: of the generators, their bandwidth by count "
    "and with write-allocate, times the probe's latency."
)


def analyse(figures: Figures) -> Section:
    """Tables, charts and verdicts of latency under load."""
    curves = loaded_curves(figures)
    replay = replay_figures(figures)
    if replay is not None and not curves:
        return _of_replay(replay)
    system = figures.run.start.system
    peak = system.theoretical_bandwidth_bytes_per_s
    peak_gb_per_s = peak * 1e-9 if peak else None
    mains = main_curves(curves)
    teams = full_speed_teams(curves, mains[0], system) if mains else []
    scaling = scaling_of(teams)
    over_threads = generators_chart(teams, scaling)
    return section_of(
        "loaded",
        verdicts=verdicts(curves, mains, scaling),
        tables=[_table(curves, peak_gb_per_s), _points(curves)] if curves else [],
        charts=[*charts(curves, peak_gb_per_s), *([over_threads] if over_threads else [])],
    )


def _of_replay(found: ReplayFigures) -> Section:
    """Of a run whose load is a profile: it has no curves."""
    picture = replay_chart(found)
    return section_of(
        "loaded",
        verdicts=replay_verdicts(found),
        tables=[replay_table(found)],
        charts=[picture] if picture else [],
        opening=replay_opening(found),
        title="Latency next to a replayed profile",
        question="How long does a load wait next to a program that moves what a profile counted?",
    )


def _table(curves: Sequence[LoadedCurve], peak_gb_per_s: float | None) -> Table:
    """A row for each curve: few enough columns for a terminal, and more for a page."""
    regimes = any(curve.regime for curve in curves)
    teams = len({curve.generators for curve in curves}) > 1
    columns = [
        Column(title="traffic"),
        Column(title="by", narrow=teams and not regimes),
        Column(title="threads", narrow=regimes),
        Column(title="idle", unit="ns", digits=0),
        Column(title="most", unit="GB/s"),
        Column(title="knee", unit="GB/s"),
        Column(title="of most", unit="%", digits=0, narrow=not regimes),
        Column(title="lines", digits=0, narrow=not regimes and not teams),
        *(Column(title=title, unit=unit, narrow=False) for title, unit in _FURTHER),
    ]
    return Table(
        name="loaded",
        title="Latency and bandwidth under load",
        columns=columns,
        rows=[_row(curve, peak_gb_per_s) for curve in curves],
        note=NOTE,
    )


_FURTHER = [
    ("load", None),
    ("stores", None),
    ("order", None),
    ("regime", None),
    ("knee is", None),
    ("knee of most", "%"),
    ("knee of theoretical peak", "%"),
    ("latency at knee", "ns"),
    ("lines at knee", None),
    ("latency at most", "ns"),
    ("p99 at most", "ns"),
    ("lines at most", None),
    ("most moved", "GB/s"),
    ("reads issued", "%"),
    ("delays", None),
    ("generators' CPUs", None),
    ("pages", None),
]


def traffic(curve: LoadedCurve) -> str:
    """The load in as few letters as may be, such as `75% reads, NT` or `all reads, random`."""
    stores = {"non-temporal": "NT"}.get(curve.store, "")
    order = "" if curve.order == "sequential" else curve.order
    return ", ".join(filter(None, (curve.load, stores, order)))


def _row(curve: LoadedCurve, peak_gb_per_s: float | None) -> list[Cell]:
    most, idle, at, knee = curve.saturated, curve.unloaded, curve.at_knee, curve.knee
    share = share_of(knee, most.bandwidth)
    lines = None if at is None else at.in_flight
    return [
        traffic(curve),
        curve.generators,
        regime_kind(curve.regime) or None,
        None if idle is None else idle.latency,
        most.bandwidth,
        None if at is None else knee.bandwidth,
        None if share is None else share.value,
        None if lines is None else lines.value,
        curve.load,
        curve.store or None,
        curve.order,
        curve.regime or None,
        knee.status,
        share,
        share_of(knee, peak_gb_per_s),
        None if at is None else knee.latency,
        lines,
        most.latency,
        most.times.p99,
        most.in_flight,
        most.moved,
        curve.share_issued,
        len(curve.points),
        curve.cpus or None,
        curve.pages or None,
    ]


def _points(curves: Sequence[LoadedCurve]) -> Table:
    """Every point of every curve; too wide for a terminal."""
    columns = [
        ("load", None),
        ("stores", None),
        ("order", None),
        ("generators", None),
        ("regime", None),
        ("delay", None),
        ("pause", "ns"),
        ("bandwidth", "GB/s"),
        ("with write-allocate", "GB/s"),
        ("latency", "ns"),
        ("p50", "ns"),
        ("p99", "ns"),
        ("loads timed", None),
        ("lines in flight", None),
        ("with write-allocate, lines", None),
        ("passes", None),
    ]
    return Table(
        name="loaded-points",
        title="Every delay",
        columns=[Column(title=title, unit=unit, narrow=False) for title, unit in columns],
        rows=[_point_row(curve, point) for curve in curves for point in curve.points],
        note=POINTS_NOTE,
    )


def _point_row(curve: LoadedCurve, point: LoadedPoint) -> list[Cell]:
    return [
        curve.load,
        curve.store or None,
        curve.order,
        curve.generators,
        curve.regime or None,
        point.delay,
        point.delay_ns,
        point.bandwidth,
        point.moved,
        point.latency,
        point.times.p50,
        point.times.p99,
        point.times.loads,
        point.in_flight,
        point.in_flight_moved,
        point.samples,
    ]
