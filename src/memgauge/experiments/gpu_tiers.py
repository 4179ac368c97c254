"""Tiers with a GPU in group B: what do transfers cost the bandwidth of the host's own threads?

Question: the host's threads walk STREAM's kernels in its memory, and a GPU's copy engines read or
write the same memory, to or from the GPU, or both: what does each lose to the other?

Method: all threads asked for are group A; transfers between pinned memory and the GPU are group B,
and need no thread. Each alone and both at once are visited in turn, for every kernel and direction.
Where both are at work, transfers are queued before the threads start, and enough of them to outlast
these; what counts is what was done while both were at work: threads stamp every iteration, the GPU
every transfer, by events on the same clock. A visit lasts for eight transfers at least, each as
large as the host's largest cache, or 64 MiB.
Source: the competition of two groups of threads (`tiers`), one of them replaced by copy engines.

What would invalidate it: transfers that find their data in the host's caches (buffers too small, or
a platform that allocates what devices write in them); host memory on another node than the GPU's,
which loads the link between both too; other programs' traffic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.base import Bench, Experiment, Group
from memgauge.experiments.gpu import gpu_facts, opened_gpu
from memgauge.experiments.gpu_tiers_asked import gpu_of, of_host
from memgauge.experiments.gpu_tiers_points import (
    Beside,
    Visit,
    besides,
    planned_again,
    planned_visits,
    with_facts,
)
from memgauge.experiments.native import backing_facts, to_sample, to_validation
from memgauge.experiments.tiers_parameters import TiersParameters
from memgauge.experiments.tiers_ready import Readier, Ready, active_members, memory_facts
from memgauge.experiments.tiers_sizes import size_warnings
from memgauge.experiments.transfers_place import looked_at
from memgauge.model.records import Point, Sample, Scalar, ThreadSample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memories import ORDINARY, Memories

TRIES = 3
"""Of a visit, before a round goes without it, as in `tiers`."""
LEAST_TRANSFERS = 8
"""In a visit: of the last, part was done when the threads had ended."""
LONGEST_VISIT_NS = 500e6
TRIAL_TRANSFERS = 4
SPARE = 1.3
"""How much longer transfers are queued for than the host's threads take."""
MORE = 1.5
"""And how much longer next time, where they ended before the threads did."""
MOST_QUEUED = 4096
"""Transfers in one visit."""


class BesideBench(Bench):
    """Arrays of the host's threads, pinned buffers, and the GPU."""

    def __init__(
        self,
        plan: Beside,
        competition: _core.Competition,
        transfers: _core.GpuTransfers,
        ready: dict[str, Ready],
        visits: Sequence[Visit],
    ) -> None:
        self._plan = plan
        self._competition = competition
        self._transfers = transfers
        self._ready = ready
        self._visits = {visit.points[0].point: visit for visit in visits}
        self._spare = dict.fromkeys(self._visits, SPARE)
        self._transfer_ns = {one: self._trial(one) for one in plan.transfers}
        self._host_ns = {work.name: self._timed(work.name) for work in plan.host.works}
        self.points = [point for visit in visits for point in visit.points]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Let the host's threads, transfers, or both work."""
        visit = self._visits[point]
        for _ in range(TRIES):
            taken = self._visited(visit, round_)
            if taken:
                return taken
        return []

    def _visited(self, visit: Visit, round_: int) -> list[Sample]:
        if visit.work is None:
            return in_window(visit.points, [], self._moved_alone(visit, round_))
        if visit.transfer is None:
            competed = self._compete(visit.work.name)
            mine = self._threads(visit.points[0], round_, competed)
            return [mine] if mine else []
        count = self._queued(visit, visit.work.name)
        self._transfers.start(visit.transfer, self._plan.transfer_bytes, iterations=count)
        try:
            competed = self._compete(visit.work.name)
        finally:
            moved = self._transfers.finish()
        host = self._threads(visit.points[0], round_, competed)
        if host is None:
            return []
        found = in_window(visit.points, [host], to_sample(visit.points[0].point, round_, moved))
        self._look(visit, found)
        return found

    def _compete(self, work: str) -> _core.CompetitionSlice:
        ready = self._ready[work]
        return self._competition.run(
            active_members(self._plan.host, ready.specs, 0),
            ready.iteration_bytes,
            duration_ns=self._visit_ns(ready),
            lead_in_iterations=self._plan.host.sizes.lead_in_iterations,
            pingpong=len(self._plan.host.cpus) > 1,
        )

    def _visit_ns(self, ready: Ready) -> float:
        """How long a visit lasts: for some iterations of the slowest thread, and some transfers."""
        slowest = max(self._transfer_ns.values())
        return max(ready.visit_ns or 0.0, min(LONGEST_VISIT_NS, LEAST_TRANSFERS * slowest))

    def _threads(self, point: Point, round_: int, taken: _core.CompetitionSlice) -> Sample | None:
        """None where the system kept a thread from its CPU until the common end."""
        whole = to_sample(point.point, round_, taken.slice)
        if len(whole.threads) < self._plan.host.threads:
            return None
        bare = [_bare(thread) for thread in whole.threads]
        return msgspec.structs.replace(whole, threads=bare, window_ns=taken.window_ns)

    def _moved_alone(self, visit: Visit, round_: int) -> Sample:
        transfer = str(visit.transfer)
        longest = max(map(self._visit_ns, self._ready.values()))
        count = max(LEAST_TRANSFERS, math.ceil(longest / self._transfer_ns[transfer]))
        size = self._plan.transfer_bytes
        taken = self._transfers.run(transfer, size, iterations=min(MOST_QUEUED, count))
        return to_sample(visit.points[0].point, round_, taken)

    def _queued(self, visit: Visit, work: str) -> int:
        """So many transfers that they outlast the threads."""
        took_ns = self._host_ns[work] * self._spare[visit.points[0].point]
        count = math.ceil(took_ns / self._transfer_ns[str(visit.transfer)])
        return min(MOST_QUEUED, max(LEAST_TRANSFERS, count))

    def _look(self, visit: Visit, taken: Sequence[Sample]) -> None:
        """Queue more next time, where transfers ended before the threads."""
        host, *moved = taken
        last = max(thread.end_ns[-1] for thread in host.threads)
        if min(one.threads[0].end_ns[-1] for one in moved) < last:
            self._spare[visit.points[0].point] *= MORE

    def _timed(self, work: str) -> int:
        """What one visit of the host's threads takes, its lead-in included, ns."""
        begin_ns = _core.clock_now_ns()
        self._compete(work)
        return _core.clock_now_ns() - begin_ns

    def _trial(self, transfer: str) -> float:
        """What one transfer takes with nothing else at work, ns: the quickest of some."""
        size = self._plan.transfer_bytes
        taken = self._transfers.run(transfer, size, iterations=TRIAL_TRANSFERS)
        return float(
            min(
                end - begin
                for thread in taken.threads
                for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True)
            )
        )

    def validate(self) -> list[Validation]:
        """What the threads wrote, and what arrived."""
        name = self._plan.host.name
        return [
            to_validation("tiers", name, self._competition.validate()),
            to_validation("tiers", f"{name}, transfers", self._transfers.validate()),
        ]


