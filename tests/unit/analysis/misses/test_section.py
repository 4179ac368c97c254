"""The cost of misses, on made-up runs whose levels and costs are known."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.records import latency_point, sample_of
from tests.unit.analysis.runs import KIB, MIB, start, system

from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.misses.figures import cases_of, levels_of, new_line_share
from memgauge.analysis.misses.section import analyse, counters_verdict
from memgauge.analysis.section import Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import run_of
from memgauge.model.system import Capability

LEVELS = {"L1": (1.0, 32 * KIB), "L2": (4.0, MIB), "L3": (14.0, 32 * MIB), "DRAM": (150.0, None)}
FOOTPRINTS = {"L1": 16 * KIB, "L2": 512 * KIB, "L3": 4 * MIB, "DRAM": 128 * MIB}
STRIDES = {"sequential": 4, "stride": 64, "random": 64}
COST = {"sequential": 0.5, "stride": 3.0, "random": 20.0}


def level_point(level: str, capacity: int | None) -> Point:
    actual: dict[str, object] = {"cpus": "0", "pages": "thp"}
    if capacity is not None:
        actual["capacity_bytes"] = capacity
    return latency_point(
        f"misses/level/{level}",
        experiment="misses",
        requested={"pattern": "dependent", "level": level, "footprint_bytes": FOOTPRINTS[level]},
        actual=actual,
    )


def walk_point(pattern: str, level: str, stride: int, touched: int) -> Point:
    footprint = FOOTPRINTS[level]
    name = pattern if stride <= 64 else f"{pattern}-{stride}"
    return latency_point(
        f"misses/{name}/{footprint}",
        experiment="misses",
        requested={
            "pattern": pattern,
            "level": level,
            "footprint_bytes": footprint,
            "stride_bytes": stride,
        },
        actual={"cpus": "0", "pages": "thp", "touched_bytes": touched},
    )


def figures(
    scale: float = 1.0, levels: tuple[str, ...] = tuple(LEVELS), rounds: int = 200
) -> Figures:
    draw = random.Random(4)
    made = [(level_point(name, LEVELS[name][1]), LEVELS[name][0] * scale) for name in levels]
    made += [
        (walk_point(pattern, level, stride, FOOTPRINTS[level]), COST[pattern])
        for level in FOOTPRINTS
        for pattern, stride in STRIDES.items()
    ]
    made.append((walk_point("stride", "DRAM", 4096, 2 * MIB), 7.0))
    records: list[AnyRecord] = [msgspec.structs.replace(start(), experiments=["misses"])]
    records += [point for point, _ in made]
    for round_ in range(rounds):
        records += [sample_of(p, value * draw.gauss(1, 0.002), round_) for p, value in made]
    return figures_of(run_of(records))


def section(**changes: object) -> Section:
    return analyse(figures(**changes))  # type: ignore[arg-type]


def texts(of: Section) -> list[str]:
    return [verdict.text for verdict in of.verdicts]


def test_levels_are_found_nearest_first() -> None:
    assert [level.name for level in levels_of(figures())] == ["L1", "L2", "L3", "DRAM"]


@pytest.mark.parametrize(
    ("pattern", "stride", "level", "expected"),
    [
        ("random", 64, "L1", 2 * 1.0),
        ("random", 64, "L2", 2 * 4.0),
        ("random", 64, "L3", 2 * 14.0),
        ("random", 64, "DRAM", 2 * 150.0),
        ("sequential", 4, "DRAM", 2 * (15 * 1.0 + 150.0) / 16),
        ("stride", 4096, "DRAM", 2 * 14.0),
    ],
)
def test_amat_of_an_element_is_that_of_both_its_loads(
    pattern: str, stride: int, level: str, expected: float
) -> None:
    found = figures()
    (case,) = [
        one
        for one in cases_of(found, levels_of(found))
        if (one.pattern, one.stride_bytes, one.level) == (pattern, stride, level)
    ]
    assert case.amat is not None
    assert case.amat.value == pytest.approx(expected, rel=0.01)
    assert case.amat.low <= case.amat.value <= case.amat.high


def test_tables_label_what_is_modelled() -> None:
    found = section()
    misses, penalties = found.tables
    titles = [column.title for column in misses.columns]
    assert "AMAT, modelled" in titles
    assert [title for title in titles if "misses" in title] == [
        "L1 misses, modelled",
        "L2 misses, modelled",
        "L3 misses, modelled",
    ]
    assert all(len(row) == len(misses.columns) for row in misses.rows)
    beyond = [row[2] for row in penalties.rows]
    assert beyond[0] is None
    assert beyond[1:] == pytest.approx([3, 10, 136], rel=0.01)


def test_modelled_lines_are_dashed_and_measured_ones_are_not() -> None:
    (chart,) = section().charts
    assert {series.name: series.dashed for series in chart.series} == {
        "sequential": False,
        "stride 64 B": False,
        "random": False,
        "sequential: AMAT, modelled": True,
        "stride 64 B, random: AMAT, modelled": True,
    }
    assert [band.label for band in chart.bands] == ["L1", "L2", "L3", "DRAM"]


def test_verdicts_say_what_a_miss_costs_and_which_pattern_hides_it() -> None:
    said = texts(section())
    assert said[0].startswith("A miss that is waited for costs 3.0 ns for one of L1 that L2 serves")
    assert any(text.startswith("In memory, stride 64 B hides most of the misses") for text in said)
    assert any(text.startswith("In memory, random hides least of the misses: ") for text in said)


def test_a_pattern_dearer_than_waiting_is_told() -> None:
    said = texts(section(scale=0.01))
    assert any(text.startswith("Dearer than the modelled AMAT: ") for text in said)


def test_without_known_caches_nothing_is_modelled() -> None:
    found = section(levels=("DRAM",))
    assert all(row[4] is None for row in found.tables[0].rows)
    assert "AMAT is not modelled" in " ".join(texts(found))
    (chart,) = found.charts
    assert not any(series.dashed for series in chart.series)


def test_nothing_measured_is_said() -> None:
    assert texts(section(rounds=0))[0] == "No cost of misses was measured."


@given(st.floats(0.2, 5))
def test_a_slower_machine_scales_the_model_and_not_what_was_measured(scale: float) -> None:
    one, other = figures(rounds=10), figures(scale=scale, rounds=10)
    pairs = zip(cases_of(one, levels_of(one)), cases_of(other, levels_of(other)), strict=True)
    for a, b in pairs:
        assert a.amat is not None
        assert b.amat is not None
        assert b.amat.value == pytest.approx(scale * a.amat.value, rel=1e-3)
        assert a.measured == b.measured
        assert isinstance(a.hidden, Estimate)


def test_missing_counters_are_said_with_their_reason() -> None:
    lacking = Capability(
        name="performance counters",
        available=False,
        detail="the kernel reports no processor counters; perf_event_paranoid 2",
        remedy="in a virtual machine: ask the host for a virtual PMU",
    )
    verdict = counters_verdict(system(capabilities=[lacking]))
    assert verdict.text == (
        "No hardware counters on this machine (the kernel reports no processor counters; "
        "perf_event_paranoid 2): miss rates are modelled, not counted."
    )
    assert verdict.remedy == lacking.remedy
    there = msgspec.structs.replace(lacking, available=True, detail="cpu")
    assert "which this run did not read" in counters_verdict(system(capabilities=[there])).text
    assert "the system does not report any" in counters_verdict(system()).text


@pytest.mark.parametrize(
    ("pattern", "stride_bytes", "line_bytes", "share"),
    [
        ("sequential", 4, 64, 1 / 16),
        ("sequential", 4, 128, 1 / 32),
        ("stride", 64, 128, 0.5),
        ("stride", 4096, 128, 1.0),
        ("random", 64, 128, 1.0),
    ],
)
def test_how_often_an_element_comes_to_another_line_depends_on_the_machines_lines(
    pattern: str, stride_bytes: int, line_bytes: int, share: float
) -> None:
    assert new_line_share(pattern, stride_bytes, line_bytes) == share
