"""The same kernels over arrays in pages of several kinds, measured in the same rounds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.section import Chart, Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.charts import kernel_bars
from memgauge.analysis.stream.figures import JUDGED_KERNELS, KernelResult
from memgauge.model.units import format_count


class PageResult(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel over pages of one kind, beside the same over those that were requested first."""

    result: KernelResult
    first: KernelResult

    @property
    def over_first(self) -> Estimate | None:
        """Bandwidth over that with the pages requested first; None for these themselves."""
        if self.result is self.first:
            return None
        return ratio(self.result.sustained, self.first.sustained)


def compared(results: Sequence[KernelResult]) -> list[PageResult]:
    """Kernels as they go without saying, of runs with several kinds of pages.

    Args:
        results: Results in the order in which their pages were requested.
    """
    same: dict[tuple[str, str, str, int, str], list[KernelResult]] = {}
    for result in results:
        if result.pages and result.is_plain and result.sustained is not None:
            team = (result.threads, regime_kind(result.regime))
            key = (result.kernel, result.variant, result.element, *team)
            same.setdefault(key, []).append(result)
    return [
        PageResult(result=result, first=members[0])
        for members in same.values()
        for result in members
    ]


def table(found: Sequence[PageResult]) -> Table | None:
    """A row for each kernel, variant, team and kind of pages."""
    if not found:
        return None
    first = found[0].first.pages
    regimes = any(one.result.regime for one in found)
    return Table(
        name="stream-pages",
        title="Bandwidth by page size",
        columns=[
            Column(title="kernel"),
            Column(title="variant"),
            Column(title="threads"),
            Column(title="regime", narrow=regimes),
            Column(title="pages"),
            Column(title="backed by", narrow=False),
            Column(title="huge", unit="%", narrow=False),
            Column(title="reaches", unit="GB/s"),
            Column(title=f"over {first}", digits=3),
        ],
        rows=[
            [
                one.result.kernel,
                one.result.variant,
                one.result.threads,
                regime_kind(one.result.regime) or None,
                one.result.pages,
                one.result.actual.pages or None,
                one.result.actual.huge_share,
                one.result.sustained,
                one.over_first,
            ]
            for one in found
        ],
        note=f"All kinds of pages were measured in the same rounds. Over {first}: bandwidth as a "
        f"multiple of that with {first} pages. Backed by: what the kernel says the arrays got.",
    )


def chart(found: Sequence[PageResult]) -> Chart | None:
    """Kernels of the largest team, a bar for each kind of pages."""
    largest = max((one.result.threads for one in found), default=None)
    if largest is None:
        return None
    team = [one.result for one in found if one.result.threads == largest]
    bars = [
        (", ".join(filter(None, (one.variant, one.pages, regime_kind(one.regime)))), one)
        for one in team
    ]
    title = f"Kernels by page size, {format_count(largest, 'thread')}"
    return kernel_bars(title, bars, name="stream-pages")


def verdicts(found: Sequence[PageResult]) -> list[Verdict]:
    """What each kind of pages gives one kernel with the largest team."""
    judged = _judged(found)
    texts = [_effect(one) for one in judged]
    if not texts:
        return []
    result = judged[0].result
    made = f"{result.kernel}, {result.variant}, {format_count(result.threads, 'thread')}"
    return [Verdict(level="note", text=f"Pages: {'; '.join(texts)} ({made}).")]


def _judged(found: Sequence[PageResult]) -> list[PageResult]:
    known = [one for one in found if one.over_first is not None and has_interval(one.over_first)]
    for kernel in (*JUDGED_KERNELS, *(one.result.kernel for one in known)):
        mine = [one for one in known if one.result.kernel == kernel]
        if mine:
            _, _, variant, regime = max(
                (
                    one.result.threads,
                    one.result.sustained.value if one.result.sustained else 0.0,
                    one.result.variant,
                    one.result.regime,
                )
                for one in mine
            )
            largest = max(one.result.threads for one in mine)
            like = (largest, variant, regime_kind(regime))
            return [one for one in mine if _team(one.result) == like]
    return []


def _team(result: KernelResult) -> tuple[int, str, str]:
    return (result.threads, result.variant, regime_kind(result.regime))


def _effect(one: PageResult) -> str:
    gain, first = one.over_first, one.first.pages
    if gain is None:
        return f"{one.result.pages} was not compared"
    span = f"{gain.low:.2f} to {gain.high:.2f}"
    if gain.low <= 1 <= gain.high:
        return f"{one.result.pages} is as fast as {first} within the interval ({span})"
    return f"{one.result.pages} reaches {gain.value:.2f} times the bandwidth of {first} ({span})"
