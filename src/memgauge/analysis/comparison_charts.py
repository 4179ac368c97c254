"""Pictures of a comparison: ratios with intervals, and both curves where threads were swept."""

import math
import re
from collections.abc import Sequence

from memgauge.analysis.comparison import Pair, Row
from memgauge.analysis.comparison_names import shortened
from memgauge.analysis.figures import series
from memgauge.analysis.intervals import has_interval
from memgauge.analysis.section import Axis, Chart, Estimate, Rule, Series

LEAST_SWEEP = 3
"""Numbers of threads that make a curve."""

MOST_BARS = 30
"""Bars of one picture; of more figures those furthest from 1 are drawn."""

_THREADS = re.compile(r"(.+)/(\d+)t")

Sweep = dict[int, Row]
"""Rows by number of threads."""


def charts(label: str, pair: Pair, groups: Sequence[Sequence[Row]]) -> list[Chart]:
    """For each group of rows: curves over threads, their ratios, and bars for what is no curve."""
    drawn = []
    for at, rows in enumerate(groups):
        sweeps = sweeps_of(rows)
        swept = {row.name for sweep in sweeps.values() for row in sweep.values()}
        drawn += [_curves(label, pair, family, sweep) for family, sweep in sweeps.items()]
        if sweeps:
            drawn.append(_ratio_curves(label, at, sweeps))
        if alone := [
            row for row in rows if row.name not in swept and math.isfinite(row.ratio.value)
        ]:
            drawn.append(_bars(label, at, alone))
    return drawn


def sweeps_of(rows: Sequence[Row]) -> dict[str, Sweep]:
    """Rows that differ in their number of threads only, where there are enough of them."""
    found: dict[str, Sweep] = {}
    for row in rows:
        if match := _THREADS.fullmatch(row.name):
            found.setdefault(match[1], {})[int(match[2])] = row
    return {
        family: dict(sorted(sweep.items()))
        for family, sweep in found.items()
        if len(sweep) >= LEAST_SWEEP
    }


def _curves(label: str, pair: Pair, family: str, sweep: Sweep) -> Chart:
    rows = list(sweep.values())
    return Chart(
        name=f"compare-{label}-{_file_name(family, rows[0])}",
        title=", ".join(filter(None, (family, rows[0].regime))),
        kind="line",
        x=Axis(title="threads", unit=""),
        y=_y_axis(rows[0]),
        series=[
            _curve("A", sweep, [row.baseline for row in rows], published=pair.baseline.published),
            _curve(label, sweep, [row.other for row in rows], published=pair.other.published),
        ],
        note="Dotted: published, not measured by memgauge."
        if pair.baseline.published or pair.other.published
        else None,
    )


def _curve(name: str, sweep: Sweep, cells: list[Estimate], *, published: bool) -> Series:
    drawn = series(name, [float(threads) for threads in sweep], [*cells])
    return Series(
        name=f"{name} (published)" if published else name,
        x=drawn.x,
        y=drawn.y,
        low=drawn.low,
        high=drawn.high,
        dashed=published,
    )


def _y_axis(row: Row) -> Axis:
    title = "bandwidth" if row.direction == "higher" else "latency"
    return Axis(title=title, unit=row.unit, from_zero=True)


def _ratio_curves(label: str, at: int, sweeps: dict[str, Sweep]) -> Chart:
    first = next(iter(next(iter(sweeps.values())).values()))
    _, names = shortened(list(sweeps))
    return Chart(
        name=f"compare-{label}-ratio-{at + 1}-threads",
        title=f"{label} over A by threads",
        kind="line",
        x=Axis(title="threads", unit=""),
        y=_ratio_axis(label, first),
        series=[
            series(name, [float(n) for n in sweep], [row.widened for row in sweep.values()])
            for name, sweep in zip(names, sweeps.values(), strict=True)
        ],
        rules=[Rule(label="as A", axis="y", value=1.0)],
    )


def _bars(label: str, at: int, rows: Sequence[Row]) -> Chart:
    kept = sorted(rows, key=lambda row: abs(math.log(row.ratio.value)), reverse=True)[:MOST_BARS]
    drawn = [row for row in rows if row in kept]
    cells = [row.widened for row in drawn]
    pattern = shortened([row.name for row in drawn])[0]
    told = all(has_interval(cell) for cell in cells)
    left = len(rows) - len(drawn)
    note = None if told else "Without a whisker: no interval is known."
    if left:
        note = f"The {len(drawn)} figures furthest from A; {left} more are in the table."
    return Chart(
        name=f"compare-{label}-ratio-{at + 1}",
        title=f"{label} over A: {', '.join(filter(None, (pattern, drawn[0].regime)))}",
        kind="bar",
        x=Axis(title="figure", unit=""),
        y=_ratio_axis(label, drawn[0]),
        series=[series(f"{label}/A", [*_short_names(drawn)], [*cells])],
        rules=[Rule(label="as A", axis="y", value=1.0)],
        note=note,
    )


def _ratio_axis(label: str, row: Row) -> Axis:
    better = "more is better" if row.direction == "higher" else "less is better"
    return Axis(title=f"{label}/A, {better}", unit="%")


def _short_names(rows: Sequence[Row]) -> list[str]:
    """Without what all share, in parts that may stand on lines of their own."""
    return [name.replace("/", ", ") for name in shortened([row.name for row in rows])[1]]


def _file_name(family: str, row: Row) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", f"{family} {row.regime}").strip("-")
