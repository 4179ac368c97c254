"""What the API and the command hand out of many runs over time."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from memgauge.results import Printed

if TYPE_CHECKING:
    import msgspec

    from memgauge.analysis.section import Report
    from memgauge.analysis.trend.fleet import Trend
    from memgauge.analysis.trend.gate import Slower


class Trended(Printed):
    """Many runs over time, analysed."""

    def __init__(self, trend: Trend) -> None:
        self.trend = trend

    def slower_than(self, share: float, *, within_s: float, keys_only: bool = True) -> list[Slower]:
        """Figures that are slower by more than `share`, over the whole interval, since recently.

        Args:
            share: Such as 0.05.
            within_s: A change counts if it may have happened in this time before the newest run.
            keys_only: Only the pace and the figures that matter most, if one of them was tested.
        """
        from memgauge.analysis.trend.gate import gated, slower_than

        is_gated = gated(self.trend, keys_only=keys_only)
        return slower_than(self.trend, share, timedelta(seconds=within_s), is_gated)

    @cached_property
    def report(self) -> Report:
        """One section with verdicts, tables and charts."""
        from memgauge.analysis.trend.report import report_of

        return report_of(self.trend)

    def _figures(self) -> msgspec.Struct:
        from memgauge.analysis.trend.document import trend_document

        return trend_document(self.trend)
