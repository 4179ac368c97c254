"""Software against hardware bandwidth in a GPU's memory: reads and writes apart, and verdicts.

A GPU's second-level cache writes whole sectors of 32 bytes without reading them, so that nothing is
read first and memory moves what the kernel loads and stores, no more. What may differ: changed data
that the cache still holds from before a region, or after it (both are left in about alike: a
repetition runs before); sectors that are read or written in part; ECC kept in the memory itself, as
with GDDR, which reads and writes codes beside the data; arrays that the cache keeps a part of.
Figures are medians over regions, and nothing is taken off, as on the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from memgauge.analysis.counters.bandwidth import (
    BOTH,
    READS,
    WRITES,
    HardwareBandwidth,
    bytes_of_regions,
    idle_rate,
)
from memgauge.analysis.counters.verdicts import IDLE_NOISE, nearest_factor
from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.figures.run import stacked
from memgauge.analysis.section import Axis, Cell, Chart, Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, has_interval, stated, sustained
from memgauge.model.counting.calibration import factor_text
from memgauge.model.counting.events import Quantity
from memgauge.model.units import format_count

WITHIN = 0.02
"""Of the bytes that a kernel counts: what its memory's counters may differ by."""

RATE = 1e-9
"""Bytes a second to GB/s."""

Agreement = Literal["agrees", "differs", "open", "dead", "nothing"]
"""open: the interval holds both; dead: the counters stood still; nothing: no region was whole."""

CAUSES = (
    "sectors moved in part, ECC codes that lie in the memory itself, or other programs on the GPU"
)


def agreement(found: HardwareBandwidth) -> Agreement:
    """Whether hardware moved what the kernel counts, within 2% by the interval of the ratio."""
    if found.ratio is None:
        return "nothing"
    if not found.ratio.value:
        return "dead"
    low, high = found.ratio.low, found.ratio.high
    if low >= 1 - WITHIN and high <= 1 + WITHIN:
        return "agrees"
    return "differs" if high < 1 - WITHIN or low > 1 + WITHIN else "open"


def ratio_of(found: HardwareBandwidth, quantity: Quantity) -> Estimate | None:
    """Reads, or writes, of memory over those of the kernel; None where it has none."""
    kernel = found.counts.kernel
    own = kernel.read_bytes if quantity == READS else kernel.write_bytes
    if not own:
        return None
    return sustained([moved / own for moved in bytes_of_regions(found, (quantity,))], 0.5)


def table(every: Sequence[HardwareBandwidth], name: str, source: str) -> Table:
    """Software and hardware bandwidth in GPU memory, a row for each kernel.

    Args:
        every: Kernels that ran in GPU memory, all with counts of one basis.
        name: The basis in a word: `hardware`, `modelled` or `simulated`.
        source: Where the counts come from, such as `by the GPU's counters`; part of the note.
    """
    return Table(
        name=f"{name}-bandwidth",
        title=_title(every, name),
        columns=[
            Column(title="kernel"),
            Column(title="software", unit="GB/s", digits=2),
            Column(title=name, unit="GB/s", digits=2),
            Column(title=f"{name} : software", digits=4),
            Column(title="reads", digits=3),
            Column(title="writes", digits=3),
            Column(title="within 2%"),
            Column(title="bytes an element", digits=2, narrow=False),
            Column(title="idle", unit="GB/s", digits=3, narrow=False),
            Column(title="regions", narrow=False),
            Column(title="repetitions", narrow=False),
            Column(title="by", narrow=False),
            Column(title="counters", narrow=False),
        ],
        rows=[_row(found) for found in every],
        note=f"GB/s = 1e9 bytes a second. Software: by STREAM's counting. {name.capitalize()}: "
        f"{source}, over the same seconds; reads, writes: over those of the kernel. Medians "
        "over regions, the ratio with its 95% interval; the first repetition is left out. A "
        "GPU writes without reading first. Idle: counted while memgauge launched nothing on it; "
        "not subtracted here.",
    )


