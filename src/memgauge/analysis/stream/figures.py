"""The `stream` points of a run, joined by kernel, variant, team and regime."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures, once, scaled
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.points.stream import StreamActual, StreamRequested
from memgauge.model.records import Point

STANDARD, TUNED = "standard", "tuned"
JUDGED_KERNELS = ("triad", "copy", "read")
"""Of a comparison within a run, the first of these that was measured is put in words."""
HEADLINE_KERNEL = "triad"
"""By which STREAM results are compared."""
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
    pages: str = ""
    """As requested; empty: all arrays of the run have pages of one kind."""
    prefetch: str = ""
    """Distance of prefetch; empty: as the variant does it."""

    @property
    def is_plain(self) -> bool:
        """Whether it is its variant as it goes without saying."""
        return not (self.candidate or self.access or self.store or self.prefetch)

    def is_like(self, other: KernelResult) -> bool:
        """Whether it is the same variant and element as `other`, as it goes without saying."""
        return self.is_plain and (self.variant, self.element) == (other.variant, other.element)

    @property
    def title(self) -> str:
        """Such as `copy, standard, translated`."""
        pages = self.pages and f"{self.pages} pages"
        ahead = self.prefetch and f"prefetch {self.prefetch}"
        parts = (self.kernel, self.variant, self.access, self.store, pages, ahead)
        return ", ".join(filter(None, parts))

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
    def samples(self) -> int:
        """Sampling passes in this regime."""
        return 0 if self.slice is None else self.slice.samples

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
    several = len({requested.pages for requested, *_ in joined}) > 1
    return [_joined(requested, roles, several) for (requested, *_), roles in joined.items()]


def _joined(
    requested: StreamRequested,
    roles: dict[str, tuple[Point, PointSummary]],
    several_pages: bool,
) -> KernelResult:
    point, summary = roles.get("slice") or roles["pass"]
    return KernelResult(
        kernel=requested.kernel,
        variant=requested.variant,
        element=requested.element,
        candidate=requested.candidate,
        access=requested.access,
        store=requested.store,
        pages=requested.pages if several_pages else "",
        prefetch=requested.prefetch,
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


def headline(results: Iterable[KernelResult]) -> KernelResult | None:
    """The result that stands for a run, so that the same quantity is compared between runs.

    Of the largest team triad as tuned, in the regime in which the team was most of the time. The
    highest of all results would be another kernel in each run, or a regime seen in a few passes. A
    run without triad has its first kernel instead, and one without the tuned variant the other.
    """
    measured = [result for result in results if result.sustained is not None]
    plain = [result for result in measured if result.is_plain]
    if not plain:
        return best(measured)
    threads = max(result.threads for result in plain)
    team = [result for result in plain if result.threads == threads]
    kernel = min(team, key=lambda result: result.kernel != HEADLINE_KERNEL).kernel
    of_kernel = [result for result in team if result.kernel == kernel]
    tuned = [result for result in of_kernel if result.variant == TUNED]
    return max(tuned or of_kernel, key=lambda result: result.samples)


def beside(lead: KernelResult, results: Iterable[KernelResult]) -> dict[str, KernelResult]:
    """Results like the one that leads, of its team and kind of regime, by kernel."""
    return {
        one.kernel: one
        for one in results
        if one.is_like(lead)
        and one.threads == lead.threads
        and regime_kind(one.regime) == regime_kind(lead.regime)
    }


def regime_words(result: KernelResult, results: Iterable[KernelResult]) -> str:
    """The regime, and in how much of the passes the team was in it where there were several."""
    passes = sum(one.samples for one in results if one.point == result.point)
    share = result.samples / passes if passes else 1.0
    return result.regime if share == 1.0 else f"{result.regime} in {share:.0%} of passes"


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
    groups: dict[tuple[str, str, int, str, str], list[KernelResult]] = {}
    for result in results:
        key = (result.kernel, result.element, result.threads, result.regime, result.pages)
        groups.setdefault(key, []).append(result)
    return list(groups.values())


def _beside(members: Iterable[KernelResult], of: KernelResult, candidates: int = 0) -> Comparison:
    variants = {result.variant: result for result in members if result.is_plain}
    return Comparison(
        of=of, standard=variants.get(STANDARD), tuned=variants.get(TUNED), candidates=candidates
    )
