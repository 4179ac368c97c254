"""References: what waits for memory, uses its bandwidth, or lives in the cache, and nothing else.

Each is measured on the program's own CPU, beside the same generators just before and just after the
program, so that what pressure does to memory there is known in ns and GB/s.
"""

from __future__ import annotations

from contextlib import ExitStack

import msgspec

from memgauge import _core
from memgauge.experiments.shared.native import backing_facts, to_sample
from memgauge.experiments.shared.rings import (
    BLOCK_BYTES,
    MEMORY_CACHE_MULTIPLE,
    MEMORY_LEAST_BYTES,
    MEMORY_NODE_BYTES,
    MEMORY_WARM_HOPS,
)
from memgauge.model.points.diagnose import BANDWIDTH, CACHED, LATENCY, SCATTERED
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Sample

LATENCY_HOPS = 100_000
CACHED_HOPS = 400_000
CACHED_SHARE = 0.5
"""Of the last-level cache, that the cached ring takes: less than what the generators leave alone
where they walk over the other half."""
SCATTERED_LEAST_BYTES = 128 << 20
SCATTERED_MOST_BYTES = 1 << 30
"""Between the two it is as large as the program's memory: the more memory, the more page tables,
and the more pressure slows down what walks them. Under writes, where a host backed huge pages with
small ones, rings of 128 MiB took 1.94 times as long, of 256 MiB 2.08 and of 512 MiB 2.22."""
SCATTERED_NODE_BYTES = 64
"""A line: all lines of that ring are used, so that a smaller one than that of latency does."""
BANDWIDTH_BYTES = 256 << 20
"""Moved by a slice: 10 to 20 ms."""
READS, WRITES = 2, 1
"""Of whole lines: those of STREAM's add and triad."""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of the references, in bytes."""

    ring: int
    scattered: int
    cached: int
    """0: no cache is known."""
    array: int
    """Of each of the two that are streamed."""

    @property
    def total(self) -> int:
        """Of all of them."""
        return self.ring + self.scattered + self.cached + 2 * self.array


def sizes(llc_bytes: int | None, program_bytes: int = 0) -> Sizes:
    """Memory of the references.

    Args:
        llc_bytes: Size of the last-level cache in front of the program; None: not known.
        program_bytes: Memory of the program, as far as the scattered reference may have as much
            again; 0: not known.
    """
    uncached = MEMORY_CACHE_MULTIPLE * (llc_bytes or 0)
    ring = max(MEMORY_LEAST_BYTES, uncached)
    return Sizes(
        ring=ring,
        scattered=max(SCATTERED_LEAST_BYTES, uncached, min(program_bytes, SCATTERED_MOST_BYTES)),
        cached=int(CACHED_SHARE * (llc_bytes or 0)),
        array=ring // 2,
    )


class References:
    """Rings and arrays of the references, on one CPU."""

    def __init__(
        self, cpu: int, llc_bytes: int | None, program_bytes: int, stack: ExitStack
    ) -> None:
        """Allocate and link all.

        Args:
            cpu: Of the program.
            llc_bytes: As of `sizes`.
            program_bytes: As of `sizes`.
            stack: Frees all when it is closed.
        """
        team = _core.Team([cpu])
        size = sizes(llc_bytes, program_bytes)
        self._ring = _core.ChaseRing(
            team,
            size.ring,
            node_bytes=MEMORY_NODE_BYTES,
            block_bytes=BLOCK_BYTES,
            order="block-random",
        )
        stack.callback(self._ring.close)
        self._scattered = _core.ChaseRing(
            team, size.scattered, node_bytes=SCATTERED_NODE_BYTES, order="random"
        )
        stack.callback(self._scattered.close)
        self._cached = None
        if size.cached:
            self._cached = _core.ChaseRing(team, size.cached)
            stack.callback(self._cached.close)
        self._spec = _core.TrafficSpec(READS, WRITES)
        self._traffic = _core.Traffic(team, size.array)
        stack.callback(self._traffic.close)
        line_bytes = self._spec.line_bytes
        self.bytes_counted = BANDWIDTH_BYTES
        moved = line_bytes * (READS + WRITES) + self._spec.write_allocate_bytes * WRITES
        self.bytes_moved = BANDWIDTH_BYTES * moved // (line_bytes * (READS + WRITES))
        self.facts: dict[str, dict[str, Scalar]] = {
            LATENCY: {
                **backing_facts([self._ring.backing()], "auto"),
                "footprint_bytes": size.ring,
            },
            SCATTERED: {
                **backing_facts([self._scattered.backing()], "auto"),
                "footprint_bytes": size.scattered,
            },
            BANDWIDTH: {
                **backing_facts(self._traffic.backing(), "auto"),
                "footprint_bytes": 2 * size.array,
            },
        }
        if self._cached is not None:
            self.facts[CACHED] = {
                **backing_facts([self._cached.backing()], "auto"),
                "footprint_bytes": size.cached,
            }

    @property
    def names(self) -> list[str]:
        """References that can be taken here: without a known cache, none of one that it holds."""
        return list(self.facts)

    def take(self, points: dict[str, str], round_: int) -> list[Sample]:
        """One slice of each.

        Args:
            points: Names of the points by reference.
            round_: Number of the round.
        """
        slices = {
            LATENCY: self._ring.run(LATENCY_HOPS, MEMORY_WARM_HOPS),
            SCATTERED: self._scattered.run(LATENCY_HOPS, MEMORY_WARM_HOPS),
            BANDWIDTH: self._traffic.run(self._spec, BANDWIDTH_BYTES, BANDWIDTH_BYTES // 16),
        }
        if self._cached is not None:
            slices[CACHED] = self._cached.run(CACHED_HOPS, sweeps=2)
        return [to_sample(points[name], round_, taken) for name, taken in slices.items()]


def joined(before: Sample, after: Sample) -> Sample:
    """Two slices of a point around the program as one sample of two iterations."""
    first, last = before.threads[0], after.threads[0]
    thread = msgspec.structs.replace(
        first,
        begin_ns=[*first.begin_ns, *last.begin_ns],
        end_ns=[*first.end_ns, *last.end_ns],
        involuntary_switches=first.involuntary_switches + last.involuntary_switches,
        page_faults=first.page_faults + last.page_faults,
        read_bytes=first.read_bytes + last.read_bytes,
        write_bytes=first.write_bytes + last.write_bytes,
    )
    return msgspec.structs.replace(before, threads=[thread])
