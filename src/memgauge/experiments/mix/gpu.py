"""Mix on a GPU: what does the bandwidth of its memory become as reads make way for writes?

Question: the bandwidth of the whole GPU over the share of reads, from all reads to all writes.

Method: every thread makes the mix itself, in loads and stores of 16 bytes that alternate as evenly
as their ratio allows; one array is read in order, another written. One visit issues a fixed number
of bytes between two device events, after an untimed lead-in of the same mix over twice what the L2
holds, so that dirty lines of whatever ran before are not charged to it. The kernel's own count of
both kinds of bytes is exact. A GPU's L2 takes whole sectors that are written without reading them:
there is no write-allocate, and one kind of stores.
Source: as of `mix`; NVIDIA CUDA C++ Best Practices Guide on the sectors of global memory.

What would invalidate it: memory that fits in the L2; another program on the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.mix.host import MixParameters
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.gpu import gpu_facts, refuse_host_options
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.shared.read_write_mix import Load, ratio
from memgauge.experiments.shared.traffic_sizes import CACHE_MULTIPLE, size_warnings
from memgauge.model.records import Point, Sample, Scalar, Validation, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

if TYPE_CHECKING:
    from collections.abc import Sequence

MIB = 1 << 20
REGION_BYTES = 1 << 30
"""Of what is read, and as much of what is written, where there is room."""
MEMORY_SHARE = 16
"""One over the share of the device's memory that each of both may take."""

BYTES_PER_MULTIPROCESSOR = 32 * MIB
"""Issued in one visit: a millisecond or more, beside which a launch is little."""
MOST_WALKS = 8
"""Of a region in one visit, where it is small."""


class GpuMixSizes(msgspec.Struct, frozen=True, kw_only=True):
    """What is walked over, and how much of it in one visit."""

    region_bytes: int
    slice_bytes: int
    lead_in_bytes: int
    l2_bytes: int | None

    @property
    def facts(self) -> dict[str, Scalar]:
        """What the records say of it."""
        return {"traffic_bytes": 2 * self.region_bytes, "llc_bytes": self.l2_bytes}

    @property
    def exceeds_caches(self) -> bool:
        """Whether the rule of STREAM is kept; False too where the L2 is not known."""
        return self.l2_bytes is not None and self.region_bytes >= CACHE_MULTIPLE * self.l2_bytes


def mix_sizes(facts: _core.GpuFacts) -> GpuMixSizes:
    """1 GiB or four times the L2, whichever is more; smaller where memory is short."""
    l2_bytes = facts.l2_bytes or 0
    wanted = max(REGION_BYTES, CACHE_MULTIPLE * l2_bytes)
    region = max(MIB, min(wanted, facts.memory_bytes // MEMORY_SHARE) // MIB * MIB)
    return GpuMixSizes(
        region_bytes=region,
        slice_bytes=min(BYTES_PER_MULTIPROCESSOR * facts.multiprocessors, MOST_WALKS * region),
        lead_in_bytes=min(2 * l2_bytes, region),
        l2_bytes=facts.l2_bytes,
    )


def gpu_loads(parameters: MixParameters) -> list[Load]:
    """The mixes, from all reads to all writes, each once; stores are of one kind."""
    found: dict[str, Load] = {}
    for share in parameters.read_shares:
        reads, writes = ratio(share)
        load = Load(read_share=share, reads=reads, writes=writes, store=None, order="sequential")
        found.setdefault(load.name, load)
    return sorted(found.values(), key=lambda load: -load.read_share)


class GpuMixBench(Bench):
    """Memory of one GPU, and the mixes that walk over it."""

    def __init__(
        self, traffic: _core.GpuTraffic, cells: Sequence[tuple[Point, Load]], sizes: GpuMixSizes
    ) -> None:
        self._traffic = traffic
        self._loads = {point.point: load for point, load in cells}
        self._sizes = sizes
        self.points = [point for point, _ in cells]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Issue a slice of the mix."""
        return [to_sample(point, round_, issued(self._traffic, self._loads[point], self._sizes))]

    def validate(self) -> list[Validation]:
        """All that was written holds what it must."""
        return [to_validation("mix", "the GPU's memory", self._traffic.validate())]


def issued(traffic: _core.GpuTraffic, load: Load, sizes: GpuMixSizes) -> _core.Slice:
    """One visit of a mix."""
    return traffic.run(
        load.reads, load.writes, bytes=sizes.slice_bytes, lead_in_bytes=sizes.lead_in_bytes
    )


class GpuMix(Experiment):
    """The `mix` experiment on a GPU."""

    name: ClassVar[str] = "mix"
    parameters: ClassVar[type[MixParameters]] = MixParameters

    def plan(self, parameters: MixParameters, system: System) -> list[Group]:
        """One group: all mixes share the memory."""
        del system
        refuse_host_options(parameters, ("store", "order"))
        sizes = mix_sizes(opened_gpu(parameters.memory).facts)
        loads = gpu_loads(parameters)
        return [
            Group(
                name=f"{len(loads)} mixes on {parameters.memory}",
                points=[_point(load, parameters, sizes) for load in loads],
                bytes=2 * sizes.region_bytes,
            )
        ]

    @contextmanager
    def open(
        self, group: Group, parameters: MixParameters, system: System, memories: Memories = ORDINARY
    ) -> Iterator[Bench]:
        """Allocate and fill the memory, compile all mixes, and see what each really issues."""
        del system, memories
        gpu = opened_gpu(parameters.memory)
        sizes, loads = mix_sizes(gpu.facts), gpu_loads(parameters)
        with closing(_core.GpuTraffic(gpu, sizes.region_bytes)) as traffic:
            traffic.prepare([(load.reads, load.writes) for load in loads])
            cells = [
                (_opened(point, issued(traffic, load, sizes), gpu_facts(gpu)), load)
                for point, load in zip(group.points, loads, strict=True)
            ]
            yield GpuMixBench(traffic, cells, sizes)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Memory that the L2 may hold a part of."""
        del samples, system
        return size_warnings(point)


def _point(load: Load, parameters: MixParameters, sizes: GpuMixSizes) -> Point:
    notes: dict[str, Scalar] = (
        {"exceeds_caches": sizes.exceeds_caches} if load.read_share == 1 else {}
    )
    return Point(
        point=f"mix/{load.name}/{parameters.memory}",
        experiment="mix",
        quantity="bandwidth",
        requested=load.requested | {"memory": str(parameters.memory)},
        actual=sizes.facts | notes,
        bytes_counted=sizes.slice_bytes,
        bytes_moved=sizes.slice_bytes,
    )


def _opened(point: Point, taken: _core.Slice, facts: Mapping[str, Scalar]) -> Point:
    """With the bytes that a visit was seen to issue: all that its memory moves."""
    thread = taken.threads[0]
    total = thread.read_bytes + thread.write_bytes
    issued_share = round(thread.read_bytes / total, 6) if total else None
    return msgspec.structs.replace(
        point,
        actual={**point.actual, **facts, "read_share_issued": issued_share},
        bytes_counted=total,
        bytes_moved=total,
    )
