"""Which walks `misses` makes, and that each is measured as planned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.analysis.runs import cache

from memgauge.experiments.misses.host import Misses, MissesParameters
from memgauge.experiments.misses.plan import (
    MEMORY,
    PAGE_BYTES,
    flushed,
    memory_footprint,
    rings,
    walks,
)
from memgauge.experiments.shared.powers_of_two import power_below
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build
from memgauge.model.system import Cache
from memgauge.system.detect import detect
from memgauge.system.topology.placement import LINE_BYTES

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PLENTY = 64 * GIB


def caches(l1: int = 48 * KIB, l2: int = MIB, l3: int = 32 * MIB) -> dict[int, Cache]:
    return {1: cache(1, l1, [0], "data"), 2: cache(2, l2, [0]), 3: cache(3, l3, [0])}


def test_every_level_is_walked_in_three_patterns_over_one_footprint() -> None:
    found = walks(caches(), 128 * MIB)
    by_level: dict[str, list[str]] = {}
    for walk in found:
        by_level.setdefault(f"{walk.level} {walk.footprint_bytes}", []).append(walk.pattern)
    usual = ["sequential", "stride", "random"]
    assert by_level == {
        f"L1 {16 * KIB}": usual,
        f"L2 {128 * KIB}": usual,
        f"L3 {4 * MIB}": usual,
        f"DRAM {128 * MIB}": [*usual, "stride"],
    }
    assert len({walk.name for walk in found}) == len(found)


@given(
    st.integers(13, 18).map(lambda power: 3 << power),
    st.integers(19, 24).map(lambda power: 5 << power),
    st.integers(24, 29).map(lambda power: 3 << power),
)
def test_footprints_lie_in_their_levels_and_slots_are_powers_of_two(
    l1: int, l2: int, l3: int
) -> None:
    here = caches(l1, l2, l3)
    memory = memory_footprint(here, None, PLENTY)
    for walk in [*walks(here, memory), *walks(here, memory, fine=True)]:
        assert walk.footprint_bytes == power_below(walk.footprint_bytes)
        assert walk.slots == power_below(walk.slots)
        assert 0 <= walk.warm_accesses <= walk.slots
        if walk.level == MEMORY:
            assert walk.footprint_bytes >= 2 * l3
        else:
            number = int(walk.level[1])
            assert walk.footprint_bytes <= here[number].bytes
            assert number == 1 or walk.footprint_bytes > here[number - 1].bytes
        if walk.stride_bytes <= LINE_BYTES:
            assert walk.touched_bytes == walk.footprint_bytes


def test_a_fine_sweep_holds_the_coarse_one() -> None:
    coarse = {walk.name for walk in walks(caches(), 128 * MIB)}
    fine = [walk.name for walk in walks(caches(), 128 * MIB, fine=True)]
    assert coarse < set(fine)
    assert len(fine) == len(set(fine))
    sizes = sorted({int(name.rsplit("/", 1)[1]) for name in fine})
    assert sizes[:4] == [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB]
    assert sizes[-3:] == [16 * MIB, 64 * MIB, 128 * MIB]


def test_a_float_of_each_page_touches_few_lines() -> None:
    page = walks(caches(), 128 * MIB)[-1]
    assert page.stride_bytes == PAGE_BYTES
    assert page.name == f"misses/stride-4096/{128 * MIB}"
    assert page.touched_bytes * (PAGE_BYTES // LINE_BYTES) == page.footprint_bytes


def test_hidden_levels_are_left_out() -> None:
    only = {1: caches()[1]}
    assert {walk.level for walk in walks(only, 128 * MIB)} == {"L1", MEMORY}
    assert [ring.level for ring in rings(only)] == ["L1"]
    assert {walk.level for walk in walks({}, 128 * MIB, fine=True)} == {MEMORY}


def test_memorys_latency_is_taken_from_flushed_lines() -> None:
    walk = flushed(walks(caches(), 128 * MIB))
    assert walk.flush
    assert walk.order == "random"
    assert walk.name == "misses/level/DRAM"
    assert walk.warm_accesses == 0


def test_memory_is_never_a_cache() -> None:
    assert memory_footprint(caches(l3=300 * MIB), None, PLENTY) == GIB
    assert memory_footprint(caches(l3=700 * MIB), None, PLENTY) == 2 * GIB
    assert memory_footprint(caches(), 100 * MIB, PLENTY) == 64 * MIB
    with pytest.raises(RequestError, match="may fit into the caches, which hold 32 MiB; use"):
        memory_footprint(caches(), 16 * MIB, PLENTY)
    with pytest.raises(RequestError, match="too little for arrays that exceed a cache of 32 MiB"):
        memory_footprint(caches(), None, 128 * MIB)


def test_more_than_one_thread_is_refused() -> None:
    with pytest.raises(RequestError, match="asked of one core"):
        Misses().plan(build(MissesParameters, threads="2"), detect())


def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Misses(), detect()
    parameters = build(MissesParameters)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            (thread,) = sample.threads
            assert sample.point == point.point
            assert thread.end_ns[0] > thread.begin_ns[0]
            assert point.quantity == "latency"
            assert point.accesses > 0
            assert point.actual["cpus"] == str(thread.cpu)
