"""Matrices of CPU nodes and memory nodes: what was measured of each pair, alone and at once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.regimes import team_of
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.same_rounds import ratio_in_rounds
from memgauge.analysis.figures.side_by_side import passes_of, quantile_over, total
from memgauge.analysis.figures.speeds import FAST_SIDE
from memgauge.analysis.figures.summary import LEAST_SHARE, PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.numa import NumaActual, NumaRequested
from memgauge.model.records import Point
from memgauge.model.system import System

LATENCY = "latency"

Pair = tuple[int, int]
"""CPU node and memory node."""


class PairResult(msgspec.Struct, frozen=True, kw_only=True):
    """One pair."""

    pair: Pair
    point: Point
    actual: NumaActual
    summary: PointSummary

    @property
    def figure(self) -> Estimate | None:
        """GB/s or ns."""
        return self.summary.sustained


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of all pairs."""

    what: str
    """A kernel, or `latency`."""
    at_once: bool
    results: dict[Pair, PairResult]

    @property
    def rows(self) -> list[int]:
        """CPU nodes."""
        return sorted({pair[0] for pair in self.results})

    @property
    def columns(self) -> list[int]:
        """Memory nodes."""
        return sorted({pair[1] for pair in self.results})

    @property
    def is_latency(self) -> bool:
        """Whether less is better."""
        return self.what == LATENCY

    def local(self, cpu_node: int) -> PairResult | None:
        """The pair of a node with itself."""
        return self.results.get((cpu_node, cpu_node))


def matrices(figures: Figures) -> list[Matrix]:
    """Latency first, then each kernel alone and at once; of several regimes the most frequent."""
    found: dict[tuple[str, bool], dict[Pair, PairResult]] = {}
    for point, summary in figures.slices("numa"):
        requested = NumaRequested.of(point.requested)
        what = LATENCY if point.quantity == "latency" else requested.kernel
        cpu_node, memory_node = requested.cpu_node, requested.memory_node
        if cpu_node is None or memory_node is None or not what or summary.sustained is None:
            continue
        pair = cpu_node, memory_node
        results = found.setdefault((what, requested.at_once is True), {})
        before = results.get(pair)
        if before is None or (before.summary.share or 0) < (summary.share or 0):
            actual = NumaActual.of(point.actual)
            results[pair] = PairResult(pair=pair, point=point, actual=actual, summary=summary)
    ordered = sorted(found, key=lambda key: key[0] != LATENCY)
    return [Matrix(what=key[0], at_once=key[1], results=found[key]) for key in ordered]


def over_local(figures: Figures, matrix: Matrix) -> dict[Pair, Estimate]:
    """Each remote pair over the CPU node's own memory, in the same rounds.

    Of a CPU node without memory the base is its best one.
    """
    found = {}
    for pair, result in matrix.results.items():
        base = base_of(matrix, pair[0])
        if base is None or base.pair == pair:
            continue
        ratio = _ratio(figures, result, base)
        if ratio is not None:
            found[pair] = ratio
    return found


def base_of(matrix: Matrix, cpu_node: int) -> PairResult | None:
    """A CPU node's own memory, else what is fastest from it."""
    local = matrix.local(cpu_node)
    if local is not None:
        return local
    of_node = [one for pair, one in matrix.results.items() if pair[0] == cpu_node]
    best = min if matrix.is_latency else max
    return best(of_node, key=_value, default=None)


def _value(result: PairResult) -> float:
    return result.figure.value if result.figure is not None else 0.0


def _ratio(figures: Figures, result: PairResult, base: PairResult) -> Estimate | None:
    return ratio_in_rounds(figures, (result.point, result.summary), (base.point, base.summary))


def both_ways(figures: Figures, matrix: Matrix) -> dict[Pair, Estimate]:
    """Of each two nodes, there over back, in the same rounds."""
    found = {}
    for (one, other), there in matrix.results.items():
        back = matrix.results.get((other, one))
        if one < other and back is not None:
            ratio = _ratio(figures, there, back)
            if ratio is not None:
                found[one, other] = ratio
    return found


def total_at_once(figures: Figures, matrix: Matrix) -> Estimate | None:
    """GB/s of all pairs together, summed in each sampling pass over the time all were at work."""
    groups = {f"n{pair[0]}-n{pair[1]}": one.point for pair, one in matrix.results.items()}
    if not any(point.measured_with is None for point in groups.values()):
        return None  # the pair that leads was not read
    leader = next(point for point in groups.values() if point.measured_with is None)
    regimes = figures.teams[team_of(leader)]
    summaries = [s for s in figures.summaries[leader.point] if (s.share or 0) >= LEAST_SHARE]
    most = max(summaries, key=lambda s: s.share or 0, default=None)
    if most is None:
        return None
    name = most.regime or regimes.regimes[0].name
    passes = passes_of(figures.run, groups, regimes, name).clean
    return quantile_over(passes, total, FAST_SIDE)


def sum_of_local(found: Sequence[Matrix], kernel: str) -> Estimate | None:
    """What nodes reach on their own memory one at a time, added; None: of one that is not known.

    They were measured apart: values and bounds are added, so that the interval is a wide one.
    """
    alone = next((one for one in found if one.what == kernel and not one.at_once), None)
    local = [] if alone is None else [one for n in alone.rows if (one := alone.local(n))]
    figures = [one.figure for one in local if one.figure is not None]
    if len(figures) < len(local) or not figures:
        return None
    return Estimate(
        sum(one.value for one in figures),
        sum(one.low for one in figures),
        sum(one.high for one in figures),
    )


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What the firmware claims about a pair; None: nothing. Nobody has measured it."""

    distance: int | None
    """ACPI SLIT: 10 is local; a ratio of latencies by its definition."""
    latency_ns: float | None
    read_gb_per_s: float | None
    write_gb_per_s: float | None
    """ACPI HMAT, which Linux shows for the nearest CPU nodes only."""


def claim_of(pair: Pair, system: System) -> Claim:
    """SLIT distance and HMAT figures of a pair."""
    distances = next((n.distances for n in system.nodes if n.node == pair[0]), {})
    firmware = next(
        (
            tier.firmware
            for tier in system.tiers
            if tier.nodes == [pair[1]]
            and tier.firmware is not None
            and pair[0] in tier.firmware.from_nodes
        ),
        None,
    )
    return Claim(
        distance=distances.get(pair[1]),
        latency_ns=None if firmware is None else firmware.read_latency_ns,
        read_gb_per_s=None if firmware is None else _giga(firmware.read_bytes_per_s),
        write_gb_per_s=None if firmware is None else _giga(firmware.write_bytes_per_s),
    )


def _giga(bytes_per_s: float | None) -> float | None:
    return None if bytes_per_s is None else bytes_per_s * 1e-9
