"""What transfers mean for who must move data to and from a GPU, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.transfers.figures import Duplex, Line
from memgauge.analysis.transfers.link import link_verdicts, place_verdicts
from memgauge.model.system import System
from memgauge.model.units import format_bytes, format_duration

FULL_DUPLEX = 0.9
"""Of both directions alone, added: above it they hardly disturb each other."""
NOTHING = 1.1
"""Times the faster direction alone: below it both at once are worth nothing."""
MOST_STEPS = 2
"""Of one curve that are reported."""


def verdicts(lines: Sequence[Line], duplexes: Sequence[Duplex], system: System) -> list[Verdict]:
    """Of the host first, then of peers; then what does not fit the model.

    Args:
        lines: Transfers with nothing the other way meanwhile, one line for each way and direction.
        duplexes: Transfers in both directions at once, one for each way.
        system: Machine whose NUMA nodes tell whether host memory is near the GPU.
    """
    if not lines and not duplexes:
        return [
            Verdict(
                level="warning",
                text="No transfer was measured.",
                remedy="increase --budget",
            )
        ]
    host = [line for line in lines if line.way.host]
    return [
        *(verdict for line in lines for verdict in _speed(line)),
        *link_verdicts(host),
        *(verdict for duplex in duplexes for verdict in _duplex(duplex)),
        *_pageable(host),
        *place_verdicts(host, system),
        *(verdict for line in lines for verdict in _model(line)),
    ]


def _speed(line: Line) -> Iterator[Verdict]:
    """One line: how fast, from which size on, and what the smallest costs."""
    top = line.best
    if top is None:
        return
    size, speed = top
    smallest, took = line.smallest
    text = f"{line.begun}: {gb_text(speed)} at best, with {format_bytes(size)}"
    half = line.half
    if half is not None:
        text += f"; half of it from {_about(half)} a transfer on"
    text += f"; one of {format_bytes(smallest)} takes {format_duration(took.value * 1e-9)}."
    yield Verdict(level="note", text=text + _through(line))


def _through(line: Line) -> str:
    """Of a peer that is not reached directly."""
    if line.actual.direct is False:
        return " The driver copies through the host: neither GPU reaches the other's memory."
    return ""


def _duplex(duplex: Duplex) -> Iterator[Verdict]:
    """What both directions at once are worth, with the largest transfers."""
    one = duplex.largest
    if one.over_faster is None:
        return
    ends = duplex.way.peer or f"{duplex.way.host} memory"
    text = (
        f"Both directions at once ({ends}, {format_bytes(one.size)}) move {gb_text(one.total)}, "
        f"{_times(one.over_faster)} the faster one alone"
    )
    if one.over_both is not None:
        text += f" and {share_interval(one.over_both)} of both alone, added"
    if one.over_both is not None and one.over_both.low >= FULL_DUPLEX:
        text += ": the directions hardly disturb each other"
    elif one.over_faster.high <= NOTHING:
        text += ": they share one way, and overlapping them gains nothing"
    yield Verdict(level="note", text=f"{text}.")


def _pageable(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What is lost where memory is not pinned, at the largest size that both have."""
    by_end = {(line.way.gpu, line.direction, line.way.host): line for line in lines}
    for (gpu, direction, host), slow in by_end.items():
        fast = by_end.get((gpu, direction, "pinned"))
        if host != "pageable" or fast is None:
            continue
        common = [size for size in slow.speeds if size in fast.speeds]
        found = ratio(slow.speeds[common[-1]], fast.speeds[common[-1]]) if common else None
        if found is None:
            continue
        at = f"{slow.name.partition(',')[0]}, {format_bytes(common[-1])}"
        reaches = f"Pageable memory reaches {share_interval(found)} of what pinned memory does"
        if not has_interval(found):
            yield Verdict(
                level="note",
                text=f"{reaches} ({at}), from too few samples for an interval.",
            )
        elif found.high < 1:
            yield Verdict(
                level="note",
                text=f"{reaches} ({at}).",
                remedy="pin what is transferred often (cuMemHostAlloc, cuMemHostRegister; in "
                "CuPy and PyTorch pinned memory)",
            )
        else:
            yield Verdict(
                level="note",
                text=f"Pageable memory is as fast as pinned memory within the intervals ({at}: "
                f"{share_interval(found)}).",
            )


def _model(line: Line) -> Iterator[Verdict]:
    """Where the curve is none of Hockney's, and where another way of copying begins."""
    model = line.model
    if model is not None and not model.is_followed:
        longer = "longer" if model.worst > 0 else "less"
        yield Verdict(
            level="note",
            text=f"{line.begun}: the curve does not follow t = (n + n1/2) / r: a transfer of "
            f"{format_bytes(model.worst_bytes)} takes {abs(model.worst):.0%} {longer} than "
            "this formula predicts. Use the curve, not n1/2.",
        )
    from_curve = line.steps
    for step in from_curve[:MOST_STEPS]:
        if step.time < 1:
            text = (
                f"one of {format_bytes(step.bytes)} is sooner done than one of "
                f"{format_bytes(step.below_bytes)}, in {step.time:.0%} of its time"
            )
        else:
            text = (
                f"bandwidth falls to {step.speed:.0%} from {format_bytes(step.below_bytes)} to "
                f"{format_bytes(step.bytes)}"
            )
        yield Verdict(
            level="note",
            text=f"{line.begun}: {text}: a different way of copying begins there, or a cache is "
            "exceeded.",
        )


def gb_text(speed: Estimate) -> str:
    """Such as `25.1 GB/s`."""
    return f"{speed.value:.3g} GB/s" if speed.value < 10 else f"{speed.value:.1f} GB/s"


def _about(half: Estimate) -> str:
    """A size with its interval, in whole units."""
    low, high = bounds(half)
    if format_bytes(round(low)) == format_bytes(round(high)):
        return _size(half.value)
    return f"{_size(half.value)} ({_size(low)} to {_size(high)})"


def _size(value: float) -> str:
    unit, name = next(
        ((1 << shift, name) for shift, name in ((20, "MiB"), (10, "KiB")) if value >= 1 << shift),
        (1, "B"),
    )
    amount = value / unit
    return f"{amount:.1f} {name}" if amount < 10 and unit > 1 else f"{amount:.0f} {name}"


def _times(one: Estimate) -> str:
    """Such as `1.86 (1.85 to 1.88) times`."""
    if not has_interval(one):
        return f"{one.value:.2f} times"
    return f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f}) times"


def share_interval(one: Estimate) -> str:
    """Such as `24% (23% to 25%)`."""
    if not has_interval(one):
        return f"{one.value:.0%}"
    return f"{one.value:.0%} ({one.low:.0%} to {one.high:.0%})"