def _row(found: HardwareBandwidth) -> list[Cell]:
    counts = found.counts
    return [
        _short(found),
        middle(found.software, RATE),
        middle(found.hardware.total, RATE),
        stated(found.ratio),
        middle(ratio_of(found, READS)),
        middle(ratio_of(found, WRITES)),
        {"agrees": "yes", "open": "not known"}.get(agreement(found), "no"),
        _bytes_an_element(found),
        middle(found.hardware.idle, RATE),
        len(counts.regions),
        found.repetitions,
        counts.back_end,
        trust_in(counts.counters) if counts.basis == "measured" else counts.basis,
    ]


def _bytes_an_element(found: HardwareBandwidth) -> float | None:
    moved = sustained(bytes_of_regions(found, (READS, WRITES, BOTH)), 0.5)
    elements = found.counts.kernel.elements
    return moved.value / elements if moved is not None and elements else None


def _title(every: Sequence[HardwareBandwidth], name: str) -> str:
    gpus = ", ".join(dict.fromkeys(found.counts.kernel.gpu for found in every))
    return f"Software and {name} bandwidth of {gpus}"


def _short(found: HardwareBandwidth) -> str:
    """The kernel without the GPU, where that is named beside."""
    counts = found.counts
    if counts.is_one_of_several:
        return counts.title
    return counts.kernel.name.removesuffix(f", {counts.kernel.gpu}")


def middle(estimate: Estimate | None, unit: float = 1.0) -> float | None:
    """In a unit, without its interval, which documents hold."""
    return None if estimate is None else estimate.value * unit


def chart(every: Sequence[HardwareBandwidth], name: str, source: str) -> Chart:
    """Two stacked bars for each kernel: what it counts, and what its memory moved.

    Args:
        every: Kernels that ran in GPU memory, all with counts of one basis.
        name: The basis in a word: `hardware`, `modelled` or `simulated`.
        source: Where the counts come from, such as `by the GPU's counters`; part of the note.
    """
    return Chart(
        name=f"{name}-bandwidth",
        title=_title(every, name),
        kind="stack",
        x=Axis(title="Kernel", unit=""),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=stacked(row for found in every for row in _parts(found, name)),
        note=f"Software: what the kernel reads and writes. {name.capitalize()}: {source}.",
    )


def _parts(found: HardwareBandwidth, name: str) -> Iterator[tuple[str, str, float]]:
    """Bar, part and GB/s."""
    kernel, software, moved = found.counts.kernel, found.software, found.hardware
    if software is None:
        return
    for part, bytes_ in (("reads", kernel.read_bytes), ("writes", kernel.write_bytes)):
        if bytes_:
            rate = software.value * bytes_ / kernel.counted_bytes
            yield f"{_short(found)}: software", f"program {part}", rate * RATE
    for part, estimate in moved.by_direction:
        yield f"{_short(found)}: {name}", f"{name} {part}", estimate.value * RATE


