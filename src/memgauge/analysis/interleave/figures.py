"""What was measured of each weights, and which of them are to be taken."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.same_rounds import ratio_in_rounds
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.interleave_weights import Weights, placement, reduced
from memgauge.model.memory import MAX_WEIGHT, MemoryPlacement
from memgauge.model.points.interleave import InterleaveActual, InterleaveRequested
from memgauge.model.records import Point
from memgauge.model.system import System

ALIKE = 0.01
"""Weights that may be slower by less than this, by their interval, are as good as the best."""

LINUX_WEIGHTINESS = 32
"""About the sum of the weights that Linux 6.16 makes of the firmware's bandwidths."""

Contest = tuple[str, int, str, tuple[int, ...]]
"""Kernel, threads, regime and nodes."""


class WeightsResult(msgspec.Struct, frozen=True, kw_only=True):
    """One point in one regime."""

    point: Point
    actual: InterleaveActual
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
    def text(self) -> str:
        """Such as `3:1`, or `node 0 alone`."""
        return weights_text(self.nodes, self.weights)

    @property
    def placement(self) -> MemoryPlacement:
        """As `--memory` takes it."""
        return placement(self.nodes, self.weights)


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one contest. Ratios are of the same rounds."""

    results: list[WeightsResult]
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
        """Whether there were rounds enough to compare any weights with the best node alone."""
        return any(has_interval(over) for over in self.over_alone.values())


def weights_text(nodes: Sequence[int], weights: Weights) -> str:
    """Weights as read aloud; nodes without pages are left out where others are named."""
    used = [node for node, weight in zip(nodes, weights, strict=True) if weight]
    if len(used) == 1:
        return f"node {used[0]} alone"
    ratio = ":".join(str(weight) for weight in weights if weight)
    return ratio if len(used) == len(nodes) else f"{ratio} of nodes {', '.join(map(str, used))}"


def _results(figures: Figures) -> list[WeightsResult]:
    """All points whose weights are known and that were measured."""
    found = []
    for point, summary in figures.slices("interleave"):
        requested = InterleaveRequested.of(point.requested)
        if summary.sustained is None or not requested.node_weights:
            continue
        found.append(
            WeightsResult(
                point=point,
                actual=InterleaveActual.of(point.actual),
                summary=summary,
                kernel=requested.kernel,
                nodes=requested.node_numbers,
                weights=requested.node_weights,
                bandwidth=summary.sustained,
            )
        )
    return found


def choices(figures: Figures) -> list[Choice]:
    """One for each kernel, team and regime."""
    contests: dict[Contest, list[WeightsResult]] = {}
    for result in _results(figures):
        contests.setdefault(result.contest, []).append(result)
    return [_choice(figures, results) for results in contests.values()]


def _choice(figures: Figures, results: list[WeightsResult]) -> Choice:
    fastest = max(results, key=_sustained)
    alone = max((one for one in results if one.is_alone), key=_sustained, default=None)
    if alone is None:
        return Choice(
            results=results,
            best=fastest,
            chosen=fastest,
            alone=None,
            over_alone={},
            over_best=_over(figures, results, fastest),
        )
    over_alone = _over(figures, results, alone)
    known = [one for one in results if has_interval(over_alone.get(one.weights))]
    best = max([alone, *known], key=lambda one: _value(over_alone, one)) if known else fastest
    return Choice(
        results=results,
        best=best,
        chosen=_smallest(figures, known, over_alone) or alone,
        alone=alone,
        over_alone=over_alone,
        over_best=_over(figures, results, best),
    )


def _smallest(
    figures: Figures, known: Sequence[WeightsResult], over_alone: dict[Weights, Estimate]
) -> WeightsResult | None:
    """Of those that beat the best node alone, the smallest that may be as fast as the fastest."""
    beating = [one for one in known if over_alone[one.weights].low > 1]
    top = max(beating, key=lambda one: _value(over_alone, one), default=None)
    if top is None:
        return None
    behind = _over(figures, beating, top)
    as_good = [
        one
        for one in beating
        if one is top or (one.weights in behind and _reaches(behind[one.weights]))
    ]
    return min(as_good, key=lambda one: (sum(one.weights), -one.bandwidth.value))


def _reaches(over: Estimate) -> bool:
    return has_interval(over) and over.high >= 1 - ALIKE


def _sustained(result: WeightsResult) -> float:
    return result.bandwidth.value


def _value(ratios: dict[Weights, Estimate], result: WeightsResult) -> float:
    """Of the node itself 1."""
    found = ratios.get(result.weights)
    return 1.0 if found is None else found.value


def _over(
    figures: Figures, results: Sequence[WeightsResult], base: WeightsResult
) -> dict[Weights, Estimate]:
    ratios = {
        one.weights: ratio_in_rounds(figures, (one.point, one.summary), (base.point, base.summary))
        for one in results
        if one is not base
    }
    return {weights: ratio for weights, ratio in ratios.items() if ratio is not None}


def firmware_weights(nodes: Sequence[int], system: System) -> Weights | None:
    """What Linux makes of the bandwidths that the firmware claims (HMAT); None: it makes no claim.

    Of each node the lesser of read and write bandwidth, as the kernel takes it.
    """
    speeds = [_claimed(node, system) for node in nodes]
    known = [speed for speed in speeds if speed]
    if len(known) < len(nodes):
        return None
    total = sum(known)
    return reduced(
        [min(MAX_WEIGHT, max(1, int(LINUX_WEIGHTINESS * speed / total))) for speed in known]
    )


def _claimed(node: int, system: System) -> float | None:
    known = (_firmware(node, system, name) for name in ("read_bytes_per_s", "write_bytes_per_s"))
    return min((speed for speed in known if speed), default=None)


def _firmware(node: int, system: System, name: str) -> float | None:
    firmware = [t.firmware for t in system.tiers if node in t.nodes and t.firmware is not None]
    found = (getattr(one, name) for one in firmware)
    return next((float(speed) for speed in found if speed), None)
