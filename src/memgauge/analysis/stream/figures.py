"""The `stream` points of a run, joined by kernel, variant, team and regime."""

from collections.abc import Iterable

import msgspec

from memgauge.analysis.figures.run import Figures, scaled, text_fact
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import Point

STANDARD, TUNED = "standard", "tuned"
LEAST_SAMPLES = 10
"""Below these the 90th percentile is the luckiest sample, which is no best bandwidth."""


class KernelResult(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known of one kernel and variant, for one team in one regime."""

    kernel: str
    variant: str
    element: str
    threads: int
    regime: str
    candidate: str
    access: str
    """Empty: direct."""
    store: str
    """Empty: as the variant does it."""
    point: Point
    slice: PointSummary | None
    whole: PointSummary | None
    """Figures of the whole passes."""

    @property
    def is_plain(self) -> bool:
        """Whether it is its variant as it goes without saying."""
        return not (self.candidate or self.access or self.store)

    @property
    def title(self) -> str:
        """Such as `copy, standard, translated`."""
        return ", ".join(filter(None, (self.kernel, self.variant, self.access, self.store)))

    @property
    def sustained(self) -> Estimate | None:
        """GB/s by STREAM's counting."""
        return None if self.slice is None else self.slice.sustained

    @property
    def moved(self) -> Estimate | None:
        """GB/s that memory really moves, write-allocate included."""
        if not (self.point.bytes_counted and self.point.bytes_moved):
            return None
        return scaled(self.sustained, self.point.bytes_moved / self.point.bytes_counted)

    @property
    def best_gb_per_s(self) -> float | None:
        """STREAM's best of N passes."""
        passes = None if self.whole is None else self.whole.passes
        return None if passes is None else passes.best_gb_per_s


Key = tuple[str, str, int, str]
"""Kernel, element, threads and regime."""


def stream_cells(figures: Figures) -> list[KernelResult]:
    """Slices and passes of a run, joined; only where one of them was measured."""
    joined: dict[tuple[str, ...], dict[str, tuple[Point, PointSummary]]] = {}
    for point, summary in figures.of("stream"):
        if summary.has_figures and point.role != "counted":
            requested = [text_fact(point.requested, key) for key in _REQUESTED]
            key = (*requested, str(point.threads), summary.regime)
            joined.setdefault(key, {})[point.role] = (point, summary)
    return [_joined(roles) for roles in joined.values()]


_REQUESTED = ("kernel", "variant", "element", "candidate", "access", "store")


def _joined(roles: dict[str, tuple[Point, PointSummary]]) -> KernelResult:
    point, summary = roles.get("slice") or roles["pass"]
    return KernelResult(
        **{key: text_fact(point.requested, key) for key in _REQUESTED},
        threads=point.threads,
        regime=summary.regime,
        point=point,
        slice=roles["slice"][1] if "slice" in roles else None,
        whole=roles["pass"][1] if "pass" in roles else None,
    )


def best(cells: Iterable[KernelResult]) -> KernelResult | None:
    """The cell with the highest sustained bandwidth, of those with enough samples if any has."""
    measured = [cell for cell in cells if cell.sustained is not None]
    known = [c for c in measured if c.slice is not None and c.slice.samples >= LEAST_SAMPLES]
    return max(
        known or measured, key=lambda c: c.sustained.value if c.sustained else 0.0, default=None
    )


def by_key(cells: Iterable[KernelResult]) -> dict[Key, dict[str, KernelResult]]:
    """Cells by kernel, element, threads and regime, then by variant."""
    groups: dict[Key, dict[str, KernelResult]] = {}
    for cell in cells:
        key = (cell.kernel, cell.element, cell.threads, cell.regime)
        groups.setdefault(key, {})[cell.variant] = cell
    return groups
