"""What a load from the host's memory takes beside its threads, transfers to a GPU, and both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.transfers.beside import work_text
from memgauge.analysis.transfers.directions import way_text
from memgauge.model.points.tiers_transfers import TiersTransfersRequested


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Latency of the threads' memory, median over passes."""

    work: str
    """Of the threads; empty: they sleep."""
    transfer: str
    """Empty: nothing is transferred."""
    threads: int
    regime: str
    ns: Estimate

    @property
    def beside(self) -> str:
        """Such as `copy and transfers both ways`."""
        way = f"transfers {way_text(self.transfer)}" if self.transfer else ""
        return " and ".join(filter(None, (self.work, way))) or "nothing else"


def loads_of(figures: Figures) -> list[Load]:
    """Of all that was probed, in the order of declaration."""
    found = []
    for point, summary in figures.of("tiers"):
        requested = TiersTransfersRequested.of(point.requested)
        if point.quantity != "latency" or not requested.gpu or summary.median is None:
            continue
        found.append(
            Load(
                work=work_text(requested),
                transfer=requested.transfer,
                threads=requested.threads or 0,
                regime=summary.regime,
                ns=summary.median,
            )
        )
    return found


def latency_table(loads: Sequence[Load]) -> Table:
    """A row for each."""
    columns = [
        Column(title="beside"),
        Column(title="by", narrow=len({load.threads for load in loads}) > 1),
        Column(title="regime", narrow=any(load.regime for load in loads)),
        Column(title="a load takes", unit="ns"),
    ]
    rows = [[load.beside, load.threads, load.regime or None, load.ns] for load in loads]
    return Table(
        name="tiers-transfers-latency",
        title="Latency of the host's memory meanwhile",
        columns=columns,
        rows=[list(row) for row in rows],
        note="ns, medians over passes: a walk of dependent loads from what the threads read.",
    )


def latency_verdicts(loads: Sequence[Load]) -> Iterator[Verdict]:
    """With nothing else at work, beside the threads, and what transfers add: where it is most."""
    both = [load for load in loads if load.work and load.transfer]
    if not both:
        return
    worst = max(both, key=lambda load: load.ns.value)
    like = [one for one in loads if (one.threads, one.regime) == (worst.threads, worst.regime)]
    known = [
        *(one for one in like if not one.work and not one.transfer),
        *(one for one in like if not one.work and one.transfer == worst.transfer),
        *(one for one in like if one.work == worst.work and not one.transfer),
        worst,
    ]
    times = ", ".join(f"{one.ns.value:.0f} ns beside {one.beside}" for one in known)
    few = "" if all(has_interval(one.ns) for one in known) else "; too few passes for intervals"
    yield Verdict(level="note", text=f"A load from the host's memory takes {times}{few}.")
