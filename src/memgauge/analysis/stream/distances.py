"""Bandwidth of the tuned kernels over the distance of software prefetch."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import series
from memgauge.analysis.section import Axis, Chart, Column, Rule, Series, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.figures import JUDGED_KERNELS, TUNED, KernelResult
from memgauge.model.units import format_bytes, format_count

MOST_RULES = 1
"""More curves without prefetch would be labels over each other; the table has them."""


class DistanceResult(msgspec.Struct, frozen=True, kw_only=True):
    """A tuned kernel at one distance, beside the same without prefetch."""

    result: KernelResult
    without: KernelResult | None
    """None: it was not measured."""

    @property
    def near_bytes(self) -> int:
        """0: it prefetches nothing."""
        return self.result.actual.prefetch_near_bytes or 0

    @property
    def far_bytes(self) -> int:
        """0: nothing into the second level."""
        return self.result.actual.prefetch_far_bytes or 0

    @property
    def words(self) -> str:
        """Such as `512 B`, or `512 B and 4 KiB far`."""
        if not self.near_bytes:
            return "no prefetch"
        far = f" and {format_bytes(self.far_bytes)} far" if self.far_bytes else ""
        return f"{format_bytes(self.near_bytes)}{far}"

    @property
    def over_none(self) -> Estimate | None:
        """Bandwidth over that without prefetch; None for that itself."""
        if self.without is None or self.result is self.without:
            return None
        return ratio(self.result.sustained, self.without.sustained)


Curve = tuple[str, int, str, str, str]
"""Kernel, threads, kind of regime, pages and stores: what has one bandwidth at each distance."""


def compared(results: Sequence[KernelResult]) -> list[DistanceResult]:
    """Tuned kernels at all distances, where any was measured at another than its own."""
    curves: dict[Curve, list[KernelResult]] = {}
    for result in results:
        if result.variant == TUNED and not result.candidate and result.sustained is not None:
            curves.setdefault(curve_of(result), []).append(result)
    found = []
    for members in curves.values():
        if any(member.prefetch for member in members):
            without = next((m for m in members if not m.actual.prefetch_near_bytes), None)
            found += [DistanceResult(result=member, without=without) for member in members]
    return found


def curve_of(result: KernelResult) -> Curve:
    """What a result has in common with those at other distances."""
    team = (result.threads, regime_kind(result.regime), result.pages)
    return (result.kernel, *team, result.actual.store)


def table(found: Sequence[DistanceResult]) -> Table | None:
    """A row for each kernel, team and distance."""
    if not found:
        return None
    return Table(
        name="stream-prefetch",
        title="Bandwidth by prefetch distance",
        columns=[
            Column(title="kernel"),
            Column(title="threads"),
            Column(title="regime", narrow=any(one.result.regime for one in found)),
            Column(title="pages", narrow=any(one.result.pages for one in found)),
            Column(title="stores", narrow=False),
            Column(title="near", unit="B"),
            Column(title="far", unit="B"),
            Column(title="reaches", unit="GB/s"),
            Column(title="over none", digits=3),
        ],
        rows=[
            [
                one.result.kernel,
                one.result.threads,
                regime_kind(one.result.regime) or None,
                one.result.pages or None,
                one.result.actual.store or None,
                one.near_bytes,
                one.far_bytes or None,
                one.result.sustained,
                one.over_none,
            ]
            for one in found
        ],
        note="Tuned kernels prefetch each array they read so many bytes ahead: near into the "
        "nearest cache, far into the second level. All distances were measured in the same "
        "rounds. Over none: as a multiple of the same kernel without prefetch.",
    )


def chart(found: Sequence[DistanceResult]) -> Chart | None:
    """Bandwidth over distance with the largest team; without prefetch a rule."""
    ahead = [one for one in found if one.near_bytes]
    largest = max((one.result.threads for one in ahead), default=None)
    if largest is None:
        return None
    lines: dict[str, list[DistanceResult]] = {}
    for one in ahead:
        if one.result.threads == largest:
            lines.setdefault(_line(one, found), []).append(one)
    drawn = [_series(name, members) for name, members in lines.items()]
    return Chart(
        name="stream-prefetch",
        title=f"Bandwidth over prefetch distance, {format_count(largest, 'thread')}",
        kind="line",
        x=Axis(title="Prefetch distance (near)", unit="B", scale="log2"),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=drawn,
        rules=_without(found, largest),
    )


def _line(one: DistanceResult, found: Sequence[DistanceResult]) -> str:
    """The kernel, and what else tells its curve from others."""
    result = one.result
    stores = (
        len({other.result.actual.store for other in found if other.result.kernel == result.kernel})
        > 1
    )
    return ", ".join(
        filter(
            None,
            (
                result.kernel,
                regime_kind(result.regime),
                result.pages,
                result.actual.store if stores else "",
                f"far {format_bytes(one.far_bytes)}" if one.far_bytes else "",
            ),
        )
    )


def _series(name: str, members: Sequence[DistanceResult]) -> Series:
    ordered = sorted(members, key=lambda one: one.near_bytes)
    return series(
        name,
        [float(one.near_bytes) for one in ordered],
        [one.result.sustained for one in ordered],
    )


def _without(found: Sequence[DistanceResult], threads: int) -> list[Rule]:
    rules = [
        Rule(
            label=f"{_line(one, found)}, no prefetch",
            axis="y",
            value=one.result.sustained.value,
        )
        for one in found
        if not one.near_bytes and one.result.threads == threads and one.result.sustained
    ]
    return rules if len(rules) <= MOST_RULES else []


def verdicts(found: Sequence[DistanceResult]) -> list[Verdict]:
    """What the best and the worst distance give one kernel with the largest team."""
    known = [one for one in found if one.over_none is not None and has_interval(one.over_none)]
    for kernel in (*JUDGED_KERNELS, *(one.result.kernel for one in known)):
        mine = [one for one in known if one.result.kernel == kernel]
        if mine:
            largest = max(one.result.threads for one in mine)
            team = [one for one in mine if one.result.threads == largest]
            curve = curve_of(max(team, key=_samples).result)
            return [_verdict([one for one in team if curve_of(one.result) == curve])]
    return []


def _verdict(team: Sequence[DistanceResult]) -> Verdict:
    ranked = sorted(team, key=_gain)
    ends = [ranked[-1], *ranked[:1]] if len(ranked) > 1 else ranked
    result = ranked[0].result
    made = f"{result.kernel}, tuned, {format_count(result.threads, 'thread')}"
    effects = "; ".join(_effect(one) for one in ends)
    return Verdict(level="note", text=f"Software prefetch: {effects} ({made}).")


def _samples(one: DistanceResult) -> int:
    return one.result.slice.samples if one.result.slice else 0


def _gain(one: DistanceResult) -> float:
    return one.over_none.value if one.over_none else 0.0


def _effect(one: DistanceResult) -> str:
    gain = one.over_none
    if gain is None:
        return f"{one.words} ahead was not compared"
    span = f"{gain.low:.2f} to {gain.high:.2f}"
    if gain.low <= 1 <= gain.high:
        return f"{one.words} ahead changes nothing measurable ({span})"
    return f"{one.words} ahead gives {gain.value:.2f} times the bandwidth ({span})"
