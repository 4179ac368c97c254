"""What explains that memory moved more or less than a program counts, in plain words.

Reads and writes of one repetition are set against what the kernel reads and writes by itself and
against what it would read besides, were each written line read first (write-allocate). What idle
regions saw is taken off for these comparisons where it is known, and the verdicts say so. What then
remains of writes is nobody's store: directory and ECC updates, or other programs that were quiet
when the team slept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.counters.bandwidth import (
    BOTH,
    READS,
    WRITES,
    HardwareBandwidth,
    Socket,
    bytes_per_repetition,
    idle_rate,
)
from memgauge.analysis.counters_verify.rules import SIGNATURES
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds
from memgauge.model.counting.calibration import factor_text
from memgauge.model.counting.events import Quantity
from memgauge.model.units import format_count

LITTLE, MOST = 0.25, 0.75
"""Of the lines that could be read first: below, they are evaded; above, they are read."""
EXCESS = 0.01
"""Of the kernel's writes or reads: what is not worth a word."""
SHORT, FAR = 0.97, 1.25
"""Times what the program surely moves, and what it may move: beyond them nothing is concluded."""
SNAP = 0.06
"""How near to a known wrong factor a ratio must be to be named one."""
IDLE_NOISE = 0.1
"""Of the traffic under load: beyond it what others move is too much to explain the rest."""


def explain(found: HardwareBandwidth) -> list[Verdict]:
    """All that is known about one kernel."""
    if found.counts.basis != "measured":
        return []
    if found.ratio is None:
        return [_nothing(found), *faults(found)]
    if not found.ratio.value:
        return [*dead(found), *faults(found)]
    return [
        _summary(found),
        *scale(found),
        *_allocation(found),
        *_excess(found),
        *_idle(found),
        *balance(found),
        *faults(found),
    ]


def megabytes(estimate: Estimate | None) -> str:
    """A bandwidth in STREAM's unit, MB/s of 1e6 bytes."""
    return "unknown" if estimate is None else f"{estimate.value / 1e6:.2f} MB/s"


def _nothing(found: HardwareBandwidth) -> Verdict:
    text = f"{found.counts.title}: no region could be counted whole."
    return Verdict(level="problem", text=text, remedy="see which counters are missing")


def dead(found: HardwareBandwidth) -> Iterator[Verdict]:
    """Counters that stand still while the program surely moves bytes."""
    if found.ratio is not None and not found.ratio.value:
        text = (
            f"{found.counts.title}: the counters counted nothing while the program moved "
            f"{megabytes(found.software)}: they are dead, or see other memory than this."
        )
        yield Verdict(level="problem", text=text, remedy="run 'memgauge counters verify'")


def _summary(found: HardwareBandwidth) -> Verdict:
    ratio, allocated = found.ratio, found.ratio_allocated
    kernel = found.counts.kernel
    times = "unknown" if ratio is None else f"{ratio.value:.4f} times as much"
    text = (
        f"{found.counts.title}: memory moved {megabytes(found.hardware.total)} by its counters "
        f"where the program counts {megabytes(found.software)}: {times}"
    )
    if allocated is not None and kernel.allocated_bytes != kernel.counted_bytes:
        text += f", and {allocated.value:.4f} times as much as with write-allocate"
    return Verdict(level="good", text=f"{text}.")


def scale(found: HardwareBandwidth) -> Iterator[Verdict]:
    """A ratio that looks like a wrong scale, or like counters that are not all there."""
    if found.ratio is None or found.ratio_allocated is None:
        return
    factor = nearest_factor(found)
    if factor is not None:
        text = (
            f"{found.counts.title}: the ratio is that of counters mis-scaled by "
            f"{factor_text(factor)}, a known fault of some; or so much of the traffic is seen."
        )
        yield Verdict(level="warning", text=text, remedy="run 'memgauge counters verify'")
        return
    if found.ratio.value < SHORT and found.ratio_allocated.value < SHORT:
        text = (
            f"{found.counts.title}: the counters see less than the program surely moves: some "
            f"controllers are missing, a cache keeps part of the arrays, or the scale is wrong."
        )
        yield Verdict(level="warning", text=text, remedy="run 'memgauge counters verify'")


def nearest_factor(found: HardwareBandwidth) -> float | None:
    """The known wrong factor that a ratio far from 1 is near to; None: it is not, or to none."""
    ratios = [one.value for one in (found.ratio, found.ratio_allocated) if one is not None]
    if not ratios or (max(ratios) >= SHORT and min(ratios) <= FAR):
        return None
    return next(
        (
            factor
            for factor in SIGNATURES
            if any(abs(ratio / factor - 1) < SNAP for ratio in ratios)
        ),
        None,
    )


