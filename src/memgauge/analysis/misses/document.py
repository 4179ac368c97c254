"""The walks of `misses` as plain data, for `--json`: measured, modelled and counted apart."""

from __future__ import annotations

import msgspec

from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.misses.counted import Counted, counts_of
from memgauge.analysis.misses.figures import Case, cases_of, levels_of


class CountedMisses(msgspec.Struct, frozen=True, kw_only=True):
    """What counters counted around a walk, on one type of cores."""

    core_type: str | None
    """None: all cores are alike."""
    per_element: dict[str, Figure]
    """Median counts for each element, by event; of times, ns."""
    last_level_by: str | None
    """The event that counts what reaches the last cache level; None: none did."""
    last_level_miss_rate: Figure | None
    reference_miss_rate: Figure | None
    """Cache misses over cache references, as perf gives them."""
    instructions_per_cycle: Figure | None
    amat_ns: Figure | None
    """Of an element, by counted misses; None: not counted, or not to be had of what was."""
    why_no_amat: str | None
    is_estimate: bool
    """Some counters shared their hardware and are scaled up."""


class WalkFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One walk of saxpy."""

    point: str
    pattern: str
    level: str
    footprint_bytes: int
    stride_bytes: int
    touched_bytes: int
    element_ns: Figure | None
    amat_modelled_ns: Figure | None
    """Of an element, by a cache model; None: no model."""
    miss_rates_modelled: dict[str, float]
    """Of the accesses that reach a cache level, by its name."""
    counted: list[CountedMisses]
    """Empty: nothing was counted."""


def walk_figures(figures: Figures) -> list[WalkFigures]:
    """All walks of a run of `misses`."""
    levels = levels_of(figures)
    cases = cases_of(figures, levels)
    counted = counts_of(figures, cases, levels)
    names = [level.name for level in levels if level.capacity_bytes is not None]
    return [
        _walk(case, names, [one for one in counted if one.case.summary.point == case.summary.point])
        for case in cases
    ]


def _walk(case: Case, levels: list[str], counted: list[Counted]) -> WalkFigures:
    return WalkFigures(
        point=case.summary.point,
        pattern=case.pattern,
        level=case.level,
        footprint_bytes=case.footprint_bytes,
        stride_bytes=case.stride_bytes,
        touched_bytes=case.touched_bytes,
        element_ns=figure(case.measured),
        amat_modelled_ns=figure(case.amat),
        miss_rates_modelled=dict(zip(levels, case.rates, strict=False)),
        counted=[_counted(one) for one in counted],
    )


def _counted(one: Counted) -> CountedMisses:
    return CountedMisses(
        core_type=one.counts.core_type,
        per_element={event: figure(median) for event, median in one.counts.per_access.items()},
        last_level_by=one.by or None,
        last_level_miss_rate=figure(one.miss_rate),
        reference_miss_rate=figure(one.reference_rate),
        instructions_per_cycle=figure(one.instructions_per_cycle),
        amat_ns=figure(one.amat),
        why_no_amat=one.why_no_amat or None,
        is_estimate=one.counts.is_estimate,
    )
