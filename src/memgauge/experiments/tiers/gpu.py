"""Tiers with a GPU in group B: what do transfers cost the bandwidth of the host's own threads?

Question: the host's threads walk STREAM's kernels in its memory, and a GPU's copy engines read or
write the same memory, to or from the GPU, or both: what does each lose to the other?

Method: all requested threads are group A; transfers between pinned memory and the GPU are group B,
and need no thread. Each alone and both at once are measured in turn, for every kernel and
direction. Where both are at work, transfers are queued before the threads start, and enough of them
to outlast these; what counts is what was done while both were at work: threads stamp every
iteration, the GPU every transfer, by events on the same clock. A sampling pass lasts for eight
transfers at least, each as large as the host's largest cache, or 64 MiB. With `--latency` one more
thread chases pointers through the threads' memory, in passes of its own: beside nothing, threads,
transfers, and both. Source: the competition of two groups of threads (`tiers`), one of them
replaced by copy engines.

What would invalidate it: transfers that find their data in the host's caches (buffers too small, or
a platform that allocates what devices write in them); host memory on another node than the GPU's,
which loads the link between both too; other programs' traffic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.gpu import gpu_facts
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.tiers.gpu_bench import BesideBench
from memgauge.experiments.tiers.gpu_parameters import gpu_of
from memgauge.experiments.tiers.gpu_plan import (
    Beside,
    BesideGroup,
    BesidePass,
    besides,
    planned_group,
)
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.plan import probe_warnings
from memgauge.experiments.tiers.prepared import with_bytes
from memgauge.experiments.tiers.sizes import size_warnings
from memgauge.experiments.tiers.team import PreparedTeam, prepared_team
from memgauge.experiments.transfers.place import looked_at
from memgauge.model.points.tiers import TiersActual
from memgauge.model.points.tiers_transfers import TiersTransfersRequested
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories


class GpuTiers(Experiment):
    """`tiers` where group B is a GPU."""

    name: ClassVar[str] = "tiers"
    parameters: ClassVar[type[TiersParameters]] = TiersParameters

    def plan(self, parameters: TiersParameters, system: System) -> list[BesideGroup]:
        """One group for each number of threads."""
        placement = gpu_of(parameters)
        free_bytes = opened_gpu(placement).free_bytes
        return [planned_group(one) for one in besides(parameters, system, placement, free_bytes)]

    @contextmanager
    def open(
        self,
        group: BesideGroup,
        parameters: TiersParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team and the buffers, fill the arrays, try each work and each direction.

        Args:
            group: One that `plan` returned.
            parameters: Those that the group was planned with.
            memories: Memory opened for the run, for arrays, rings and pinned buffers on the host.
        """
        plan = group.plan
        gpu = opened_gpu(plan.gpu)
        with prepared_team(plan.host, parameters, memories) as team:
            transfers = _core.GpuTransfers(
                gpu, plan.transfer_bytes, host="pinned", memory=memories.of(plan.host_memory)
            )
            try:
                of_gpu = _gpu_side(gpu, transfers, plan)
                passes = [_completed(one, team, of_gpu) for one in group.passes]
                yield BesideBench(plan, team, transfers, passes)
            finally:
                transfers.close()

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """What spoils the figures of the threads.

        Args:
            point: The point; those of threads alone and of the idle probe may be warned of.
            elapsed_ns: Not used; the facts of the point suffice.
            system: Not used either.
        """
        del elapsed_ns, system
        if TiersActual.of(point.actual).probe_took_cpu is not None:
            return probe_warnings(point)
        requested = TiersTransfersRequested.of(point.requested)
        alone = requested.group == "a" and not requested.transfer
        return size_warnings(point) if alone else []


def _gpu_side(gpu: _core.Gpu, transfers: _core.GpuTransfers, plan: Beside) -> dict[str, Scalar]:
    """The GPU, its link and node, and what backs the pinned buffers."""
    backing = backing_facts(transfers.backing(), "auto")
    place = looked_at(transfers, gpu.facts.bus_id, plan.transfer_bytes, queued=True)
    clock = TiersActual(clock_error_ns=gpu.clock_error_ns).recorded()
    return gpu_facts(gpu) | backing | place | clock


def _completed(planned: BesidePass, team: PreparedTeam, of_gpu: dict[str, Scalar]) -> BesidePass:
    """The pass with points whose actual facts are known; a probe's are known before."""
    if planned.probed:
        return planned
    threads: list[Point] = []
    moved = planned.points
    if planned.work is not None:
        first, *moved = planned.points
        ready = team.ready[planned.work.name]
        first = first.with_actual({**ready.facts["a"], **team.memory["a"]})
        threads = [with_bytes(first, ready.bytes_of["a"])]
    points = [*threads, *(point.with_actual(of_gpu) for point in moved)]
    return msgspec.structs.replace(planned, points=points)
