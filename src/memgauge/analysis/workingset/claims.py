"""The levels a curve shows against those the topology claims."""

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from memgauge.analysis.statistics.level import Level
from memgauge.model.system import System

UNMATCHED = 2.5
"""Octaves of difference at which two sizes count as badly matched as each being left alone."""
SMALLER = 0.8
"""Of the claimed size: a level that ends below is smaller than claimed."""
LARGER = 1.5
"""Times the claimed size and all levels before it (a victim cache adds to them)."""
BEYOND = 1.5
"""A curve that ends on a plateau this far beyond the largest cache ends in memory."""
LEAST_FOOTPRINTS = 4
"""Measured beyond the cache before and within the claimed size: fewer show no plateau."""

Status = Literal[
    "agrees",
    "smaller",
    "larger",
    "hidden",
    "not known",
    "not visible",
    "too coarse",
    "memory",
    "end not seen",
]


class Claim(msgspec.Struct, frozen=True):
    """A cache that the topology claims for a CPU."""

    name: str
    bytes: int


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One level: found, claimed or both."""

    name: str
    """`L1`, `L2`, `L3`, `memory`, or `unnamed` for one that the topology does not have."""
    status: Status
    level: Level | None
    claimed_bytes: int | None


def claims_of(system: System, cpu: int | None) -> list[Claim]:
    """Data and unified caches of a CPU by level; of any CPU where `cpu` is None."""
    sizes: dict[int, int] = {}
    for cache in system.caches:
        if cache.type != "instruction" and (cpu is None or cpu in cache.cpus):
            sizes.setdefault(cache.level, cache.bytes)
    return [Claim(f"L{level}", sizes[level]) for level in sorted(sizes) if sizes[level] > 0]


def compare(
    levels: Sequence[Level],
    claims: Sequence[Claim],
    end_bytes: int,
    unclaimed: Sequence[str] = (),
    footprints: Sequence[int] | None = None,
) -> list[Finding]:
    """What became of each level and each claim, nearest first.

    Levels and claims are paired in order so that their sizes differ least in octaves.

    Args:
        levels: Levels that the curve shows, nearest first.
        claims: Caches of known size that the topology or a driver reports, nearest first.
        end_bytes: Largest footprint measured, where the curve ends.
        unclaimed: Names of caches that surely exist, but whose size is not reported, nearest first.
        footprints: Those that were measured, in bytes; None: enough of them in every cache.
    """
    caches = [level for level in levels if level.capacity_high_bytes is not None]
    pairs = _pairs(caches, claims)
    findings = [_finding(level, claim, claims, end_bytes, footprints) for level, claim in pairs]
    largest = max((claim.bytes for claim in claims), default=0)
    for level in levels:
        if level.capacity_high_bytes is None:
            in_memory = end_bytes >= BEYOND * largest
            findings.append(
                Finding(
                    name="memory" if in_memory else "unnamed",
                    status="memory" if in_memory else "end not seen",
                    level=level,
                    claimed_bytes=None,
                )
            )
    return _named(findings, claims, unclaimed)


def _named(
    findings: Sequence[Finding], claims: Sequence[Claim], names: Sequence[str]
) -> list[Finding]:
    """Levels below all claims that have a name, though their size is not known."""
    least = min((claim.bytes for claim in claims), default=math.inf)
    left = [*names]
    found = []
    for finding in findings:
        level = finding.level
        if finding.status == "hidden" and left and level and level.capacity_low_bytes < least:
            named = msgspec.structs.replace(finding, name=left.pop(0), status="not known")
            found.append(named)
        else:
            found.append(finding)
    return found


def _pairs(
    levels: Sequence[Level], claims: Sequence[Claim]
) -> list[tuple[Level | None, Claim | None]]:
    """Least-cost alignment in order (Needleman and Wunsch 1970)."""
    best: dict[tuple[int, int], tuple[float, list[tuple[Level | None, Claim | None]]]] = {}
    best[0, 0] = (0.0, [])
    for i in range(len(levels) + 1):
        for j in range(len(claims) + 1):
            options = []
            if i:
                cost, pairs = best[i - 1, j]
                options.append((cost + UNMATCHED, [*pairs, (levels[i - 1], None)]))
            if j:
                cost, pairs = best[i, j - 1]
                options.append((cost + UNMATCHED, [*pairs, (None, claims[j - 1])]))
            if i and j:
                cost, pairs = best[i - 1, j - 1]
                apart = abs(math.log2(levels[i - 1].capacity_low_bytes / claims[j - 1].bytes))
                options.append((cost + apart, [*pairs, (levels[i - 1], claims[j - 1])]))
            if options:
                best[i, j] = min(options, key=lambda option: option[0])
    return best[len(levels), len(claims)][1]


def _finding(
    level: Level | None,
    claim: Claim | None,
    claims: Sequence[Claim],
    end_bytes: int,
    footprints: Sequence[int] | None,
) -> Finding:
    if claim is None:
        return Finding(name="unnamed", status="hidden", level=level, claimed_bytes=None)
    status: Status
    if level is None:
        nearer = max((other.bytes for other in claims if other.bytes < claim.bytes), default=0)
        if end_bytes < BEYOND * claim.bytes:
            status = "end not seen"
        elif footprints is not None and _within(footprints, nearer, claim.bytes) < LEAST_FOOTPRINTS:
            status = "too coarse"
        else:
            status = "not visible"
    else:
        status = _status(level, claim, claims)
    return Finding(name=claim.name, status=status, level=level, claimed_bytes=claim.bytes)


def _within(footprints: Sequence[int], above: int, most: int) -> int:
    return sum(above < size <= most for size in footprints)


def _status(level: Level, claim: Claim, claims: Sequence[Claim]) -> Status:
    nearer = sum(other.bytes for other in claims if other.bytes < claim.bytes)
    if level.capacity_high_bytes is not None and level.capacity_high_bytes < SMALLER * claim.bytes:
        return "smaller"
    if level.capacity_low_bytes > LARGER * (claim.bytes + nearer):
        return "larger"
    return "agrees"
