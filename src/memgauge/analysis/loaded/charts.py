"""Pictures of the `loaded` curves: families of latency over bandwidth, and generators over each."""

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures import scaling_report
from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import series
from memgauge.analysis.figures.scaling import Scaling, Team
from memgauge.analysis.loaded.figures import LoadedCurve
from memgauge.analysis.section import Axis, Chart, Mark, Rule, Series
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.units import format_count

MOST_LINES = 7
LEAST_POINTS = 3
"""Of a curve that is drawn."""

Panel = tuple[str, str, str]
"""Order, stores and regime of the curves in one picture."""


def charts(curves: Sequence[LoadedCurve], peak_gb_per_s: float | None) -> list[Chart]:
    """A family for each order, kind of stores and regime; then all reads by generators."""
    drawn = [curve for curve in curves if len(curve.points) >= LEAST_POINTS]
    if not drawn:
        return []
    most = max(curve.generators for curve in drawn)
    families = _families([curve for curve in drawn if curve.generators == most])
    found = [_family(panel, members, peak_gb_per_s) for panel, members in families.items()]
    return [*found, *_by_generators(drawn, peak_gb_per_s)]


def _families(curves: Sequence[LoadedCurve]) -> dict[Panel, list[LoadedCurve]]:
    """Curves by picture; all reads, which need no stores, are in the pictures of both kinds."""
    kinds = list(dict.fromkeys((curve.order, curve.regime) for curve in curves))
    families: dict[Panel, list[LoadedCurve]] = {}
    for order, regime in kinds:
        alike = [c for c in curves if (c.order, c.regime) == (order, regime)]
        for store in dict.fromkeys(c.store for c in alike if c.store) or [""]:
            members = [c for c in alike if c.store in {"", store}]
            families[order, store, regime] = sorted(members, key=lambda c: -c.read_share)
    return families


def _family(panel: Panel, curves: Sequence[LoadedCurve], peak: float | None) -> Chart:
    order, store, regime = panel
    generators = curves[0].generators
    team = format_count(generators, "generator")
    stores = f"{store} stores" if store else ""
    shown = _spread(curves)
    left_out = "" if len(shown) == len(curves) else " The table has the mixes between."
    return _chart(
        name="-".join(filter(None, ("loaded", order, store, _slug(regime)))),
        title="Latency under load: " + ", ".join(filter(None, (order, stores, team, regime))),
        lines={curve.load: curve for curve in shown},
        peak=peak,
        more=left_out,
    )


def _by_generators(curves: Sequence[LoadedCurve], peak: float | None) -> list[Chart]:
    """All reads with each number of generators, where there are several."""
    kinds: dict[tuple[str, str], list[LoadedCurve]] = {}
    for curve in curves:
        if not curve.store:
            kinds.setdefault((curve.order, curve.regime), []).append(curve)
    return [
        _chart(
            name="-".join(filter(None, ("loaded-generators", order, _slug(regime)))),
            title="Latency under load by generators: "
            + ", ".join(filter(None, ("all reads", order, regime))),
            lines={format_count(c.generators, "generator"): c for c in _spread(members)},
            peak=peak,
            more="",
        )
        for (order, regime), members in kinds.items()
        if len(members) > 1
    ]


def _spread(curves: Sequence[LoadedCurve]) -> Sequence[LoadedCurve]:
    """As many as can be distinguished, the first and the last among them."""
    if len(curves) <= MOST_LINES:
        return curves
    step = (len(curves) - 1) / (MOST_LINES - 1)
    return [curves[round(at * step)] for at in range(MOST_LINES)]


def _slug(regime: str) -> str:
    return regime_kind(regime).replace(" ", "-")


def _chart(
    *, name: str, title: str, lines: dict[str, LoadedCurve], peak: float | None, more: str
) -> Chart:
    return Chart(
        name=name,
        title=title,
        kind="line",
        x=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        y=Axis(title="Latency", unit="ns", from_zero=True),
        series=[_line(label, curve) for label, curve in lines.items()],
        rules=[Rule(label="theoretical peak", axis="x", value=peak)] if peak else [],
        marks=[
            mark
            for label, curve in lines.items()
            for mark in _knee(f"knee, {label}" if len(lines) > 1 else "knee", curve)
        ],
        note="Medians; from long pauses between the generators' accesses (left) to none. "
        f"Bandwidth by the generators' own count.{_greyed(lines)}{more}",
    )


def _greyed(lines: dict[str, LoadedCurve]) -> str:
    """What grey means, where both kinds of curves are drawn."""
    reached = {curve.reaches_saturation for curve in lines.values()}
    return " Grey: these generators do not saturate the memory." if len(reached) > 1 else ""


def _line(label: str, curve: LoadedCurve) -> Series:
    points = curve.points
    bare = series(label, [p.bandwidth.value for p in points], [point.latency for point in points])
    notes: list[str | None] = [
        f"delay {p.delay}" + ("" if p.delay_ns is None else f" ({p.delay_ns:.0f} ns)")
        for p in points
    ]
    return msgspec.structs.replace(bare, notes=notes, muted=not curve.reaches_saturation)


def _knee(label: str, curve: LoadedCurve) -> list[Mark]:
    at, knee = curve.at_knee, curve.knee
    if at is None or knee.bandwidth is None:
        return []
    return [
        Mark(
            label=label,
            x=at.bandwidth.value,
            y=at.latency.value,
            x_low=knee.bandwidth.low,
            x_high=knee.bandwidth.high,
        )
    ]


def generators_chart(teams: Sequence[Team], scaling: Scaling | None) -> Chart | None:
    """Bandwidth of generators without a pause, over their number."""
    if len(teams) < LEAST_POINTS:
        return None
    ordered = sorted(teams, key=lambda team: team.threads)
    sizes = [team.threads for team in ordered]
    return Chart(
        name="loaded-scaling",
        title="Bandwidth beside a probe over generating threads",
        kind="line",
        x=scaling_report.threads_axis(sizes),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series("all reads, no pause", [*map(float, sizes)], [t.bandwidth for t in ordered])
        ],
        bands=scaling_report.bands(scaling, sizes),
        marks=scaling_report.marks(scaling, ordered),
        note=None
        if all(has_interval(team.bandwidth) for team in ordered)
        else "Points without a whisker have too few passes for an interval.",
    )
