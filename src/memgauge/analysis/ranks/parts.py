"""What a report has of ranks: that of a profiled job, and that of the mini-app."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.ranks.charts import over_time, shares_chart, timeline_chart
from memgauge.analysis.ranks.job import Job, job_of
from memgauge.analysis.ranks.rank_runs import RankRun
from memgauge.analysis.ranks.sockets import SocketGroup, socket_groups
from memgauge.analysis.ranks.spreads import RegionSpread, Spread, region_spreads, spreads_of
from memgauge.analysis.ranks.tables import phases_table, regions_table, sockets_table, spreads_table
from memgauge.analysis.section import Chart, Table


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A job with everything that is shown of it."""

    job: Job
    sockets: list[SocketGroup]
    spreads: list[Spread]
    regions: list[RegionSpread]

    def tables(self) -> list[Table]:
        """Those that compare ranks, the most important first."""
        found = [regions_table(self.regions), *self.compared(), phases_table(self.job)]
        return [table for table in found if table is not None]

    def charts(self) -> list[Chart]:
        """Ranks over time, what each took, then all together."""
        found = [*self.pictured(), shares_chart(self.job, self.regions), timeline_chart(self.job)]
        return [chart for chart in found if chart is not None]

    def compared(self) -> list[Table]:
        """Those of any job: what each rank took, and what sockets counted."""
        spreads = [spreads_table(self.spreads)] if self.spreads else []
        sockets = sockets_table(self.sockets)
        return spreads if sockets is None else [*spreads, sockets]

    def pictured(self) -> list[Chart]:
        """That of any job: its ranks over time."""
        chart = over_time(self.job)
        return [] if chart is None else [chart]


def parts_of(ranks: Sequence[RankRun]) -> Parts:
    """Analyse the ranks of a job."""
    job = job_of(ranks)
    return Parts(
        job=job,
        sockets=socket_groups(job),
        spreads=spreads_of(job),
        regions=region_spreads(job),
    )
