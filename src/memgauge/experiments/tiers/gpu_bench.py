"""Sampling passes of `tiers` where group B is a GPU: threads, transfers, or both at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from memgauge import _core
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.tiers.gpu_plan import Beside, BesidePass
from memgauge.experiments.tiers.prepared import Ready
from memgauge.experiments.tiers.team import (
    PreparedTeam,
    TeamBench,
    bare,
    probed_sample,
    samples_of,
)
from memgauge.experiments.tiers.workloads import Workload
from memgauge.model.records import Point, Sample, Validation

LEAST_TRANSFERS = 8
"""In a sampling pass: of the last, part was done when the threads had ended."""
LONGEST_PASS_NS = 500e6
TRIAL_TRANSFERS = 4
SPARE = 1.3
"""How much longer transfers are queued for than the host's threads take."""
MORE = 1.5
"""And how much longer next time, where they ended before the threads did."""
MOST_QUEUED = 4096
"""Transfers in one sampling pass."""


class BesideBench(TeamBench):
    """Arrays of the host's threads, pinned buffers, and the GPU."""

    def __init__(
        self,
        plan: Beside,
        team: PreparedTeam,
        transfers: _core.GpuTransfers,
        passes: Sequence[BesidePass],
    ) -> None:
        self._plan = plan
        self._team = team
        self._transfers = transfers
        self._passes = {one.leader.point: one for one in passes}
        self._spare = dict.fromkeys(self._passes, SPARE)
        self._transfer_ns = {one: self._trial(one) for one in plan.transfers}
        self._host_ns = {work: _timed(partial(self._compete, work)) for work in plan.host.works}
        probed = dict.fromkeys(one.work for one in passes if one.probed and one.transfer)
        self._probe_ns = {work: _timed(partial(self._probe, work)) for work in probed}
        self.points = [point for one in passes for point in one.points]

    def _attempt(self, point: str, round_: int) -> list[Sample]:
        """Let the host's threads, transfers, or both work."""
        planned = self._passes[point]
        if planned.probed:
            return self._probed(planned, round_)
        if planned.work is None:
            return in_window(planned.points, [], self._moved_alone(planned, round_))
        if not planned.transfer:
            return samples_of(planned.points, round_, self._compete(planned.work))
        self._start(planned, self._host_ns[planned.work])
        try:
            competed = self._compete(planned.work)
        finally:
            moved = self._transfers.finish()
        host = samples_of(planned.points[:1], round_, competed)
        if not host:
            return []
        found = in_window(planned.points, host, to_sample(point, round_, moved))
        self._look(planned, found)
        return found

    def _compete(self, work: Workload) -> _core.CompetitionSlice:
        duration_ns = self._duration_ns(self._team.ready[work.name])
        return self._team.compete(work, duration_ns=duration_ns)

    def _probed(self, planned: BesidePass, round_: int) -> list[Sample]:
        """What the probe sees; nothing where it went on after the transfers."""
        point = planned.leader.point
        if not planned.transfer:
            return [probed_sample(point, round_, self._probe(planned.work))]
        self._start(planned, self._probe_ns[planned.work])
        try:
            probed = self._probe(planned.work)
        finally:
            moved = self._transfers.finish()
        taken = probed_sample(point, round_, probed)
        if min(thread.end_ns[-1] for thread in moved.threads) < taken.threads[0].end_ns[-1]:
            self._spare[point] *= MORE
            return []
        return [taken]

    def _probe(self, work: Workload | None) -> _core.CompetitionSlice:
        return self._team.probe(self._plan.host_memory, work)

    def _duration_ns(self, ready: Ready) -> float:
        """Of a sampling pass: for some iterations of the slowest thread, and some transfers."""
        slowest = max(self._transfer_ns.values())
        return max(ready.duration_ns or 0.0, min(LONGEST_PASS_NS, LEAST_TRANSFERS * slowest))

    def _moved_alone(self, planned: BesidePass, round_: int) -> Sample:
        longest = max(map(self._duration_ns, self._team.ready.values()))
        count = max(LEAST_TRANSFERS, math.ceil(longest / self._transfer_ns[planned.transfer]))
        size = self._plan.transfer_bytes
        taken = self._transfers.run(planned.transfer, size, iterations=min(MOST_QUEUED, count))
        return to_sample(planned.leader.point, round_, taken)

    def _start(self, planned: BesidePass, alone_ns: int) -> None:
        """Queue transfers enough to outlast what takes the host that long without them."""
        took_ns = alone_ns * self._spare[planned.leader.point]
        count = math.ceil(took_ns / self._transfer_ns[planned.transfer])
        queued = min(MOST_QUEUED, max(LEAST_TRANSFERS, count))
        self._transfers.start(planned.transfer, self._plan.transfer_bytes, iterations=queued)

    def _look(self, planned: BesidePass, taken: Sequence[Sample]) -> None:
        """Queue more next time, where transfers ended before the threads."""
        host, *moved = taken
        last = max(thread.end_ns[-1] for thread in host.threads)
        if min(one.threads[0].end_ns[-1] for one in moved) < last:
            self._spare[planned.leader.point] *= MORE

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
        subject = f"{self._plan.host.name}, transfers"
        return [
            self._team.validation(),
            to_validation("tiers", subject, self._transfers.validate()),
        ]


def _timed(run: Callable[[], object]) -> int:
    """What one sampling pass takes without transfers, its lead-in included, ns."""
    begin_ns = _core.clock_now_ns()
    run()
    return _core.clock_now_ns() - begin_ns


def in_window(points: Sequence[Point], host: Sequence[Sample], moved: Sample) -> list[Sample]:
    """Samples of one sampling pass, all with the time in which everyone was at work.

    Args:
        points: Points of the pass: that of working threads first, then one for each direction.
        host: The threads' sample; empty: they slept.
        moved: All transfers, as one thread for each direction, in the order of the points.
    """
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
                threads=[bare(thread)],
                pingpong_ns=pingpong_ns,
                window_ns=window,
            )
            for point, thread in zip(mine, moved.threads, strict=True)
        ),
    ]
