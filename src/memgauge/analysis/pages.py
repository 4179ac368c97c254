"""What the `pages` points say: how far the TLB reaches, and what its misses cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from memgauge.analysis.comparability import Case, comparability
from memgauge.analysis.figures import Figures, number_fact, series
from memgauge.analysis.intervals import bounds, has_interval
from memgauge.analysis.pages_curves import (
    TLB_LEVELS,
    PagesCurve,
    Reach,
    Translation,
    curves_of,
    gains,
    packed_of,
    translations_of,
)
from memgauge.analysis.section import (
    Axis,
    Band,
    Cell,
    Chart,
    Column,
    Estimate,
    Section,
    Table,
    Verdict,
)
from memgauge.model.units import format_bytes, format_count

QUESTION = "How far does each level of the TLB reach, and what does a miss of it cost?"
SPLIT_PAGES = 8
"""A TLB that does not hold so many pages holds pieces of them."""
NARROW_CURVES = 4
"""Columns that fit a terminal; all are in HTML and export."""
SAME_SHARE = 0.2
"""Costs that differ by less than this share of them are told as one."""


def analyse(figures: Figures) -> Section:
    """Curves, reaches and verdicts of the `pages` points of a run."""
    curves = curves_of(figures)
    found = translations_of(curves)
    return Section(
        name="pages",
        title="Pages and address translation",
        question=QUESTION,
        verdicts=list(_verdicts(figures, curves, found)),
        tables=[
            *([_reach_table(found)] if any(one.levels for one in found) else []),
            *([_access_table(curves)] if curves else []),
        ],
        charts=[
            *([_access_chart(curves, found)] if curves else []),
            *([_cost_chart(found)] if any(one.costs for one in found) else []),
        ],
    )


def _verdicts(
    figures: Figures, curves: list[PagesCurve], found: list[Translation]
) -> Iterator[Verdict]:
    if not curves:
        yield Verdict(level="warning", text="No access by page was measured.")
        return
    if packed_of(curves) is None:
        text = "No lines were packed into few pages: the cost of translation is not told apart."
        yield Verdict(level="warning", text=text, remedy="leave --stride out, or add 64")
    for one in found:
        if one.curve.has_own_pages:
            yield from _reaches(one)
    yield from _split(found)
    yield from _gain(curves)
    yield from _missing_kinds(figures, curves)
    yield comparability(_cases(figures))


def _reaches(one: Translation) -> Iterator[Verdict]:
    """One sentence for each level."""
    if not one.levels:
        text = f"{one.curve.name}: even few pages cost translation; no reach can be told."
        yield Verdict(level="warning", text=text, remedy="run again when the machine is quiet")
    for reach in one.reaches:
        level, stride = reach.level, one.curve.stride_bytes
        what = f"{one.curve.name}: the {reach.name} reaches"
        if level.beyond is None or reach.miss is None:
            size = format_bytes(level.reach * stride)
            text = f"{what} at least {level.reach} pages ({size}): no end was seen."
            yield Verdict(level="note", text=text, remedy="measure more: --largest-bytes")
            continue
        size = f"{format_bytes(level.reach * stride)} to {format_bytes(level.beyond * stride)}"
        text = f"{what} {level.reach} to {level.beyond} pages ({size}); a miss of it costs "
        yield Verdict(level="good", text=f"{text}{_range(reach.miss)} an access.")


def _range(cost: Estimate) -> str:
    """The spread over the numbers of pages says more than the middle."""
    if not has_interval(cost):
        return f"about {cost.value:.1f} ns"
    if cost.high - cost.low < SAME_SHARE * cost.value:
        return f"{cost.value:.1f} ns"
    return f"{max(cost.low, 0.0):.1f} to {cost.high:.1f} ns"


def _split(found: Sequence[Translation]) -> Iterator[Verdict]:
    """Lines on a handful of huge pages that cost translation: the pages are not translated whole.

    A hypervisor that backs a huge page of the guest by small ones of its own makes the TLB hold the
    small ones.
    """
    split = [(one.curve, touched) for one in found if (touched := _pages_missed(one)) is not None]
    if not split:
        return
    curve, touched = split[0]
    kinds = " and ".join(curve.pages for curve, _ in split)
    where = f"{format_count(touched, 'page')} of {format_bytes(curve.page_bytes)}"
    yield Verdict(
        level="warning",
        text=f"Lines on {where}, {format_bytes(curve.stride_bytes)} apart, already miss the TLB: "
        f"huge pages ({kinds}) are translated in smaller pieces here, as where a hypervisor backs "
        f"them by small pages.",
        remedy="on the host: back the memory of this guest by huge pages",
    )


def _pages_missed(one: Translation) -> int | None:
    """Huge pages under the fewest lines that miss, where they are too few to miss if held whole."""
    if not one.curve.is_huge or one.curve.has_own_pages or len(one.levels) < 2:
        return None
    beyond = one.levels[0].beyond
    touched = None if beyond is None else one.curve.touched.get(beyond)
    return touched if touched is not None and touched <= SPLIT_PAGES else None


def _gain(curves: list[PagesCurve]) -> Iterator[Verdict]:
    found = gains(curves)
    known = [count for count, (_, gain) in found.items() if has_interval(gain)]
    if not known:
        return
    count = max(known)
    pages, gain = found[count]
    stride = next(curve.stride_bytes for curve in curves if curve.has_own_pages)
    what = f"{count} lines over {format_bytes(count * stride)}"
    if gain.low > 1:
        text = f"Accesses to {what} take {gain.value:.2f} times as long in base pages as in {pages}"
        yield Verdict(level="note", text=f"{text} pages.", remedy="use huge pages for large data")
    else:
        text = f"Accesses to {what} are not seen to be faster in {pages} pages than in base pages."
        yield Verdict(level="note", text=text)


def _missing_kinds(figures: Figures, curves: list[PagesCurve]) -> Iterator[Verdict]:
    if any(curve.is_huge for curve in curves):
        return
    mode = figures.run.start.system.thp
    if mode in {"always", "madvise"}:
        return
    how = "switched off" if mode else "not built into this kernel"
    yield Verdict(
        level="note",
        text=f"Transparent huge pages are {how}: base pages only were measured.",
        remedy="as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
        if mode
        else None,
    )


def _cases(figures: Figures) -> list[Case]:
    """The work of the points of the run."""
    return [
        Case(
            name=point.point,
            accesses=point.accesses,
            pages=number_fact(point.effective, "pages_touched") or 0,
        )
        for point, _ in figures.slices("pages")
    ]


def _reach_table(found: list[Translation]) -> Table:
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
        rows=[_reach_row(one.curve, reach) for one in found for reach in one.reaches],
        note="The most lines, each so far from the next, that the level was seen to hold, and the "
        "fewest that it does not; what an access costs there more than to packed lines.",
    )


def _reach_row(curve: PagesCurve, reach: Reach) -> list[Cell]:
    level, miss = reach.level, reach.miss
    sure = miss is not None and has_interval(miss)
    return [
        curve.pages,
        curve.stride_bytes,
        reach.name,
        level.reach,
        level.beyond,
        level.reach * curve.stride_bytes,
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


def _is_seen(cost: Estimate, one: Translation) -> bool:
    """Less than a hundredth of a usual access is not told from nothing."""
    floor = 0.01 * median(time.value for time in one.curve.times.values())
    return bounds(cost)[0] > floor
