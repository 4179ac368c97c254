"""Pairs of CPUs and contending teams: what was measured of each, by what the topology claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

import msgspec

from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.cpulist import format_cpu_list, parse_cpu_list
from memgauge.model.points.core_to_core import (
    FETCH_ADD,
    STORE,
    CoreToCoreActual,
    CoreToCoreRequested,
)
from memgauge.model.records import Point
from memgauge.model.topology.claimed import Claimed, claimed_groups, shared_level

MOST_CELLS = 64
"""Rows of the picture: of more CPUs it shows groups."""

Pair = tuple[int, int]
"""CPUs; the line lies on the node of the first."""


class PairResult(msgspec.Struct, frozen=True, kw_only=True):
    """One pair, by one operation."""

    pair: Pair
    point: Point
    summary: PointSummary
    """In the regime in which it was seen most."""

    @property
    def figure(self) -> Estimate | None:
        """One way, in ns."""
        return self.summary.sustained

    @property
    def ns(self) -> float:
        """The same without its interval; a result always has one."""
        return self.figure.value if self.figure is not None else 0.0


class TeamResult(msgspec.Struct, frozen=True, kw_only=True):
    """A team that contends for one line, by one operation."""

    operation: str
    threads: int
    cpus: str
    point: Point
    summary: PointSummary

    @property
    def millions_per_s(self) -> Estimate | None:
        """Operations a second of all threads together, in millions."""
        ns = self.summary.sustained
        if ns is None or ns.value <= 0:
            return None
        if not has_interval(ns) or ns.low <= 0:
            return Estimate(1e3 / ns.value, 0.0, float("inf"))
        return Estimate(1e3 / ns.value, 1e3 / ns.high, 1e3 / ns.low)


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """All pairs that were measured, and the CPUs that they are of."""

    cpus: list[int]
    """In the order of the topology, so that near ones are side by side."""
    claims: list[Claimed]
    """How the topology groups these CPUs, the finest first."""
    results: dict[str, dict[Pair, PairResult]]
    """By operation."""
    pairs_possible: int

    @property
    def measured(self) -> set[Pair]:
        """Pairs with a figure, in whichever direction, the smaller CPU first."""
        return {ordered(pair) for pair in self.results.get(STORE, {})}

    @property
    def is_whole(self) -> bool:
        """Whether all pairs were measured."""
        return len(self.measured) >= self.pairs_possible

    def ns(self, operation: str) -> dict[Pair, float]:
        """Of each two CPUs, the smaller first: one way, the mean of both directions."""
        found: dict[Pair, list[float]] = {}
        for pair, result in self.results.get(operation, {}).items():
            found.setdefault(ordered(pair), []).append(result.ns)
        return {pair: sum(values) / len(values) for pair, values in found.items()}

    def level_of(self, pair: Pair) -> int:
        """Place of the claim that has both in one of its groups, and no finer one."""
        return shared_level(self.claims, *pair)


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs across two groups of CPUs, or within one, of which some were measured."""

    row: int
    """Number of the group,"""
    column: int
    """and of the other; the same: within one."""
    pairs: int
    """There are."""
    measured: int
    median_ns: float
    low_ns: float
    high_ns: float

    @property
    def is_inferred(self) -> bool:
        """Whether it is taken for pairs that were not measured, too."""
        return self.measured < self.pairs


def ordered(pair: Pair) -> Pair:
    """The smaller first."""
    return (pair[0], pair[1]) if pair[0] < pair[1] else (pair[1], pair[0])


@once
def matrix_of(figures: Figures) -> Matrix | None:
    """All pairs with a figure; None where there are none."""
    results: dict[str, dict[Pair, PairResult]] = {}
    for point, summary in figures.slices("core_to_core"):
        requested = CoreToCoreRequested.of(point.requested)
        first, second = requested.first_cpu, requested.second_cpu
        if first is None or second is None or first == second or not requested.operation:
            continue
        if summary.sustained is None or summary.sustained.value <= 0:
            continue
        of_operation = results.setdefault(requested.operation, {})
        before = of_operation.get((first, second))
        if before is None or (before.summary.share or 0) < (summary.share or 0):
            pair = first, second
            of_operation[pair] = PairResult(pair=pair, point=point, summary=summary)
    known = {cpu.cpu for cpu in figures.run.start.system.cpus}
    results = {
        operation: {pair: one for pair, one in of.items() if known.issuperset(pair)}
        for operation, of in results.items()
    }
    if not any(results.values()):
        return None
    cpus = _cpus(figures, known, [pair for of in results.values() for pair in of])
    system = figures.run.start.system
    near_first = _in_order(cpus, claimed_groups(system, cpus))
    return Matrix(
        cpus=near_first,
        claims=claimed_groups(system, near_first),
        results=results,
        pairs_possible=len(cpus) * (len(cpus) - 1) // 2,
    )


