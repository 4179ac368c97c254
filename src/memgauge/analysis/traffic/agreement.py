"""Whether what was simulated of this machine is what was measured on it, and what it may lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from memgauge.analysis.counters.routes import route_verdict
from memgauge.analysis.section import Verdict
from memgauge.analysis.traffic.causes import LITTLE
from memgauge.analysis.traffic.departures import TOLERANCE
from memgauge.analysis.traffic.figures import DIRECTIONS, Curve, SizeResult, times
from memgauge.analysis.traffic.measured import MEASURED, back_end_of
from memgauge.analysis.traffic.measured_verdicts import allocated_share
from memgauge.model.cache_machine import THIS


def agreement(curve: Curve) -> Iterator[Verdict]:
    """Whether what was simulated of this machine is what was measured on it, by each route."""
    for source in curve.measured_sources:
        yield from _with_this(curve, source)


def _with_this(curve: Curve, source: str) -> Iterator[Verdict]:
    for direction in DIRECTIONS:
        pairs = [
            (result, measured / simulated)
            for result in curve.results
            if not result.is_drowned(direction, source)
            and (measured := result.moved(source, direction)) is not None
            and (simulated := result.moved(THIS, direction))
        ]
        if not pairs:
            continue
        off = [(result, ratio) for result, ratio in pairs if abs(ratio - 1) > TOLERANCE]
        what = f"Measured {direction}{source.removeprefix(MEASURED)}"
        if not off:
            near = f"within {TOLERANCE:.0%} of the simulated ones"
            yield Verdict(level="good", text=f"{what} are {near} at all {len(pairs)} sizes.")
            continue
        worst, ratio = max(off, key=lambda one: abs(one[1] - 1))
        yield Verdict(
            level="warning",
            text=f"{what} differ from the simulated ones at {len(off)} of {len(pairs)} sizes, most "
            f"at N = {worst.size}: {times(ratio)}. {_lacks(curve, off, source)}",
        )


def _lacks(curve: Curve, off: Sequence[tuple[SizeResult, float]], source: str) -> str:
    """What the model may lack, by the side on which it is wrong."""
    machine = curve.machines[THIS]
    less = [result for result, ratio in off if ratio < 1]
    if len(less) == len(off):
        each = (allocated_share(result, source) for result in less)
        shares = [share for share in each if share is not None]
        if shares and median(shares) < LITTLE and not machine.store_streams.lines:
            return (
                "The model reads each line before it is stored; this machine seems not to, and its "
                "model has no stores that bypass the caches."
            )
        return "This machine's caches seem to hold more than its model's."
    if less:
        return "It moves more at some sizes and less at others: caches end elsewhere than modelled."
    first = min(result.size for result, _ in off)
    band = curve.band(THIS)
    if band is not None and first <= band.all_fit:
        return (
            "All arrays should fit there: others use the shared caches too, prefetchers read "
            "ahead, or pages lie so that sets are used unevenly; the model has none of these."
        )
    return (
        "This machine's caches seem to hold less than its model's, which has all of a shared level "
        "to itself and sets without hashes."
    )


def route_agreement(curve: Curve) -> Iterator[Verdict]:
    """Whether several routes to the counters counted the same of the same regions."""
    first, *others = curve.measured_sources or [""]
    for other in others:
        ratios = [
            (ratio, f"{direction} at N = {result.size}")
            for result in curve.results
            for direction in DIRECTIONS
            if (ratio := result.route_ratio(first, other, direction)) is not None
        ]
        if ratios:
            yield route_verdict(back_end_of(first), back_end_of(other), ratios)