def verdicts(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    """What the counters show of all kernels that were counted by measurement."""
    for word in ("nothing", "dead"):
        mine = [found for found in every if agreement(found) == word]
        if mine:
            yield _silent(mine, word)
    known = [found for found in every if found.ratio is not None and found.ratio.value]
    if known:
        yield _range(known)
        yield from _apart(known)
    for found in known:
        if agreement(found) != "agrees":
            yield _beyond(found)
    yield from _idle(known)


def _silent(mine: Sequence[HardwareBandwidth], word: str) -> Verdict:
    names = "; ".join(found.counts.title for found in mine)
    if word == "nothing":
        text = f"No region could be counted whole of: {names}."
        return Verdict(level="problem", text=text, remedy="see which counters are missing")
    text = f"{names}: the counters counted nothing while the kernel surely moved bytes: dead."
    return Verdict(level="problem", text=text, remedy=_verify(mine[0]))


def _range(known: Sequence[HardwareBandwidth]) -> Verdict:
    ordered = sorted(known, key=lambda found: found.ratio.value if found.ratio else 0.0)
    agreements = [agreement(found) for found in known]
    good, unknown = agreements.count("agrees"), agreements.count("open")
    ends = {
        f"{found.ratio.value:.4f}": f" ({_short(found)})"
        for found in (ordered[0], ordered[-1])
        if found.ratio is not None
    }
    named = len(ends) > 1
    moved = " to ".join(f"{value}{name if named else ''}" for value, name in ends.items())
    gpu = known[0].counts.kernel.gpu
    text = (
        f"By its counters, memory of {gpu} moved {moved} times the bytes that the kernels count: "
        f"{good} of {format_count(len(known), 'kernel')} within 2%"
    )
    text += f", and for {unknown} it is not known." if unknown else "."
    return Verdict(level="good" if good == len(known) else "note", text=text)


def _apart(known: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    """Between what the ratios of reads lie, and those of writes."""
    ratios = []
    for name, quantity in (("reads", READS), ("writes", WRITES)):
        values = [ratio.value for found in known if (ratio := ratio_of(found, quantity))]
        if values:
            ends = dict.fromkeys((f"{min(values):.3f}", f"{max(values):.3f}"))
            ratios.append(f"{name} are {' to '.join(ends)} of the kernels'")
    if ratios:
        yield Verdict(level="note", text=f"Separately: {', '.join(ratios)}.")


def _beyond(found: HardwareBandwidth) -> Verdict:
    """A kernel whose bytes memory did not move within 2%, with what may make it."""
    low, high = bounds(found.ratio) if found.ratio is not None else (0.0, 0.0)
    name = found.counts.title
    if agreement(found) == "open":
        ends = f"{low:.4f} to {high:.4f} times" if has_interval(found.ratio) else "too few regions"
        text = (
            f"{name}: whether memory moved what the kernel counts, within 2%, cannot be "
            f"determined: {ends}."
        )
        return Verdict(level="note", text=text, remedy="increase --budget")
    factor = nearest_factor(found)
    if factor is not None:
        why = f"the ratio is that of counters mis-scaled by {factor_text(factor)}"
    elif high < 1:
        why = "the second-level cache keeps a part of the arrays, or the counters miss memory"
    else:
        why = f"{_where(found)}: {CAUSES}"
    text = f"{name}: memory moved {low:.4f} to {high:.4f} times what the kernel counts: {why}."
    return Verdict(level="warning", text=text, remedy=_verify(found))


def _where(found: HardwareBandwidth) -> str:
    """Which of both is too much."""
    over = [
        name
        for name, quantity in (("reads", READS), ("writes", WRITES))
        if (ratio := ratio_of(found, quantity)) and bounds(ratio)[0] > 1 + WITHIN
    ]
    return f"more {' and '.join(over)} than it makes" if over else "more than it makes"


def _idle(known: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    """The largest share that others had."""
    shares = [
        (idle.value / found.hardware.total.value, idle, found)
        for found in known
        if (idle := idle_rate(found, (READS, WRITES, BOTH))) is not None and found.hardware.total
    ]
    if not shares:
        return
    share, idle, found = max(shares, key=lambda one: one[0])
    if not share:
        yield Verdict(
            level="note",
            text="While memgauge launched nothing on the GPU, the same counters counted nothing.",
        )
        return
    text = (
        "While memgauge launched nothing on the GPU, the same counters counted up to "
        f"{idle.value * RATE:.3g} GB/s, {100 * share:.2g}% of {_short(found)}. It is not "
        "subtracted in the tables."
    )
    noisy = share > IDLE_NOISE
    remedy = "stop other programs that use the GPU, and measure again" if noisy else None
    yield Verdict(level="warning" if noisy else "note", text=text, remedy=remedy)


def _verify(found: HardwareBandwidth) -> str:
    return f"run 'memgauge counters verify --memory {found.counts.kernel.gpu}'"
