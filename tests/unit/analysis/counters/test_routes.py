"""STREAM's kernels counted by two routes around the same regions: side by side, never added."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from tests.unit.analysis.counters.counted import counts

from memgauge.analysis.counters.bandwidth import HardwareBandwidth, hardware_bandwidth
from memgauge.analysis.counters.document import hardware_figures
from memgauge.analysis.counters.figures import HardwareCounts
from memgauge.analysis.counters.routes import route_pairs, route_tables, route_verdicts
from memgauge.analysis.counters.summary import verdicts
from memgauge.analysis.counters.tables import charts, tables
from memgauge.model.counting.events import Counter
from memgauge.model.counting.readings import Counted


def two_routes(factor: float = 1.0, lost: Sequence[int] = ()) -> list[HardwareBandwidth]:
    """Add by perf, and by pcp, which counts `factor` times as much and missed some regions."""
    one = msgspec.structs.replace(counts(16, 8), is_one_of_several=True)
    return [hardware_bandwidth(one), hardware_bandwidth(_by_pcp(one, factor, lost))]


def _by_pcp(one: HardwareCounts, factor: float, lost: Sequence[int]) -> HardwareCounts:
    counters = [_renamed(counter) for counter in one.counters]
    return msgspec.structs.replace(
        one,
        back_end="pcp",
        counters=counters,
        regions=[
            msgspec.structs.replace(
                region,
                counts={
                    new.name: None if at in lost else _times(region.counts[old.name], factor)
                    for old, new in zip(one.counters, counters, strict=True)
                },
            )
            for at, region in enumerate(one.regions)
        ],
    )


def _renamed(counter: Counter) -> Counter:
    name = counter.name.replace("perf:", "pcp:")
    return msgspec.structs.replace(counter, name=name, back_end="pcp")


def _times(counted: Counted | None, factor: float) -> Counted | None:
    return None if counted is None else Counted(value=counted.value * factor, raw=counted.raw)


def test_each_way_has_the_ratio_of_the_second_route_to_the_first() -> None:
    found = {pair.way: pair for pair in route_pairs(two_routes(2.0))}
    assert set(found) == {"reads", "writes", "reads and writes"}
    for pair in found.values():
        assert (pair.first, pair.other) == ("perf", "pcp")
        assert pair.ratio is not None
        assert pair.ratio.value == pytest.approx(2)
    assert found["reads"].first_rate.value == pytest.approx(2 * found["writes"].first_rate.value)


def test_regions_that_one_route_missed_are_in_no_ratio() -> None:
    found = route_pairs(two_routes(2.0, lost=range(6)))
    assert all(pair.ratio is not None and pair.ratio.value == pytest.approx(2) for pair in found)
    assert route_pairs(two_routes(lost=range(12))) == []


def test_a_route_that_lacks_writes_is_compared_by_reads_alone() -> None:
    one, other = two_routes()
    reads = [c for c in other.counts.counters if c.quantity == "read_bytes"]
    partial = msgspec.structs.replace(other.counts, counters=reads)
    ways = [pair.way for pair in route_pairs([one, hardware_bandwidth(partial)])]
    assert ways == ["reads"], "what is missing is not zero"


def test_one_route_alone_has_no_table_and_no_verdict() -> None:
    alone = [hardware_bandwidth(counts(16, 8))]
    assert (route_tables(alone), [*route_verdicts(alone)]) == ([], [])
    assert alone[0].counts.title == "add, standard, 2 threads"


@pytest.mark.parametrize(
    ("factor", "level", "words"),
    [
        (1.0, "good", "the same was counted within 0.00%, over all 3 figures"),
        (0.5, "warning", "By pcp 0.5 times as much was counted as by perf"),
    ],
)
def test_agreement_is_told_once(factor: float, level: str, words: str) -> None:
    (found,) = [one for one in verdicts(two_routes(factor)) if "By pcp" in one.text]
    assert (found.level, words in found.text) == (level, True)


def test_rows_and_bars_name_the_route_so_that_none_is_taken_for_a_sum() -> None:
    both = two_routes(2.0)
    kernels = next(table for table in tables(both) if table.name == "hardware-bandwidth")
    assert [row[0] for row in kernels.rows] == [
        "add, standard, 2 threads, by perf",
        "add, standard, 2 threads, by pcp",
    ]
    side_by_side = next(table for table in tables(both) if table.name == "hardware-routes")
    assert [column.title for column in side_by_side.columns][-3:] == ["perf", "pcp", "pcp : perf"]
    (chart,) = charts(both)
    moved = [y for one in chart.series for y in one.y if y is not None]
    assert max(moved) <= 2.01 * both[0].hardware.read.value / 1e6 if both[0].hardware.read else 0


def test_a_document_holds_the_ratio_to_the_first_route() -> None:
    both = two_routes(2.0)
    first, other = (hardware_figures(one, both) for one in both)
    assert (first.kernel, first.first_route, first.hardware_to_first_route) == (
        "add, standard, 2 threads", None, None,
    )  # fmt: skip
    assert (other.kernel, other.first_route) == ("add, standard, 2 threads", "perf")
    assert other.hardware_to_first_route is not None
    assert other.hardware_to_first_route.value == pytest.approx(2)
