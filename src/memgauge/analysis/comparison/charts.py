"""Pictures of a comparison: ratios with intervals, and both curves where something was swept."""

import math
import re
from collections.abc import Sequence

import msgspec

from memgauge.analysis.comparison.figures import Direction
from memgauge.analysis.comparison.loaded import in_curves, loaded_curves
from memgauge.analysis.comparison.names import shortened
from memgauge.analysis.comparison.ratios import Pair, Row
from memgauge.analysis.figures.run import series, slug
from memgauge.analysis.section import Axis, Chart, Rule, Series
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval

LEAST_SWEEP = 3
"""Points that make a curve."""

MOST_BARS = 30
"""Bars of one picture; of more figures those furthest from 1 are drawn."""

MOST_LINES = 20
"""Of names beside bars."""

WIDE_SPAN = 30
"""Ratio of figures beyond which an axis is logarithmic."""

_TITLES: dict[Direction, str] = {
    "higher": "bandwidth",
    "lower": "latency",
    "neither": "bytes moved",
}
_BETTER: dict[Direction, str] = {"higher": "more is better", "lower": "less is better"}

Sweep = dict[int, Row]
"""Rows by what was swept."""


class Swept(msgspec.Struct, frozen=True):
    """Something that names of points carry as their last part, or before it."""

    name: str
    pattern: re.Pattern[str]
    """Of a whole name: the family of points, the number, and what else tells families apart."""
    axis: Axis


SWEPT = (
    Swept("threads", re.compile(r"(.+)/([0-9]+)t"), Axis(title="threads", unit="")),
    Swept(
        "footprints",
        re.compile(r"(workingset/.+)/([0-9]+)"),
        Axis(title="footprint", unit="B", scale="log2"),
    ),
    Swept(
        "splits",
        re.compile(r"(tiers/.+/[0-9]+t)/k([0-9]+)/(a|b|sum|latency-a|latency-b)"),
        Axis(title="threads in B", unit=""),
    ),
    Swept(
        "sizes",
        re.compile(r"(traffic/[^/]+)/([0-9]+)/(.+)"),
        Axis(title="N", unit=""),
    ),
)


def charts(label: str, pair: Pair, groups: Sequence[Sequence[Row]]) -> list[Chart]:
    """For each group of rows: curves over what was swept, their ratios, and bars for the rest.

    Args:
        label: Letter that stands for the other source, such as `B`; the baseline is always `A`.
        pair: The baseline and the other source.
        groups: Rows of the pair. The rows of a group share experiment, unit, statistic and regime.
    """
    drawn = []
    for at, rows in enumerate(groups):
        alone = {row.name: row for row in rows if _is_bar(row)}
        for swept in SWEPT:
            sweeps = sweeps_of(rows, swept)
            drawn += [_curves(label, pair, swept, *sweep) for sweep in sweeps.items()]
            if sweeps:
                drawn.append(_ratio_curves(label, at, swept, sweeps))
            for row in (row for sweep in sweeps.values() for row in sweep.values()):
                alone.pop(row.name, None)
        if alone:
            drawn.append(_bars(label, at, list(alone.values())))
    return drawn + loaded_curves(label, pair)


def _is_bar(row: Row) -> bool:
    return math.isfinite(row.ratio.value) and not in_curves(row)


def sweeps_of(rows: Sequence[Row], swept: Swept) -> dict[str, Sweep]:
    """Rows that differ in what was swept only, where there are enough of them."""
    found: dict[str, Sweep] = {}
    for row in rows:
        if match := swept.pattern.fullmatch(row.name):
            family, swept_at, *others = match.groups()
            found.setdefault("/".join((family, *others)), {})[int(swept_at)] = row
    return {
        family: dict(sorted(sweep.items()))
        for family, sweep in found.items()
        if len(sweep) >= LEAST_SWEEP
    }


