"""The `traffic` experiment: what it plans, what it measures, and what it leaves out and says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge import _core
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.stream.counted import IDLE_EVERY
from memgauge.experiments.traffic import cold as nest_traffic_cold
from memgauge.experiments.traffic import host as nest_traffic
from memgauge.experiments.traffic.host import Traffic
from memgauge.experiments.traffic.memory import TrafficGroup
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import element_traffic, spec_of
from memgauge.experiments.traffic.shapes import extents_of
from memgauge.model.counting.readings import counted
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.parameters import build
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.system.detect import detect

MIB = 1 << 20
GIB = 1 << 30


def requested(kernel: str = "gemm", budget_s: float = 60.0, **options: object) -> TrafficParameters:
    return build(TrafficParameters, kernel=kernel, **options).for_budget(budget_s)


def small_caches() -> System:
    """This machine, with caches so small that few sets of arrays are needed."""
    system = detect()
    caches = [msgspec.structs.replace(cache, bytes=64 << 10) for cache in system.caches]
    return msgspec.structs.replace(system, caches=caches)


def planned(parameters: TrafficParameters, system: System | None = None) -> list[TrafficGroup]:
    return Traffic().plan(parameters, system or a_machine(8))


def points(parameters: TrafficParameters, system: System | None = None) -> list[Point]:
    return [point for group in planned(parameters, system) for point in group.points]


@contextmanager
def opened(parameters: TrafficParameters) -> Iterator[Bench]:
    experiment, system = Traffic(), small_caches()
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        yield bench


def test_points_are_named_by_kernel_size_and_threads() -> None:
    names = [point.point for point in points(requested(sizes="64,128", threads="1,2"))]
    assert names == [
        "traffic/gemm/64/1t",
        "traffic/gemm/128/1t",
        "traffic/gemm/64/2t",
        "traffic/gemm/128/2t",
    ]
    (prefetched,) = points(requested("s1cf", sizes="64", store_prefetch=True))
    assert prefetched.point == "traffic/s1cf/64/1t/prefetched"
    assert prefetched.requested["grid"] == "2x4"


def test_batched_is_a_thread_on_each_core() -> None:
    (point,) = points(
        requested(sizes="64", batched=True), a_machine(4, threads_per_core=2, sockets=2)
    )
    assert point.threads == 8
    assert point.actual["cpus"] == "0-7"
    assert point.requested["batched"] is True


@pytest.mark.parametrize(
    ("kernel", "read", "written", "allocated"),
    [
        ("gemm", 2 * 64**2, 64**2, 64**2),
        ("copy", 64, 64, 64),
        ("triad", 2 * 64, 64, 64),
        ("transpose", 64**2, 64**2, 64**2),
        ("strided-copy", 64, 64, 64),
        ("s1cf-second", 2 * 64**3 / 8, 2 * 64**3 / 8, 2 * 64**3 / 8),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_bytes_are_of_one_execution_by_all_threads(
    kernel: str, read: float, written: float, allocated: float, threads: int
) -> None:
    (point,) = points(requested(kernel, sizes="64", threads=str(threads)))
    assert point.actual["read_bytes"] == 8 * read * threads
    assert point.actual["write_bytes"] == 8 * written * threads
    assert point.bytes_counted == 8 * (read + written) * threads
    assert point.bytes_moved == 8 * (read + written + allocated) * threads


def test_capped_gemv_reads_its_matrix_for_every_row() -> None:
    (point,) = points(requested("gemv", sizes="5000", cap=300))
    assert point.actual["read_bytes"] == 8 * (5000 * 300 + 300)
    assert point.actual["write_bytes"] == 8 * 5000
    assert point.actual["A_bytes"] == 8 * 300**2


@pytest.mark.parametrize("kernel", _core.NEST_KINDS)
def test_a_point_says_what_its_loop_nest_is(kernel: str) -> None:
    parameters = requested(kernel, sizes="64", **({"cap": 40} if kernel == "gemv" else {}))
    (point,) = points(parameters)
    spec = spec_of(point)
    extents = extents_of(parameters, 64, 40)
    planned_spec = _core.NestSpec(kernel, store_prefetch=False, load_prefetch=False, **extents)
    assert spec.trips == planned_spec.trips
    assert [a.bytes for a in spec.arrays] == [a.bytes for a in planned_spec.arrays]
    for array in spec.arrays:
        assert point.actual[f"{array.name}_bytes"] == array.bytes
    assert element_traffic(spec, kernel, extents).read_bytes == point.actual["read_bytes"]


def test_sizes_that_memory_cannot_hold_together_are_opened_in_turn() -> None:
    system = a_machine(2, available_bytes=4 * GIB)
    groups = planned(requested(sizes="1e3,4096,8192,10000"), system)
    assert len(groups) > 1
    assert [p.requested["size"] for g in groups for p in g.points] == [1000, 4096, 8192, 10000]
    for group in groups:
        assert group.points == [one.planned.point for one in group.sizes]
        assert group.bytes == sum(one.sets.pool_bytes for one in group.sizes)
    for earlier, later in pairwise(groups):
        assert earlier.bytes + later.bytes > 0.75 * system.available_bytes
    assert len({group.name for group in groups}) == len(groups)


def test_a_size_beyond_memory_is_refused_and_defaults_are_not_beyond_it() -> None:
    system = a_machine(2, available_bytes=64 * MIB)
    with pytest.raises(
        RequestError,
        match=r"--sizes 4096: the arrays of gemm by 1 thread take 384 MiB, and .* "
        "sizes up to 512 of these fit; --simulate-only needs no memory",
    ):
        points(requested(sizes="256,512,4096"), system)
    kept = points(requested("transpose"), system)
    assert 16 * int(str(kept[-1].requested["size"])) ** 2 <= 0.8 * 64 * MIB
    assert points(requested(sizes="4096", simulate_only=True), system)


def test_more_threads_than_a_named_machine_has_are_refused() -> None:
    with pytest.raises(RequestError, match="machine power9-5mb: has 22 cores, not 30"):
        points(requested(sizes="64", threads="30", machine="power9-5mb"), a_machine(32))
    with pytest.raises(RequestError, match="machine this: has 4 cores, not 5"):
        points(requested(sizes="64", threads="5", simulate_only=True), a_machine(4))


def test_threads_that_only_some_machines_have_are_measured_all_the_same() -> None:
    siblings = a_machine(4, threads_per_core=2)
    assert points(requested(sizes="64", threads="8"), siblings)
    assert points(requested(sizes="64", threads="8", machine="power9-5mb,this"), siblings)
    assert points(requested(sizes="64", batched=True, machine="power9-5mb"), a_machine(32))


def test_an_unknown_machine_is_refused_before_anything_is_measured() -> None:
    with pytest.raises(RequestError, match="did you mean power9-5mb"):
        points(requested(machine="power9-5"))


def test_what_the_counters_tell_is_what_the_kernel_moves() -> None:
    with opened(requested(sizes="32,48", threads="1", counters="modelled")) as bench:
        (made,) = bench.counters
        for point in bench.points:
            assert point.actual["regions"]
            assert point.actual.get("not_counted") is None
            samples = [one for n in range(IDLE_EVERY + 1) for one in bench.measure(point.point, n)]
            for sample in samples:
                assert sample.reading is not None
                found = [counted(c, sample.reading.before, sample.reading.after) for c in made.of]
                moved = sum(one.value for one in found if one is not None)
                repetitions = len(sample.threads[0].begin_ns)
                assert repetitions == point.actual["repetitions"]
                assert moved == repetitions * point.bytes_moved
            idle = [sample.round for sample in samples if sample.idle is not None]
            assert idle == [0, IDLE_EVERY]
        assert all(check.passed for found in bench.validate() for check in found.checks)


def test_every_thread_stamps_every_execution_on_its_own_cpu() -> None:
    cpus = detect().allowed_cpus[:2]
    parameters = requested(
        "s2cf", sizes="16", threads=str(len(cpus)), counters="none", repetitions=9
    )
    with opened(parameters) as bench:
        sample, *_ = bench.measure(bench.points[0].point, 0)
    assert [len(thread.begin_ns) for thread in sample.threads] == [9] * len(cpus)
    assert {thread.cpu for thread in sample.threads} == set(cpus)
    assert sample.reading is None
    assert sample.idle is None


def warned(point: Point) -> dict[str, str]:
    return {one.code: one.message for one in Traffic().check(point, [], a_machine(1))}


def test_without_counters_the_first_point_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise CounterRefused("no counter of memory traffic can be opened; perf: none here")

    monkeypatch.setattr(nest_traffic, "find", refused)
    with opened(requested(sizes="16,24")) as bench:
        assert bench.counters == []
        first, second = bench.points
        assert bench.measure(first.point, 0)[0].reading is None
    assert first.actual["not_counted"] == (
        "no counter of memory traffic can be opened; perf: none here"
    )
    assert "not_counted" not in second.actual
    with pytest.raises(CounterRefused, match="none here"), opened(requested(counters="auto")):
        pass


def test_a_size_that_takes_too_long_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nest_traffic_cold, "REGION_S", 0.002)
    with opened(requested(sizes="16,64,700", size_budget="40ms", counters="none")) as bench:
        facts = {point.requested["size"]: point.actual for point in bench.points}
        assert facts[16]["regions"]
        assert facts[700]["regions"] == 0
        assert "copies" not in facts[700]
        said = warned(bench.points[-1])["too-long-to-measure"]
    assert said == facts[700]["left_out"]
    assert said.startswith("N = 700 is not measured: an execution takes about ")


def test_hopeless_sizes_are_not_even_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    real = _core.LoopNest

    def recorded(team: _core.Team, spec: _core.NestSpec, *rest: int, **named: object) -> object:
        made.append(spec.trips)
        return real(team, spec, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "LoopNest", recorded)
    with opened(requested(sizes="3000", size_budget="1s", counters="none")) as bench:
        assert bench.points[0].actual["regions"] == 0
    assert made == [96**3], "only a small one that tells the speed"


def test_few_sets_are_said() -> None:
    point = points(requested(sizes="64"))[0]
    short = msgspec.structs.replace(point, actual={"copies": 2, "copies_wanted": 40})
    assert "2 sets of arrays are used in turn, 40 would" in warned(short)["sets-in-caches"]


def test_nothing_is_run_when_only_simulating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_core, "LoopNest")
    monkeypatch.delattr(_core, "Team")
    with opened(
        requested(sizes="64,4096", threads="21", simulate_only=True, machine="power9-5mb")
    ) as bench:
        assert [point.actual["regions"] for point in bench.points] == [0, 0]
        assert [point.threads for point in bench.points] == [21, 21]
        assert bench.validate() == []


def test_batched_when_only_simulating_is_what_every_machine_has() -> None:
    parameters = requested(sizes="64", batched=True, simulate_only=True, machine="power9-5mb,this")
    assert [point.threads for point in points(parameters, a_machine(6))] == [6]
    alone = parameters.replace(machine="power9-5mb")
    assert [point.threads for point in points(alone, a_machine(6))] == [22]


def test_what_was_written_is_checked() -> None:
    with opened(requested(sizes="16,24", counters="none")) as bench:
        assert bench.validate() == [], "nothing was executed for a sample"
        bench.measure(bench.points[0].point, 0)
        (found,) = bench.validate()
        assert found.subject == "gemm, N = 16, 1 thread"
        assert all(check.passed for check in found.checks)
