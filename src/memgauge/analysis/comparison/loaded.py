"""Curves of latency over bandwidth of both sources, from the points of `loaded` that both have."""

import re
from collections.abc import Sequence

from memgauge.analysis.comparison.ratios import Pair, Row
from memgauge.analysis.figures.run import slug
from memgauge.analysis.section import Axis, Chart, Series
from memgauge.analysis.statistics.estimate import Estimate

LEAST_POINTS = 3
"""Of a curve."""

_LATENCY = re.compile(r"(?P<family>(?:mlc/)?loaded/.+)/d(?P<delay>[0-9]+)")

Point = tuple[Row, Row]
"""Latency and traffic at one delay."""


def loaded_curves(label: str, pair: Pair) -> list[Chart]:
    """A picture for each load, order, team and regime with enough delays."""
    traffic = {(row.name, row.regime): row for row in pair.rows}
    families: dict[tuple[str, str], dict[int, Point]] = {}
    for row in pair.rows:
        match = _LATENCY.fullmatch(row.name)
        beside = traffic.get((f"{row.name}/traffic", row.regime))
        if match and beside:
            family = families.setdefault((match["family"], row.regime), {})
            family[int(match["delay"])] = (row, beside)
    return [
        _chart(label, pair, family, regime, [points[delay] for delay in sorted(points)[::-1]])
        for (family, regime), points in families.items()
        if len(points) >= LEAST_POINTS
    ]


def in_curves(row: Row) -> bool:
    """Whether the row is a point of `loaded`, which curves show better than bars."""
    return _LATENCY.fullmatch(row.name.removesuffix("/traffic")) is not None


def _chart(label: str, pair: Pair, family: str, regime: str, points: Sequence[Point]) -> Chart:
    a, b = pair.baseline.origin, pair.other.origin
    return Chart(
        name=slug("compare", label, family, regime),
        title=", ".join(filter(None, (family, regime))),
        kind="line",
        x=Axis(title="traffic", unit="GB/s", from_zero=True),
        y=Axis(title="latency", unit="ns"),
        series=[
            _series("A", [(ns.baseline, traffic.baseline) for ns, traffic in points], origin=a),
            _series(label, [(ns.other, traffic.other) for ns, traffic in points], origin=b),
        ],
        note="Dotted: not measured by memgauge." if a or b else None,
    )


def _series(name: str, points: list[tuple[Estimate, Estimate]], *, origin: str) -> Series:
    return Series(
        name=f"{name} ({origin})" if origin else name,
        x=[traffic.value for _, traffic in points],
        y=[ns.value for ns, _ in points],
        dashed=bool(origin),
    )
