"""Loop nests counted by two routes to the controllers: both are shown, and set side by side."""

from __future__ import annotations

import pytest
from tests.unit.analysis.routes import with_second_route
from tests.unit.analysis.traffic.test_section import gemm_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section
from memgauge.analysis.traffic.figures import DIRECTIONS, curves_of
from memgauge.analysis.traffic.section import analyse
from memgauge.reports.terminal.report import render

SOURCES = ["this", "measured by perf", "measured by pcp"]


def section(factor: float) -> Section:
    return analyse(figures_of(with_second_route(gemm_run(), factor)))


def test_each_route_is_a_source_of_its_own() -> None:
    (curve,) = curves_of(figures_of(with_second_route(gemm_run(), 2.0)))
    assert curve.sources == SOURCES
    for result in curve.results:
        for direction in DIRECTIONS:
            one, two = (result.moved(source, direction) for source in SOURCES[1:])
            assert one is not None
            assert two == pytest.approx(2 * one, rel=0.01)
            ratio = result.route_ratio(SOURCES[1], SOURCES[2], direction)
            assert ratio is not None
            assert ratio.value == pytest.approx(2, rel=0.001)


@pytest.mark.parametrize(
    ("factor", "level", "words"),
    [
        (1.0, "good", "By pcp and by perf the same was counted within 0.00%"),
        (2.0, "warning", "By pcp 2 times as much was counted as by perf"),
    ],
)
def test_whether_the_routes_agree_is_told_once(factor: float, level: str, words: str) -> None:
    (found,) = [one for one in section(factor).verdicts if "By pcp" in one.text]
    assert (found.level, words in found.text) == (level, True)
    assert (found.remedy is None) == (factor == 1)


def test_both_stand_in_one_table_with_their_ratio_and_in_one_picture() -> None:
    made = section(2.0)
    (table,) = [t for t in made.tables if any("pcp : perf" in c.title for c in t.columns)][:1]
    titles = [column.title for column in table.columns if column.narrow]
    assert titles == [
        "N", "expected", "measured by perf", "measured by pcp", "pcp : perf",
    ]  # fmt: skip
    names = [series.name for series in made.charts[0].series]
    assert {"measured reads by perf", "measured writes by pcp"} <= set(names)
    assert len(set(names)) == len(names)


def test_a_narrow_terminal_has_room_for_both() -> None:
    text = render(analyse_run(with_second_route(gemm_run(), 2.0)), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "N: 64" not in text, "a table too wide is written cell by cell"
    assert "pcp : perf" in text


def test_a_document_holds_each_route_and_its_ratio_to_the_first() -> None:
    (nest,) = json_document(with_second_route(gemm_run(), 2.0)).traffic
    last = nest.sizes[-1]
    assert last.measured is not None
    assert last.measured.back_end == "perf"
    assert last.measured.reads_to_first_route is None
    (other,) = last.measured_by_other_routes
    assert other.back_end == "pcp"
    assert other.reads_to_first_route is not None
    assert other.reads_to_first_route.value == pytest.approx(2, rel=0.001)
    (alone,) = json_document(gemm_run()).traffic
    assert alone.sizes[-1].measured_by_other_routes == []
