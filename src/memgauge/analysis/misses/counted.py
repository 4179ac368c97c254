"""Misses of the walks as counters have them: rates, and the AMAT that they give, beside the model.

Counted miss rates are of what reaches the last cache level, as the thread's own events count it
(`llc-loads`), or on AMD the L3's, which see all cores that share it. A counted AMAT puts counted
misses of that level in the place of modelled ones; the latencies are those that the run measured.
Source: Hennessy and Patterson, "Computer Architecture: A Quantitative Approach", appendix B; the
published profile of this kernel, which gives miss rates by perf.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from memgauge.analysis.counters import core_counts
from memgauge.analysis.counters.core_counts import REFERENCES, CoreCount
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.misses.figures import LOADS, Case
from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.analysis.statistics.amat import MemoryLevel, served
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, has_interval
from memgauge.model.units import format_bytes


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What counters say of the misses of one walk, on one type of cores."""

    case: Case
    counts: CoreCount
    by: str
    """The event that counts what reaches the last cache level; empty: none counted it."""
    miss_rate: Estimate | None
    """Of what reaches the last cache level, what it misses; None: not counted."""
    reference_rate: Estimate | None
    """Cache misses over cache references, as perf gives them; None: not counted."""
    instructions_per_cycle: Estimate | None
    reached: Estimate | None
    """Loads of an element that reach the last level, as counted; None: not counted."""
    amat: Estimate | None
    """ns for an element, by counted misses; None: they cannot give it."""
    why_no_amat: str = ""
    """Where misses were counted all the same."""


MOST_LOADS = 1.05
"""Times the loads of an element: what is counted beyond is prefetched, and no load that waits."""


def counted_of(
    found: CoreCount, case: Case, levels: Sequence[MemoryLevel], *, shared: bool
) -> Counted:
    """Miss rates by counters, and the AMAT that they give.

    Args:
        found: Counts of the walk.
        case: The walk.
        levels: Levels with their measured latencies, nearest first.
        shared: Whether the last level's counts are of all cores that share it.
    """
    pair = found.last_level
    reached = missed = None
    if pair is not None:
        reached, missed = (found.per_access[event] for event in pair)
    why, made = "", None
    if reached is not None and missed is not None:
        why, made = _amat_counted(case, levels, reached, missed)
        if made is None and shared:
            why += ", and other cores count there too"
    return Counted(
        case=case,
        counts=found,
        by=pair[0] if pair else "",
        miss_rate=found.ratio(pair[1], pair[0]) if pair else None,
        reference_rate=found.ratio(REFERENCES[1], REFERENCES[0]),
        instructions_per_cycle=found.ratio("perf:instructions", "perf:cycles"),
        reached=reached,
        amat=made,
        why_no_amat=why,
    )


def _amat_counted(
    case: Case, levels: Sequence[MemoryLevel], reached: Estimate, missed: Estimate
) -> tuple[str, Estimate | None]:
    """AMAT of an element by what reaches the last level and what it misses; or why there is none.

    Loads that it does not see are answered by the levels before it, in the shares of the model; of
    these the bounds are the nearest and the farthest.
    """
    if len(levels) < 3 or levels[-1].capacity_bytes is not None:
        return "the latency of a level is not known", None
    if reached.value > MOST_LOADS * LOADS:
        more = f"{reached.value:.2f} loads an element are counted there, where it makes {LOADS}"
        return f"{more}: prefetches are counted too", None
    *front, last, memory = levels
    shares = served(case.rates)[: len(front)] if case.rates else []
    total = sum(shares)
    near = front[0].latency_ns.value
    mean = (
        sum(s * one.latency_ns.value for s, one in zip(shares, front, strict=True)) / total
        if total > 0
        else near
    )

    def time(end: Callable[[Estimate], float], before_ns: float) -> float:
        misses = min(end(missed), LOADS)
        loads = min(max(end(reached), misses), LOADS)
        return (
            misses * end(memory.latency_ns)
            + (loads - misses) * end(last.latency_ns)
            + (LOADS - loads) * before_ns
        )

    value = time(lambda one: one.value, mean)
    if not all(map(has_interval, (reached, missed, last.latency_ns, memory.latency_ns))):
        return "", Estimate(value, 0.0, math.inf)
    low = time(lambda one: one.low, bounds(front[0].latency_ns)[0])
    high = time(lambda one: one.high, bounds(front[-1].latency_ns)[1])
    return "", Estimate(value, min(low, value), max(high, value))


