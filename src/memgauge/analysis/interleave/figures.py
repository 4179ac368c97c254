"""What was measured of each weights, and which of them are to be taken."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import msgspec

from memgauge.analysis.figures.run import Figures, text_fact
from memgauge.analysis.figures.same_rounds import ratio_in_rounds
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.memory import MAX_WEIGHT, MemoryPlacement
from memgauge.model.records import Point
from memgauge.model.system import System

ALIKE = 0.01
"""Weights that may be slower by less than this, by their interval, are as good as the best."""

LINUX_WEIGHTINESS = 32
"""About the sum of the weights that Linux 6.16 makes of the firmware's bandwidths."""

Weights = tuple[int, ...]
Contest = tuple[str, int, str, tuple[int, ...]]
"""Kernel, threads, regime and nodes."""


class WeightsResult(msgspec.Struct, frozen=True, kw_only=True):
    """One point in one regime."""

    point: Point
    summary: PointSummary
    kernel: str
    nodes: tuple[int, ...]
    weights: Weights
    bandwidth: Estimate
    """GB/s."""

    @property
    def contest(self) -> Contest:
        """What it is compared with."""
        return self.kernel, self.point.threads, self.summary.regime, self.nodes

    @property
    def used(self) -> dict[int, int]:
        """Weights of nodes that have pages."""
        pairs = zip(self.nodes, self.weights, strict=True)
        return {node: weight for node, weight in pairs if weight}

    @property
    def is_alone(self) -> bool:
        """Whether one node has all pages."""
        return len(self.used) == 1

    @property
    def words(self) -> str:
        """Such as `3:1`, or `node 0 alone`."""
        return words(self.nodes, self.weights)

    @property
    def placement(self) -> MemoryPlacement:
        """As `--memory` takes it."""
        used = self.used
        if self.is_alone:
            return MemoryPlacement("node", tuple(used))
        return MemoryPlacement("interleave", tuple(used), tuple(used.values()))


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one contest. Ratios are of the same rounds."""

    cells: list[WeightsResult]
    best: WeightsResult
    """The fastest: by the same rounds as the best node alone, where there are enough."""
    chosen: WeightsResult
    """The smallest weights that are as fast within noise, and faster than the best node alone by
    more than that; else that node."""
    alone: WeightsResult | None
    """The fastest node alone; None: none was measured."""
    over_alone: dict[Weights, Estimate]
    """Each weights over that node alone."""
    over_best: dict[Weights, Estimate]

    @property
    def gain(self) -> Estimate | None:
        """Of the chosen weights over the best node alone."""
        return self.over_alone.get(self.chosen.weights)

    @property
    def is_known(self) -> bool:
        """Whether there were rounds enough to tell any weights from the best node alone."""
        return any(has_interval(over) for over in self.over_alone.values())


def words(nodes: Sequence[int], weights: Weights) -> str:
    """Weights as read aloud; nodes without pages are left out where others are named."""
    used = [node for node, weight in zip(nodes, weights, strict=True) if weight]
    if len(used) == 1:
        return f"node {used[0]} alone"
    ratio = ":".join(str(weight) for weight in weights if weight)
    return ratio if len(used) == len(nodes) else f"{ratio} of nodes {', '.join(map(str, used))}"


def weights_cells(figures: Figures) -> list[WeightsResult]:
    """All points that say what they are of and were measured."""
    found = []
    for point, summary in figures.slices("interleave"):
        nodes = _numbers(text_fact(point.requested, "nodes"))
        weights = _numbers(text_fact(point.requested, "weights"))
        if summary.sustained is None or len(nodes) != len(weights) or not any(weights):
            continue
        found.append(
            WeightsResult(
                point=point,
                summary=summary,
                kernel=text_fact(point.requested, "kernel"),
                nodes=nodes,
                weights=weights,
                bandwidth=summary.sustained,
            )
        )
    return found


def choices(figures: Figures) -> list[Choice]:
    """One for each kernel, team and regime."""
    contests: dict[Contest, list[WeightsResult]] = {}
    for cell in weights_cells(figures):
        contests.setdefault(cell.contest, []).append(cell)
    return [_choice(figures, cells) for cells in contests.values()]


def _choice(figures: Figures, cells: list[WeightsResult]) -> Choice:
    fastest = max(cells, key=_sustained)
    alone = max((cell for cell in cells if cell.is_alone), key=_sustained, default=None)
    if alone is None:
        return Choice(
            cells=cells,
            best=fastest,
            chosen=fastest,
            alone=None,
            over_alone={},
            over_best=_over(figures, cells, fastest),
        )
    over_alone = _over(figures, cells, alone)
    known = [cell for cell in cells if has_interval(over_alone.get(cell.weights))]
    best = max([alone, *known], key=lambda cell: _value(over_alone, cell)) if known else fastest
    return Choice(
        cells=cells,
        best=best,
        chosen=_smallest(figures, known, over_alone) or alone,
        alone=alone,
        over_alone=over_alone,
        over_best=_over(figures, cells, best),
    )


def _smallest(
    figures: Figures, known: Sequence[WeightsResult], over_alone: dict[Weights, Estimate]
) -> WeightsResult | None:
    """Of those that beat the best node alone, the smallest that may be as fast as the fastest."""
    beating = [cell for cell in known if over_alone[cell.weights].low > 1]
    top = max(beating, key=lambda cell: _value(over_alone, cell), default=None)
    if top is None:
        return None
    behind = _over(figures, beating, top)
    as_good = [
        cell
        for cell in beating
        if cell is top or (cell.weights in behind and _reaches(behind[cell.weights]))
    ]
    return min(as_good, key=lambda cell: (sum(cell.weights), -cell.bandwidth.value))


def _reaches(over: Estimate) -> bool:
    return has_interval(over) and over.high >= 1 - ALIKE


def _sustained(cell: WeightsResult) -> float:
    return cell.bandwidth.value


def _value(ratios: dict[Weights, Estimate], cell: WeightsResult) -> float:
    """Of the node itself 1."""
    found = ratios.get(cell.weights)
    return 1.0 if found is None else found.value


def _over(
    figures: Figures, cells: Sequence[WeightsResult], base: WeightsResult
) -> dict[Weights, Estimate]:
    ratios = {
        cell.weights: ratio_in_rounds(
            figures, (cell.point, cell.summary), (base.point, base.summary)
        )
        for cell in cells
        if cell is not base
    }
    return {weights: ratio for weights, ratio in ratios.items() if ratio is not None}


def kernels_weights(nodes: Sequence[int], system: System) -> Weights | None:
    """Of Linux's weighted interleave when the run began; None: not known for every node."""
    found = [_tier_of(node, system, "interleave_weight") for node in nodes]
    known = [int(weight) for weight in found if weight]
    return _reduced(known) if len(known) == len(nodes) else None


