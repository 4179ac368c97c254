"""What is simulated for a point: how much of the machine, and which sizes time suffices for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge import _core
from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.experiments.traffic import simulation as nest_traffic_simulation
from memgauge.experiments.traffic.host import Traffic
from memgauge.experiments.traffic.machines import MachinePart, part_of
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import spec_of
from memgauge.experiments.traffic.simulation import Job, estimated_s, layout, simulate
from memgauge.machines.library import load
from memgauge.model.cache_machine import CacheLevel, CacheMachine, with_cores
from memgauge.model.parameters import build
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.records import AnyRecord, Point, Warning
from memgauge.model.units import parse_duration
from memgauge.system.detect import detect

KIB = 1 << 10


def machine(*shared: int, bypasses: bool = False) -> CacheMachine:
    """Small levels, sets in no power of two, each shared by so many of 8 cores; 0: all."""
    made = CacheMachine(
        name="small",
        title="small",
        source="a test",
        levels=[
            CacheLevel(name=f"L{at + 1}", bytes=3 * 4 * KIB << (2 * at), ways=4, cores=cores)
            for at, cores in enumerate(shared)
        ],
        machine_cores=8,
    )
    if not bypasses:
        return made
    stores = msgspec.structs.replace(made.store_streams, lines=2)
    return msgspec.structs.replace(made, store_streams=stores)


def points(kernel: str, sizes: str, threads: int = 1, *, prefetch: bool = False) -> list[Point]:
    parameters = build(
        TrafficParameters,
        kernel=kernel,
        sizes=sizes,
        threads=str(threads),
        store_prefetch=prefetch,
        simulate_only=True,
        machine="power9-5mb",
    )
    groups = Traffic().plan(parameters, a_machine(8))
    return [point for group in groups for point in group.points]


def job(point: Point, machine: CacheMachine, *, whole: bool = False) -> Job:
    part = part_of(machine, [point.threads])
    if whole:
        at_work = with_cores(machine, point.threads)
        part = MachinePart(machine=at_work, unit=at_work, times=1)
    return Job(point=point, spec=spec_of(point), part=part)


def records_of(jobs: Sequence[Job], threads: int = 1, limit_s: float = 60.0) -> list[AnyRecord]:
    return list(simulate(jobs, _core.NestSpec("gemm", n=96), limit_s, threads))


def simulated(jobs: Sequence[Job], threads: int = 1) -> list[Simulated]:
    records = records_of(jobs, threads)
    return [record for record in records if isinstance(record, Simulated)]


def counts(record: Simulated) -> Simulated:
    return msgspec.structs.replace(record, took_s=0.0)


KERNELS = ["gemv", "gemm", "triad", "strided-copy", "transpose", "s1cf-second", "s1pf", "s2cf"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("shared", "threads"), [((1, 1), 4), ((1, 2), 4), ((1, 2, 4), 8), ((1, 2, 0), 4)]
)
@pytest.mark.parametrize("bypasses", [False, True])
def test_a_part_that_stands_for_all_cores_counts_the_same(
    kernel: str, shared: tuple[int, ...], threads: int, bypasses: bool
) -> None:
    (point,) = points(kernel, "48", threads)
    small = machine(*shared, bypasses=bypasses)
    (part,) = simulated([job(point, small)])
    (whole,) = simulated([job(point, small, whole=True)])
    assert counts(part) == counts(whole)
    assert part.cores == threads


@pytest.mark.parametrize("kernel", _core.NEST_KINDS)
@pytest.mark.parametrize("prefetch", [False, True])
def test_reads_by_array_are_all_reads(kernel: str, prefetch: bool) -> None:
    (point,) = points(kernel, "64", prefetch=prefetch)
    (found,) = simulated([job(point, machine(1, 1))])
    assert sum(found.array_read_bytes.values()) == found.read_bytes
    assert found.point == point.point
    assert [level.level for level in found.levels] == ["L1", "L2"]
    for array in spec_of(point).arrays:
        if array.read and kernel != "strided-copy":
            assert found.array_read_bytes[array.name] >= array.bytes


@pytest.mark.parametrize("kernel", ["gemm", "gemv", "copy", "transpose", "s1cf", "s2pf"])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_fits_is_read_once_and_written_once(kernel: str, threads: int) -> None:
    (point,) = points(kernel, "32", threads)
    large = msgspec.structs.replace(
        machine(1), levels=[CacheLevel(name="L1", bytes=4 << 20, ways=16)]
    )
    (found,) = simulated([job(point, large)])
    assert found.read_bytes == point.bytes_moved - int(str(point.actual["write_bytes"]))
    assert found.write_bytes == point.actual["write_bytes"]


def test_a_store_prefetch_reads_what_is_stored() -> None:
    (point,) = points("copy", "4096", prefetch=True)
    (found,) = simulated([job(point, machine(1, 1, bypasses=True))])
    assert found.software_prefetch_read_bytes > 0.9 * 8 * 4096
    assert found.array_read_bytes["c"] >= found.software_prefetch_read_bytes


def test_arrays_lie_as_those_of_a_loop_nest_do() -> None:
    team = _core.Team(detect().allowed_cpus[:1])
    for kernel, extents in (("gemm", {"n": 37}), ("triad", {"n": 1000}), ("copy", {"n": 7})):
        spec = _core.NestSpec(kernel, store_prefetch=False, load_prefetch=False, **extents)
        nest = _core.LoopNest(team, spec, 2)
        real = [nest.address(0, 0, index) for index in range(len(spec.arrays))]
        (made,) = layout(spec.arrays, 1)
        assert [at - real[0] for at in real] == [at - made[0] for at in made]
        assert (real[0] - made[0]) % 4096 == 0
        nest.close()


def test_arrays_of_no_core_touch_those_of_another() -> None:
    arrays = spec_of(points("gemm", "100000")[0]).arrays
    ends = [
        (begin, begin + array.bytes)
        for bases in layout(arrays, 3)
        for begin, array in zip(bases, arrays, strict=True)
    ]
    assert all(end <= later for (_, end), (later, _) in pairwise(ends))


def test_the_cheapest_come_first_and_every_machine_is_declared_before() -> None:
    of = points("gemm", "24,16,32")
    other = msgspec.structs.replace(machine(1), name="other")
    records = records_of([job(p, m) for m in (machine(1, 1), other) for p in of])
    declared: set[str] = set()
    sizes = []
    for record in records:
        if isinstance(record, SimulatedMachine):
            declared.add(record.machine.name)
        elif isinstance(record, Simulated):
            assert record.machine in declared
            sizes.append(record.point)
    assert sizes == [point for point in (p.point for p in of) for _ in range(2)]
    assert declared == {"small", "other"}


def test_a_machine_with_another_number_of_cores_is_declared_anew() -> None:
    jobs = [job(points("gemm", "16", threads)[0], machine(1, 0)) for threads in (1, 4)]
    declared = [r.machine.cores for r in records_of(jobs) if isinstance(r, SimulatedMachine)]
    assert declared == [1, 4]


def test_what_exceeds_the_limit_is_told_and_the_rest_is_simulated() -> None:
    jobs = [job(p, machine(1)) for p in points("gemm", "16,4003,5003")]
    records = records_of(jobs, limit_s=1.0)
    assert [type(record) for record in records] == [SimulatedMachine, Simulated, Warning]
    known = records[-1]
    assert isinstance(known, Warning)
    assert known.message.startswith(
        "not simulated: N = 4003, 5003 on small; that would take about "
    )
    assert known.message.endswith(" more, and the limit of --simulate-up-to is 1.00 s")
    assert known.remedy is not None


@pytest.mark.parametrize(
    ("cost_s", "limit_s", "remedy"),
    [
        (10.0, 30.0, "give --simulate-up-to 1m"),
        (100.0, 30.0, "give --simulate-up-to 5m"),
        (3000.0, 30.0, "give --simulate-up-to 2h"),
        (50_000.0, 30.0, "give --simulate-up-to 24h"),
        (1e5, 30.0, "give smaller --sizes"),
        (1e9, 30.0, "give smaller --sizes"),
    ],
)
def test_the_limit_that_is_proposed_is_one_that_people_give(
    cost_s: float, limit_s: float, remedy: str
) -> None:
    (one,) = (job(p, machine(1)) for p in points("gemm", "4000"))
    known = nest_traffic_simulation._not_simulated([one], cost_s, limit_s)
    assert known.remedy == remedy
    proposed = remedy.rpartition(" ")[2]
    if proposed != "--sizes":
        given = parse_duration(proposed, "--simulate-up-to")
        assert cost_s + limit_s < given < 5 * (cost_s + limit_s)


def test_a_small_nest_tells_the_speed_where_nothing_was_simulated_before() -> None:
    jobs = [job(p, machine(1)) for p in points("gemm", "150,9001")]
    first, second, known = records_of(jobs, limit_s=20.0)
    assert isinstance(first, SimulatedMachine)
    assert isinstance(second, Simulated)
    assert isinstance(known, Warning)
    alone = records_of(jobs[1:], limit_s=1.0)
    assert [type(record) for record in alone] == [Warning]


def test_an_estimate_knows_of_rows_that_are_not_simulated() -> None:
    probe = _core.NestSpec("gemm", n=96)
    small = load("power9-5mb")

    def estimate(size: int) -> float:
        return estimated_s([job(p, small) for p in points("gemm", str(size))], probe)

    assert estimate(16) == 0
    # 16 rows of 16 KiB come to the same sets again; of 2001 doubles not even all rows do.
    assert 0 < 5 * estimate(2048) < estimate(2001)


def test_a_product_of_large_rows_fits_a_short_limit() -> None:
    jobs = [job(p, load("power9-5mb")) for p in points("gemm", "1024,9001")]
    declared, made, known = records_of(jobs, limit_s=20.0)
    assert isinstance(declared, SimulatedMachine)
    assert isinstance(made, Simulated)
    assert made.accesses == 2 * 1024**3 + 1024**2
    assert isinstance(known, Warning)


def test_what_takes_no_time_tells_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_to_make(*arguments: Any) -> _core.CacheModel:
        time.sleep(0.05)
        return cache_model(*arguments)

    monkeypatch.setattr(nest_traffic_simulation, "cache_model", slow_to_make)
    found = simulated([job(p, machine(1)) for p in points("gemm", "8,160")])
    assert len(found) == 2, "160 would take minutes if a trip of it took as long as one of 8"


@pytest.mark.parametrize("name", ["power9-5mb", "power9-110mb", "xeon-gold-6130"])
@pytest.mark.parametrize("kernel", ["gemm", "s1cf-second"])
def test_threads_of_the_model_change_no_count(
    name: str, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nest_traffic_simulation, "WORTH_THREADS_S", 0.0)
    (point,) = points(kernel, "40")
    alone, together = (simulated([job(point, load(name))], threads) for threads in (1, 3))
    assert [counts(one) for one in alone] == [counts(one) for one in together]


def experiment_records(system_cores: int, **options: object) -> list[AnyRecord]:
    parameters = build(TrafficParameters, kernel="gemm", sizes="16,24", **options)
    system = a_machine(system_cores)
    groups = Traffic().plan(parameters, system)
    planned = [point for group in groups for point in group.points]
    return list(Traffic().simulate(planned, parameters, system))


def test_a_machine_of_too_few_cores_is_told_beside_the_others() -> None:
    records = experiment_records(32, batched=True, machine="this,power9-5mb")
    (known,) = [record for record in records if isinstance(record, Warning)]
    assert known.message == "machine power9-5mb: has 22 cores, not 32; use fewer threads"
    assert {r.machine for r in records if isinstance(r, Simulated)} == {"this"}
    assert {r.cores for r in records if isinstance(r, Simulated)} == {32}


def test_what_is_borrowed_is_a_level_of_its_own() -> None:
    (found,) = simulated([job(points("gemm", "16")[0], load("power9-110mb"))])
    assert [level.level for level in found.levels] == ["L1", "L2", "L3", "L3 borrowed"]


def test_no_machine_no_records() -> None:
    assert experiment_records(2, machine="none") == []


def test_what_the_model_has_no_numbers_for_is_told_and_the_rest_is_simulated() -> None:
    power9 = load("power9-5mb")
    jobs = [job(point, power9) for point in points("triad", "1000,2000000000")]
    records = records_of(jobs, limit_s=1e6)
    assert [type(record) for record in records] == [SimulatedMachine, Simulated, Warning]
    known = records[-1]
    assert isinstance(known, Warning)
    assert known.message.startswith("not simulated: N = 2000000000 on power9-5mb: ")
    assert "there are no numbers for more lines" in known.message
    assert known.remedy == "give smaller --sizes"
