"""The host's threads beside transfers to a GPU: each alone and both at once, pass by pass.

Figures are medians over passes, as in `tiers`, and those of one pass are of the same time: what
the threads and the transfers did while all of them were at work. Each byte that is transferred is
read from the host's memory, or written to it, once; so what both make of that memory's bandwidth is
the threads' bytes, with the lines that ordinary stores read first, and the transfers' added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from memgauge.analysis.figures.regimes import UNTOLD, Regimes, team_of
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.figures.side_by_side import (
    Groups,
    PassResult,
    bandwidth_of,
    passes_of,
    quantile_over,
    total,
)
from memgauge.analysis.loaded.figures import read_share_text
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.transfers.directions import way_text
from memgauge.model.points.tiers_transfers import TiersTransfersRequested
from memgauge.model.records import Point
from memgauge.model.run import Run
from memgauge.model.units import format_count

MEDIAN = 0.5
ONE_WAY = Regimes([UNTOLD])


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """Threads and transfers, in one regime of the threads. Bandwidth in GB/s."""

    work: str
    """Such as `copy`, `67% reads`."""
    threads: int
    transfer: str
    """host-to-device, device-to-host or both."""
    regime: str
    memory: str
    """Of the threads: `dram`, `node:0 to node:1`."""
    gpu: str
    host_alone: Estimate | None
    host: Estimate
    """Beside the transfers."""
    transfers_alone: Estimate | None
    transfers: Estimate
    """Beside the threads; of both ways added."""
    by_direction: dict[str, Estimate]
    moved_alone: Estimate | None
    """Through the host's memory by the threads alone,"""
    moved: Estimate
    """and by both."""
    passes: int
    set_aside: int

    @property
    def team(self) -> str:
        """Such as `copy, 16 threads`."""
        known = (self.work, format_count(self.threads, "thread"), self.regime)
        return ", ".join(filter(None, known))

    @property
    def way(self) -> str:
        """Such as `host to device`."""
        return way_text(self.transfer)

    @property
    def host_keeps(self) -> Estimate | None:
        """Of what the threads reach alone, as a share."""
        return ratio(self.host, self.host_alone)

    @property
    def transfers_keep(self) -> Estimate | None:
        """Of what transfers reach alone, as a share."""
        return ratio(self.transfers, self.transfers_alone)

    @property
    def cost(self) -> float | None:
        """GB/s that the threads lose for each GB/s transferred; None where they lose none."""
        if self.host_alone is None or not self.transfers.value:
            return None
        lost = self.host_alone.value - self.host.value
        return lost / self.transfers.value if lost > 0 else None


class _Case(msgspec.Struct, frozen=True):
    """Points of one team, work and transfer; either of the two last may be empty: alone."""

    threads: int
    work: str
    transfer: str


def is_beside_transfers(run: Run) -> bool:
    """Whether the competition of a run is one of threads and transfers."""
    return any(True for _ in _moving(run))


def _moving(run: Run) -> Iterator[tuple[Point, TiersTransfersRequested]]:
    """Points of threads and of transfers, and what they request."""
    for point in run.points_of("tiers"):
        requested = TiersTransfersRequested.of(point.requested)
        if requested.gpu and point.quantity == "bandwidth" and point.work == "window":
            yield point, requested


def besides(figures: Figures) -> list[Beside]:
    """All of a run in the order of declaration, near regimes first."""
    cases = _cases(figures.run)
    alone = {case: groups for case, groups in cases.items() if not (case.work and case.transfer)}
    return [
        made
        for case, groups in cases.items()
        if case.work and case.transfer and "a" in groups
        for regime in figures.teams[team_of(groups["a"])].regimes
        if (made := _beside(figures, case, groups, alone, regime.name)) is not None
    ]


def _cases(run: Run) -> dict[_Case, Groups]:
    found: dict[_Case, Groups] = {}
    for point, requested in _moving(run):
        case = _Case(requested.threads or 0, work_text(requested), requested.transfer)
        group = "a" if requested.group == "a" else requested.direction
        found.setdefault(case, {})[group] = point
    return found


def work_text(requested: TiersTransfersRequested) -> str:
    """What the threads do; empty: nothing."""
    if requested.read_share is None:
        return requested.kernel
    pause = requested.delay_a_ns
    return read_share_text(requested.read_share) + (f", pauses {pause} ns" if pause else "")


class _Both(msgspec.Struct, frozen=True):
    """Medians over passes of threads and transfers together, GB/s."""

    host: Estimate
    transfers: Estimate
    moved: Estimate
    by_direction: dict[str, Estimate]


def _beside(
    figures: Figures, case: _Case, groups: Groups, alone: dict[_Case, Groups], regime: str
) -> Beside | None:
    """None without a pass that counts."""
    point = groups["a"]
    requested = TiersTransfersRequested.of(point.requested)
    regimes = figures.teams[team_of(point)]
    found = passes_of(figures.run, groups, regimes, regime)
    both = _together(point, found.clean)
    if both is None:
        return None
    host_alone = _alone(figures, alone.get(_Case(case.threads, case.work, "")), regimes, regime)
    idle = alone.get(_Case(case.threads, "", case.transfer))
    return Beside(
        work=case.work,
        threads=case.threads,
        transfer=case.transfer,
        regime=regime if len(regimes.regimes) > 1 else "",
        memory=_memory(requested),
        gpu=requested.gpu,
        host_alone=host_alone,
        host=both.host,
        transfers_alone=_alone(figures, idle, ONE_WAY, UNTOLD.name),
        transfers=both.transfers,
        by_direction=both.by_direction,
        moved_alone=scaled(host_alone, _moved_per_counted(point)),
        moved=both.moved,
        passes=len(found.clean),
        set_aside=found.set_aside,
    )


def _together(point: Point, passes: Sequence[PassResult]) -> _Both | None:
    """`point` is the threads'; None without passes, or where nothing was transferred."""
    more = _moved_per_counted(point) - 1
    directions = [name for name in (passes[0].bandwidth if passes else {}) if name != "a"]
    host = _median(passes, lambda one: one.bandwidth["a"])
    transfers = _median(passes, lambda one: one.total - one.bandwidth["a"])
    moved = _median(passes, lambda one: one.total + more * one.bandwidth["a"])
    if host is None or transfers is None or moved is None or not directions:
        return None
    found = {name: _median(passes, bandwidth_of(name)) for name in directions}
    known = {name: one for name, one in found.items() if one is not None}
    return _Both(host, transfers, moved, known)


def _moved_per_counted(point: Point) -> float:
    """Of the threads: more than 1 where ordinary stores read lines before they write them."""
    return point.bytes_moved / point.bytes_counted if point.bytes_moved else 1.0


def _alone(
    figures: Figures, groups: Groups | None, regimes: Regimes, regime: str
) -> Estimate | None:
    """Of the threads, or of all directions together."""
    if not groups:
        return None
    return _median(passes_of(figures.run, groups, regimes, regime).clean, total)


def _median(passes: Sequence[PassResult], of: Callable[[PassResult], float]) -> Estimate | None:
    return quantile_over(passes, of, MEDIAN)


def _memory(requested: TiersTransfersRequested) -> str:
    source, destination = requested.source, requested.destination
    return source if source == destination else f"{source} to {destination}"
