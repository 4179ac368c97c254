"""The `stream` points of a run, joined by kernel, variant, team and regime."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memgauge.analysis.figures.run import Figures, once, scaled
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.points.stream import StreamActual, StreamRequested
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
    actual: StreamActual
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


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Both variants of one kernel as they go without saying, for one team in one regime."""

    of: KernelResult
    """Either of them, or the winner of a search."""
    standard: KernelResult | None
    tuned: KernelResult | None
    candidates: int = 0
    """Of the search."""

    @property
    def plain(self) -> Estimate | None:
        """GB/s of the standard variant."""
        return self.standard.sustained if self.standard else None

    @property
    def fast(self) -> Estimate | None:
        """GB/s of the tuned variant."""
        return self.tuned.sustained if self.tuned else None

    @property
    def gain(self) -> Estimate | None:
        """Tuned over standard."""
        return ratio(self.fast, self.plain)

    @property
    def over_standard(self) -> Estimate | None:
        """The winner over the standard variant."""
        return ratio(self.of.sustained, self.plain)

    @property
    def over_tuned(self) -> Estimate | None:
        """The winner over the tuned variant."""
        return ratio(self.of.sustained, self.fast)

    @property
    def whole(self) -> float | None:
        """STREAM's best of N passes with the standard variant."""
        return self.standard.best_gb_per_s if self.standard else None


@once
def kernel_results(figures: Figures) -> list[KernelResult]:
    """Slices and passes of a run, joined; only where one of them was measured."""
    joined: dict[tuple[StreamRequested, int, str], dict[str, tuple[Point, PointSummary]]] = {}
    for point, summary in figures.of("stream"):
        if summary.has_figures and point.role != "counted":
            key = (StreamRequested.of(point.requested), point.threads, summary.regime)
            joined.setdefault(key, {})[point.role] = (point, summary)
    return [_joined(requested, roles) for (requested, *_), roles in joined.items()]


def _joined(
    requested: StreamRequested, roles: dict[str, tuple[Point, PointSummary]]
) -> KernelResult:
    point, summary = roles.get("slice") or roles["pass"]
    return KernelResult(
        kernel=requested.kernel,
        variant=requested.variant,
        element=requested.element,
        candidate=requested.candidate,
        access=requested.access,
        store=requested.store,
        threads=point.threads,
        regime=summary.regime,
        point=point,
        actual=StreamActual.of(point.actual),
        slice=roles["slice"][1] if "slice" in roles else None,
        whole=roles["pass"][1] if "pass" in roles else None,
    )


def best(results: Iterable[KernelResult]) -> KernelResult | None:
    """The highest sustained bandwidth, of results with enough samples if any has."""
    measured = [result for result in results if result.sustained is not None]
    known = [r for r in measured if r.slice is not None and r.slice.samples >= LEAST_SAMPLES]
    return max(
        known or measured, key=lambda r: r.sustained.value if r.sustained else 0.0, default=None
    )


def comparisons(results: Iterable[KernelResult]) -> list[Comparison]:
    """Standard beside tuned, for each kernel, team and regime."""
    return [_beside(members, members[0]) for members in _grouped(results)]


def searches(results: Iterable[KernelResult]) -> list[Comparison]:
    """The winner of each search beside both variants."""
    found = []
    for members in _grouped(results):
        candidates = [result for result in members if result.candidate]
        winner = best(candidates)
        if winner is not None:
            found.append(_beside(members, winner, len(candidates)))
    return found


def _grouped(results: Iterable[KernelResult]) -> list[list[KernelResult]]:
    groups: dict[tuple[str, str, int, str], list[KernelResult]] = {}
    for result in results:
        key = (result.kernel, result.element, result.threads, result.regime)
        groups.setdefault(key, []).append(result)
    return list(groups.values())


def _beside(members: Iterable[KernelResult], of: KernelResult, candidates: int = 0) -> Comparison:
    variants = {result.variant: result for result in members if result.is_plain}
    return Comparison(
        of=of, standard=variants.get(STANDARD), tuned=variants.get(TUNED), candidates=candidates
    )