def firmware_weights(nodes: Sequence[int], system: System) -> Weights | None:
    """What Linux makes of the bandwidths that the firmware claims (HMAT); None: it makes no claim.

    Of each node the lesser of read and write bandwidth, as the kernel takes it.
    """
    speeds = [_claimed(node, system) for node in nodes]
    known = [speed for speed in speeds if speed]
    if len(known) < len(nodes):
        return None
    total = sum(known)
    return _reduced(
        [min(MAX_WEIGHT, max(1, int(LINUX_WEIGHTINESS * speed / total))) for speed in known]
    )


def _claimed(node: int, system: System) -> float | None:
    known = (_firmware(node, system, name) for name in ("read_bytes_per_s", "write_bytes_per_s"))
    return min((speed for speed in known if speed), default=None)


def _firmware(node: int, system: System, name: str) -> float | None:
    firmware = [t.firmware for t in system.tiers if node in t.nodes and t.firmware is not None]
    found = (getattr(one, name) for one in firmware)
    return next((float(speed) for speed in found if speed), None)


def _tier_of(node: int, system: System, name: str) -> int | None:
    tiers = sorted((t for t in system.tiers if node in t.nodes), key=lambda tier: len(tier.nodes))
    return next((value for tier in tiers if (value := getattr(tier, name))), None)


def _reduced(weights: Sequence[int]) -> Weights:
    divisor = gcd(*weights)
    return tuple(weight // divisor for weight in weights)


def _numbers(text: str) -> tuple[int, ...]:
    """A list of numbers as a point says it; empty where it is none."""
    parts = text.split(",")
    good = all(part.isascii() and part.isdigit() and len(part) <= 6 for part in parts)
    return tuple(map(int, parts)) if good else ()
