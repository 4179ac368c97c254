"""The curves that the `pages` points make: time of an access over the number of lines."""

from __future__ import annotations

import msgspec

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.statistics.tlb import TlbLevel, extra, find_tlb_levels, spread_of
from memgauge.model.points.pages import PagesActual, PagesRequested
from memgauge.model.units import format_bytes

HUGE = ("thp", "2m", "1g")
TLB_LEVELS = ("L1 TLB", "L2 TLB")
"""By their order: what translates for nothing, and what stands behind it."""


class PagesCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses to lines so far apart, in pages of one kind, by the number of lines."""

    pages: str
    """That back them: `4k`, `thp`, `mixed` where huge pages back only a part."""
    stride_bytes: int
    page_bytes: int
    times: dict[int, Estimate]
    """ns of an access by number of lines, ascending."""
    touched: dict[int, int]
    """Distinct pages that so many lines lie on."""

    @property
    def name(self) -> str:
        """As a legend has it."""
        return f"{self.pages}, every {format_bytes(self.stride_bytes)}"

    @property
    def short_name(self) -> str:
        """As the head of a column has it."""
        return f"{self.pages}/{format_bytes(self.stride_bytes)}".replace(" ", "")

    @property
    def is_huge(self) -> bool:
        """Whether huge pages were requested and back them."""
        return self.pages in HUGE

    @property
    def has_own_pages(self) -> bool:
        """Whether each line lies on a page of its own."""
        return self.stride_bytes >= self.page_bytes


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How far one level of the TLB reaches."""

    name: str
    level: TlbLevel
    miss: Estimate | None
    """ns that a miss of it costs; None: none was seen."""


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """What a curve shows of translation."""

    curve: PagesCurve
    costs: dict[int, Estimate]
    """ns that an access costs more than with its lines packed, by number of lines."""
    levels: list[TlbLevel]
    """The first translates for nothing; empty where the curve does not show that."""

    @property
    def reaches(self) -> list[Reach]:
        """Of the TLB's levels by their order; what comes after the second is walking page tables.

        Walks cost more and more, as the tables leave the caches too.
        """
        found = []
        for index, (name, level) in enumerate(zip(TLB_LEVELS, self.levels, strict=False)):
            last = index == len(TLB_LEVELS) - 1
            beyond = self.levels[index + 1 :] if last else self.levels[index + 1 : index + 2]
            costs = [one.cost for one in beyond]
            found.append(Reach(name=name, level=level, miss=spread_of(costs) if costs else None))
        return found


def curves_of(figures: Figures) -> list[PagesCurve]:
    """All curves of a run, packed lines first."""
    found: dict[tuple[str, int], PagesCurve] = {}
    for point, summary in figures.slices("pages"):
        requested, actual = PagesRequested.of(point.requested), PagesActual.of(point.actual)
        stride, count = requested.stride_bytes, requested.accesses_distinct
        if not stride or not count or summary.sustained is None:
            continue
        curve = found.setdefault(
            (requested.pages, stride),
            PagesCurve(
                pages=actual.pages or requested.pages,
                stride_bytes=stride,
                page_bytes=actual.page_bytes or 0,
                times={},
                touched={},
            ),
        )
        curve.times[count] = summary.sustained
        if actual.pages_touched is not None:
            curve.touched[count] = actual.pages_touched
    ordered = sorted(found.values(), key=lambda curve: curve.stride_bytes)
    return [
        msgspec.structs.replace(curve, times=dict(sorted(curve.times.items()))) for curve in ordered
    ]


def packed_of(curves: list[PagesCurve]) -> PagesCurve | None:
    """The curve whose lines lie on the fewest pages, which all others are compared with."""
    candidates = [curve for curve in curves if curve.stride_bytes * 8 <= curve.page_bytes]
    return min(candidates, key=lambda curve: (curve.stride_bytes, -curve.page_bytes), default=None)


def translations_of(curves: list[PagesCurve]) -> list[Translation]:
    """What each curve but that of packed lines costs more than it; empty without one."""
    packed = packed_of(curves)
    if packed is None or not packed.times:
        return []
    scale_ns = min(time.value for time in packed.times.values())
    found = []
    for curve in curves:
        if curve.stride_bytes == packed.stride_bytes:
            continue
        costs = {
            count: extra(time, packed.times[count])
            for count, time in curve.times.items()
            if count in packed.times
        }
        levels = find_tlb_levels(list(costs.items()), scale_ns)
        found.append(Translation(curve=curve, costs=costs, levels=levels))
    return found


def gains(curves: list[PagesCurve]) -> dict[int, tuple[str, Estimate]]:
    """How many times as fast huge pages make the same lines, by their number, and which pages.

    Of the same lines at the same distances, so of the same footprint too.
    """
    found: dict[int, tuple[str, Estimate]] = {}
    base = next((curve for curve in curves if curve.has_own_pages and _is_base(curve)), None)
    for curve in curves:
        if base is None or not curve.is_huge or curve.stride_bytes != base.stride_bytes:
            continue
        for count, time in curve.times.items():
            gain = ratio(base.times.get(count), time)
            if gain is not None and count not in found:
                found[count] = (curve.pages, gain)
    return found


def _is_base(curve: PagesCurve) -> bool:
    return not curve.is_huge and curve.pages != "mixed"
