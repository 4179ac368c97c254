"""Tiers with a GPU in group B: what do transfers cost the bandwidth of the host's own threads?

Question: the host's threads walk STREAM's kernels in its memory, and a GPU's copy engines read or
write the same memory, to or from the GPU, or both: what does each lose to the other?

Method: all threads asked for are group A; transfers between pinned memory and the GPU are group B,
and need no thread. Each alone and both at once are visited in turn, for every kernel and direction.
Where both are at work, transfers are queued before the threads start, and enough of them to outlast
these; what counts is what was done while both were at work: threads stamp every iteration, the GPU
every transfer, by events on the same clock. A visit lasts for eight transfers at least, each as
large as the host's largest cache, or 64 MiB. With `--latency` one more thread chases pointers
through the threads' memory, in visits of its own: beside nothing, threads, transfers, and both.
Source: the competition of two groups of threads (`tiers`), one of them replaced by copy engines.

What would invalidate it: transfers that find their data in the host's caches (buffers too small, or
a platform that allocates what devices write in them); host memory on another node than the GPU's,
which loads the link between both too; other programs' traffic.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.gpu import gpu_facts
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.tiers.gpu_bench import BesideBench, Parts
from memgauge.experiments.tiers.gpu_parameters import gpu_of, of_host
from memgauge.experiments.tiers.gpu_plan import (
    Beside,
    SamplingPass,
    besides,
    planned_again,
    planned_visits,
)
from memgauge.experiments.tiers.host import probe_ring, probe_warnings
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.plan import PROBE_TOOK_CPU, with_facts
from memgauge.experiments.tiers.prepared import Ready, WorkloadPreparer, memory_facts
from memgauge.experiments.tiers.sizes import size_warnings
from memgauge.experiments.transfers.place import looked_at
from memgauge.model.records import Point, Sample, Scalar, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories


class GpuTiers(Experiment):
    """`tiers` where group B is a GPU."""

    name: ClassVar[str] = "tiers"
    parameters: ClassVar[type[TiersParameters]] = TiersParameters

    def plan(self, parameters: TiersParameters, system: System) -> list[Group]:
        """One group for each number of threads."""
        placement = gpu_of(parameters)
        gpu = opened_gpu(placement)
        return [
            Group(
                name=plan.host.name,
                points=[point for visit in planned_visits(plan) for point in visit.points],
                bytes=sum(plan.bytes_in.values()),
                bytes_in=plan.bytes_in,
            )
            for plan in besides(parameters, system, placement, gpu.free_bytes)
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: TiersParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team and the buffers, fill the arrays, try each work and each direction."""
        placement = gpu_of(parameters)
        host = of_host(parameters)
        plan = planned_again(parameters, system, placement, group.points)
        gpu = opened_gpu(placement)
        with ExitStack() as stack:
            team = _core.Team(plan.host.cpus)
            competition = _competition(team, plan, host, memories)
            stack.callback(competition.close)
            transfers = _core.GpuTransfers(
                gpu, plan.transfer_bytes, host="pinned", memory=memories.of(plan.host_memory)
            )
            stack.callback(transfers.close)
            readier = WorkloadPreparer(host, plan.host, team, competition)
            ready = {work.name: readier.ready(work) for work in plan.host.works}
            of_threads = memory_facts(plan.host, competition, host.pages)["a"]
            of_gpu = _gpu_side(gpu, transfers, plan)
            visits = [
                _completed(visit, ready, of_threads, of_gpu) for visit in planned_visits(plan)
            ]
            ring = None
            if plan.host.probed:
                ring = probe_ring(team, plan.host, host, memories.of(plan.host.a.source))
                stack.callback(ring.close)
            yield BesideBench(plan, Parts(competition, transfers, ring), ready, visits)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """What spoils the figures of the threads."""
        del samples, system
        if PROBE_TOOK_CPU in point.actual:
            return probe_warnings(point)
        alone = point.requested["group"] == "a" and point.requested["transfer"] is None
        return size_warnings(point) if alone else []


def _competition(
    team: _core.Team, plan: Beside, parameters: TiersParameters, memories: Memories
) -> _core.Competition:
    host = plan.host
    return _core.Competition(
        team,
        [
            _core.Member(
                host.first_rank + place,
                memories.of(host.a.source),
                memories.of(host.a.destination),
                host.arrays.sources,
                host.arrays.destinations,
            )
            for _, place in host.members
        ],
        host.sizes.array_bytes,
        parameters.element,
        parameters.pages,
    )


def _gpu_side(gpu: _core.Gpu, transfers: _core.GpuTransfers, plan: Beside) -> dict[str, Scalar]:
    """The GPU, its link and node, and what backs the pinned buffers."""
    backing = backing_facts(transfers.backing(), "auto")
    place = looked_at(transfers, gpu.facts.bus_id, plan.transfer_bytes, queued=True)
    return gpu_facts(gpu) | backing | place | {"clock_error_ns": gpu.clock_error_ns}


def _completed(
    visit: SamplingPass,
    ready: dict[str, Ready],
    of_threads: dict[str, Scalar],
    of_gpu: dict[str, Scalar],
) -> SamplingPass:
    """A visit whose points say what was got."""
    points = []
    for point in visit.points:
        if visit.probed:
            points.append(point)
            continue
        if point.requested["group"] == "b" or visit.work is None:
            points.append(with_facts(point, of_gpu))
            continue
        mine = ready[visit.work.name]
        counted, moved = mine.bytes_of["a"]
        facts = mine.facts["a"] | of_threads
        points.append(
            msgspec.structs.replace(
                with_facts(point, facts), bytes_counted=counted, bytes_moved=moved
            )
        )
    return msgspec.structs.replace(visit, points=points)
