"""Mix on a GPU: what does the bandwidth of its memory become as reads make way for writes?

Question: the bandwidth of the whole GPU over the share of reads, from all reads to all writes.

Method: every thread makes the mix itself, in loads and stores of 16 bytes that alternate as evenly
as their ratio allows; one array is read in order, another written. A sampling pass issues a fixed
number of bytes between two device events, after an untimed lead-in of the same mix over twice what
the L2 holds, so that dirty lines of whatever ran before are not charged to it. The kernel's own
count of both kinds of bytes is exact. A GPU's L2 takes whole sectors that are written without
reading them: there is no write-allocate, and one kind of stores.
Source: as of `mix`; NVIDIA CUDA C++ Best Practices Guide on the sectors of global memory.

What would invalidate it: memory that fits in the L2; another program on the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.mix.host import MixBench, MixGroup, MixParameters
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.gpu import gpu_facts, refuse_host_options
from memgauge.experiments.shared.read_write_mix import Load, ratio
from memgauge.experiments.shared.traffic_sizes import CACHE_MULTIPLE, TrafficSizes, size_warnings
from memgauge.model.points.mix import MixActual, MixRequested
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

MIB = 1 << 20
REGION_BYTES = 1 << 30
"""Of what is read, and as much of what is written, where there is room."""
MEMORY_SHARE = 16
"""One over the share of the device's memory that each of both may take."""

BYTES_PER_MULTIPROCESSOR = 32 * MIB
"""Issued in one sampling pass: a millisecond or more, beside which a launch is little."""
MOST_WALKS = 8
"""Of a region in one sampling pass, where it is small."""


def mix_sizes(facts: _core.GpuFacts) -> TrafficSizes:
    """1 GiB or four times the L2, whichever is more; smaller where memory is short."""
    l2_bytes = facts.l2_bytes or 0
    wanted = max(REGION_BYTES, CACHE_MULTIPLE * l2_bytes)
    region = max(MIB, min(wanted, facts.memory_bytes // MEMORY_SHARE) // MIB * MIB)
    return TrafficSizes(
        region_bytes=region,
        threads=1,
        lead_in_bytes=min(2 * l2_bytes, region),
        llc_bytes=facts.l2_bytes,
    )


def gpu_loads(parameters: MixParameters) -> list[Load]:
    """The mixes, from all reads to all writes, each once; stores are of one kind."""
    found: dict[str, Load] = {}
    for share in parameters.read_shares:
        reads, writes = ratio(share)
        load = Load(read_share=share, reads=reads, writes=writes, store=None, order="sequential")
        found.setdefault(load.name, load)
    return sorted(found.values(), key=lambda load: -load.read_share)


class GpuMix(Experiment):
    """The `mix` experiment on a GPU."""

    name: ClassVar[str] = "mix"
    parameters: ClassVar[type[MixParameters]] = MixParameters

    def plan(self, parameters: MixParameters, system: System) -> list[MixGroup]:
        """One group: all mixes share the memory."""
        del system
        refuse_host_options(parameters, ("store", "order"))
        facts = opened_gpu(parameters.memory).facts
        sizes, loads = mix_sizes(facts), gpu_loads(parameters)
        most_bytes = MOST_WALKS * sizes.region_bytes
        slice_bytes = min(BYTES_PER_MULTIPROCESSOR * facts.multiprocessors, most_bytes)
        first, *others = (_point(load, parameters, sizes, slice_bytes) for load in loads)
        return [
            MixGroup(
                name=f"{len(loads)} mixes on {parameters.memory}",
                points=[first.with_actual(sizes.notes), *others],
                bytes=sizes.total_bytes,
                loads=loads,
                sizes=sizes,
                slice_bytes=slice_bytes,
            )
        ]

    @contextmanager
    def open(
        self,
        group: MixGroup,
        parameters: MixParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and fill the memory, compile all mixes, and see what each really issues.

        Args:
            group: All mixes of one GPU.
            parameters: What `group` was planned with; only `memory`, the GPU, is used.
            memories: Not used: the driver allocates the GPU's memory.
        """
        del memories
        gpu = opened_gpu(parameters.memory)
        with closing(_core.GpuTraffic(gpu, group.sizes.region_bytes)) as traffic:
            traffic.prepare([(load.reads, load.writes) for load in group.loads])
            issue = partial(_issue, traffic, group)
            points = [
                _opened(point.with_actual(gpu_facts(gpu)), issue(load))
                for point, load in zip(group.points, group.loads, strict=True)
            ]
            yield MixBench(traffic, group.loads, points, issue, "the GPU's memory")

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """A warning about memory that the L2 may hold a part of.

        Args:
            point: Only the first point of the group records whether the memory exceeds the L2.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return size_warnings(point)


def _issue(traffic: _core.GpuTraffic, group: MixGroup, load: Load) -> _core.Slice:
    return traffic.run(
        load.reads,
        load.writes,
        bytes=group.slice_bytes,
        lead_in_bytes=group.sizes.lead_in_bytes,
    )


def _point(load: Load, parameters: MixParameters, sizes: TrafficSizes, slice_bytes: int) -> Point:
    return Point(
        point=f"mix/{load.name}/{parameters.memory}",
        experiment="mix",
        quantity="bandwidth",
        requested=load.requested | MixRequested(memory=str(parameters.memory)).recorded(),
        actual=sizes.facts,
        bytes_counted=slice_bytes,
        bytes_moved=slice_bytes,
    )


def _opened(point: Point, taken: _core.Slice) -> Point:
    """With the bytes that a sampling pass was seen to issue: all that its memory moves."""
    thread = taken.threads[0]
    total = thread.read_bytes + thread.write_bytes
    issued = MixActual(read_share_issued=round(thread.read_bytes / total, 6) if total else None)
    found = point.with_actual(issued.recorded())
    return msgspec.structs.replace(found, bytes_counted=total, bytes_moved=total)
