"""What other ways to access and to store cost, beside the kernel's own in the same rounds."""

from collections.abc import Iterable, Sequence

import msgspec

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.figures import KernelResult
from memgauge.model.units import format_count

JUDGED_KERNELS = ("copy", "triad", "read", "write")
"""The first of these that was measured is put in words; the NVDIMM study's competition is copy."""

_WHAT = {
    ("translated", ""): "Translating the address of every element",
    ("", "flushed"): "Writing every line back (flushed stores)",
    ("translated", "flushed"): "Translating every address and writing every line back",
    ("", "temporal"): "Ordinary stores",
    ("", "non-temporal"): "Streaming stores",
    ("translated", "temporal"): "Translating every address, with ordinary stores,",
}
NOTE = (
    "Of its own: as a share of the same kernel with direct access and its variant's own stores, "
    "measured in the same rounds. A share below 1 is what this way costs."
)


class VariantComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel accessed or stored another way, and as it goes without saying."""

    result: KernelResult
    own: KernelResult | None
    """None: it was not measured."""

    @property
    def share(self) -> Estimate | None:
        """Bandwidth of this way over the kernel's own."""
        return None if self.own is None else ratio(self.result.sustained, self.own.sustained)


def compared(results: Iterable[KernelResult]) -> list[VariantComparison]:
    """Every way that is not a kernel's own, beside that."""
    known = list(results)
    own = {_key(result): result for result in known if result.is_plain}
    return [
        VariantComparison(result=result, own=own.get(_key(result)))
        for result in known
        if (result.access or result.store) and not (result.candidate or result.prefetch)
    ]


def _key(result: KernelResult) -> tuple[str, str, str, int, str, str]:
    team = (result.threads, result.regime, result.pages)
    return (result.kernel, result.variant, result.element, *team)


def table(ways: Sequence[VariantComparison]) -> Table | None:
    """A row for each; none where there are none."""
    rows: list[list[Cell]] = [
        [
            way.result.kernel,
            way.result.variant,
            way.result.threads,
            regime_kind(way.result.regime) or None,
            " ".join(filter(None, (way.result.access, way.result.store, way.result.pages))),
            way.result.access or "direct",
            way.result.actual.store or way.result.store or None,
            way.own.sustained if way.own else None,
            way.result.sustained,
            way.share,
        ]
        for way in ways
        if way.result.sustained is not None
    ]
    if not rows:
        return None
    variants = len({row[1] for row in rows}) > 1
    return Table(
        name="stream-ways",
        title="Other ways to access and to store",
        columns=[
            Column(title="kernel"),
            Column(title="variant", narrow=variants),
            Column(title="threads"),
            Column(title="regime", narrow=any(row[3] for row in rows)),
            Column(title="way"),
            Column(title="access", narrow=False),
            Column(title="stores", narrow=False),
            Column(title="its own", unit="GB/s", narrow=False),
            Column(title="reaches", unit="GB/s"),
            Column(title="of its own", digits=2),
        ],
        rows=rows,
        note=NOTE,
    )


def verdicts(ways: Sequence[VariantComparison]) -> list[Verdict]:
    """What each way costs one kernel, with the smallest and the largest team."""
    found: list[Verdict] = []
    for variant, access, store in dict.fromkeys(
        (way.result.variant, way.result.access, way.result.store) for way in ways
    ):
        mine = [
            way
            for way in ways
            if (way.result.variant, way.result.access, way.result.store) == (variant, access, store)
            and has_interval(way.share)
        ]
        judged = _judged(mine)
        if judged:
            what = _WHAT.get((access, store), f"{access} {store}".strip().capitalize())
            found.append(_verdict(what, judged))
    return found


def _judged(ways: Sequence[VariantComparison]) -> list[VariantComparison]:
    """Of one kernel, the smallest and the largest team, in the regime seen most in each."""
    for kernel in (*JUDGED_KERNELS, *(way.result.kernel for way in ways)):
        of_kernel = [way for way in ways if way.result.kernel == kernel]
        if of_kernel:
            ends = sorted({way.result.threads for way in of_kernel})
            return [
                max(
                    (way for way in of_kernel if way.result.threads == threads),
                    key=lambda way: way.result.slice.samples if way.result.slice else 0,
                )
                for threads in dict.fromkeys((ends[0], ends[-1]))
            ]
    return []


def _verdict(what: str, ways: Sequence[VariantComparison]) -> Verdict:
    result = ways[0].result
    words = [_effect(way) for way in ways]
    return Verdict(
        level="note", text=f"{what} {'; '.join(words)} ({result.kernel}, {result.variant})."
    )


def _effect(way: VariantComparison) -> str:
    share = way.share
    team = f"with {format_count(way.result.threads, 'thread')}"
    if share is None:
        return f"was not compared {team}"
    if share.high < 1:
        span = f"{1 - share.high:.0%} to {1 - share.low:.0%}"
        return f"costs {1 - share.value:.0%} of the bandwidth {team} ({span})"
    if share.low > 1:
        span = f"{share.low - 1:.0%} to {share.high - 1:.0%}"
        return f"gains {share.value - 1:.0%} of bandwidth {team} ({span})"
    return f"changes nothing measurable {team} ({share.low - 1:+.0%} to {share.high - 1:+.0%})"
