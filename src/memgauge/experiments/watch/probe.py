"""The probe of a watch: a short pointer chase and a short burst of reads each period, on one CPU.

Method: the chase walks a random ring on from where the last pass ended, in pieces that are stamped
one by one; the pass's latency is the median over the pieces, so that one interrupt spoils a piece
and not the pass. The burst then reads a buffer on, line after line, with the addresses known ahead;
the faster of its two pieces counts. What a pass reads is bounded (`bytes_per_pass`), and what it
costs is measured by whoever runs it.

What would invalidate it: a ring that the last-level cache holds (`is_small`); other programs on the
probe's CPU that run in more pieces than the medians bear, which is seen as involuntary switches and
reported with the pass (`was_disturbed`); a host that moves the virtual CPU to another socket, which
is a change of latency like any other. A burst of one CPU is bounded by what one core can have in
flight: it falls when memory is loaded, but it is no measure of the bandwidth of the whole machine.
"""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median
from types import TracebackType
from typing import Self

import msgspec

from memgauge import _core
from memgauge.experiments.shared.rings import BLOCK_BYTES, MEMORY_WARM_HOPS, MIB
from memgauge.model.errors import RequestError
from memgauge.model.system import System
from memgauge.system.topology.placement import LINE_BYTES

HOPS = 400
PIECES = 8
BURST_BYTES = 2 * MIB
BURST_PIECES = 2
WARM_BURST_BYTES = MIB // 4
LEAST_RING_BYTES = 64 * MIB
MOST_RING_BYTES = 512 * MIB
CACHE_MULTIPLE = 2
"""Sizes of the last-level cache that the ring takes, within the limits above: every line of it is
used, and comes up again after minutes."""
MOST_SWITCHES = 2
"""Involuntary ones during the chase: fewer than half of the pieces are spoiled. Where all other
CPUs are busy the thread that asks for the pass shares this one and interrupts it now and then."""
MEMORY_SHARE = 16
"""The ring and the buffer each take at most one part in so many of the available memory."""
BUFFER_BYTES = 64 * MIB
ACCESS_BYTES = 128
"""Whole lines on every processor: two where they have 64 bytes."""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """What one pass found, raw."""

    chase_ns: int
    """For `HOPS` dependent loads: the median piece."""
    bytes_per_s: int
    """Of the burst's faster piece."""
    bytes: int
    """Read from memory by the whole pass, as far as no cache answers."""
    was_disturbed: bool
    """Whether other threads ran in its place in so many pieces that the figures may be of them."""


class Probe:
    """A ring and a buffer, ready; a context manager."""

    def __init__(self, cpu: int, system: System) -> None:
        """Link the ring and fill the buffer, on the probe's CPU: a second or less.

        Args:
            cpu: CPU to run on, which this process may use.
            system: The machine.

        Raises:
            RequestError: the CPU is not allowed, or there is too little memory.
        """
        self.cpu = cpu
        self._stack = ExitStack()
        largest = max((cache.bytes for cache in system.caches), default=0)
        self.ring_bytes = ring_bytes(largest, system.available_bytes)
        self.is_small = self.ring_bytes < largest
        """Whether a cache is said to be larger than the ring, which may then answer."""
        buffer_bytes = min(BUFFER_BYTES, _blocks(system.available_bytes // MEMORY_SHARE))
        self._slots = buffer_bytes // ACCESS_BYTES
        try:
            self._team = _core.Team([cpu])
            self._ring = _core.ChaseRing(self._team, self.ring_bytes)
            self._stack.callback(self._ring.close)
            self._buffer = _core.AccessBuffer(self._team, buffer_bytes)
            self._stack.callback(self._buffer.close)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory; a second call does nothing."""
        self._stack.close()

    def run(self) -> Pass:
        """One pass: about a millisecond."""
        walk = self._ring.run(HOPS, MEMORY_WARM_HOPS, iterations=PIECES).threads[0]
        burst = self._buffer.run(
            "independent",
            "sequential",
            ACCESS_BYTES,
            ACCESS_BYTES,
            self._slots,
            BURST_BYTES // ACCESS_BYTES,
            warm_accesses=WARM_BURST_BYTES // ACCESS_BYTES,
            iterations=BURST_PIECES,
        ).threads[0]
        least_ns = min(_lengths(burst))
        return Pass(
            chase_ns=round(median(_lengths(walk))),
            bytes_per_s=round(BURST_BYTES * 1e9 / least_ns),
            bytes=bytes_per_pass(),
            was_disturbed=are_too_many(walk.involuntary_switches, burst.involuntary_switches),
        )


def are_too_many(in_walk: int, in_burst: int) -> bool:
    """Whether a pass was interrupted so often that its median and its best may be spoiled.

    Args:
        in_walk: Involuntary switches during the chase, whose pieces give a median.
        in_burst: Those during the burst, of whose pieces one has to be whole.
    """
    return in_walk > MOST_SWITCHES or in_burst >= BURST_PIECES


def bytes_per_pass() -> int:
    """What a pass reads: a line for each hop, and the burst."""
    hops = HOPS * PIECES + MEMORY_WARM_HOPS
    return hops * LINE_BYTES + BURST_BYTES * BURST_PIECES + WARM_BURST_BYTES


def ring_bytes(largest_cache_bytes: int, available_bytes: int) -> int:
    """Size of the ring.

    Args:
        largest_cache_bytes: Of the largest cache; 0 if none is known.
        available_bytes: Memory that may be used.

    Raises:
        RequestError: memory is so short that there is room for no ring.
    """
    wanted = min(max(CACHE_MULTIPLE * largest_cache_bytes, LEAST_RING_BYTES), MOST_RING_BYTES)
    found = _blocks(min(wanted, available_bytes // MEMORY_SHARE))
    if found < BLOCK_BYTES:
        raise RequestError(
            f"watch: {available_bytes / MIB:.0f} MiB of memory are available, too few for the "
            "probe; free some, or watch with --no-probe"
        )
    return found


def _blocks(size_bytes: int) -> int:
    return size_bytes // BLOCK_BYTES * BLOCK_BYTES


def _lengths(thread: _core.ThreadSlice) -> list[int]:
    return [max(1, end - begin) for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True)]
