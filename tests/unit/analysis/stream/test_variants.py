"""Translated access and flushed stores beside a kernel's own: table and words."""

import random

import pytest
from tests.unit.analysis.records import bandwidth_point, sample_of
from tests.unit.analysis.runs import start, system

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run, run_of

SPEEDS = {
    ("copy", 1, ""): 35.0,
    ("copy", 1, "translated"): 14.0,
    ("copy", 2, ""): 60.0,
    ("copy", 2, "translated"): 30.0,
    ("triad", 1, ""): 30.0,
    ("triad", 1, "translated"): 10.0,
    ("copy", 1, "flushed"): 35.0,
}


def section_of(speeds: dict[tuple[str, int, str], float], rounds: int = 80) -> Section:
    (section,) = analyse_run(a_run(speeds, rounds)).sections
    return section


def a_run(speeds: dict[tuple[str, int, str], float], rounds: int) -> Run:
    rng = random.Random(2)
    points = []
    for (kernel, threads, way), speed in speeds.items():
        requested = {"kernel": kernel, "variant": "standard", "element": "double"}
        if way:
            requested["store" if way == "flushed" else "access"] = way
        name = "/".join(filter(None, ("stream", kernel, "standard/double", f"{threads}t", way)))
        point = bandwidth_point(
            name,
            threads=threads,
            requested=requested,
            actual={"cpus": "0", "store": "flushed" if way == "flushed" else "temporal"},
            bytes_counted=240_000_000,
        )
        points.append((point, speed))
    records: list[AnyRecord] = [start(system()), *(point for point, _ in points)]
    for round_ in range(rounds):
        records += [
            sample_of(point, speed * rng.gauss(1, 0.004), round_) for point, speed in points
        ]
    return run_of(records)


@pytest.fixture(scope="module")
def section() -> Section:
    return section_of(SPEEDS)


def test_the_share_of_each_way_stands_in_a_row(section: Section) -> None:
    (table,) = [table for table in section.tables if table.name == "stream-ways"]
    shares = {(row[0], row[2], row[4]): row[-1] for row in table.rows}
    assert len(shares) == 4
    share = shares["copy", 1, "translated"]
    assert isinstance(share, Estimate)
    assert share.low < 14 / 35 < share.high
    assert share.low > 0.39
    assert share.high < 0.41
    assert ("copy", 1, "flushed") in shares


def test_the_main_table_holds_each_kernels_own_only(section: Section) -> None:
    (table,) = [table for table in section.tables if table.name == "stream"]
    found = {(row[0], row[1]): row[3] for row in table.rows}
    assert {
        key: round(cell.value) for key, cell in found.items() if isinstance(cell, Estimate)
    } == {
        ("copy", 1): 35,
        ("copy", 2): 60,
        ("triad", 1): 30,
    }


def test_the_cost_is_put_in_words_with_its_interval_for_both_ends(section: Section) -> None:
    (text,) = [v.text for v in section.verdicts if "Translating" in v.text]
    assert "costs 60% of the bandwidth with 1 thread (" in text
    assert "costs 50% of the bandwidth with 2 threads (" in text
    assert "(copy, standard)" in text


def test_what_costs_nothing_is_not_said_to_cost(section: Section) -> None:
    (text,) = [v.text for v in section.verdicts if "flushed" in v.text]
    assert "changes nothing measurable with 1 thread" in text


def test_a_run_without_other_ways_says_nothing_of_them() -> None:
    section = section_of({("copy", 1, ""): 35.0})
    assert "stream-ways" not in {table.name for table in section.tables}
    assert not any("Translating" in verdict.text for verdict in section.verdicts)


def test_a_way_without_the_kernels_own_is_shown_and_not_judged() -> None:
    section = section_of({("copy", 1, "translated"): 14.0})
    (table,) = [table for table in section.tables if table.name == "stream-ways"]
    assert table.rows[0][-1] is None
    assert not any("Translating" in verdict.text for verdict in section.verdicts)
    assert any("copy, standard, translated" in verdict.text for verdict in section.verdicts)


def test_a_run_that_only_translates_pairs_with_other_memory_by_its_kernels() -> None:
    only = a_run({("copy", 1, "translated"): 14.0, ("copy", 1, "flushed"): 20.0}, rounds=40)
    names = {one.name for one in of_run(figures_of(only), "pool").comparables}
    assert names == {"stream/copy/standard/double/1t", "stream/copy/standard/double/1t/flushed"}
    both = of_run(figures_of(a_run(SPEEDS, rounds=40)), "both").comparables
    assert {"stream/copy/standard/double/1t", "stream/copy/standard/double/1t/translated"} <= {
        one.name for one in both
    }
    assert len({one.name for one in both}) == len(both)
