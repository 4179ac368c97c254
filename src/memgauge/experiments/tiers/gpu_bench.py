"""Visits of `tiers` where group B is a GPU: threads, transfers, or both at work at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.host import TIMED_LOADS
from memgauge.experiments.loaded.plan import HOPS
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.shared.rings import MEMORY_WARM_HOPS
from memgauge.experiments.tiers.gpu_plan import Beside, SamplingPass
from memgauge.experiments.tiers.host import TRIES, probed_sample
from memgauge.experiments.tiers.prepared import Ready, active_members
from memgauge.experiments.tiers.workloads import Workload
from memgauge.model.records import Point, Sample, ThreadSample, Validation

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


class Parts(NamedTuple):
    """What was opened for a team."""

    competition: _core.Competition
    transfers: _core.GpuTransfers
    ring: _core.ChaseRing | None
    """That a probe walks; None: none does."""


class BesideBench(Bench):
    """Arrays of the host's threads, pinned buffers, and the GPU."""

    def __init__(
        self,
        plan: Beside,
        parts: Parts,
        ready: dict[str, Ready],
        visits: Sequence[SamplingPass],
    ) -> None:
        self._plan = plan
        self._competition, self._transfers, self._ring = parts
        self._ready = ready
        self._visits = {visit.points[0].point: visit for visit in visits}
        self._spare = dict.fromkeys(self._visits, SPARE)
        self._transfer_ns = {one: self._trial(one) for one in plan.transfers}
        self._host_ns = {work.name: self._timed(work.name) for work in plan.host.works}
        self._probe_ns = self._probe_times(visits)
        self.points = [point for visit in visits for point in visit.points]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Let the host's threads, transfers, or both work."""
        visit = self._visits[point]
        for _ in range(TRIES):
            taken = self._visited(visit, round_)
            if taken:
                return taken
        return []

    def _visited(self, visit: SamplingPass, round_: int) -> list[Sample]:
        if visit.probed:
            return self._probed(visit, round_)
        if visit.work is None:
            return in_window(visit.points, [], self._moved_alone(visit, round_))
        if visit.transfer is None:
            competed = self._compete(visit.work.name)
            mine = self._threads(visit.points[0], round_, competed)
            return [mine] if mine else []
        count = self._queued(visit, self._host_ns[visit.work.name])
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

    def _probed(self, visit: SamplingPass, round_: int) -> list[Sample]:
        """What the probe sees; nothing where it went on after the transfers."""
        ring = self._ring
        if ring is None:
            return []
        if visit.transfer is None:
            return [probed_sample(visit.points[0].point, round_, self._probe(visit.work, ring))]
        count = self._queued(visit, self._probe_ns[visit.work])
        self._transfers.start(visit.transfer, self._plan.transfer_bytes, iterations=count)
        try:
            probed = self._probe(visit.work, ring)
        finally:
            moved = self._transfers.finish()
        taken = probed_sample(visit.points[0].point, round_, probed)
        if min(thread.end_ns[-1] for thread in moved.threads) < taken.threads[0].end_ns[-1]:
            self._spare[visit.points[0].point] *= MORE
            return []
        return [taken]

    def _probe(self, work: Workload | None, ring: _core.ChaseRing) -> _core.CompetitionSlice:
        ready = None if work is None else self._ready[work.name]
        return self._competition.run_probed(
            [] if ready is None else active_members(self._plan.host, ready.specs, 0),
            self._plan.host.sizes.iteration_bytes if ready is None else ready.iteration_bytes,
            ring,
            HOPS,
            warm_hops=MEMORY_WARM_HOPS,
            timed_loads=TIMED_LOADS,
            lead_in_iterations=self._plan.host.sizes.lead_in_iterations,
            pingpong=True,
        )

    def _probe_times(self, visits: Sequence[SamplingPass]) -> dict[Workload | None, int]:
        """What the probe takes beside each work that is probed beside transfers, without them, ns.

        Work of None: beside threads that sleep.
        """
        if self._ring is None:
            return {}
        found: dict[Workload | None, int] = {}
        for work in dict.fromkeys(v.work for v in visits if v.probed and v.transfer is not None):
            begin_ns = _core.clock_now_ns()
            self._probe(work, self._ring)
            found[work] = _core.clock_now_ns() - begin_ns
        return found

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

    def _moved_alone(self, visit: SamplingPass, round_: int) -> Sample:
        transfer = str(visit.transfer)
        longest = max(map(self._visit_ns, self._ready.values()))
        count = max(LEAST_TRANSFERS, math.ceil(longest / self._transfer_ns[transfer]))
        size = self._plan.transfer_bytes
        taken = self._transfers.run(transfer, size, iterations=min(MOST_QUEUED, count))
        return to_sample(visit.points[0].point, round_, taken)

    def _queued(self, visit: SamplingPass, alone_ns: int) -> int:
        """So many transfers that they outlast what takes the host that long without them."""
        took_ns = alone_ns * self._spare[visit.points[0].point]
        count = math.ceil(took_ns / self._transfer_ns[str(visit.transfer)])
        return min(MOST_QUEUED, max(LEAST_TRANSFERS, count))

    def _look(self, visit: SamplingPass, taken: Sequence[Sample]) -> None:
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
        known = [one for one in ends if one is not None]
        begin, end = max(one[0] for one in known), min(one[1] for one in known)
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
