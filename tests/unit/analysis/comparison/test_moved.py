"""Bytes that loop nests moved, as measured, in two runs: amounts, which are no speeds."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.routes import with_second_route
from tests.unit.analysis.traffic.runs import machine
from tests.unit.analysis.traffic.test_section import gemm_run

from memgauge.analysis.comparison.figures import TRAFFIC_CAVEAT, Source, of_run
from memgauge.analysis.comparison.ratios import DIFFERS, Comparison, compare, only
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.comparison.sides import side_of
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.statistics.estimate import Estimate

MOVED = "traffic/*/1t/[rw]*s"
SIZES = (128, 384, 800)


def source(name: str, factor: float = 1.0) -> Source:
    """A run of GEMM in which memory moved `factor` times what it should."""
    made = only(of_run(figures_of(gemm_run(SIZES)), name), MOVED)
    moved = [
        msgspec.structs.replace(
            one,
            estimate=Estimate(
                *(end * factor for end in (one.estimate.value, one.estimate.low, one.estimate.high))
            ),
        )
        for one in made.comparables
    ]
    return msgspec.structs.replace(made, comparables=moved, run_to_run_drift=0.5)


def test_a_run_offers_each_way_of_each_conclusive_size() -> None:
    found = of_run(figures_of(gemm_run(SIZES)), "a").comparables
    amounts = {one.name: one for one in found if one.direction == "neither"}
    assert {name.rpartition("/")[2] for name in amounts} == {"reads", "writes"}
    reads = amounts["traffic/gemm/128/1t/reads"]
    assert (reads.unit, reads.facts["counters"]) == ("kB", "perf")
    assert reads.estimate.value == pytest.approx(3 * 8 * 128**2 / 1e3, rel=0.05)
    assert all(one.estimate.value > 0 for one in amounts.values())


def test_a_further_route_has_names_of_its_own() -> None:
    names = [
        c.name for c in of_run(figures_of(with_second_route(gemm_run(SIZES), 1.0)), "a").comparables
    ]
    assert {"traffic/gemm/128/1t/reads", "traffic/gemm/128/1t/reads/pcp"} <= set(names)


def test_without_counters_only_speeds_are_compared() -> None:
    found = of_run(figures_of(gemm_run(SIZES, counted=None, machines=[machine()])), "a")
    assert not [one for one in found.comparables if one.direction == "neither"]
    assert found.caveats == [TRAFFIC_CAVEAT]


@pytest.mark.parametrize(("factor", "outcome"), [(1.0, "same"), (1.5, DIFFERS)])
def test_amounts_are_not_widened_by_the_drift_of_speeds(factor: float, outcome: str) -> None:
    """Of speeds, a drift of 50% would hide a factor of 1.5."""
    (pair,) = compare([source("a"), source("b", factor)]).pairs
    assert pair.rows
    assert {row.outcome for row in pair.rows} == {outcome}
    assert pair.slower_than(0.1) == []
    assert pair.judged_speeds == []


def _sides(factor: float) -> Comparison:
    sides = [
        side_of([source(f"{side}{at}", by * (1 + 0.002 * at)) for at in range(3)])
        for side, by in (("a", 1.0), ("b", factor))
    ]
    return compare(sides)


@pytest.mark.parametrize(("factor", "outcome"), [(1.5, "more"), (0.5, "less")])
def test_several_runs_a_side_say_more_or_less_and_have_no_pace(factor: float, outcome: str) -> None:
    (pair,) = _sides(factor).pairs
    assert {row.outcome for row in pair.rows} == {outcome}
    assert pair.paces is None
    assert all(row.stands for row in pair.rows)


def test_a_report_calls_them_bytes_and_neither_faster_nor_slower() -> None:
    report = report_of(_sides(1.5))
    assert [one.label for one in report.headlines] == ["Bytes moved, B/A"]
    said = " ".join(one.text for section in report.sections for one in section.verdicts)
    assert "6 more, 0 less" in said
    titles = [table.title for section in report.sections for table in section.tables]
    assert any("median of regions, idle traffic subtracted" in title for title in titles)
    assert not any("is better" in title for title in titles)