def _cpus(figures: Figures, known: set[int], pairs: Sequence[Pair]) -> list[int]:
    """Those among which pairs were chosen, rising; of a cut record those that were measured."""
    found = {cpu for pair in pairs for cpu in pair}
    for point in figures.run.points_of("core_to_core"):
        try:
            found.update(parse_cpu_list(CoreToCoreActual.of(point.actual).measured_cpus))
        except ValueError:
            continue
    return sorted(found & known)


def _in_order(cpus: Sequence[int], claims: Sequence[Claimed]) -> list[int]:
    return sorted(cpus, key=lambda cpu: [*(c.group_of[cpu] for c in reversed(claims)), cpu])


def teams_of(figures: Figures) -> list[TeamResult]:
    """Teams by operation and size, in the regime in which they were seen most."""
    found: dict[tuple[str, int], TeamResult] = {}
    for point, summary in figures.slices("core_to_core"):
        requested = CoreToCoreRequested.of(point.requested)
        if requested.threads is None or not requested.operation:
            continue
        key = requested.operation, requested.threads
        if key in found and (found[key].summary.share or 0) >= (summary.share or 0):
            continue
        found[key] = TeamResult(
            operation=requested.operation,
            threads=requested.threads,
            cpus=CoreToCoreActual.of(point.actual).cpus,
            point=point,
            summary=summary,
        )
    return [found[key] for key in sorted(found, key=lambda key: (key[0] != FETCH_ADD, key))]


def shown_groups(matrix: Matrix) -> Claimed:
    """What the rows of the picture are: CPUs, or the finest groups of which there are few enough.

    Of more groups than fit there is one of all, the last.
    """
    each = Claimed(names=("CPU",), group_of={cpu: at for at, cpu in enumerate(matrix.cpus)})
    ways = [each, *matrix.claims]
    return next((one for one in ways if len(one.groups) <= MOST_CELLS), ways[-1])


def blocks_of(matrix: Matrix, operation: str, groups: Claimed) -> dict[Pair, Block]:
    """Blocks of which a pair was measured, by the numbers of their groups, the smaller first.

    Args:
        matrix: All pairs.
        operation: By which a line is handed over.
        groups: Of its CPUs.
    """
    sizes = [len(group) for group in groups.groups]
    values: dict[Pair, list[float]] = {}
    for pair, ns in matrix.ns(operation).items():
        key = ordered((groups.group_of[pair[0]], groups.group_of[pair[1]]))
        values.setdefault(key, []).append(ns)
    return {
        (row, column): Block(
            row=row,
            column=column,
            pairs=sizes[row] * (sizes[row] - 1) // 2
            if row == column
            else sizes[row] * sizes[column],
            measured=len(found),
            median_ns=median(found),
            low_ns=min(found),
            high_ns=max(found),
        )
        for (row, column), found in sorted(values.items())
    }


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs that share one thing by the topology, and nothing finer."""

    name: str
    pairs: int
    """There are."""
    measured: int
    ns: dict[str, tuple[float, float, float]]
    """Median, least and most of the measured pairs, by operation."""


def relations_of(matrix: Matrix) -> list[Relation]:
    """From near to far; those without a pair are left out."""
    counts = _pairs_by_level(matrix.claims)
    values: dict[int, dict[str, list[float]]] = {}
    for operation in matrix.results:
        for pair, ns in matrix.ns(operation).items():
            of_level = values.setdefault(matrix.level_of(pair), {})
            of_level.setdefault(operation, []).append(ns)
    return [
        Relation(
            name=claim.name,
            pairs=counts[level],
            measured=len(values.get(level, {}).get(STORE, [])),
            ns={
                operation: (median(found), min(found), max(found))
                for operation, found in values.get(level, {}).items()
            },
        )
        for level, claim in enumerate(matrix.claims)
        if counts[level]
    ]


def _pairs_by_level(claims: Sequence[Claimed]) -> list[int]:
    """Pairs whose finest common group is of each level."""
    within = [sum(_pairs(len(group)) for group in claim.groups) for claim in claims]
    return [now - before for before, now in zip([0, *within], within, strict=False)]


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def named_cpus(groups: Iterable[Sequence[int]], most: int = 4) -> str:
    """Groups as lists of CPUs, such as `0-3 and 4-7`; of many the first few."""
    texts = [format_cpu_list(sorted(group)) for group in groups]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
