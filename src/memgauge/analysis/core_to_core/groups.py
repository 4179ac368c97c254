"""Groups of CPUs that the latencies show, and what the topology claims of the same CPUs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.core_to_core.clusters import find_levels
from memgauge.analysis.core_to_core.figures import (
    Matrix,
    blocks_of,
    shown_groups,
)
from memgauge.model.points.core_to_core import STORE
from memgauge.model.topology.claimed import Claimed

LEAST_CPUS = 3
"""Two have one distance, beside which there is no other."""


class FoundLevel(msgspec.Struct, frozen=True, kw_only=True):
    """One way to group the CPUs, by their latencies."""

    groups: list[list[int]]
    within_ns: float
    """Median latency of pairs in a group,"""
    across_ns: float
    """and of pairs of two groups."""
    claimed: str | None
    """What the topology claims that exactly these CPUs share; None: nothing."""


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and what of the claims was not."""

    levels: list[FoundLevel]
    """Finest first."""
    not_found: list[Claimed]
    """Claims with several groups that the latencies do not show."""


def grouping_of(matrix: Matrix) -> Grouping | None:
    """Groups by the latency of stores; None where too few pairs were measured to tell."""
    things = shown_groups(matrix)
    members = things.groups
    blocks = blocks_of(matrix, STORE, things)
    distances = {key: block.median_ns for key, block in blocks.items() if key[0] != key[1]}
    if len(members) < LEAST_CPUS or len(distances) < len(members) * (len(members) - 1) // 2:
        return None
    levels = [
        _found(level.groups, members, (level.within, level.across), matrix.claims)
        for level in find_levels(range(len(members)), distances)
    ]
    matched = {level.claimed for level in levels}
    return Grouping(
        levels=levels,
        not_found=[
            claim
            for claim in matrix.claims
            if 1 < len(claim.groups) < len(members) and claim.name not in matched
        ],
    )


def _found(
    level: Sequence[Sequence[int]],
    members: Sequence[Sequence[int]],
    ns: tuple[float, float],
    claims: Sequence[Claimed],
) -> FoundLevel:
    """A level over things as one over CPUs."""
    groups = sorted(sorted(cpu for thing in group for cpu in members[thing]) for group in level)
    claimed = next((one.name for one in claims if sorted(map(sorted, one.groups)) == groups), None)
    return FoundLevel(groups=groups, within_ns=ns[0], across_ns=ns[1], claimed=claimed)