def _allocation(found: HardwareBandwidth) -> Iterator[Verdict]:
    """Whether lines were read before they were written."""
    what = allocation_text(found)
    if what:
        text = f"{found.counts.title}: {what}{_detail(found)}."
        yield Verdict(level="note", text=text)


def allocation_text(found: HardwareBandwidth) -> str:
    """What happened to lines that are written and not read; empty where it cannot be determined."""
    kernel = found.counts.kernel
    seen = allocation_share(found)
    if seen is None or not kernel.evadable_bytes or not _is_whole(found):
        return ""
    if seen.value < LITTLE and kernel.streams:
        return "streaming stores read no line first, as they should"
    if seen.value < LITTLE:
        return (
            "no write-allocate took place, though these are ordinary stores: the hardware saw that "
            "lines are written whole and did not read them"
        )
    if seen.value > MOST and kernel.streams:
        return "lines were read first in spite of streaming stores"
    if seen.value > MOST:
        return "each line was read before it was written (write-allocate)"
    return "a part of the lines written were read first (write-allocate), or others read as much"


def allocation_share(found: HardwareBandwidth) -> Estimate | None:
    """Bytes read beyond the kernel's own, as a share of what it would read with write-allocate.

    Idle traffic is taken off. From reads where they are distinguished, else from all traffic.
    """
    kernel = found.counts.kernel
    if not kernel.evadable_bytes:
        return None
    own = kernel.read_bytes
    moved = bytes_per_repetition(found, (READS,), less_idle=True)
    if moved is None:
        own = kernel.counted_bytes
        moved = bytes_per_repetition(found, (READS, WRITES, BOTH), less_idle=True)
    if moved is None:
        return None
    ends = ((end - own) / kernel.evadable_bytes for end in (moved.value, moved.low, moved.high))
    return Estimate(*ends)


def _detail(found: HardwareBandwidth) -> str:
    """Reads to writes and bytes an element, beside what both cases would give."""
    kernel = found.counts.kernel
    reads, writes = (bytes_per_repetition(found, (way,)) for way in (READS, WRITES))
    total = bytes_per_repetition(found, (READS, WRITES, BOTH))
    text = ""
    if reads is not None and writes is not None and writes.value and kernel.write_bytes:
        alone = kernel.read_bytes / kernel.write_bytes
        first = (kernel.read_bytes + kernel.evadable_bytes) / kernel.write_bytes
        text += (
            f"; reads to writes are {reads.value / writes.value:.2f} : 1, where the kernel alone "
            f"has {alone:g} : 1 and with write-allocate {first:g} : 1"
        )
    if total is not None and kernel.elements:
        alone = kernel.counted_bytes / kernel.elements
        first = (kernel.counted_bytes + kernel.evadable_bytes) / kernel.elements
        text += (
            f"; {total.value / kernel.elements:.2f} bytes moved for an element, where the kernel "
            f"alone has {alone:g} and with write-allocate {first:g}"
        )
    return text


def _is_whole(found: HardwareBandwidth) -> bool:
    """Whether the counters see about as much as the program surely moves, and not far more."""
    kernel = found.counts.kernel
    total = bytes_per_repetition(found, (READS, WRITES, BOTH), less_idle=True)
    most = FAR * (kernel.counted_bytes + kernel.evadable_bytes)
    return total is not None and SHORT * kernel.counted_bytes <= total.value <= most


def _excess(found: HardwareBandwidth) -> Iterator[Verdict]:
    """Writes beyond the kernel's, which no store of it explains; the same of its reads."""
    kernel = found.counts.kernel
    if not _is_whole(found):
        return
    beyond = excess_writes(found)
    if beyond:
        text = (
            f"{found.counts.title}: memory wrote {beyond} more than the kernel "
            f"does{_taken_off(found, WRITES)}: directory or ECC updates, page tables, or other "
            f"programs."
        )
        yield Verdict(level="note", text=text)
    reads = bytes_per_repetition(found, (READS,), less_idle=True)
    if reads is None:
        return
    share = allocation_share(found)
    first = kernel.evadable_bytes if share is not None and share.value >= LITTLE else 0
    expected = kernel.read_bytes + first
    if bounds(reads)[0] > (1 + EXCESS) * expected + EXCESS * kernel.counted_bytes:
        beyond = _beyond(reads, expected, kernel.counted_bytes)
        text = (
            f"{found.counts.title}: memory read {beyond} more than the kernel"
            f"{' with write-allocate' if first else ''} asks "
            f"for{_taken_off(found, READS)}: prefetches beyond the arrays, page walks, partial "
            f"writes (ECC), or other programs."
        )
        yield Verdict(level="note", text=text)


def _taken_off(found: HardwareBandwidth, quantity: Quantity) -> str:
    """What is added where idle traffic is known and was subtracted."""
    return ", idle traffic subtracted" if idle_rate(found, (quantity,)) is not None else ""


