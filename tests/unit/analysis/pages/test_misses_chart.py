"""The picture of run time over counted misses of the TLB."""

from __future__ import annotations

import pytest
from tests.unit.analysis.counters.test_core_counts import ACCESSES, counter
from tests.unit.analysis.records import latency_point, sample_of
from tests.unit.analysis.runs import start

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.pages.section import analyse
from memgauge.analysis.section import Chart
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Sample
from memgauge.model.run import run_of

MISSED = {
    ("4k", 64): (5.0, 0),
    ("4k", 4096): (9.0, 900),
    ("2m", 64): (5.0, 0),
    ("2m", 4096): (6, 5),
}
"""Time in ns and misses of so many accesses, by pages and number of lines."""


def charts(event: str = "perf:dtlb-load-misses") -> list[Chart]:
    of = [counter(event, 2, None, 0)]
    records: list[AnyRecord] = [start(), CounterSet(counters="pages", slots=3, of=of)]
    for (pages, lines), (ns, misses) in MISSED.items():
        point = latency_point(
            f"pages/{pages}/{lines}",
            experiment="pages",
            accesses=ACCESSES,
            requested={"pages": pages, "stride_bytes": 4096, "accesses_distinct": lines},
            actual={"pages": pages, "page_bytes": 4096},
        )
        records.append(point)
        for round_ in range(12):
            sample = sample_of(point, ns, round_)
            reading = RegionReading(
                counters="pages",
                before_ns=(0, 1),
                after_ns=(9, 10),
                before=[7, 7, 7],
                after=[107, 107, 7 + misses],
            )
            records.append(
                Sample(point=sample.point, round=round_, threads=sample.threads, reading=reading)
            )
    section = analyse(figures_of(run_of(records)))
    return [chart for chart in section.charts if chart.name == "pages-misses"]


def test_time_lies_over_misses_for_each_kind_of_pages() -> None:
    (chart,) = charts()
    drawn = {series.name: series for series in chart.series}
    assert list(drawn) == ["4k, every 4 KiB", "2m, every 4 KiB"]
    assert drawn["4k, every 4 KiB"].x == pytest.approx([0.0, 0.9])
    assert drawn["4k, every 4 KiB"].y == pytest.approx([5.0, 9.0], rel=0.01)
    assert drawn["2m, every 4 KiB"].notes == ["64 lines", "4,096 lines"]
    assert chart.x.title == "dTLB misses per access, counted"


def test_walks_stand_in_where_no_misses_are_counted() -> None:
    (chart,) = charts("perf:page-walks")
    assert chart.title == "Time of one access over page walks"


def test_without_counts_of_translation_there_is_no_picture() -> None:
    assert charts("perf:llc-loads") == []
