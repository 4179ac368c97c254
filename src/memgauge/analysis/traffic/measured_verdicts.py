"""What explains measured traffic, in plain words: without knowing what caused each byte.

Counters hold sums. Reads are set against what loads and stores of the nest are expected to read,
and against what was simulated of this machine; what that cannot show is reported as not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import msgspec

from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.section import Verdict
from memgauge.analysis.traffic.causes import LITTLE, MOST
from memgauge.analysis.traffic.departures import TOLERANCE, departures
from memgauge.analysis.traffic.figures import (
    DIRECTIONS,
    Curve,
    Direction,
    SizeResult,
    times,
)
from memgauge.analysis.traffic.measured import MEASURED
from memgauge.model.cache_machine import THIS
from memgauge.model.units import format_bytes, format_duration

OVERREAD = 0.02
"""Of the expectation: reads beyond it while everything is cached, which are reported."""


def measured_readings(curve: Curve, source: str = MEASURED) -> Iterator[str]:
    """Stores, prefetchers, strides, more cache than a core's share; by one route to the counters.

    Args:
        curve: One nest over its sizes.
        source: Which of `curve.measured_sources`.
    """
    for reading in (_stores, _partial_sectors, _overread, _whole_lines, _more_cache):
        yield from reading(curve, source)


def doubts(curve: Curve) -> Iterator[Verdict]:
    """Sizes with too little work, counters that could not be read or were never verified."""
    yield from _set_aside(curve)
    sources = curve.measured_sources
    for source in sources:
        by = f"{source[:1].upper()}{source[1:]}: " if len(sources) > 1 else ""
        for one in (*_too_little(curve, source), *_trust(curve, source)):
            yield msgspec.structs.replace(one, text=by + one.text)


def _set_aside(curve: Curve) -> Iterator[Verdict]:
    """Sizes of which no region was left."""
    sizes = [
        str(result.size) for result in curve.results if result.readings and not result.measured
    ]
    if sizes:
        text = (
            f"At N = {', '.join(sizes)} no region can be used: pages came and went in each, whose "
            f"traffic is too much beside the nest's."
        )
        yield Verdict(
            level="warning", text=text, remedy="increase --repetitions, or use larger sizes"
        )


def _too_little(curve: Curve, source: str) -> Iterator[Verdict]:
    """Sizes at which idle traffic, or the spread of regions, is too much."""
    drowned = {
        direction: [r.size for r in curve.results if r.is_drowned(direction, source)]
        for direction in DIRECTIONS
    }
    for direction, sizes in drowned.items():
        others = [one for one in DIRECTIONS if one != direction and drowned[one] == sizes]
        if not sizes or (others and direction == DIRECTIONS[1]):
            continue
        directions = " and ".join([direction, *others])
        yield Verdict(
            level="warning",
            text=f"Too little work to determine {directions} at N = {', '.join(map(str, sizes))}: "
            f"{_noise(curve.result(sizes[-1]), direction, source)}.",
            remedy="increase --repetitions, or use larger sizes",
        )


def _noise(result: SizeResult, direction: Direction, source: str) -> str:
    """What drowns a measured size."""
    flow, found = result.flow(direction, source), result.measured.get(source)
    if flow is None or found is None:
        return ""
    idle = (
        "" if flow.idle_share is None else f"idle traffic is {flow.idle_share:.0%} of {direction}, "
    )
    least, most = (format_bytes(round(max(0.0, end))) for end in (flow.least, flow.most))
    return (
        f"at N = {result.size} a region lasts {format_duration(found.region_s)}, {idle}and regions "
        f"lie between {least} and {most} an execution"
    )


def cached_results(curve: Curve, source: str = MEASURED) -> list[SizeResult]:
    """Measured sizes that allow a conclusion and have not left the expectation above it."""
    gone = [one for one in departures(curve, source) if one.direction == "reads" and one.above]
    return [
        result
        for result in curve.results
        if result.flow("reads", source) is not None
        and not result.is_drowned("reads", source)
        and not (gone and result.size >= gone[0].first)
    ]


def allocated_share(result: SizeResult, source: str = MEASURED) -> float | None:
    """Of what is stored, what was read beyond the loads: 1 where each line is read first."""
    flow, expected = result.flow("reads", source), result.expected
    if flow is None or not expected.write_bytes:
        return None
    return (flow.bytes.value - expected.load_bytes) / expected.write_bytes


def _stores(curve: Curve, source: str) -> Iterator[str]:
    """Only where stores are a larger share of all reads than the reads' uncertainty."""
    shares = [
        share
        for result in cached_results(curve, source)
        if (share := allocated_share(result, source)) is not None
        and result.expected.write_bytes > TOLERANCE * result.expected.load_bytes
    ]
    if not shares:
        return
    share = median(shares)
    found = f"{share:.2f} B are read beyond the loads for each B stored"
    if share > MOST:
        yield f"each line is read before it is stored (write-allocate): {found}"
    elif curve.gpu:
        yield f"nothing is read before it is written, as of a GPU: {found}"
    elif share < LITTLE:
        yield f"stores bypass the caches, or their lines are not read first: {found}"
    else:
        yield f"stores are read first in part: {found}"


