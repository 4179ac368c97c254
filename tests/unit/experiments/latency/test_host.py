"""Which rings `latency` walks."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.runner.fakes import a_system

from memgauge.experiments.latency.host import Latency
from memgauge.experiments.shared.rings import (
    LatencyParameters,
    cache_footprints,
    memory_footprint,
    targets,
)
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build
from memgauge.model.system import Cache, Cpu, Node, System
from memgauge.system.detect import detect

KIB, MIB = 1 << 10, 1 << 20


def cache(level: int, size: int) -> Cache:
    return Cache(
        level=level, type="unified", bytes=size, line_bytes=64, ways=8, sets=None, cpus=[0]
    )


@given(st.lists(st.integers(8 * KIB, 512 * MIB), min_size=1, max_size=4, unique=True))
def test_a_ring_fits_its_level_and_no_level_above(sizes: list[int]) -> None:
    sizes = sorted(sizes)
    caches = {level: cache(level, size) for level, size in enumerate(sizes, start=1)}
    for name, footprint, above in cache_footprints(caches):
        level = int(name[1:])
        assert above == (sizes[level - 2] if level > 1 else 0)
        assert footprint <= sizes[level - 1] // 2
        if level > 1:
            assert footprint > sizes[level - 2]


@given(st.integers(20, 34), st.integers(26, 40))
def test_a_ring_in_memory_is_never_one_that_caches_could_hold(
    llc_power: int, available_power: int
) -> None:
    system = msgspec.structs.replace(
        a_system(available_bytes=1 << available_power), caches=[cache(3, 1 << llc_power)]
    )
    ring = memory_footprint(system)
    assert ring >= 4 << llc_power
    assert ring <= max(4 << llc_power, min(256 << 20, system.available_bytes // 8))


def test_a_desktop_has_a_ring_for_each_level() -> None:
    caches = {1: cache(1, 48 * KIB), 2: cache(2, MIB), 3: cache(3, 32 * MIB)}
    assert cache_footprints(caches) == [
        ("L1", 24 * KIB, 0),
        ("L2", 192 * KIB, 48 * KIB),
        ("L3", 4 * MIB, MIB),
    ]


def three_nodes() -> System:
    """Two of four CPUs each, and one without."""
    return msgspec.structs.replace(
        a_system(1 << 40),
        cpus=[Cpu(cpu=n, core=n, socket=n // 4, node=n // 4, sibling=0) for n in range(8)],
        allowed_cpus=list(range(8)),
        nodes=[
            Node(node=0, cpus=[0, 1, 2, 3], bytes=1 << 34, distances={}),
            Node(node=1, cpus=[4, 5, 6, 7], bytes=1 << 34, distances={}),
            Node(node=2, cpus=[], bytes=1 << 34, distances={}),
        ],
    )


def test_every_node_is_reached_from_every_node_with_cpus() -> None:
    found = targets(LatencyParameters(pages="4k"), three_nodes())
    pairs = {(t.cpu_node, t.memory_node) for t in found if t.level == "DRAM"}
    assert pairs == {(cpu, memory) for cpu in (0, 1) for memory in (0, 1, 2)}


def test_rings_are_linked_by_the_cpus_of_their_memory() -> None:
    groups = Latency().plan(LatencyParameters(pages="4k"), three_nodes())
    linkers = {
        (target.cpu_node, target.memory_node): list(group.linkers)
        for group in groups
        for target in group.targets
        if target.level == "DRAM"
    }
    assert linkers == {
        (0, 0): [0, 1, 2, 3],
        (0, 1): [4, 5, 6, 7],
        (0, 2): [0, 1, 2, 3],
        (1, 0): [0, 1, 2, 3],
        (1, 1): [4, 5, 6, 7],
        (1, 2): [4, 5, 6, 7],
    }


def test_huge_and_base_pages_are_both_measured_unless_one_is_asked_for() -> None:
    system = a_system(1 << 40)
    assert {t.pages for t in targets(LatencyParameters(), system)} == {"thp", "4k"}
    never = msgspec.structs.replace(system, thp="never")
    assert {t.pages for t in targets(LatencyParameters(), never)} == {"4k"}
    assert {t.pages for t in targets(LatencyParameters(pages="2m"), system)} == {"2m"}


def test_more_than_one_thread_is_refused() -> None:
    with pytest.raises(RequestError, match="one thread at a time"):
        Latency().plan(build(LatencyParameters, threads="2"), detect())


def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Latency(), detect()
    parameters = build(LatencyParameters, pages="4k")
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            assert sample.cycles_per_ns is not None
            assert sample.cycles_per_ns > 0
            assert point.accesses > 0
            assert point.actual.get("pages") in {"4k", "64k", None}


def test_points_of_a_nodes_memory_ask_for_it() -> None:
    nodes = [Node(node=n, cpus=[0], bytes=1 << 34, distances={}) for n in range(2)]
    system = msgspec.structs.replace(a_system(1 << 40), nodes=nodes)
    groups = Latency().plan(LatencyParameters(pages="4k"), system)
    requested = [point.requested for group in groups for point in group.points]
    assert {
        one.get("memory_node"): one.get("memory") for one in requested if one["level"] == "DRAM"
    } == {
        0: "node:0",
        1: "node:1",
    }
