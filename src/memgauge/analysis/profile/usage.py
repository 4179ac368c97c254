"""What the kernel accounts to a program at its end, and what the machine did beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from memgauge.model.records import Environment, Usage
from memgauge.model.run import Run

NEAR = 1.1
"""Times the floor, or the floor over so much: a peak in between may be that of memgauge's copy."""


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The largest resident size of one process of a program."""

    bytes: int
    bound: Literal["", "at least", "at most"]
    """at least: the largest that was read. at most: what the kernel reports may be memgauge's."""
    words: str


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """Something else that took time while the program ran."""

    what: str
    seconds: float
    share: float | None
    of: str
    """What `share` is of."""


def usage_of(run: Run) -> Usage | None:
    """Of the one program of a run."""
    return run.processes[0].usage if len(run.processes) == 1 else None


def peak_of(run: Run) -> Peak | None:
    """The peak; None where nothing is known of it.

    The kernel keeps the peak of a process over execve(2). Before its first instruction the
    program's process was a copy of memgauge's, so that a peak smaller than that
    copy's is not reported.
    """
    if len(run.processes) != 1:
        return None
    (process,) = run.processes
    usage, floor, seen = process.usage, process.peak_floor_bytes or 0, process.seen_peak_bytes
    if usage is not None and usage.peak_resident_bytes > NEAR * floor:
        most = max(usage.peak_resident_bytes, seen or 0)
        return Peak(bytes=most, bound="", words="largest process, by the kernel")
    # Read just before the program's first instruction it is still the copy's, a few pages more.
    if seen is None or (floor and floor / NEAR <= seen <= NEAR * floor):
        if usage is None:
            return None
        most = usage.peak_resident_bytes
        return Peak(bytes=most, bound="at most", words="at most")
    bound = f", at most {usage.peak_resident_bytes * 1e-6:.1f} MB" if usage is not None else ""
    return Peak(bytes=seen, bound="at least", words=f"at least{bound}")


def beside_of(run: Run) -> Iterator[Beside]:
    """Other programs, steal and pressure, as far as known."""
    cpus = len(run.start.system.cpus)
    for what, seconds in (
        ("other programs", lambda one: one.others_s),
        ("steal", lambda one: one.steal_s),
    ):
        yield from _sum(run, what, seconds, float(cpus), "all processors' time")
    for resource, pressure in (
        ("a processor", lambda one: one.cpu_pressure_s),
        ("memory", lambda one: one.memory_pressure_s),
        ("input or output", lambda one: one.io_pressure_s),
    ):
        yield from _sum(run, f"some task waited for {resource}", pressure, 1.0, "the time")


def _sum(
    run: Run, what: str, seconds: Callable[[Environment], float | None], over: float, of: str
) -> Iterator[Beside]:
    known = [
        (value, one.interval_s) for one in run.environment if (value := seconds(one)) is not None
    ]
    total_s = sum(value for value, _ in known)
    time_s = over * sum(interval_s for _, interval_s in known)
    if known:
        yield Beside(what=what, seconds=total_s, share=total_s / time_s if time_s else None, of=of)
