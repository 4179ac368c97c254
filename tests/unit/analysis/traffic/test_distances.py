"""Nests with software prefetch at several distances: table, words and picture."""

from __future__ import annotations

import random

import msgspec
import pytest
from tests.unit.analysis.records import sample_of
from tests.unit.analysis.runs import start, system
from tests.unit.analysis.traffic.runs import machine, resort_point, simulated

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.traffic.section import analyse
from memgauge.model.points.traffic import TrafficRequested
from memgauge.model.record_kinds.simulated import SimulatedMachine
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import run_of

SPEEDS = {0: 10.0, 512: 15.0, 4096: 8.0}


def point_of(near: int, far: int = 0, size: int = 64) -> Point:
    point = resort_point("s1cf-second", size, ["tmp", "out"])
    if not near:
        return point
    requested = {
        **point.requested,
        "store_prefetch": True,
        "load_prefetch": True,
        "prefetch_near_bytes": near,
        "prefetch_far_bytes": far or None,
    }
    name = f"{point.point}/prefetched-loads-stores-p{near}" + (f"-f{far}" if far else "")
    return msgspec.structs.replace(point, point=name, requested=requested)


@pytest.fixture(scope="module")
def section() -> Section:
    rng = random.Random(5)
    points = {near: point_of(near) for near in SPEEDS}
    points[1] = point_of(512, 4096)
    records: list[AnyRecord] = [start(system()), *points.values()]
    for round_ in range(40):
        for near, speed in {**SPEEDS, 1: 12.0}.items():
            records.append(sample_of(points[near], speed * rng.gauss(1, 0.002), round_))
    records.append(SimulatedMachine(machine=machine("power9-5mb")))
    elements = 64 // 2 * (64 // 4) * 64
    arrays = {"tmp": 64.0 * elements, "out": 16.0 * elements}
    records += [
        simulated(point, "power9-5mb", arrays=arrays, written=16.0 * elements)
        for point in points.values()
    ]
    return analyse(figures_of(run_of(records)))


def test_a_row_holds_speed_gain_and_simulated_reads(section: Section) -> None:
    (table,) = [one for one in section.tables if one.name.endswith("-prefetch")]
    assert [(row[1], row[2], row[3]) for row in table.rows] == [
        ("nothing", None, None),
        ("loads and stores", 512, None),
        ("loads and stores", 512, 4096),
        ("loads and stores", 4096, None),
    ]
    gain = table.rows[1][5]
    assert isinstance(gain, Estimate)
    assert gain.low < 1.5 < gain.high
    assert [row[6] for row in table.rows] == [5.0] * 4
    assert table.columns[6].title == "reads, simulated on power9-5mb"
    assert table.note is not None
    assert "simulated, not measured" in table.note


def test_bandwidth_is_drawn_over_the_distance(section: Section) -> None:
    (chart,) = [one for one in section.charts if one.name.endswith("-prefetch")]
    lines = {one.name: one.x for one in chart.series}
    assert lines == {
        "N = 64, loads and stores": [512.0, 4096.0],
        "N = 64, loads and stores, far 4 KiB": [512.0],
    }


def test_the_best_and_the_worst_distance_are_put_in_words(section: Section) -> None:
    (said,) = [v.text for v in section.verdicts if v.text.startswith("Software prefetch:")]
    assert "loads and stores prefetched 512 B ahead is 1.50 times as fast as without" in said
    assert "loads and stores prefetched 4 KiB ahead is 0.80 times as fast as without" in said


def test_one_nest_alone_is_not_compared() -> None:
    point = point_of(512)
    records: list[AnyRecord] = [start(system()), point, SimulatedMachine(machine=machine("this"))]
    records.append(simulated(point, arrays={"tmp": 1.0, "out": 1.0}, written=1.0))
    section = analyse(figures_of(run_of(records)))
    assert not any(one.name.endswith("-prefetch") for one in section.tables)


@pytest.mark.parametrize(
    ("requested", "text"),
    [
        (TrafficRequested(), ""),
        (TrafficRequested(prefetch_near_bytes=512), ""),
        (TrafficRequested(store_prefetch=True), "stores prefetched"),
        (
            TrafficRequested(load_prefetch=True, prefetch_near_bytes=512, prefetch_far_bytes=4096),
            "loads prefetched 512 B and 4 KiB ahead",
        ),
    ],
)
def test_what_is_prefetched_is_said_as_far_as_it_is_known(
    requested: TrafficRequested, text: str
) -> None:
    assert requested.prefetch_text == text


def test_what_prefetched_loads_read_is_not_said_to_be_read_for_stores() -> None:
    elements = 64 // 2 * (64 // 4) * 64
    found = simulated(
        point_of(512),
        "power9-5mb",
        arrays={"tmp": 16.0 * elements, "out": 16.0 * elements},
        prefetched=32.0 * elements,
        written=16.0 * elements,
    )
    records: list[AnyRecord] = [start(system()), point_of(512)]
    records += [SimulatedMachine(machine=machine("power9-5mb")), found]
    text = " ".join(one.text for one in analyse(figures_of(run_of(records))).verdicts)
    assert "The software prefetch of loads and stores reads 2.00 B for each B stored" in text
    assert "that are stored next" not in text
