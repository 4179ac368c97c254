"""The reach of the TLB as a record: what a diagnosis of the same machine judges pages by."""

from __future__ import annotations

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.pages.figures import Translation, curves_of, translations_of
from memgauge.analysis.pages.verdicts import split_kinds
from memgauge.model.records import MeasuredReach


def measured_reach(figures: Figures) -> MeasuredReach | None:
    """On base pages, and whether huge pages are translated whole.

    Args:
        figures: Of a run with `pages`, or of a survey; of any other there is none.

    Returns:
        None: neither is known.
    """
    found = translations_of(curves_of(figures))
    huge = [one for one in found if one.curve.is_huge and one.levels]
    base = next((one for one in found if _is_of_base_pages(one)), None)
    reach_bytes = None if base is None else _reach_bytes(base)
    if reach_bytes is None and not huge:
        return None
    start = figures.run.start
    return MeasuredReach(
        run_id=start.run_id,
        started_at=start.started_at,
        page_bytes=start.system.base_page_bytes,
        reach_bytes=reach_bytes,
        splits_huge_pages=bool(split_kinds(found)) if huge else None,
    )


def _is_of_base_pages(one: Translation) -> bool:
    curve = one.curve
    return curve.has_own_pages and not curve.is_huge and curve.pages != "mixed"


def _reach_bytes(one: Translation) -> int | None:
    """From where on its last level misses; the first alone tells nothing of the last."""
    reaches = one.reaches
    beyond = reaches[-1].level.beyond if len(reaches) > 1 else None
    return None if beyond is None else beyond * one.curve.stride_bytes
