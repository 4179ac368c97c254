"""What sockets counted, and the ranks that ran on them: memory traffic and energy, taken once.

A counter of a socket tells nothing of one process. What it counted is divided by the ranks on that
socket, which is labelled as such wherever it is shown. Sockets between which a rank may move are
taken together.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.ranks.job import Job
from memgauge.analysis.ranks.rank_runs import NodeKey, RankRun

THROUGHOUT = 0.98
"""Of the time of its ranks: what was counted over less is said to be only that."""


class SocketGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Sockets of one node, with all ranks that ran on any of them and on no other.

    Without ranks: a socket that was counted, and that no rank ran on.
    """

    node: str
    sockets: list[int]
    ranks: list[int]
    read_bytes: float | None = None
    """None: not counted."""
    write_bytes: float | None = None
    traffic_bytes: float | None = None
    energy_j: float | None = None
    known: float | None = None
    """Share of the time of its node's ranks in which all of these were counted."""
    counted_by: int | None = None
    """The rank whose run holds the counters; None: no rank's does."""

    def share(self, total: float | None) -> float | None:
        """An even part for each of its ranks: no measurement of one of them."""
        return None if total is None or not self.ranks else total / len(self.ranks)


def socket_groups(job: Job) -> list[SocketGroup]:
    """All sockets that ranks ran on, node by node."""
    found = []
    for node in job.nodes:
        ranks = [rank for rank in job.ranks if rank.node == node]
        leader = next((one for one in job.leaders.values() if one.node == node), None)
        found += _of_node(job, node, ranks, leader)
    return found


def sockets_of(rank: RankRun) -> list[int]:
    """Those that a rank may run on, by the CPUs it is bound to."""
    if rank.run is None:
        return []
    system = rank.run.start.system
    allowed = set(system.allowed_cpus)
    return sorted({cpu.socket for cpu in system.cpus if cpu.cpu in allowed})


def _of_node(
    job: Job, node: NodeKey, ranks: Sequence[RankRun], leader: RankRun | None
) -> list[SocketGroup]:
    parts = _together([(sockets_of(rank), rank.rank) for rank in ranks])
    timeline = None if leader is None else job.timelines.get(leader.rank)
    if timeline is None or leader is None:
        return [
            SocketGroup(node=job.nodes[node], sockets=sockets, ranks=numbers)
            for sockets, numbers in parts
        ]
    roles = roles_of(timeline)
    counted = [roles.reads, roles.writes, roles.traffic, roles.power]
    if not _tell_sockets([traced for tracks in counted for traced in tracks]):
        # What is counted of the whole node only is its ranks' together.
        every = sorted({socket for sockets, _ in parts for socket in sockets})
        parts = [(every, sorted(number for _, numbers in parts for number in numbers))]
    else:
        parts += _without_ranks(parts, [traced for tracks in counted for traced in tracks])
    bins = _bins_of(job, ranks)
    found = []
    for sockets, numbers in parts:
        mine = [[traced for traced in tracks if _is_of(traced, sockets)] for tracks in counted]
        read, written, both, energy = (_total(tracks, *bins) for tracks in mine)
        if read is not None and written is not None:
            both = read + written
        found.append(
            SocketGroup(
                node=job.nodes[node],
                sockets=sockets,
                ranks=numbers,
                read_bytes=read,
                write_bytes=written,
                traffic_bytes=both,
                energy_j=energy,
                known=_known(timeline, [traced for tracks in mine for traced in tracks], *bins),
                counted_by=leader.rank,
            )
        )
    return found


def _together(of_ranks: Sequence[tuple[list[int], int]]) -> list[tuple[list[int], list[int]]]:
    """Groups of sockets that share a rank, with their ranks."""
    groups: list[tuple[set[int], list[int]]] = []
    for sockets, rank in of_ranks:
        joint = [group for group in groups if group[0] & set(sockets)]
        merged = (
            set(sockets).union(*(group[0] for group in joint)),
            [*(number for group in joint for number in group[1]), rank],
        )
        groups = [group for group in groups if group not in joint] + [merged]
    return sorted((sorted(sockets), sorted(ranks)) for sockets, ranks in groups)


def _without_ranks(
    parts: Sequence[tuple[list[int], list[int]]], tracks: Sequence[Traced]
) -> list[tuple[list[int], list[int]]]:
    """Sockets that are counted and that no rank ran on: other ranks may use their memory."""
    taken = {socket for sockets, _ in parts for socket in sockets}
    seen = {c.socket for traced in tracks for c in traced.track.counters if c.socket is not None}
    return [([socket], []) for socket in sorted(seen - taken)]


def _tell_sockets(tracks: Sequence[Traced]) -> bool:
    return all(c.socket is not None for traced in tracks for c in traced.track.counters)


def _is_of(traced: Traced, sockets: Sequence[int]) -> bool:
    return any(c.socket is None or c.socket in sockets for c in traced.track.counters)


def _bins_of(job: Job, ranks: Sequence[RankRun]) -> tuple[int, int]:
    """The bins in which programs of the node ran."""
    spans = [job.spans[rank.rank] for rank in ranks if rank.rank in job.spans]
    if job.grid is None or not spans:
        return 0, 0
    begin_ns = min(span.begin_ns for span in spans) - job.grid.begin_ns
    end_ns = max(span.end_ns for span in spans) - job.grid.begin_ns
    return begin_ns // job.grid.bin_ns, min(job.grid.bins, -(-end_ns // job.grid.bin_ns))


def _total(tracks: Sequence[Traced], begin: int, end: int) -> float | None:
    totals = [traced.total(begin, end) for traced in tracks]
    known = [total for total in totals if total is not None]
    return sum(known) if known and len(known) == len(totals) else None


def _known(timeline: Timeline, tracks: Sequence[Traced], begin: int, end: int) -> float | None:
    wanted_s = timeline.edge_s(end) - timeline.edge_s(begin)
    if not tracks or wanted_s <= 0:
        return None
    known_s = min(traced.covered_s[end] - traced.covered_s[begin] for traced in tracks)
    return min(1.0, known_s / wanted_s)
