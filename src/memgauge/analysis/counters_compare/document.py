"""Two routes to the same counters as plain data, for `--json`."""

from __future__ import annotations

import msgspec

from memgauge.analysis.counters_compare.section import rows_of
from memgauge.analysis.document_figure import Figure, figure
from memgauge.model.run import Run


class RouteFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What two routes counted around the same regions."""

    quantity: str
    load: str
    """`all loads`, one of them, or `idle`."""
    socket: int | None
    """None: all together."""
    one_gb_per_s: Figure | None
    other_gb_per_s: Figure | None
    ratio: Figure | None
    """Of the other to the one."""


def route_figures(run: Run) -> list[RouteFigures]:
    """Each quantity that both count; empty for a run that compared no routes."""
    return [
        RouteFigures(
            quantity=row.quantity,
            load=row.load,
            socket=row.socket,
            one_gb_per_s=figure(row.one),
            other_gb_per_s=figure(row.other),
            ratio=figure(row.ratio),
        )
        for row in rows_of(run)
    ]
