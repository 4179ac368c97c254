"""What counters of memory saw of the phases of transforms: of each transform, and over all.

A node's first rank watches its memory, in which all ranks of the node are in the same phase at
nearly the same time: what it counted while that rank was in the phase is shared out over the ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

import msgspec

from memgauge.analysis.fft3d.ranks import Phase, Rank, on
from memgauge.analysis.fft3d.shape import Pencils
from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.totals import Counted, bounded
from memgauge.analysis.statistics.student import half_width


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of one direction in one phase of a transform, of one rank."""

    transforms: int
    mean: float | None
    """None: the phase is too short for the rate of sampling, and only the bounds are known."""
    least: float
    """Of all transforms; of a phase that is too short, what was counted at least in any,"""
    most: float
    """and at most."""
    low: float | None = None
    """Ends of the mean's 95% interval over transforms, by Student's t; None: fewer than two."""
    high: float | None = None
    mean_at_least: float | None = None
    """Bounds of the mean over transforms where the phase is too short."""
    mean_at_most: float | None = None
    rate_hz: float
    """Of sampling."""

    @property
    def is_range(self) -> bool:
        """Whether only bounds are known."""
        return self.mean is None


class PhaseTraffic(msgspec.Struct, frozen=True):
    """Both directions; None: not counted."""

    read: Measured | None
    write: Measured | None


def phase_traffic(
    phase: Phase,
    taking_part: Sequence[Rank],
    step: Pencils,
    timelines: dict[int, Timeline | None],
) -> PhaseTraffic:
    """What the memory of all nodes moved in a phase, for one rank and transform.

    Args:
        phase: Phase of the transforms.
        taking_part: Ranks that take part in the transforms.
        step: The step that the transforms belong to.
        timelines: Timeline of the first rank of each node, by number of the rank.
    """
    first = [rank for rank in taking_part if rank.rank in timelines]
    sides = []
    for side in ("reads", "writes"):
        nodes = [_node(rank, phase, step, timelines[rank.rank], side) for rank in first]
        sides.append(_over_nodes(nodes, len(taking_part)))
    return PhaseTraffic(*sides)


class _Node(msgspec.Struct, frozen=True):
    counts: list[Counted]
    """One a transform, in their order."""
    together: Counted
    """Of all transforms: what several may have counted between the same readings is in it once."""
    rate_hz: float


def _node(
    rank: Rank, phase: Phase, step: Pencils, timeline: Timeline | None, side: str
) -> _Node | None:
    """What the node's memory moved while its first rank was in the phase."""
    if timeline is None:
        return None
    roles = roles_of(timeline)
    tracks: list[Traced] = roles.reads if side == "reads" else roles.writes
    taken = [one.spans[phase] for one in on(rank, step) if phase in one.spans]
    if not tracks or not taken:
        return None
    counts = [bounded(timeline, tracks, spans) for spans in taken]
    if any(one.total is None and one.least is None for one in counts):
        return None
    every = [span for spans in taken for span in spans]
    return _Node(
        counts, bounded(timeline, tracks, every), 1e9 / max(traced.interval_ns for traced in tracks)
    )


def _over_nodes(nodes: Sequence[_Node | None], ranks: int) -> Measured | None:
    """Summed over nodes, over the number of ranks; None where a node is missing."""
    known = [node for node in nodes if node is not None]
    if not known or len(known) < len(nodes):
        return None
    transforms = min(len(node.counts) for node in known)
    each = [_sum([node.counts[at] for node in known], ranks) for at in range(transforms)]
    together = _sum([node.together for node in known], ranks)
    return _measured(each, together, min(node.rate_hz for node in known))


def _sum(counts: Sequence[Counted], ranks: int) -> Counted:
    if any(one.is_range for one in counts):
        return Counted(
            least=math.fsum(_low(one) for one in counts) / ranks,
            most=math.fsum(_high(one) for one in counts) / ranks,
        )
    return Counted(total=math.fsum(_low(one) for one in counts) / ranks)


def _low(one: Counted) -> float:
    return one.total if one.total is not None else one.least or 0.0


def _high(one: Counted) -> float:
    return one.total if one.total is not None else one.most or 0.0


def _measured(each: Sequence[Counted], together: Counted, rate_hz: float) -> Measured:
    least, most = min(map(_low, each)), max(map(_high, each))
    # One transform of which only bounds are known, and the mean is not known better than they are.
    if any(one.is_range for one in each):
        return Measured(
            transforms=len(each),
            mean=None,
            least=least,
            most=most,
            mean_at_least=fmean(map(_low, each)),
            mean_at_most=min(fmean(map(_high, each)), _high(together) / len(each)),
            rate_hz=rate_hz,
        )
    values = [_low(one) for one in each]
    mean = fmean(values)
    low = high = None
    if len(values) > 1:
        half = half_width(len(values) - 1) * stdev(values) / math.sqrt(len(values))
        low, high = max(0.0, mean - half), mean + half
    return Measured(
        transforms=len(each), mean=mean, least=least, most=most, low=low, high=high, rate_hz=rate_hz
    )