def _curves(label: str, pair: Pair, swept: Swept, family: str, sweep: Sweep) -> Chart:
    rows = list(sweep.values())
    return Chart(
        name=f"compare-{label}-{_file_name(family, rows[0])}",
        title=", ".join(filter(None, (family, rows[0].regime))),
        kind="line",
        x=swept.axis,
        y=_y_axis(rows),
        series=[
            _curve("A", sweep, [row.baseline for row in rows], origin=pair.baseline.origin),
            _curve(label, sweep, [row.other for row in rows], origin=pair.other.origin),
        ],
        note="Dotted: not measured by memgauge."
        if pair.baseline.published or pair.other.published
        else None,
    )


def _curve(name: str, sweep: Sweep, cells: list[Estimate], *, origin: str) -> Series:
    drawn = series(name, [float(x) for x in sweep], [*cells])
    return Series(
        name=f"{name} ({origin})" if origin else name,
        x=drawn.x,
        y=drawn.y,
        low=drawn.low,
        high=drawn.high,
        dashed=bool(origin),
    )


def _y_axis(rows: Sequence[Row]) -> Axis:
    """From zero; logarithmic where the figures span more than one decade and a half."""
    title = _TITLES[rows[0].direction]
    values = [cell.value for row in rows for cell in (row.baseline, row.other)]
    if min(values) > 0 and max(values) > WIDE_SPAN * min(values):
        return Axis(title=title, unit=rows[0].unit, scale="log10")
    return Axis(title=title, unit=rows[0].unit, from_zero=True)


def _ratio_curves(label: str, at: int, swept: Swept, sweeps: dict[str, Sweep]) -> Chart:
    first = next(iter(next(iter(sweeps.values())).values()))
    _, names = shortened(list(sweeps))
    return Chart(
        name=f"compare-{label}-ratio-{at + 1}-{swept.name}",
        title=f"{label} over A by {swept.name}",
        kind="line",
        x=swept.axis,
        y=_ratio_axis(label, first),
        series=[
            series(name, [float(n) for n in sweep], [row.widened for row in sweep.values()])
            for name, sweep in zip(names, sweeps.values(), strict=True)
        ],
        rules=[Rule(label="A", axis="y", value=1.0)],
    )


def _bars(label: str, at: int, rows: Sequence[Row]) -> Chart:
    kept = sorted(rows, key=lambda row: abs(math.log(row.ratio.value)), reverse=True)[:MOST_BARS]
    drawn = [row for row in rows if row in kept]
    cells = [row.widened for row in drawn]
    pattern = shortened([row.name for row in drawn])[0]
    known = all(has_interval(cell) for cell in cells)
    left = len(rows) - len(drawn)
    notes = [] if known else ["Without a whisker: no interval is known."]
    if left:
        notes.append(f"The {len(drawn)} figures furthest from A; {left} more are in the table.")
    return Chart(
        name=f"compare-{label}-ratio-{at + 1}",
        title=f"{label} over A: {', '.join(filter(None, (pattern, drawn[0].regime)))}",
        kind="bar",
        x=Axis(title="figure", unit=""),
        y=_ratio_axis(label, drawn[0]),
        series=[series(f"{label}/A", [*_short_names(drawn)], [*cells])],
        rules=[Rule(label="A", axis="y", value=1.0)],
        note=" ".join(notes) or None,
    )


def _ratio_axis(label: str, row: Row) -> Axis:
    better = _BETTER.get(row.direction)
    return Axis(title=", ".join(filter(None, (f"{label}/A", better))), unit="%")


def _short_names(rows: Sequence[Row]) -> list[str]:
    """Without what all share; in parts on lines of their own where that leaves room."""
    names = shortened([row.name for row in rows])[1]
    lines = sum(name.count("/") + 1 for name in names)
    return [name.replace("/", ", " if lines <= MOST_LINES else " ") for name in names]


def _file_name(family: str, row: Row) -> str:
    return slug(family, row.regime)