def in_window(points: Sequence[Point], host: Sequence[Sample], moved: Sample) -> list[Sample]:
    """Samples of one visit, all with the time in which everyone was at work."""
    ends = [one.window_ns for one in host]
    ends += [(thread.begin_ns[0], thread.end_ns[-1]) for thread in moved.threads]
    if None in ends:
        window = None
    else:
        told = [one for one in ends if one is not None]
        begin, end = max(one[0] for one in told), min(one[1] for one in told)
        window = (begin, end) if begin < end else None
    pingpong_ns = host[0].pingpong_ns if host else None
    mine = points[len(host) :]
    return [
        *(msgspec.structs.replace(one, window_ns=window) for one in host),
        *(
            Sample(
                point=point.point,
                round=moved.round,
                threads=[_bare(thread)],
                pingpong_ns=pingpong_ns,
                window_ns=window,
            )
            for point, thread in zip(mine, moved.threads, strict=True)
        ),
    ]


def _bare(thread: ThreadSample) -> ThreadSample:
    """Without bytes, which are those of every iteration and stand in the point."""
    return msgspec.structs.replace(thread, read_bytes=0, write_bytes=0)


class GpuTiers(Experiment):
    """`tiers` where group B is a GPU."""

    name: ClassVar[str] = "tiers"
    parameters: ClassVar[type[TiersParameters]] = TiersParameters

    def plan(self, parameters: TiersParameters, system: System) -> list[Group]:
        """One group for each number of threads."""
        placement = gpu_of(parameters)
        of_host(parameters)
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
            readier = Readier(host, plan.host, team, competition)
            ready = {work.name: readier.ready(work) for work in plan.host.works}
            of_threads = memory_facts(plan.host, competition, host.pages)["a"]
            of_gpu = _gpu_side(gpu, transfers, plan)
            visits = [
                _completed(visit, ready, of_threads, of_gpu) for visit in planned_visits(plan)
            ]
            yield BesideBench(plan, competition, transfers, ready, visits)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """What spoils the figures of the threads."""
        del samples, system
        alone = point.asked["group"] == "a" and point.asked["transfer"] is None
        return size_warnings(point) if alone else []


def _competition(
    team: _core.Team, plan: Beside, parameters: TiersParameters, memories: Memories
) -> _core.Competition:
    host = plan.host
    return _core.Competition(
        team,
        [
            _core.Member(
                place,
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
    visit: Visit,
    ready: dict[str, Ready],
    of_threads: dict[str, Scalar],
    of_gpu: dict[str, Scalar],
) -> Visit:
    """A visit whose points say what was got."""
    points = []
    for point in visit.points:
        if point.asked["group"] == "b" or visit.work is None:
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
