"""What the kernel accounts to a program at its end, and what the machine did beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from memgauge.analysis.figures.resident_peak import Peak, peak
from memgauge.model.record_kinds.programs import Usage
from memgauge.model.records import Environment
from memgauge.model.run import Run


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
    """The peak of the one program of a run; None where nothing is known of it."""
    if len(run.processes) != 1:
        return None
    (process,) = run.processes
    return peak(process.usage, process.peak_floor_bytes, process.seen_peak_bytes)


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
