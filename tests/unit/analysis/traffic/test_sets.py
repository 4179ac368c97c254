"""Columns that meet in few sets: what the closed form says, and that the model reads them again."""

from __future__ import annotations

import pytest
from tests.unit.analysis.traffic.runs import gemm_point, machine, resort_point, run, simulated
from tests.unit.analysis.traffic.test_section import only

from memgauge.analysis.traffic.expected import expected, nest_of
from memgauge.analysis.traffic.sets import SetConflict, crowd
from memgauge.analysis.traffic.simulated_verdicts import simulated_readings
from memgauge.analysis.traffic.verdicts import verdicts
from memgauge.model.cache_machine import CacheLevel, CacheMachine
from memgauge.model.records import Point

KIB = 1 << 10


def two_levels(last_ways: int) -> CacheMachine:
    """64 sets of 4 ways, then 256 sets."""
    levels = [
        CacheLevel(name="L1", bytes=64 * 4 * 64, ways=4),
        CacheLevel(name="L2", bytes=64 * last_ways * 256, ways=last_ways),
    ]
    return machine(levels=levels)


def conflict(point: Point, array: str, machine: CacheMachine) -> SetConflict | None:
    nest = nest_of(point)
    assert nest is not None
    return crowd(nest, array, machine)


def test_a_column_a_power_of_two_apart_has_the_room_of_the_sets_it_meets_in() -> None:
    """Of 32 places 16 KiB apart, 256 lines: one set of each level."""
    point = resort_point("s1cf", 32, ["in", "out"], grid="1x1")
    found = conflict(point, "out", two_levels(16))
    assert found == SetConflict(
        stride_bytes=16 * KIB, lines=32, level="L2", sets=256, used_sets=1, held=16
    )
    # With both sets' 4 and 28 ways there is room for all.
    assert conflict(point, "out", two_levels(28)) is None
    assert conflict(point, "out", two_levels(27)) is not None


def test_other_strides_spread_over_sets() -> None:
    """33 places 17,424 bytes apart: their lines fall into sets of their own."""
    point = resort_point("s1cf", 33, ["in", "out"], grid="1x1")
    assert conflict(point, "out", two_levels(1)) is None


@pytest.mark.parametrize(
    ("kernel", "array", "stride_bytes", "lines"),
    [
        ("s1cf", "out", 32 * 64 * 16, 128),
        ("s1cf-second", "tmp", 128 * 16, 32 * 64),
        # Of the planewise pair PLANES are walked.
        ("s1pf", "out", 128 * 64 * 16, 32),
        ("s1pf-second", "tmp", 32 * 16, 128 * 64),
    ],
)
def test_strides_are_those_of_the_nest(
    kernel: str, array: str, stride_bytes: int, lines: int
) -> None:
    tiny = machine(levels=[CacheLevel(name="L1", bytes=64, ways=1)])
    found = conflict(resort_point(kernel, 128, ["x"], grid="4x2"), array, tiny)
    assert found is not None
    assert (found.stride_bytes, found.lines) == (stride_bytes, lines)
    assert conflict(resort_point(kernel, 128, ["x"], grid="4x2"), "in", tiny) is None


def test_what_is_not_known_is_not_told() -> None:
    column = resort_point("s1cf", 32, ["in", "out"], grid="1x1")
    unknown = resort_point("s1cf-first", 32, ["in", "tmp"], grid="1x1")
    assert conflict(unknown, "tmp", two_levels(1)) is None
    whole = machine(levels=[CacheLevel(name="L1", bytes=64, ways=0)])
    assert conflict(column, "out", whole) is None
    lent = [CacheLevel(name="L3", bytes=64, ways=1, borrows_idle=True)]
    assert conflict(column, "out", machine(levels=lent, idle_cores=2)) is None
    assert conflict(column, "out", machine(levels=lent)) is not None
    assert conflict(gemm_point(64), "A", machine(levels=lent)) is None


def test_a_conflict_that_is_computed_is_said_with_its_sets() -> None:
    """On 5 MiB of 20 ways: 256 lines 128 KiB apart have 2 of 4096 sets, 128 of them 8."""
    points = [resort_point("s1cf", size, ["in", "out"]) for size in (96, 128, 256)]
    predictions = []
    for point in points:
        half = point.bytes_counted / 2
        times = 4 if point.requested["size"] == 256 else 1
        predictions.append(
            simulated(
                point, arrays={"in": half, "out": 0.0}, allocated=times * half, written=times * half
            )
        )
    curve = only(run(points, predictions=predictions, machines=[machine()]))
    text = " ".join(simulated_readings(curve, "this"))
    assert "from N = 256 on out is read 4.00 times" in text
    assert (
        "the caches have room for it, but the 256 lines of its column, 128 KiB apart, fall into 2 "
        "of the 4096 sets of L3, which hold 40 of them"
    ) in text
    assert "a power of two apart" not in text


def test_a_size_that_stands_alone_is_explained_by_its_sets() -> None:
    points = [resort_point("s1cf", size, ["in", "out"]) for size in (128, 256, 264)]
    predictions = []
    for point in points:
        half = point.bytes_counted / 2
        stored = half * (4 if point.requested["size"] == 256 else 1)
        arrays = {"in": half, "out": 0.0}
        predictions.append(simulated(point, arrays=arrays, allocated=stored, written=half))
    made = run(points, predictions=predictions, machines=[machine()])
    (verdict,) = [one for one in verdicts([only(made)]) if "Simulated on" in one.text]
    assert "but for N = 256 (reads 2.50 times at N = 256, where the lines of a column" in (
        verdict.text
    )


@pytest.mark.native
@pytest.mark.parametrize("size", [24, 32, 40, 48, 64])
@pytest.mark.parametrize("ways", [4, 8, 16])
def test_the_model_reads_a_column_again_exactly_where_it_has_no_room(size: int, ways: int) -> None:
    from memgauge import _core
    from memgauge.experiments.shared.cache_machines import cache_model
    from memgauge.experiments.traffic.simulation import layout

    place = two_levels(ways)
    point = resort_point("s1cf", size, ["in", "out"], grid="1x1")
    extents = {"planes": size, "rows": size, "cols": size}
    spec = _core.NestSpec("s1cf", planes=size, rows=size, cols=size)
    model = cache_model(place)
    _core.simulate_nest(spec, layout(spec.arrays, 1), model)
    again = model.counts().stream_read_bytes[1] / expected("s1cf", extents).arrays["out"].read_bytes
    crowded = conflict(point, "out", place) is not None
    assert again == pytest.approx(4 if crowded else 1, abs=0.1), "four elements are in a line"