def excess_writes(found: HardwareBandwidth) -> str:
    """Share of writes that are none of the kernel's, as text; empty where there are hardly any."""
    kernel = found.counts.kernel
    writes = bytes_per_repetition(found, (WRITES,), less_idle=True)
    if writes is None or not _is_whole(found):
        return ""
    if bounds(writes)[0] <= kernel.write_bytes + EXCESS * max(
        kernel.write_bytes, kernel.counted_bytes / 3
    ):
        return ""
    return _beyond(writes, kernel.write_bytes, kernel.counted_bytes)


def _beyond(moved: Estimate, expected: int, counted: int) -> str:
    """The excess, in per cent of what was expected, or of all that is counted where none was."""
    if expected:
        return f"{100 * (moved.value / expected - 1):.1f}%"
    return f"{100 * moved.value / counted:.1f}% of all the program counts"


def _idle(found: HardwareBandwidth) -> Iterator[Verdict]:
    idle, total = found.hardware.idle, found.hardware.total
    name = found.counts.title
    if not found.counts.idle:
        if found.counts.published:
            text = f"{name}: no idle traffic was published; that of others is in these figures."
            yield Verdict(level="note", text=text)
        return
    if total is None or not total.value:
        return
    if idle is None:
        text = f"{name}: idle traffic could not be read; that of others is in these figures."
        yield Verdict(level="note", text=text)
        return
    share = idle.value / total.value
    text = (
        f"{name}: while the team was idle, the same counters counted {megabytes(idle)}, "
        f"{100 * share:.2g}% of that. It is not subtracted in the tables."
    )
    if share > IDLE_NOISE:
        yield Verdict(level="warning", text=text, remedy="stop other programs, and measure again")
    else:
        yield Verdict(level="note", text=text)


def balance(found: HardwareBandwidth) -> Iterator[Verdict]:
    """How the traffic divides between sockets, and what the busiest one lacks."""
    known = [one for one in found.sockets if one.socket is not None and one.traffic.total]
    total = found.hardware.total
    if len(known) < 2 or total is None or not total.value:
        return
    shares = [one.traffic.total.value / total.value for one in known if one.traffic.total]
    listed = ", ".join(
        f"{100 * share:.1f}% on socket {one.socket} ({format_count(len(one.places), 'place')})"
        for one, share in zip(known, shares, strict=True)
    )
    name = found.counts.title
    yield Verdict(level="note", text=f"{name}: the traffic is divided into {listed}.")
    busiest = known[max(range(len(shares)), key=shares.__getitem__)]
    yield from _lacking(found, busiest)


def _lacking(found: HardwareBandwidth, busiest: Socket) -> Iterator[Verdict]:
    """Writes that the busiest socket alone does not account for: pages lie elsewhere."""
    kernel = found.counts.kernel
    total, alone = found.hardware.write, busiest.traffic.write
    if total is None or alone is None or found.software is None or not kernel.write_bytes:
        return
    own = found.software.value * kernel.write_bytes / kernel.counted_bytes
    if alone.value >= 0.99 * own or alone.value < 0.8 * own or total.value < 0.99 * own:
        return
    elsewhere = 100 * (1 - alone.value / own)
    text = (
        f"{found.counts.title}: socket {busiest.socket} alone wrote {megabytes(alone)} of the "
        f"{own / 1e6:.2f} MB/s that the kernel stores: {elsewhere:.1f}% of that went elsewhere, as "
        f"where some of its pages lie on another socket."
    )
    yield Verdict(level="note", text=text)


def faults(found: HardwareBandwidth) -> Iterator[Verdict]:
    """What is to be known of the counters themselves."""
    name, counts = found.counts.title, found.counts
    if found.missing:
        text = f"{name}: not in any sum, for they could not be read: {', '.join(found.missing)}."
        yield Verdict(level="problem", text=text)
    if found.hardware.is_estimate:
        text = (
            f"{name}: some counters shared their hardware with other events and counted for a part "
            f"of the time; their values are scaled up and are estimates."
        )
        remedy = "name fewer events, or end other profilers"
        yield Verdict(level="warning", text=text, remedy=remedy)
    if counts.set_aside:
        regions = format_count(counts.set_aside, "region")
        text = f"{name}: {regions} set aside, for pages came or went meanwhile."
        yield Verdict(level="note", text=text)


def notes(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    """What opening the counters fell back to, once for all kernels."""
    known: dict[str, None] = {}
    for found in every:
        if found.counts.basis == "measured" and not found.counts.published:
            known |= dict.fromkeys(found.counts.notes)
    if known:
        yield Verdict(level="note", text=f"Notes on the counters: {'; '.join(known)}.")
