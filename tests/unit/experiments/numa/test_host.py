"""Which pairs `numa` measures on which machine, who walks what, and what a visit gives."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import GIB, MIB, a_machine
from tests.unit.experiments.made_up_nodes import memory_anywhere, two_nodes

from memgauge import _core
from memgauge.experiments.numa.host import Numa
from memgauge.experiments.numa.parameters import MOST_THREADS, NumaParameters
from memgauge.experiments.numa.plan import BandwidthGroup, Plan, plan_of, sampling_passes
from memgauge.experiments.numa.sizes import CACHE_MULTIPLE
from memgauge.experiments.shared.base import Bench, Group
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.parameters import build
from memgauge.model.records import Point
from memgauge.model.system import Node, System
from memgauge.system.topology.placement import within

SMALL = {"array_bytes": "2MiB", "threads": "1", "pages": "4k"}


def with_far_memory(
    cores: int = 4, sockets: int = 2, llc_bytes: int = 32 * MIB, available_bytes: int = 1 << 40
) -> System:
    """Sockets with memory of their own, and a node without CPUs."""
    system = a_machine(cores, sockets=sockets, llc_bytes=llc_bytes, available_bytes=available_bytes)
    far = Node(node=sockets, cpus=[], bytes=64 * GIB, distances={})
    return msgspec.structs.replace(system, nodes=[*system.nodes, far])


def names(group: Group) -> list[str]:
    return [point.point for point in group.points]


def test_every_memory_node_is_measured_from_every_node_with_cpus() -> None:
    bandwidth, *latency = Numa().plan(build(NumaParameters, kernel="read"), with_far_memory())
    pairs = [f"n{cpu}-n{memory}" for cpu in range(2) for memory in range(3)]
    assert names(bandwidth) == [
        *(f"numa/read/{pair}" for pair in pairs),
        *(f"numa/read/all/{pair}" for pair in pairs),
    ]
    assert [name for group in latency for name in names(group)] == [
        f"numa/latency/{pair}" for pair in pairs
    ]


def test_one_memory_node_is_not_enough() -> None:
    with pytest.raises(NotPossibleHere, match="memory on one node only") as refused:
        Numa().plan(NumaParameters(), a_machine(8))
    assert "\n" not in str(refused.value)


def test_nodes_outside_the_cpuset_are_left_out() -> None:
    system = msgspec.structs.replace(with_far_memory(), allowed_nodes=[0, 2])
    assert plan_of(NumaParameters(), system).nodes == [0, 2]
    alone = msgspec.structs.replace(system, allowed_nodes=[0])
    with pytest.raises(NotPossibleHere):
        plan_of(NumaParameters(), alone)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"memory_nodes": "0,9"},
            "--memory-nodes: this machine has no node 9 .* 0, 1, 2",
        ),
        ({"memory": "node:1"}, "--memory node:1: numa measures the memory of nodes"),
        ({"threads": "1,2"}, "--threads: numa measures with one number"),
        ({"threads": "5"}, "--threads 5: node 0 has 4 CPUs"),
        ({"kernel": "triad"}, "--kernel 'triad' is not known"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        Numa().plan(build(NumaParameters, **given), with_far_memory())
    assert "\n" not in str(refused.value)


def test_cpus_of_some_nodes_and_memory_of_others_can_be_chosen() -> None:
    parameters = build(NumaParameters, memory_nodes="2", kernel="copy")
    bandwidth, *_ = Numa().plan(parameters, within(with_far_memory(), [1]))
    assert names(bandwidth) == ["numa/copy/n1-n2"]


@pytest.mark.parametrize("policy", ["scatter", "compact", "cores"])
def test_each_node_has_a_thread_on_each_of_its_own_cores(policy: str) -> None:
    system = a_machine(8, sockets=2, threads_per_core=2)
    core_of = {cpu.cpu: cpu.core for cpu in system.cpus}
    node_of = {cpu.cpu: cpu.node for cpu in system.cpus}
    for one in plan_of(build(NumaParameters, cpus=policy), system).cpus:
        assert len(one.cpus) == 8
        assert {node_of[cpu] for cpu in one.cpus} == {one.node}
        if policy != "compact":
            assert len({core_of[cpu] for cpu in one.cpus}) == 8


def test_no_more_threads_than_are_needed_unless_they_are_asked_for() -> None:
    system = a_machine(128, sockets=2)
    assert {len(one.cpus) for one in plan_of(NumaParameters(), system).cpus} == {MOST_THREADS}
    requested = plan_of(build(NumaParameters, threads="100"), system)
    assert {len(one.cpus) for one in requested.cpus} == {100}


@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 3))
def test_all_at_once_each_node_splits_its_threads_equally(
    cores: int, sockets: int, far_nodes: int
) -> None:
    system = a_machine(cores, sockets=sockets)
    far = [Node(node=sockets + n, cpus=[], bytes=64 * GIB, distances={}) for n in range(far_nodes)]
    system = msgspec.structs.replace(system, nodes=[*system.nodes, *far])
    if len(system.nodes) < 2:
        return
    plan = plan_of(build(NumaParameters, kernel="read"), system)
    at_once = [visit for visit in sampling_passes(plan) if len(visit.points) > 1]
    assert bool(at_once) == (cores >= len(system.nodes))
    for visit in at_once:
        ranks = [rank for walkers in visit.walks.values() for rank in walkers]
        assert len(ranks) == len(set(ranks))
        assert {len(walkers) for walkers in visit.walks.values()} == {cores // len(system.nodes)}
        for (cpu_node, _), walkers in visit.walks.items():
            of_node = next(one for one in plan.cpus if one.node == cpu_node)
            assert {plan.team[rank] for rank in walkers} <= set(of_node.cpus)
        leader, *others = visit.points.values()
        assert leader.measured_with is None
        assert {point.measured_with for point in others} == {leader.point}


def test_too_few_threads_to_share_all_memory_are_warned_of_once() -> None:
    experiment, system = Numa(), with_far_memory(cores=2)
    groups = experiment.plan(NumaParameters(), system)
    found = [
        (w.code, w.point)
        for g in groups
        for p in g.points
        for w in experiment.check(got(p), [], system)
    ]
    assert found == [("too-few-threads", "numa/read/n0-n0")]
    assert not any("/all/" in name for name in names(groups[0]))


def got(point: Point, **facts: object) -> Point:
    """As opened: with what the kernel says backs its memory."""
    known = {"pages": "thp", "huge_share": 1.0, "node": point.requested["memory_node"], **facts}
    return msgspec.structs.replace(point, actual={**point.actual, **known})


def test_pages_on_another_node_are_warned_of() -> None:
    experiment, system = Numa(), with_far_memory()
    point = Numa().plan(NumaParameters(), system)[0].points[1]
    assert experiment.check(got(point), [], system) == []
    assert experiment.check(got(point, node=None), [], system) == []
    (warning,) = experiment.check(got(point, node=0), [], system)
    assert warning.code == "memory-elsewhere"
    assert "numa/read/n0-n1 lie on node 0, not on node 1" in warning.message


@given(st.integers(1, 64), st.integers(1, 512), st.integers(30, 42))
def test_arrays_exceed_caches_or_say_so_and_fit_what_is_available(
    cores: int, llc_mib: int, room_bits: int
) -> None:
    system = with_far_memory(cores, llc_bytes=llc_mib * MIB, available_bytes=1 << room_bits)
    plan = plan_of(NumaParameters(), system)
    found = plan.sizes
    assert plan.arrays == (1, 1)
    together = found.array_bytes * len(plan.cpus[0].cpus)
    assert found.exceeds_caches == (together >= CACHE_MULTIPLE * llc_mib * MIB)
    total = 2 * found.array_bytes * len(plan.team) * len(plan.nodes)
    assert total <= (1 << room_bits) / 2 or found.array_bytes == 2 * MIB
    assert found.iteration_bytes <= found.array_bytes


def test_a_survey_keeps_its_threads_to_itself() -> None:
    assert not NumaParameters.takes_threads


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Plan, list[Bench]]]:
    experiment, system = Numa(), two_nodes()
    if len(system.allowed_cpus) < 2:
        pytest.skip("two CPUs are needed, which stand for two nodes")
    parameters = build(NumaParameters, **SMALL)
    groups = experiment.plan(parameters, system)
    with memory_anywhere(monkeypatch):
        benches = [experiment.open(group, parameters) for group in groups]
        yield plan_of(parameters, system), [bench.__enter__() for bench in benches]
        for bench in benches:
            bench.__exit__(None, None, None)


def test_planned_points_are_those_that_are_opened_and_measured(
    opened: tuple[Plan, list[Bench]],
) -> None:
    plan, benches = opened
    planned = Numa().plan(plan.parameters, two_nodes())
    for group, bench in zip(planned, benches, strict=True):
        assert [point.point for point in bench.points] == names(group)
        for point in bench.points:
            samples = bench.measure(point.point, 0)
            assert [sample.point for sample in samples] == [point.point]
            assert len(samples[0].threads) == point.threads
    bandwidth = benches[0]
    for point in bandwidth.points:
        (sample,) = bandwidth.measure(point.point, 1)
        assert sample.window_ns is not None
        assert [thread.cpu for thread in sample.threads] == [int(str(point.actual["cpus"]))]
        arrays = {"read": 1, "copy": 2}[str(point.requested["kernel"])]
        assert point.bytes_counted == arrays * int(str(point.actual["iteration_bytes"]))
    assert all(check.passed for one in bandwidth.validate() for check in one.checks)
    assert bandwidth.validate()[0].checks


def test_all_at_once_gives_every_pair_its_own_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one CPU node with two threads, which share two memories."""
    machine = two_nodes()
    if len(machine.allowed_cpus) < 2:
        pytest.skip("two CPUs are needed")
    cpus = [msgspec.structs.replace(cpu, node=0, core=n) for n, cpu in enumerate(machine.cpus)]
    system = msgspec.structs.replace(
        machine,
        cpus=cpus,
        nodes=[
            msgspec.structs.replace(machine.nodes[0], cpus=machine.allowed_cpus),
            msgspec.structs.replace(machine.nodes[1], cpus=[]),
        ],
    )
    parameters = build(NumaParameters, **SMALL | {"threads": "2", "kernel": "copy"})
    experiment = Numa()
    group = experiment.plan(parameters, system)[0]
    assert isinstance(group, BandwidthGroup)
    assert group.name == "bandwidth"
    with memory_anywhere(monkeypatch), experiment.open(group, parameters) as bench:
        leader = "numa/copy/all/n0-n0"
        # Empty where a thread came to nothing while both ran, as happens on a busy machine.
        samples = next(filter(None, (bench.measure(leader, round_) for round_ in range(500))))
        assert [sample.point for sample in samples] == [leader, "numa/copy/all/n0-n1"]
        assert len({sample.window_ns for sample in samples}) == 1
        assert len({sample.threads[0].cpu for sample in samples}) == 2
        switches = {sample.threads[0].involuntary_switches for sample in samples}
        assert len(switches) == 1


def test_real_memory_lies_on_the_node_it_is_asked_of() -> None:
    from memgauge.system.detect import detect

    system = detect()
    if sum(node.bytes > 0 for node in system.nodes) < 2:
        pytest.skip("this machine has memory on one node")
    experiment, parameters = Numa(), build(NumaParameters, **SMALL)
    for group in experiment.plan(parameters, system):
        with experiment.open(group, parameters) as bench:
            for point in bench.points:
                assert point.actual["node"] in {None, point.requested["memory_node"]}


def test_the_core_has_what_is_asked_of_it() -> None:
    assert _core.arrays_needed(_core.default_tuned_spec("read")) == (1, 0)
    assert _core.arrays_needed(_core.default_tuned_spec("copy")) == (1, 1)
