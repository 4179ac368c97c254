"""The largest resident size of a program, by what the kernel accounts to it at its end."""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge.model.record_kinds.programs import Usage

NEAR = 1.1
"""Times the floor, or the floor over so much: a peak in between may be that of memgauge's copy."""


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The largest resident size of one process of a program."""

    bytes: int
    bound: Literal["", "at least", "at most"]
    """at least: the largest that was read. at most: what the kernel reports may be memgauge's."""
    words: str


def peak(
    usage: Usage | None, peak_floor_bytes: int | None, seen_peak_bytes: int | None = None
) -> Peak | None:
    """The peak of a program; None where nothing is known of it.

    The kernel keeps the peak of a process over execve(2). Before its first instruction the
    program's process was a copy of memgauge's, so that a peak smaller than that
    copy's is not reported.

    Args:
        usage: What the kernel accounts to it at its end; None: not known.
        peak_floor_bytes: Resident size of its process before its first instruction.
        seen_peak_bytes: The largest that was read while it ran; None: none was.
    """
    floor, seen = peak_floor_bytes or 0, seen_peak_bytes
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
