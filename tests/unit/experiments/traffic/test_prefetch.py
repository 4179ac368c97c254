"""Software prefetch of nests: what is planned for distances, what runs, and what is simulated."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge import _core
from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.experiments.shared.prefetch import Prefetch
from memgauge.experiments.traffic.host import Traffic
from memgauge.experiments.traffic.machines import part_of
from memgauge.experiments.traffic.parameters import NestPrefetch, TrafficParameters
from memgauge.experiments.traffic.plan import spec_for, spec_of
from memgauge.experiments.traffic.simulation import Job, simulate
from memgauge.machines.library import load
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build, texts
from memgauge.model.record_kinds.simulated import Simulated
from memgauge.model.records import Point


def planned(kernel: str = "s1cf-second", sizes: str = "64", **requested: object) -> list[Point]:
    parameters = build(
        TrafficParameters,
        kernel=kernel,
        sizes=sizes,
        simulate_only=True,
        machine="power9-5mb",
        **requested,
    )
    assert build(TrafficParameters, **texts(parameters)) == parameters
    groups = Traffic().plan(parameters, a_machine(8))
    return [point for group in groups for point in group.points]


def test_each_distance_is_a_point_of_its_own() -> None:
    points = planned(prefetch="0,512,4096,512:4096")
    assert [point.point.rpartition("1t")[2] for point in points] == [
        "",
        "/prefetched-loads-stores",
        "/prefetched-loads-stores-p4096",
        "/prefetched-loads-stores-p512-f4096",
    ]


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ({}, NestPrefetch()),
        ({"store_prefetch": True}, NestPrefetch(stores=True)),
        ({"load_prefetch": True}, NestPrefetch(loads=True)),
        ({"prefetch": "1024"}, NestPrefetch(stores=True, loads=True, distance=Prefetch(1024))),
        (
            {"prefetch": "1024", "load_prefetch": True},
            NestPrefetch(loads=True, distance=Prefetch(1024)),
        ),
        ({"prefetch": "0", "store_prefetch": True}, NestPrefetch()),
    ],
)
def test_what_is_prefetched(requested: dict[str, object], expected: NestPrefetch) -> None:
    assert build(TrafficParameters, **requested).prefetches == (expected,)


def test_names_of_earlier_runs_stay() -> None:
    (point,) = planned(store_prefetch=True)
    assert point.point == "traffic/s1cf-second/64/1t/prefetched"


@pytest.mark.parametrize("distance", ["100", "512:1000"])
def test_parts_of_lines_are_refused(distance: str) -> None:
    with pytest.raises(RequestError, match="choose multiples of 64"):
        planned(prefetch=distance)


def test_the_time_is_shared_by_all_distances() -> None:
    one = build(TrafficParameters, sizes="64,128")
    assert build(TrafficParameters, sizes="64,128", prefetch="0,512,1024").parts == 3 * one.parts


@pytest.mark.parametrize("kernel", _core.NEST_KINDS)
@pytest.mark.parametrize(
    "ahead",
    [
        NestPrefetch(loads=True),
        NestPrefetch(loads=True, stores=True, distance=Prefetch(192)),
        NestPrefetch(stores=True, distance=Prefetch(512, 1280)),
    ],
)
def test_a_nest_that_prefetches_computes_the_same(kernel: str, ahead: NestPrefetch) -> None:
    parameters = build(TrafficParameters, kernel=kernel)
    spec = spec_for(parameters, 32, 32, ahead)
    nest = _core.LoopNest(_core.Team([min(os.sched_getaffinity(0))]), spec)
    try:
        nest.run(1)
        found = nest.validate()
        assert found
        assert all(one.passed for one in found)
    finally:
        nest.close()


def simulated(point: Point) -> Simulated:
    job = Job(point=point, spec=spec_of(point), part=part_of(load("power9-5mb"), [1]))
    probe = _core.NestSpec("gemm", n=64)
    (found,) = [one for one in simulate([job], probe, 60.0, 1) if isinstance(one, Simulated)]
    return found


def test_prefetched_reads_are_of_the_arrays_that_they_prefetch() -> None:
    plain, ahead = (simulated(point) for point in planned(sizes="96", prefetch="0,512"))
    assert plain.software_prefetch_read_bytes == 0
    assert ahead.software_prefetch_read_bytes > 0
    # All is read that was read without, but for what lies behind the ends of arrays.
    for array, read_bytes in plain.array_read_bytes.items():
        assert ahead.array_read_bytes[array] == pytest.approx(read_bytes, rel=0.25)
    assert ahead.write_bytes == plain.write_bytes


def test_a_prefetch_moves_reads_and_saves_none() -> None:
    """The second loop of S1CF past the caches, as figure 7 of the study: five reads either way."""
    machine = load("power9-5mb")
    reads = []
    for prefetch in (False, True):
        spec = _core.NestSpec(
            "s1cf-second",
            planes=140,
            rows=280,
            cols=8,
            load_prefetch=prefetch,
            store_prefetch=prefetch,
        )
        model = cache_model(machine)
        _core.simulate_nest(spec, [[1 << 32, 1 << 34]], model)
        elements = 140 * 280 * 8
        reads.append(model.counts().read_bytes / 16 / elements)
    assert reads[0] == pytest.approx(5.0, rel=0.02)
    assert reads[1] == pytest.approx(5.0, rel=0.02)
