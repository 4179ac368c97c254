"""What the `pages` points show: how far the TLB reaches, and what its misses cost."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.counters import core_counts
from memgauge.analysis.figures.run import Figures, series
from memgauge.analysis.pages.figures import (
    TLB_LEVELS,
    PagesCurve,
    Reach,
    Translation,
    curves_of,
    gains,
    translations_of,
)
from memgauge.analysis.pages.verdicts import split_kinds, verdicts
from memgauge.analysis.section import (
    Axis,
    Band,
    Cell,
    Chart,
    Column,
    Section,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, has_interval
from memgauge.model.points.pages import PagesActual, PagesRequested
from memgauge.model.records import Point
from memgauge.model.units import format_bytes

TLB_EVENTS = ("perf:dtlb-load-misses", "perf:page-walks")
"""What counts as a miss of the TLB, the first that the core has."""
NARROW_CURVES = 4
"""Columns that fit a terminal; all are in HTML and export."""


def analyse(figures: Figures) -> Section:
    """Curves, reaches and verdicts of the `pages` points of a run."""
    curves = curves_of(figures)
    found = translations_of(curves)
    return section_of(
        "pages",
        title="Pages and address translation",
        verdicts=[*verdicts(figures, curves, found), *_counters(figures)],
        tables=[
            *([_reach_table(found)] if any(one.levels for one in found) else []),
            *([_access_table(curves)] if curves else []),
            *_counted_table(figures),
        ],
        charts=[
            *([_access_chart(curves, found)] if curves else []),
            *([_cost_chart(found)] if any(one.costs for one in found) else []),
            *_misses_chart(figures),
        ],
    )


def _reach_table(found: list[Translation]) -> Table:
    split = split_kinds(found)
    return Table(
        name="tlb",
        title="Reach of address translation",
        columns=[
            Column(title="pages"),
            Column(title="every", unit="B"),
            Column(title="level"),
            Column(title="lines held"),
            Column(title="not held"),
            Column(title="reach", unit="B"),
            Column(title="a miss costs", unit="ns", digits=2),
            Column(title="least", unit="ns", digits=2, narrow=False),
            Column(title="most", unit="ns", digits=2, narrow=False),
        ],
        rows=[
            _reach_row(one.curve, reach, whole=one.curve.pages not in split)
            for one in found
            for reach in one.reaches
        ],
        note="The most lines, each so far from the next, that the level was seen to "
        "hold, and the fewest that it does not; what an access costs there more "
        "than to packed lines. Reach: not known for huge pages that are translated "
        "in pieces.",
    )


def _reach_row(curve: PagesCurve, reach: Reach, *, whole: bool) -> list[Cell]:
    level, miss = reach.level, reach.miss
    sure = miss is not None and has_interval(miss)
    return [
        curve.pages,
        curve.stride_bytes,
        reach.name,
        level.reach,
        level.beyond,
        level.reach * curve.stride_bytes if whole else None,
        miss.value if miss else None,
        miss.low if miss and sure else None,
        miss.high if miss and sure else None,
    ]


def _access_table(curves: list[PagesCurve]) -> Table:
    counts = sorted({count for curve in curves for count in curve.times})
    won = gains(curves)
    columns = [
        Column(title="lines"),
        *(
            Column(title=curve.short_name, unit="ns", digits=2, narrow=index < NARROW_CURVES)
            for index, curve in enumerate(curves)
        ),
        *([Column(title="gain", digits=2)] if won else []),
    ]
    rows: list[list[Cell]] = [
        [
            count,
            *(curve.times.get(count) for curve in curves),
            *([won[count][1] if count in won else None] if won else []),
        ]
        for count in counts
    ]
    return Table(
        name="pages",
        title="Time of one access, by number of lines, pages and distance",
        columns=columns,
        rows=rows,
        note="In one row all touch the same number of lines by the same number of accesses."
        + (" Gain: the same lines in base pages over huge pages." if won else ""),
    )


def _counted_table(figures: Figures) -> list[Table]:
    heads = [
        Column(title="pages"),
        Column(title="every", unit="B"),
        Column(title="lines"),
    ]

    def label(point: Point) -> list[Cell]:
        requested = PagesRequested.of(point.requested)
        return [requested.pages, requested.stride_bytes, requested.accesses_distinct]

    found = core_counts.core_counts(figures, "pages")
    return core_counts.table(found, "pages", "access", heads, label)


def _counters(figures: Figures) -> list[Verdict]:
    known = core_counts.verdict(figures, "pages")
    return [known] if known else []


def _access_chart(curves: list[PagesCurve], found: list[Translation]) -> Chart:
    return Chart(
        name="pages-access",
        title="Time of one access over the number of lines",
        kind="line",
        x=Axis(title="Lines touched, one to a page but where packed", unit="", scale="log2"),
        y=Axis(title="Time of one access", unit="ns", scale="log10"),
        series=[
            series(curve.name, [float(n) for n in curve.times], list(curve.times.values()))
            for curve in curves
        ],
        bands=_bands(found),
    )


def _bands(found: Sequence[Translation]) -> list[Band]:
    """The levels of the smallest pages that have each line on its own."""
    own = [one for one in found if one.curve.has_own_pages and one.levels]
    if not own:
        return []
    one = min(own, key=lambda one: one.curve.page_bytes)
    names = [*TLB_LEVELS, "page walk"]
    return [
        Band(label=name, start=float(level.first), end=float(level.reach))
        for name, level in zip(names, one.levels, strict=False)
    ]


def _cost_chart(found: list[Translation]) -> Chart:
    """Costs that are surely above nothing; the axis is logarithmic."""
    return Chart(
        name="pages-translation",
        title="Cost of translation over the number of pages",
        kind="line",
        x=Axis(title="Lines touched", unit="", scale="log2"),
        y=Axis(title="Cost of translation, an access", unit="ns", scale="log10"),
        series=[
            series(
                one.curve.name,
                [float(count) for count in one.costs],
                [cost if _is_seen(cost, one) else None for cost in one.costs.values()],
            )
            for one in found
            if one.costs
        ],
        bands=_bands(found),
        note="What an access costs more than to as many packed lines; gaps: nothing was seen.",
    )


def _misses_chart(figures: Figures) -> list[Chart]:
    """Time of an access over the TLB misses counted around it, one line for each kind of pages."""
    counted = core_counts.core_counts(figures, "pages")
    event = next(
        (name for name in TLB_EVENTS if any(name in one.per_access for one in counted)), None
    )
    if event is None:
        return []
    lines: dict[str, list[tuple[int, Estimate, Estimate]]] = {}
    for one in counted:
        requested, actual = PagesRequested.of(one.point.requested), PagesActual.of(one.point.actual)
        time = figures.summaries[one.point.point][0].sustained
        misses = one.per_access.get(event)
        if time is None or misses is None or not requested.stride_bytes:
            continue
        words = [actual.pages or requested.pages, f"every {format_bytes(requested.stride_bytes)}"]
        name = ", ".join([*words, *([one.core_type] if one.core_type else [])])
        count = requested.accesses_distinct or 0
        lines.setdefault(name, []).append((count, misses, time))
    drawn = {name: sorted(found, key=lambda place: place[0]) for name, found in lines.items()}
    title = core_counts.TITLES[event]
    return [
        Chart(
            name="pages-misses",
            title=f"Time of one access over {title}",
            kind="line",
            x=Axis(title=f"{_begun(title)} per access, counted", unit=""),
            y=Axis(title="Time of one access", unit="ns", scale="log10"),
            series=[
                msgspec.structs.replace(
                    series(name, [misses.value for _, misses, _ in found], [t for *_, t in found]),
                    notes=[f"{count:,} lines" for count, *_ in found],
                )
                for name, found in drawn.items()
            ],
            note="Counted by the core around exactly what is timed, medians; points of a line are "
            "joined in the order of the number of lines touched.",
        )
    ] * bool(drawn)


def _begun(text: str) -> str:
    """As a title begins; names such as dTLB keep their letters."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def _is_seen(cost: Estimate, one: Translation) -> bool:
    """Less than a hundredth of a usual access is not known from nothing."""
    floor = 0.01 * median(time.value for time in one.curve.times.values())
    return bounds(cost)[0] > floor
