"""What is said of pairs, groups, moves and contention, on made-up machines."""

from __future__ import annotations

from itertools import combinations

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.core_to_core.runs import (
    COMPLEX_NS,
    FAR_NS,
    PACKAGE_NS,
    SWAP_OVER_STORE,
    by_complex,
    core_to_core_run,
    four_complexes,
)
from tests.unit.analysis.runs import start, system
from tests.unit.experiments.machines import a_machine
from tests.unit.model.topology.test_claimed import with_complexes

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.core_to_core.document import core_to_core_figures
from memgauge.analysis.core_to_core.figures import blocks_of, matrix_of, shown_groups
from memgauge.analysis.core_to_core.section import analyse
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Section, Table
from memgauge.experiments.core_to_core.pairs import chosen_pairs
from memgauge.model.run import Run, run_of
from memgauge.model.system import System
from memgauge.model.topology.claimed import claimed_groups

TWO = system()


def section_of(run: Run) -> Section:
    return analyse(figures_of(run))


def text_of(section: Section) -> str:
    return "\n".join(verdict.text for verdict in section.verdicts)


def table(section: Section, name: str) -> Table:
    return next(one for one in section.tables if one.name == name)


@pytest.fixture(scope="module")
def whole() -> Run:
    contended = {1: 5.0, 2: 20.0, 16: 50.0}
    return core_to_core_run(
        four_complexes(), lambda pair, _: by_complex(pair), contended=contended, rounds=30
    )


def test_near_and_far_pairs_stand_with_their_intervals(whole: Run) -> None:
    section = section_of(whole)
    assert "A line that another CPU wrote arrives after 2" in text_of(section)
    assert "at worst (CPUs " in text_of(section)
    found = rows(table(section, "core-to-core"))
    names = [row["pairs of CPUs"] for row in found]
    assert names == ["same L3 cache", "same NUMA node and package", "same machine"]
    for row, ns, pairs in zip(found, (COMPLEX_NS, PACKAGE_NS, FAR_NS), (24, 32, 64), strict=True):
        assert (row["measured"], row["of pairs"]) == (pairs, pairs)
        assert row["store"] == pytest.approx(ns, rel=0.02)
        assert row["compare-and-swap"] == pytest.approx(ns * SWAP_OVER_STORE, rel=0.02)
        assert row["basis"] == "all pairs measured"


def test_groups_are_those_that_the_topology_claims(whole: Run) -> None:
    text = text_of(section_of(whole))
    assert "Latencies show 4 groups of CPUs, 0-3, 4-7, 8-11 and 12-15 (" in text
    assert "those of one L3 cache by the topology" in text
    assert "Latencies show 2 groups of CPUs, 0-7 and 8-15 (" in text
    assert "those of one NUMA node and package by the topology" in text


def test_groups_that_nothing_claims_are_a_warning() -> None:
    flat = a_machine(8)
    run = core_to_core_run(flat, lambda pair, _: 30.0 if pair[0] % 2 == pair[1] % 2 else 90.0)
    section = section_of(run)
    (found,) = [one for one in section.verdicts if one.level == "warning"]
    assert "2 groups of CPUs, 0,2,4,6 and 1,3,5,7" in found.text
    assert "share nothing that others do not" in found.text


def test_claimed_groups_that_are_no_nearer_are_named() -> None:
    run = core_to_core_run(with_complexes(a_machine(8), 4), lambda pair, _: 50.0, rounds=20)
    assert (
        "The topology claims groups that latencies do not show (by L3 cache: 0-3 and 4-7)"
    ) in text_of(section_of(run))


def test_one_pair_shows_no_groups() -> None:
    run = core_to_core_run(TWO, lambda pair, _: 50.0)
    text = text_of(section_of(run))
    assert "cannot be told from one pair" in text
    assert "The pair kept its distance for" in text


