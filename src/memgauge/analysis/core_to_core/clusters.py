"""Groups of things that are near each other, by their distances alone.

Agglomerative clustering with average linkage (Sokal and Michener 1958): the two nearest groups
become one, again and again. Where the height at which groups merge jumps, what was merged before
are groups, and what comes after lies between them. A jump counts where it is large, and where the
distances within the groups and those across them hardly overlap. Of jumps between which few groups
merged, the largest counts: each way to group has to change most groups of the finer one.

What would invalidate it: a distance that rises steadily, as along a ring, has no jump and gives no
groups; a single thing that is far from all others is a group of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import median
from typing import NamedTuple

import msgspec

LEAST_JUMP = 1.5
"""Height of the next merger over that of the last within groups."""
LEAST_CHANGED = 0.75
"""Share of the groups that must have merged with others before the next way to group."""
OVERLAP = 0.1
"""The largest distances within groups and the least across them are left out of the comparison, by
this share each."""

Distances = Mapping[tuple[int, int], float]
"""Above 0, of each two things, the smaller first."""


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """One way to group the things, finest first among all that were found."""

    groups: list[list[int]]
    within: float
    """Median distance in groups,"""
    across: float
    """and between them."""


def find_levels(things: Sequence[int], distances: Distances) -> list[Level]:
    """All levels that the distances show; empty where there is none.

    Args:
        things: What is grouped, each once.
        distances: Of each two of them.
    """
    jumps = [
        Jump(size=following / height, groups=groups)
        for (height, groups), (following, _) in pairwise(_mergers(things, distances))
        if following >= LEAST_JUMP * height
    ]
    found: list[tuple[Jump, Level]] = []
    for jump in jumps:
        level = _level(jump.groups, distances)
        if level is None:
            continue
        if found and _mostly_alike(found[-1][0].groups, jump.groups):
            if found[-1][0].size >= jump.size:
                continue
            found.pop()
        found.append((jump, level))
    return [level for _, level in found]


class Jump(NamedTuple):
    """A merger at a much larger height than the one before."""

    size: float
    groups: list[list[int]]
    """Before it."""


def _mostly_alike(finer: list[list[int]], coarser: list[list[int]]) -> bool:
    """Whether fewer of the finer groups have merged than have to."""
    kept = sum(group in coarser for group in finer)
    return kept > (1 - LEAST_CHANGED) * len(finer)


def _mergers(
    things: Sequence[int], distances: Distances
) -> Iterator[tuple[float, list[list[int]]]]:
    """Height of each merger and the groups after it."""
    groups = {place: [thing] for place, thing in enumerate(things)}
    between = {
        (a, b): distances[_ordered(things[a], things[b])]
        for a, b in combinations(range(len(things)), 2)
    }
    while between:
        kept, gone = min(between, key=between.__getitem__)
        height = between.pop((kept, gone))
        weights = len(groups[kept]), len(groups[gone])
        for other in groups.keys() - {kept, gone}:
            far = between.pop(_ordered(other, gone))
            near = between[_ordered(other, kept)]
            mean = (weights[0] * near + weights[1] * far) / sum(weights)
            between[_ordered(other, kept)] = mean
        groups[kept] = groups[kept] + groups.pop(gone)
        yield height, sorted(sorted(group) for group in groups.values())


def _level(groups: list[list[int]], distances: Distances) -> Level | None:
    """None where distances within and across overlap."""
    of = {thing: number for number, group in enumerate(groups) for thing in group}
    within: list[float] = []
    across: list[float] = []
    for (one, other), distance in distances.items():
        if one in of and other in of:
            (within if of[one] == of[other] else across).append(distance)
    within.sort()
    across.sort()
    if not within or within[-1 - int(OVERLAP * len(within))] > across[int(OVERLAP * len(across))]:
        return None
    return Level(groups=groups, within=median(within), across=median(across))


def _ordered(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)
