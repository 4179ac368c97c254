"""The `mix` points of a run: bandwidth as reads make way for writes, by teams or a GPU."""

from __future__ import annotations

import msgspec

from memgauge.analysis.figures.gpu_points import WHOLE, gpu_of
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.loaded.figures import read_share_text
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.mix import MixActual, MixRequested
from memgauge.model.units import format_count

Team = tuple[str, int, str]
"""Order, threads and regime."""


class MixResult(msgspec.Struct, frozen=True, kw_only=True):
    """One mix with one kind of stores, by one team in one regime."""

    read_share: float
    store: str
    """Empty: nothing is written, or by a GPU, which has one kind."""
    order: str
    threads: int
    regime: str
    bandwidth: Estimate
    """GB/s counted."""
    moved: Estimate | None
    """With write-allocate."""
    median: Estimate | None
    actual: MixActual
    samples: int
    gpu: str = ""
    """That made the mix in its own memory, such as `cuda:0`; empty: threads of the host."""

    @property
    def by(self) -> str:
        """Who made it."""
        return WHOLE if self.gpu else format_count(self.threads, "thread")

    @property
    def team(self) -> Team:
        """What distinguishes the lines of a picture, besides stores."""
        return self.order, self.threads, self.regime

    @property
    def mix(self) -> str:
        """Such as `75% reads`."""
        return read_share_text(self.read_share)

    @property
    def label(self) -> str:
        """Such as `75% reads, non-temporal stores, 2 threads`."""
        stores = f"{self.store} stores" if self.store else ""
        order = "" if self.order == "sequential" else self.order
        return ", ".join(filter(None, (self.mix, stores, order, self.by, self.regime)))


def mix_results(figures: Figures) -> list[MixResult]:
    """Every mix that was measured, in the order of declaration."""
    found = []
    for point, summary in figures.slices("mix"):
        requested = MixRequested.of(point.requested)
        if requested.read_share is None or summary.sustained is None:
            continue
        counted, moved = point.bytes_counted, point.bytes_moved
        found.append(
            MixResult(
                read_share=requested.read_share,
                store=requested.store,
                order=requested.order,
                threads=point.threads,
                regime=summary.regime,
                bandwidth=summary.sustained,
                moved=scaled(summary.sustained, moved / counted) if counted and moved else None,
                median=summary.median,
                actual=MixActual.of(point.actual),
                samples=summary.samples,
                gpu=gpu_of(point),
            )
        )
    return found