def test_changes_of_distance_are_counted_over_the_rounds() -> None:
    run = core_to_core_run(TWO, lambda _, round_: 27.0 if round_ // 10 % 2 == 0 else 175.0)
    figures = core_to_core_figures(figures_of(run))
    assert figures is not None
    (watched,) = figures.distances
    assert (watched.changes, watched.samples) == (3, 40)
    assert watched.near_share == 0.5
    text = text_of(section_of(run))
    assert "The distance of CPUs 0 and 1 changed 3 times" in text
    assert "the host moved a virtual CPU at least as often" in text
    bare = core_to_core_run(
        system(virtualisation=None), lambda _, round_: 27.0 if round_ < 20 else 175.0
    )
    assert "the cause is not known" in text_of(section_of(bare))


def test_both_homes_of_a_line_are_compared() -> None:
    machine = a_machine(1, sockets=2)
    run = core_to_core_run(
        machine, lambda pair, _: 100.0 if pair[0] == 0 else 130.0, pairs=[(0, 1), (1, 0)]
    )
    text = text_of(section_of(run))
    assert "a line on the node of 0 takes 0.77 (" in text
    (heat, *_) = section_of(run).charts
    assert heat.series[0].y[0] is None
    assert heat.series[0].y[1] == pytest.approx(100, rel=0.05)
    assert heat.series[1].y[0] == pytest.approx(130, rel=0.05)


def test_contention_is_told_in_operations_a_second(whole: Run) -> None:
    section = section_of(whole)
    found = rows(table(section, "core-to-core-contended"))
    assert [row["threads"] for row in found] == [1, 2, 16]
    for row, ns in zip(found, (5.0, 20.0, 50.0), strict=True):
        assert value(row["all together"]) == pytest.approx(1e3 / ns, rel=0.05)
    assert "16 threads that add to one line at once reach 20." in text_of(section)
    assert "0.10 (" in text_of(section)


def many() -> tuple[System, Run]:
    machine = with_complexes(a_machine(48, sockets=2), 8)
    cpus = [cpu.cpu for cpu in machine.cpus]
    pairs = chosen_pairs(claimed_groups(machine, cpus), cpus, 300)

    def ns_of(pair: tuple[int, int], round_: int) -> float:
        del round_
        if pair[0] // 48 != pair[1] // 48:
            return FAR_NS
        return COMPLEX_NS if pair[0] // 8 == pair[1] // 8 else PACKAGE_NS

    return machine, core_to_core_run(machine, ns_of, pairs=pairs, rounds=17)


def test_of_many_cpus_groups_are_shown_and_what_is_inferred_is_marked() -> None:
    _, run = many()
    section = section_of(run)
    heat = section.charts[0]
    assert len(heat.series) == 12
    assert "300 of 4560 pairs" in heat.title
    assert "is inferred" in (heat.note or "")
    found = rows(table(section, "core-to-core"))
    for row in found:
        assert str(row["basis"]).startswith("inferred for ")
    assert sum(int(str(row["measured"])) for row in found) == 300
    assert "300 of 4560 pairs of CPUs were measured" in text_of(section)
    assert "Latencies show 2 groups of CPUs, 0-47 and 48-95 (" in text_of(section)
    matrix = matrix_of(figures_of(run))
    assert matrix is not None
    blocks = blocks_of(matrix, "store", shown_groups(matrix))
    assert sum(block.measured for block in blocks.values()) == 300
    assert sum(block.pairs for block in blocks.values()) <= 4560
    assert all(block.is_inferred for block in blocks.values())


def test_pairs_that_were_not_measured_have_no_figure_and_make_no_groups() -> None:
    pairs = [*combinations(range(16), 2)][:20]
    run = core_to_core_run(four_complexes(), lambda pair, _: by_complex(pair), pairs=pairs)
    section = section_of(run)
    assert "Groups of CPUs cannot be told: too few pairs were measured" in text_of(section)
    cells = [y for series in section.charts[0].series for y in series.y]
    assert len([y for y in cells if y is not None]) == 2 * len(pairs)


def test_a_run_without_samples_says_so(whole: Run) -> None:
    empty = run_of([start(four_complexes()), *whole.points.values()])
    section = section_of(empty)
    assert text_of(section) == "No pair of CPUs was measured."
    assert core_to_core_figures(figures_of(empty)) is None


def test_pairs_are_compared_by_their_names(whole: Run) -> None:
    source = of_run(figures_of(whole), "A")
    names = {one.name for one in source.comparables}
    assert {"core_to_core/store/c0-c1", "core_to_core/contended/fetch-add/16t"} <= names
    assert {one.direction for one in source.comparables} == {"lower"}


def test_what_the_record_claims_of_unknown_cpus_is_left_out() -> None:
    run = core_to_core_run(TWO, lambda pair, _: 50.0, rounds=3)
    smaller = msgspec.structs.replace(TWO, cpus=TWO.cpus[:1])
    run.starts[0] = start(smaller)
    assert text_of(section_of(run)) == "No pair of CPUs was measured."
