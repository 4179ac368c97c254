"""Computes how much a counter counted between two raw readings, in its unit."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.model.counting.events import FULL_DUTY, Counter

Raw = Sequence[int | None]
"""The slots of one reading; None where the slot could not be read."""


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What one counter counted between two readings."""

    value: float
    """In the counter's unit; for a gauge, its level at the later reading."""
    raw: int
    """As it was counted, before any scale."""
    is_estimate: bool = False
    """The counter shared its hardware and counted for a part of the time; `value` is scaled up."""


def counted(counter: Counter, before: Raw, after: Raw) -> Counted | None:
    """The difference of two readings; None if it cannot be determined.

    It cannot be determined if a value is missing, if the counter never ran in between, if it
    decreased although it does not wrap (its device was reset), or if it restarted. A counter of a
    process or thread is enabled only while that runs: if it slept, a missing count means zero.

    A counter that shares its hardware with others runs for a part of the time. Its count is then
    scaled by enabled over running time, as perf_event_open(2) describes, and is an estimate. A
    count that a daemon already scaled up is an estimate without further scaling.

    Args:
        counter: Which slots of the readings to use, and how to scale them.
        before: Raw values of the earlier reading by slot.
        after: Raw values of the later reading by slot.
    """
    late = after[counter.slot]
    if counter.gauge:
        return None if late is None else Counted(value=late * counter.scale, raw=late)
    raw = _difference(before[counter.slot], late, counter.wraps_at)
    stretch = _stretch(counter, before, after)
    if raw is None or stretch is None or not _same_generation(counter, before, after):
        return None
    shared = stretch != 1.0 or _is_extrapolated(counter, after)
    return Counted(value=raw * counter.scale * stretch, raw=raw, is_estimate=shared)


def _same_generation(counter: Counter, before: Raw, after: Raw) -> bool:
    slot = counter.generation_slot
    return slot is None or (before[slot] is not None and before[slot] == after[slot])


def _is_extrapolated(counter: Counter, after: Raw) -> bool:
    """Whether the daemon scaled the value up, or does not report whether it did."""
    return counter.duty_slot is not None and after[counter.duty_slot] != FULL_DUTY


def _difference(early: int | None, late: int | None, wraps_at: int | None = None) -> int | None:
    if early is None or late is None:
        return None
    if late >= early:
        return late - early
    return None if wraps_at is None else late - early + wraps_at


def _stretch(counter: Counter, before: Raw, after: Raw) -> float | None:
    """Enabled over running time; None if the counter never ran, or if the times are missing."""
    if counter.enabled_slot is None or counter.running_slot is None:
        return 1.0
    enabled_ns = _difference(before[counter.enabled_slot], after[counter.enabled_slot])
    running_ns = _difference(before[counter.running_slot], after[counter.running_slot])
    if enabled_ns is None or running_ns is None:
        return None
    return stretch_of(enabled_ns, running_ns, waits=waits(counter))


def waits(counter: Counter) -> bool:
    """Whether the counter is enabled only while a program runs, so that sleep truly counts zero."""
    return counter.scope in {"process", "thread"}


def stretch_of(enabled_ns: int, running_ns: int, *, waits: bool) -> float | None:
    """The factor for a count: enabled over running time, at least 1; None if it never ran.

    Args:
        enabled_ns: Time in ns for which the counter was enabled.
        running_ns: Time in ns for which it counted.
        waits: Whether it is enabled only while a program runs: if both times are 0, the program
            slept, and the factor is 1.
    """
    if running_ns > 0 and enabled_ns >= 0:
        return max(1.0, enabled_ns / running_ns)
    return 1.0 if waits and enabled_ns == running_ns == 0 else None
