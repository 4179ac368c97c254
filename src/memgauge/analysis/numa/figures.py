"""Matrices of CPU nodes and memory nodes: what was measured of each pair, alone and at once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.regimes import team_of
from memgauge.analysis.figures.run import Figures, number_fact, text_fact
from memgauge.analysis.figures.same_rounds import ratio_in_rounds
from memgauge.analysis.figures.side_by_side import visits_of
from memgauge.analysis.figures.summary import LEAST_SHARE, PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.records import Point
from memgauge.model.system import System

LATENCY = "latency"

Pair = tuple[int, int]
"""CPU node and memory node."""


class PairResult(msgspec.Struct, frozen=True, kw_only=True):
    """One pair."""

    point: Point
    summary: PointSummary

    @property
    def pair(self) -> Pair:
        """CPU node and memory node."""
        return _pair(self.point) or (-1, -1)

    @property
    def figure(self) -> Estimate | None:
        """GB/s or ns."""
        return self.summary.sustained


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of all pairs."""

    what: str
    """A kernel, or `latency`."""
    at_once: bool
    cells: dict[Pair, PairResult]

    @property
    def rows(self) -> list[int]:
        """CPU nodes."""
        return sorted({pair[0] for pair in self.cells})

    @property
    def columns(self) -> list[int]:
        """Memory nodes."""
        return sorted({pair[1] for pair in self.cells})

    @property
    def is_latency(self) -> bool:
        """Whether less is better."""
        return self.what == LATENCY

    def local(self, cpu_node: int) -> PairResult | None:
        """The pair of a node with itself."""
        return self.cells.get((cpu_node, cpu_node))


def matrices(figures: Figures) -> list[Matrix]:
    """Latency first, then each kernel alone and at once; of several regimes the most frequent."""
    found: dict[tuple[str, bool], dict[Pair, PairResult]] = {}
    for point, summary in figures.slices("numa"):
        pair, what = _pair(point), _what(point)
        if pair is None or not what or summary.sustained is None:
            continue
        cells = found.setdefault((what, point.requested.get("at_once") is True), {})
        before = cells.get(pair)
        if before is None or (before.summary.share or 0) < (summary.share or 0):
            cells[pair] = PairResult(point=point, summary=summary)
    ordered = sorted(found, key=lambda key: key[0] != LATENCY)
    return [Matrix(what=key[0], at_once=key[1], cells=found[key]) for key in ordered]


def _what(point: Point) -> str:
    return LATENCY if point.quantity == "latency" else text_fact(point.requested, "kernel")


def _pair(point: Point) -> Pair | None:
    cpu, memory = (number_fact(point.requested, key) for key in ("cpu_node", "memory_node"))
    return None if cpu is None or memory is None else (cpu, memory)


def over_local(figures: Figures, matrix: Matrix) -> dict[Pair, Estimate]:
    """Each remote pair over the CPU node's own memory, in the same rounds.

    Of a CPU node without memory the base is its best one.
    """
    found = {}
    for pair, cell in matrix.cells.items():
        base = base_of(matrix, pair[0])
        if base is None or base.pair == pair:
            continue
        ratio = ratio_in_rounds(figures, (cell.point, cell.summary), (base.point, base.summary))
        if ratio is not None:
            found[pair] = ratio
    return found


def base_of(matrix: Matrix, cpu_node: int) -> PairResult | None:
    """A CPU node's own memory, else what is fastest from it."""
    local = matrix.local(cpu_node)
    if local is not None:
        return local
    of_node = [cell for pair, cell in matrix.cells.items() if pair[0] == cpu_node]
    best = min if matrix.is_latency else max
    return best(of_node, key=_value, default=None)


def _value(cell: PairResult) -> float:
    return cell.figure.value if cell.figure is not None else 0.0


def both_ways(figures: Figures, matrix: Matrix) -> dict[Pair, Estimate]:
    """Of each two nodes, there over back, in the same rounds."""
    found = {}
    for (one, other), cell in matrix.cells.items():
        back = matrix.cells.get((other, one))
        if one < other and back is not None:
            ratio = ratio_in_rounds(figures, (cell.point, cell.summary), (back.point, back.summary))
            if ratio is not None:
                found[one, other] = ratio
    return found


def total_at_once(figures: Figures, matrix: Matrix) -> Estimate | None:
    """GB/s of all pairs together, summed in each visit over the time all were at work."""
    groups = {f"n{pair[0]}-n{pair[1]}": cell.point for pair, cell in matrix.cells.items()}
    if not any(point.measured_with is None for point in groups.values()):
        return None  # the pair that leads was not read
    leader = next(point for point in groups.values() if point.measured_with is None)
    regimes = figures.teams[team_of(leader)]
    summaries = [s for s in figures.summaries[leader.point] if (s.share or 0) >= LEAST_SHARE]
    most = max(summaries, key=lambda s: s.share or 0, default=None)
    if most is None:
        return None
    name = most.regime or regimes.regimes[0].name
    visits = visits_of(figures.run, groups, regimes, name).clean
    return sustained([visit.total for visit in visits])


def sum_of(cells: Sequence[PairResult]) -> Estimate | None:
    """Of figures measured apart: values and bounds added, so that the interval is a wide one."""
    figures = [cell.figure for cell in cells if cell.figure is not None]
    if len(figures) < len(cells) or not figures:
        return None
    return Estimate(
        sum(one.value for one in figures),
        sum(one.low for one in figures),
        sum(one.high for one in figures),
    )


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What the firmware says of a pair; None: nothing. Nobody has measured it."""

    distance: int | None
    """ACPI SLIT: 10 is local; a ratio of latencies by its definition."""
    latency_ns: float | None
    read_gb_per_s: float | None
    write_gb_per_s: float | None
    """ACPI HMAT, which Linux shows of the nearest CPU nodes only."""


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
