"""What the `pages` curves mean in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.pages.comparability import Case, comparability
from memgauge.analysis.pages.figures import PagesCurve, Translation, gains, packed_of
from memgauge.analysis.section import QUIET, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.points.pages import PagesActual
from memgauge.model.units import format_bytes, format_count

SPLIT_PAGES = 8
"""A TLB that does not hold so many pages holds pieces of them."""
SAME_SHARE = 0.2
"""Costs that differ by less than this share of them are reported as one."""


def verdicts(
    figures: Figures, curves: list[PagesCurve], found: list[Translation]
) -> Iterator[Verdict]:
    """How far the TLB reaches, what huge pages gain, and whether the points may be compared.

    Args:
        figures: The analysed run.
        curves: All its curves, that of packed lines among them; empty if nothing was measured.
        found: What each other curve costs more than packed lines; empty if none were packed.
    """
    if not curves:
        yield Verdict(level="warning", text="No access to pages was measured.")
        return
    if packed_of(curves) is None:
        text = "No lines were packed into few pages: the cost of translation cannot be separated."
        yield Verdict(level="warning", text=text, remedy="leave --stride out, or add 64")
    split = split_kinds(found)
    for one in found:
        if one.curve.has_own_pages:
            yield from _reaches(one, whole=one.curve.pages not in split)
    yield from _split(found)
    yield from _gain(curves)
    yield from _missing_kinds(figures, curves)
    yield comparability(_cases(figures))


def split_kinds(found: Sequence[Translation]) -> set[str]:
    """Kinds of huge pages that the TLB holds in pieces: what its entries map is not known then."""
    return {one.curve.pages for one in found if _pages_missed(one) is not None}


def _reaches(one: Translation, *, whole: bool) -> Iterator[Verdict]:
    """One sentence for each level; in bytes where an entry maps a page, and not a piece of it."""
    if not one.levels:
        text = (
            f"How far the TLB reaches cannot be told: with {one.curve.name}, even few pages cost "
            "translation."
        )
        yield Verdict(level="warning", text=text, remedy=QUIET)
    for reach in one.reaches:
        level, stride = reach.level, one.curve.stride_bytes
        what = f"{one.curve.name}: the {reach.name} reaches"
        kind = "pages" if whole else "pieces of pages"
        if level.beyond is None or reach.miss is None:
            size = f" ({format_bytes(level.reach * stride)})" if whole else ""
            text = f"{what} at least {level.reach} {kind}{size}: no end was seen."
            yield Verdict(level="note", text=text, remedy="increase --largest-bytes")
            continue
        size = f"{format_bytes(level.reach * stride)} to {format_bytes(level.beyond * stride)}"
        size = f" ({size})" if whole else ""
        text = f"{what} {level.reach} to {level.beyond} {kind}{size}; a miss of it costs "
        yield Verdict(level="good", text=f"{text}{_range(reach.miss)} an access.")


def _range(cost: Estimate) -> str:
    """The spread over the numbers of pages shows more than the middle."""
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
        f"huge pages ({kinds}) are translated in smaller pieces here, as happens if a "
        "hypervisor backs them with small pages.",
        remedy="on the host: back the memory of this guest with huge pages",
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
        text=f"Transparent huge pages are {how}: only base pages were measured.",
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
            pages=PagesActual.of(point.actual).pages_touched or 0,
        )
        for point, _ in figures.slices("pages")
    ]
