"""Kinds of pages, distances of prefetch and candidates of a search: tables, words and pictures."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from tests.unit.analysis.records import bandwidth_point, sample_of
from tests.unit.analysis.runs import start, system

from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import AnyRecord
from memgauge.model.run import run_of

Facts = Mapping[str, Scalar]
OWN = "stream/triad/tuned/double/2t"


def section_of(points: list[tuple[str, Facts, Facts, float]]) -> Section:
    """Of a run with points of triad: suffix, what was requested and what was in effect, GB/s."""
    rng = random.Random(3)
    made = [
        (
            bandwidth_point(
                OWN + suffix,
                threads=2,
                requested={"kernel": "triad", "variant": "tuned", "element": "double", **requested},
                actual={"cpus": "0-1", "store": "non-temporal", **actual},
                bytes_counted=240_000_000,
            ),
            speed,
        )
        for suffix, requested, actual, speed in points
    ]
    records: list[AnyRecord] = [start(system()), *(point for point, _ in made)]
    for round_ in range(60):
        records += [sample_of(point, speed * rng.gauss(1, 0.002), round_) for point, speed in made]
    (section,) = analyse_run(run_of(records)).sections
    return section


def table_of(section: Section, name: str) -> Table:
    (found,) = [table for table in section.tables if table.name == name]
    return found


@pytest.fixture(scope="module")
def pages() -> Section:
    return section_of(
        [
            (f"/{kind}", {"pages": kind}, {"pages": got}, speed)
            for kind, got, speed in (("4k", "4k", 40.0), ("thp", "thp", 40.0), ("2m", "2m", 50.0))
        ]
    )


def test_pages_stand_beside_those_requested_first(pages: Section) -> None:
    table = table_of(pages, "stream-pages")
    assert [row[4] for row in table.rows] == ["4k", "thp", "2m"]
    assert table.columns[-1].title == "over 4k"
    gains = [row[-1] for row in table.rows]
    assert gains[0] is None
    assert isinstance(gains[2], Estimate)
    assert gains[2].low < 1.25 < gains[2].high
    main = table_of(pages, "stream")
    assert len(main.rows) == 3


def test_pages_are_put_in_words_and_drawn(pages: Section) -> None:
    (said,) = [v.text for v in pages.verdicts if v.text.startswith("Pages:")]
    assert "thp is as fast as 4k within the interval" in said
    assert "2m reaches 1.25 times the bandwidth of 4k" in said
    assert "(triad, tuned, 2 threads)" in said
    (chart,) = [chart for chart in pages.charts if chart.name == "stream-pages"]
    assert [one.name for one in chart.series] == ["tuned, 4k", "tuned, thp", "tuned, 2m"]
    assert any("2m pages" in v.text for v in pages.verdicts if v.text.startswith("Memory"))


@pytest.fixture(scope="module")
def distances() -> Section:
    far = {"prefetch_near_bytes": 512, "prefetch_far_bytes": 4096}
    return section_of(
        [
            ("", {}, {"prefetch_near_bytes": 0, "prefetch_far_bytes": 0}, 40.0),
            ("/p512", {"prefetch": "512"}, {"prefetch_near_bytes": 512}, 30.0),
            ("/p4096", {"prefetch": "4096"}, {"prefetch_near_bytes": 4096}, 44.0),
            ("/p512-f4096", {"prefetch": "512:4KiB"}, far, 42.0),
        ]
    )


def test_distances_are_a_table_and_a_curve(distances: Section) -> None:
    table = table_of(distances, "stream-prefetch")
    assert [(row[5], row[6]) for row in table.rows] == [
        (0, None),
        (512, None),
        (4096, None),
        (512, 4096),
    ]
    (chart,) = [chart for chart in distances.charts if chart.name == "stream-prefetch"]
    lines = {one.name: one.x for one in chart.series}
    assert lines == {"triad": [512.0, 4096.0], "triad, far 4 KiB": [512.0]}
    (rule,) = chart.rules
    assert rule.label == "triad, no prefetch"
    assert 39 < rule.value < 41


def test_the_best_and_the_worst_distance_are_put_in_words(distances: Section) -> None:
    (said,) = [v.text for v in distances.verdicts if v.text.startswith("Software prefetch:")]
    assert "4 KiB ahead gives 1.10 times the bandwidth" in said
    assert "512 B ahead gives 0.75 times the bandwidth" in said


def test_distances_are_no_variants_of_the_main_table(distances: Section) -> None:
    table = table_of(distances, "stream")
    assert len(table.rows) == 1
    assert "stream-ways" not in {table.name for table in distances.tables}


def test_all_candidates_of_a_search_stand_in_a_table_the_fastest_first() -> None:
    found = section_of(
        [
            (f"/{name}", {"candidate": name}, {"unroll": unroll}, speed)
            for name, unroll, speed in (("slow", 1, 20.0), ("fast", 2, 40.0), ("mid", 4, 30.0))
        ]
    )
    table = table_of(found, "stream-candidates")
    assert [row[4] for row in table.rows] == ["fast", "mid", "slow"]
    share = table.rows[2][-2]
    assert isinstance(share, Estimate)
    assert share.low < 0.5 < share.high
    assert not any(column.narrow for column in table.columns)


def test_one_kind_of_pages_and_no_distance_make_no_further_tables() -> None:
    section = section_of([("", {"pages": "thp"}, {"pages": "thp"}, 40.0)])
    names = {table.name for table in section.tables}
    assert names.isdisjoint({"stream-pages", "stream-prefetch", "stream-candidates"})