def _partial_sectors(curve: Curve, source: str) -> Iterator[str]:
    """Of a GPU, about as much read beyond the loads as is stored, at every size."""
    known = (
        [result for result in curve.results if not result.is_drowned("reads", source)]
        if curve.gpu
        else []
    )
    shares = [share for result in known if (share := allocated_share(result, source)) is not None]
    if shares and min(shares) > LITTLE and max(shares) < 1 + TOLERANCE:
        yield (
            f"up to {max(shares):.2f} B are read beyond the loads for each B stored, as where "
            f"sectors are written in part, or leave the cache before they are whole"
        )


def _overread(curve: Curve, source: str) -> Iterator[str]:
    """More reads than a model without prefetchers has, though all is cached."""
    over = [
        flow.bytes.low / simulated
        for result in cached_results(curve, source)
        if (flow := result.flow("reads", source)) and (simulated := result.moved(THIS, "reads"))
    ]
    machine = curve.machines.get(THIS)
    if machine is None or not over or median(over) < 1 + OVERREAD:
        return
    if machine.prefetchers.next_line or machine.prefetchers.stride:
        return
    yield (
        f"reads are at least {times(median(over))} what was simulated while the expectation holds: "
        f"prefetchers, which the model of this machine has not, may read beyond what is used"
    )


def _whole_lines(curve: Curve, source: str) -> Iterator[str]:
    """Reads beyond the expectation against one line for each trip of the innermost loop."""
    gone = [one for one in departures(curve, source) if one.direction == "reads" and one.above]
    if not gone:
        return
    result = curve.result(gone[0].most)
    moved, line = result.moved(source, "reads") or 0.0, curve.line_bytes
    each = (moved - result.expected.read_bytes) / result.expected.trips
    most = line - result.expected.element_bytes
    if each > MOST * most:
        piece = "sector" if curve.gpu else "line"
        yield (
            f"at N = {result.size} {each:.0f} B beyond the expectation are read for each trip of "
            f"the innermost loop, about a {piece} of {line} B: its stride is longer than the "
            f"caches hold"
        )


def _more_cache(curve: Curve, source: str) -> Iterator[str]:
    """Still as expected where one core's share holds no array any more."""
    band = curve.band(source)
    results = cached_results(curve, source)
    if curve.gpu or band is None or not results or results[-1].size <= band.one_fits:
        return
    kept = curve.cached_bytes(source)
    yield (
        f"reads stay on the expectation up to N = {results[-1].size}, past N = {band.one_fits} "
        f"from which on no array fits the {format_bytes(kept or 0)} of a core: it uses more of the "
        f"caches than its share, such as slices of idle cores"
    )


def _trust(curve: Curve, source: str) -> Iterator[Verdict]:
    """Counters that could not be read, or that are not verified."""
    found = (result.measured.get(source) for result in curve.results)
    counted = [one for one in found if one is not None]
    missing = sorted({name for one in counted for name in one.missing})
    if missing:
        text = (
            f"{curve.title}, measured: in no sum, for they could not be read: {', '.join(missing)}."
        )
        yield Verdict(level="warning", text=text, remedy=_verify(curve))
    trusted = {trust_in(one.counts.counters) for one in counted}
    words = {one for one in trusted if one.startswith(("mis-scaled", "faulty", "partial", "dead"))}
    if words:
        text = f"The counters that this rests on were found {', '.join(sorted(words))}."
        yield Verdict(level="problem", text=text, remedy=_verify(curve))


def _verify(curve: Curve) -> str:
    memory = f" --memory {curve.gpu}" if curve.gpu else ""
    return f"run 'memgauge counters verify{memory}'"
