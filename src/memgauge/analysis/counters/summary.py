"""What explains the hardware bandwidth of several kernels, once for all that are alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memgauge.analysis.counters import gpu as hardware_gpu
from memgauge.analysis.counters.bandwidth import HardwareBandwidth
from memgauge.analysis.counters.routes import route_verdicts
from memgauge.analysis.counters.verdicts import (
    IDLE_NOISE,
    allocation_share,
    allocation_text,
    balance,
    dead,
    excess_writes,
    explain,
    faults,
    megabytes,
    notes,
    scale,
)
from memgauge.analysis.section import Verdict


def verdicts(every: Sequence[HardwareBandwidth]) -> list[Verdict]:
    """What explains the figures, and what is known of the counters."""
    counted = [found for found in every if found.counts.basis == "measured"]
    measured = [found for found in counted if not found.counts.kernel.gpu]
    on_gpu = [found for found in counted if found.counts.kernel.gpu]
    made = [*_modelled(every), *hardware_gpu.verdicts(on_gpu), *_alike(on_gpu, faults)]
    if len(measured) == 1:
        made += explain(measured[0])
    elif measured:
        made += _together(measured)
    return [*made, *route_verdicts(every), *notes(every)]


def _modelled(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    if any(found.counts.basis == "modelled" for found in every):
        text = (
            "What is called modelled was not measured: it is what the kernels ask of "
            "memory if no cache keeps anything and each line that an ordinary store "
            "writes is read first. It shows nothing about this hardware."
        )
        yield Verdict(level="warning", text=text, remedy="measure again with --counters auto")


def _together(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    known = [found for found in every if found.ratio is not None and found.ratio.value]
    lacking = [found.counts.title for found in every if found.ratio is None]
    if lacking:
        text = f"No region could be counted whole of: {'; '.join(lacking)}."
        yield Verdict(level="problem", text=text, remedy="see which counters are missing")
    yield from _alike(every, dead)
    yield from _ratios(known)
    yield from _alike(known, scale)
    yield from _allocations(known)
    yield from _updates(known)
    yield from _idle(known)
    if known:
        yield from balance(max(known, key=_traffic))
    yield from _alike(every, faults)


def _traffic(found: HardwareBandwidth) -> float:
    return found.hardware.total.value if found.hardware.total is not None else 0.0


def _ratios(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    reported = sorted(
        (found.ratio.value, found.counts.title) for found in every if found.ratio is not None
    )
    if not reported:
        return
    (least, least_name), (most, most_name) = reported[0], reported[-1]
    text = (
        f"By its counters, memory moved between {least:.3f} ({least_name}) and {most:.3f} "
        f"({most_name}) times the bytes that the kernels count."
    )
    yield Verdict(level="good", text=text)


def _allocations(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    """Kernels by what happened to the lines they write."""
    alike: dict[str, list[str]] = {}
    for found in every:
        what, share = allocation_text(found), allocation_share(found)
        if what and share is not None:
            name = f"{found.counts.title} ({100 * share.value:.0f}%)"
            alike.setdefault(what, []).append(name)
    for what, names in alike.items():
        text = f"{what[:1].upper()}{what[1:]}: {'; '.join(names)}. In brackets, how many lines "
        yield Verdict(level="note", text=text + "were read first.")


def _updates(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    beyond_own = [
        f"{found.counts.title} ({beyond})" for found in every if (beyond := excess_writes(found))
    ]
    if beyond_own:
        text = (
            f"Memory wrote more than the kernels do, beyond idle traffic: {'; '.join(beyond_own)}: "
            f"directory or ECC updates, page tables, or other programs."
        )
        yield Verdict(level="note", text=text)


def _idle(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    """The largest share that others had."""
    shares = [
        (found.hardware.idle.value / found.hardware.total.value, found)
        for found in every
        if found.hardware.idle is not None and found.hardware.total and found.hardware.total.value
    ]
    if not shares:
        return
    share, found = max(shares, key=lambda one: one[0])
    text = (
        f"While the team slept, the same counters saw up to {megabytes(found.hardware.idle)}, "
        f"{100 * share:.2g}% of {found.counts.title}. It is not subtracted in the tables."
    )
    if share > IDLE_NOISE:
        yield Verdict(level="warning", text=text, remedy="stop other programs, and measure again")
    else:
        yield Verdict(level="note", text=text)


def _alike(
    every: Sequence[HardwareBandwidth], of: Callable[[HardwareBandwidth], Iterator[Verdict]]
) -> Iterator[Verdict]:
    """Verdicts that differ in the kernel's name only become one."""
    grouped: dict[str, tuple[Verdict, list[str]]] = {}
    for found in every:
        name = found.counts.title
        for verdict in of(found):
            rest = verdict.text.removeprefix(f"{name}: ")
            grouped.setdefault(rest, (verdict, []))[1].append(name)
    for rest, (verdict, names) in grouped.items():
        yield Verdict(
            level=verdict.level, text=f"{'; '.join(names)}: {rest}", remedy=verdict.remedy
        )
