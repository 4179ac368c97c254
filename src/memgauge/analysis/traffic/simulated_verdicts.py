"""What made a simulated nest read and write what it did, in plain words with the figures."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.traffic.causes import (
    EVEN,
    Reread,
    StoreSpan,
    kept,
    own_bytes,
    power_of_two,
    rereads,
    store_spans,
)
from memgauge.analysis.traffic.departures import TOLERANCE, departures
from memgauge.analysis.traffic.figures import Curve, times
from memgauge.analysis.traffic.sets import crowd
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.units import format_bytes

LEAST_SHARE = 0.01
"""Of what is read: less of the prefetchers is not reported."""


def simulated_readings(curve: Curve, name: str) -> Iterator[str]:
    """Stores, arrays that are read again, prefetchers, what idle cores lend."""
    machine = curve.machines[name]
    for reading in (_stores, _rereads, _kept, _prefetchers, _write_backs, _borrowed):
        yield from reading(curve, machine)


def _stores(curve: Curve, machine: CacheMachine) -> Iterator[str]:
    spans = store_spans(curve, machine.name)
    if not spans:
        return
    texts = [_span_text(span, machine, curve.ahead) for span in spans]
    if len(spans) == 1:
        yield texts[0]
        return
    yield "; ".join(
        f"N = {span.first}{f' to {span.last}' if span.last != span.first else ''}: {text}"
        for span, text in zip(spans, texts, strict=True)
    )


def _span_text(span: StoreSpan, machine: CacheMachine, ahead: str) -> str:
    allocated = f"{span.allocated:.2f} B read for each B stored"
    if span.kind == "bypass":
        return (
            f"stores bypass the caches ({span.bypassed:.0%} of what is written): nothing is read "
            f"for them"
        )
    if span.kind == "prefetch" and ahead.startswith("loads"):
        return (
            f"the software prefetch of {ahead.partition(' prefetched')[0]} reads "
            f"{span.prefetched:.2f} B for each B stored"
        )
    if span.kind == "prefetch":
        return (
            f"the software prefetch reads the lines that are stored next ({span.prefetched:.2f} B "
            f"for each B stored), so that stores do not bypass the caches"
        )
    if span.kind == "allocate":
        return f"each line is read before it is stored (write-allocate, {allocated}){_why(machine)}"
    return (
        f"stores are read first in part ({allocated}), and {span.bypassed:.0%} of what is written "
        f"bypasses the caches"
    )


def _why(machine: CacheMachine) -> str:
    """What keeps stores from bypassing where a machine could."""
    if not machine.store_streams.lines:
        return "; this model has no stores that bypass the caches"
    return (
        f"; stores bypass only after {machine.store_streams.lines} whole lines stored in a row, "
        f"with no strided stream under way"
    )


def _rereads(curve: Curve, machine: CacheMachine) -> Iterator[str]:
    band = curve.band_of_lines(machine.name) or curve.band(machine.name)
    for one in rereads(curve, machine):
        fits = band is not None and one.first < band.all_fit
        yield _reread_text(one, _conflicts(curve, machine, one) if fits else None)


def _reread_text(one: Reread, conflicts: str | None) -> str:
    text = f"from N = {one.first} on {one.array} is read {times(one.times)}"
    if times(one.last_times) != times(one.times):
        text += f", {times(one.last_times)} at N = {one.last}"
    lines = ""
    if one.whole_lines is not None:
        size = format_bytes(one.whole_lines)
        lines = f", so that {size} are read for each element of {one.element_bytes} B"
    if conflicts is not None:
        return f"{text}{lines}: {conflicts}"
    if one.whole_lines is None:
        return f"{text}: what was read of it has left the caches when it is needed again"
    return f"{text}: its stride is longer than the caches hold{lines}"


def _conflicts(curve: Curve, machine: CacheMachine, one: Reread) -> str:
    """Where there should be room: computed where it follows from sets, else by what is usual."""
    size = one.first
    crowded = crowd(curve.result(size).nest, one.array, machine)
    if crowded is not None:
        return (
            f"the caches have room for it, but the {crowded.lines} lines of its column, "
            f"{format_bytes(crowded.stride_bytes)} apart, fall into {crowded.used_sets} of the "
            f"{crowded.sets} sets of {crowded.level}, which hold {crowded.held} of them"
        )
    if power_of_two(size) >= EVEN:
        return (
            f"the caches have room for it, but N = {size} is a multiple of {power_of_two(size)}, "
            f"and addresses a power of two apart may meet in few sets"
        )
    return f"the caches have room for it at N = {size}, but what is needed meets in few sets"


def _kept(curve: Curve, machine: CacheMachine) -> Iterator[str]:
    for one in kept(curve, machine):
        yield (
            f"from N = {one.first} on less of {one.array} is read than expected, {one.share:.0%}: "
            f"it stays in the caches from one use to the next"
        )


def _prefetchers(curve: Curve, machine: CacheMachine) -> Iterator[str]:
    if not (machine.prefetchers.next_line or machine.prefetchers.stride):
        return
    last = [result for result in curve.results if machine.name in result.simulated][-1]
    simulated = last.simulated[machine.name]
    share = simulated.hardware_prefetch_read_bytes / (simulated.read_bytes or 1)
    over = last.ratio(machine.name, "reads") or 0.0
    if share < LEAST_SHARE:
        return
    text = f"prefetchers ask for {share:.0%} of what is read at N = {last.size}"
    if over > 1 + LEAST_SHARE and not rereads(curve, machine):
        text += f", and reads are {times(over)} the expectation: they read beyond what is used"
    yield text


def _write_backs(curve: Curve, machine: CacheMachine) -> Iterator[str]:
    for one in departures(curve, machine.name):
        if one.direction == "writes" and one.above:
            yield (
                f"from N = {one.first} on changed lines leave the caches before they are whole, so "
                f"that they are written more than once"
            )


def _borrowed(curve: Curve, machine: CacheMachine) -> Iterator[str]:
    """Sizes past what the core's own caches hold that stay on the expectation."""
    if not machine.idle_cores or not any(level.borrows_idle for level in machine.levels):
        return
    own = curve.band_for(own_bytes(machine))
    results = [result for result in curve.results if machine.name in result.simulated]
    past = [
        result
        for result in results
        if own is not None
        and result.size > own.one_fits
        and (result.ratio(machine.name, "reads") or 0.0) <= 1 + TOLERANCE
    ]
    if own is None or not past:
        return
    bytes_ = format_bytes(own_bytes(machine))
    yield (
        f"slices of {machine.idle_cores} idle cores hold what its own {bytes_} do not: up to N = "
        f"{past[-1].size} reads stay on the expectation, where caching would end at N = "
        f"{own.all_fit} to {own.one_fits}"
    )