def counts_of(
    figures: Figures, cases: Sequence[Case], levels: Sequence[MemoryLevel]
) -> list[Counted]:
    """What was counted of each walk, by core type; empty where nothing was.

    Args:
        figures: The run.
        cases: Its walks.
        levels: Its levels, nearest first.
    """
    by_point = {case.summary.point: case for case in cases}
    return [
        counted_of(
            found,
            by_point[found.point.point],
            levels,
            shared=found.last_level is not None and found.last_level[0] == core_counts.L3_ACCESSES,
        )
        for found in core_counts.core_counts(figures, "misses")
        if found.point.point in by_point
    ]


def rates_table(counted: Sequence[Counted]) -> list[Table]:
    """Miss rates and AMAT as counted, beside the modelled ones."""
    known = [one for one in counted if one.miss_rate or one.reference_rate]
    if not known:
        return []
    hybrid = any(one.counts.core_type for one in known)
    beyond = any(one.by == core_counts.L3_ACCESSES for one in known)
    note = (
        "Last level: of the loads that reach it, those it misses. References: perf's cache misses "
        "over cache references, whose level and kind differ by processor. AMAT, counted: what both "
        "loads of an element cost if each were waited for, from the level latencies of this run "
        "and the counted misses of the last level; loads that do not reach it are taken to be "
        "answered before it in the model's shares; at least and at most (on the page), all of them "
        "in the nearest or in the farthest of these levels."
    )
    if beyond:
        note += " The L3's counts are of all cores that share it."
    return [
        Table(
            name="misses-rates",
            title="Miss rates, counted and modelled",
            columns=[
                Column(title="pattern"),
                Column(title="level", narrow=False),
                Column(title="footprint", unit="B"),
                *([Column(title="core type")] if hybrid else []),
                Column(title="last level, counted", unit="%", digits=1),
                Column(title="last level, modelled", unit="%", digits=1),
                Column(title="references, counted", unit="%", digits=1),
                Column(title="AMAT, counted", unit="ns", digits=1),
                Column(title="AMAT, modelled", unit="ns", digits=1),
                Column(title="AMAT, counted, at least", unit="ns", digits=1, narrow=False),
                Column(title="at most", unit="ns", digits=1, narrow=False),
                Column(title="measured", unit="ns", digits=2, narrow=False),
                Column(title="reach the last level, counted", digits=3, narrow=False),
                Column(title="instructions a cycle", digits=2, narrow=False),
                Column(title="why no AMAT", narrow=False),
            ],
            rows=[
                [
                    one.case.walk,
                    one.case.level,
                    one.case.footprint_bytes,
                    *([one.counts.core_type] if hybrid else []),
                    _middle(one.miss_rate),
                    one.case.rates[-1] if one.case.rates else None,
                    _middle(one.reference_rate),
                    _middle(one.amat),
                    _middle(one.case.amat),
                    *_ends(one.amat),
                    one.case.measured,
                    _middle(one.reached),
                    _middle(one.instructions_per_cycle),
                    one.why_no_amat or None,
                ]
                for one in known
            ],
            note=note,
        )
    ]


def _middle(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _ends(estimate: Estimate | None) -> list[Cell]:
    known = estimate is not None and has_interval(estimate)
    return [estimate.low, estimate.high] if estimate is not None and known else [None, None]


APART = 0.1
"""Of a miss rate, counted less modelled: from here on they are said to differ."""


def rates_verdicts(counted: Sequence[Counted]) -> list[Verdict]:
    """Whether counted miss rates are those of the model, and why a counted AMAT is missing."""
    pairs = [
        (one, one.miss_rate.value - one.case.rates[-1])
        for one in counted
        if one.miss_rate is not None and one.case.rates
    ]
    found = []
    if pairs:
        far = [(one, apart) for one, apart in pairs if abs(apart) > APART]
        if not far:
            text = (
                f"Counted miss rates of the last level are within {100 * APART:.0f} points of the "
                f"modelled ones in all {len(pairs)} walks."
            )
            found.append(Verdict(level="good", text=text))
        else:
            worst, _ = max(far, key=lambda one: abs(one[1]))
            rate = worst.miss_rate.value if worst.miss_rate else 0.0
            text = (
                f"Counted miss rates of the last level differ from the modelled ones by more than "
                f"{100 * APART:.0f} points in {len(far)} of {len(pairs)} walks, most of "
                f"{worst.case.walk} at {format_bytes(worst.case.footprint_bytes)}: "
                f"{100 * rate:.0f}% counted, {100 * worst.case.rates[-1]:.0f}% modelled. "
                f"Prefetching, a shared level or another replacement than LRU do that."
            )
            found.append(Verdict(level="note", text=text))
    whys = {one.why_no_amat: one for one in counted if one.why_no_amat}
    for why, one in whys.items():
        text = (
            f"No AMAT by counted misses, as of {one.case.walk} at "
            f"{format_bytes(one.case.footprint_bytes)}: {why}."
        )
        found.append(Verdict(level="note", text=text))
    return found
