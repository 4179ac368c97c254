"""How many sets of arrays there are, how often they are executed, and which sizes fit the time."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge.experiments.stream.counted import REGION_S
from memgauge.experiments.traffic.cold import (
    LARGE,
    LEAST_REGIONS,
    MOST_STAMPS,
    PASSES,
    REGIONS,
    Region,
    caches_bytes,
    region_for,
    regions_within,
    repetitions_for,
    sets_for,
    study_repetitions,
)
from memgauge.model.system import Cache, System
from memgauge.system.topology.placement import UNKNOWN_CACHE_BYTES

MIB = 1 << 20


def with_l2(system: System, bytes_: int) -> System:
    private = [
        Cache(level=2, type="unified", bytes=bytes_, line_bytes=64, ways=8, sets=None, cpus=[n])
        for n in range(len(system.cpus))
    ]
    return msgspec.structs.replace(system, caches=[*private, *system.caches])


def test_caches_of_every_level_in_front_of_the_threads_count_once() -> None:
    system = with_l2(a_machine(4, llc_bytes=32 * MIB, sockets=2), MIB)
    assert caches_bytes([0], system) == 33 * MIB
    assert caches_bytes([0, 1], system) == 34 * MIB
    assert caches_bytes([0, 4], system) == 66 * MIB


def test_slices_that_are_lent_count_too() -> None:
    system = with_l2(a_machine(4, llc_bytes=10 * MIB, sockets=2), MIB)
    system = msgspec.structs.replace(system, architecture="ppc64le")
    assert caches_bytes([0], system) == 28 * MIB


def test_hidden_caches_are_assumed_to_be_large() -> None:
    system = msgspec.structs.replace(a_machine(2), caches=[])
    assert caches_bytes([0], system) == UNKNOWN_CACHE_BYTES


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("set_bytes", [1000, 96 << 10, MIB, 15 * MIB, 31 * MIB])
def test_twice_the_caches_pass_between_two_uses_of_a_set(set_bytes: int, threads: int) -> None:
    sets = sets_for([set_bytes], threads, range(threads), a_machine(4))
    assert sets.copies == sets.wanted
    assert sets.bytes == set_bytes * threads
    others = (sets.copies - 1) * sets.bytes
    assert others >= PASSES * sets.caches_bytes
    assert others < PASSES * sets.caches_bytes + sets.bytes
    assert sets.lead_in * sets.bytes >= sets.caches_bytes


def test_a_large_set_is_enough_alone() -> None:
    system = a_machine(1, llc_bytes=MIB)
    assert sets_for([LARGE * MIB - 1], 1, [0], system).copies == 2
    assert sets_for([LARGE * MIB // 2] * 2, 1, [0], system).copies == 1


def test_short_memory_has_fewer_sets_and_never_none() -> None:
    system = a_machine(1, available_bytes=64 * MIB)
    few = sets_for([MIB], 1, [0], system)
    assert few.copies < few.wanted
    assert 15 * MIB < few.pool_bytes <= 16 * MIB
    none = sets_for([60 * MIB], 1, [0], system)
    assert (none.copies, none.wanted) == (1, 3)


def test_small_arrays_take_whole_pages() -> None:
    sets = sets_for([512, 512, 512], 2, [0, 1], a_machine(2))
    assert sets.bytes == 2 * 3 * 512
    assert sets.laid_out_bytes >= 2 * 3 * 4096
    assert sets.pool_bytes == sets.copies * sets.laid_out_bytes


@pytest.mark.parametrize(
    ("size", "count"), [(64, 498), (467, 399), (1024, 262), (2047, 10), (2048, 10), (10**6, 10)]
)
def test_the_study_s_formula(size: int, count: int) -> None:
    assert study_repetitions(size) == count
    assert repetitions_for("study", size, 1, 1.0) == count


@pytest.mark.parametrize("execution_s", [1e-7, 1e-5, 1e-3, 0.03, 0.2, 9.0])
@pytest.mark.parametrize("threads", [1, 2, 64, 256])
def test_a_region_lasts_the_target_as_far_as_stamps_allow(execution_s: float, threads: int) -> None:
    found = repetitions_for("auto", 64, threads, execution_s)
    lasts = found * execution_s
    assert lasts >= REGION_S or found in {MOST_STAMPS // threads, 99}
    assert lasts < REGION_S + execution_s
    assert found >= 1


def test_a_number_of_repetitions_is_that_number() -> None:
    assert repetitions_for(37, 64, 1, 1e-7) == 37


@pytest.mark.parametrize("execution_s", [1e-6, 1e-3, 0.2, 9.0])
def test_a_lead_in_takes_no_longer_than_a_few_regions(execution_s: float) -> None:
    region = region_for("auto", 64, 1, execution_s, lead_in=10_000)
    assert region.lead_in >= 1
    assert region.lead_in * execution_s <= 4 * max(REGION_S, region.seconds) * 1.001
    assert region.pass_s > region.seconds


def test_a_long_lead_in_serves_several_regions() -> None:
    assert region_for("auto", 64, 1, 1e-3, lead_in=10).together == 1
    assert region_for("auto", 64, 1, 0.1, lead_in=3).together == 3
    assert region_for("auto", 64, 1, 0.04, lead_in=100).together <= LEAST_REGIONS


def region_of(pass_s: float, together: int = 1) -> Region:
    """Whose sampling passes take so long."""
    executions = 1 + 4 * together + 1  # with a quarter of an idle time as long as a region
    return Region(lead_in=1, repetitions=4, together=together, execution_s=pass_s / executions)


def test_cheap_sizes_leave_their_time_to_the_others() -> None:
    requested = [region_of(seconds) for seconds in (0.1, 0.1, 3.0)]
    assert regions_within(requested, 30.0) == [REGIONS, REGIONS, 9]


@pytest.mark.parametrize("together", [1, 2, 4, 6])
@pytest.mark.parametrize("pass_s", [0.01, 0.5, 1.0, 1.6, 1.7, 3.4, 5.0, 11.0, 14.0])
def test_a_size_has_enough_regions_or_none(pass_s: float, together: int) -> None:
    region = region_of(pass_s, together)
    assert region.pass_s == pytest.approx(pass_s)
    (found,) = regions_within([region], 10.0)
    assert found % together == 0
    assert found == 0 or LEAST_REGIONS <= found <= REGIONS
    assert found // together * pass_s <= 10.0
    assert (found == 0) == (region.least_s > 10.0)


@pytest.mark.parametrize("runs", [1, 2, 5, 7, 50])
def test_as_many_regions_as_were_requested(runs: int) -> None:
    region = region_for("auto", 64, 1, 0.04, lead_in=100, runs=runs)
    assert runs % region.together == 0
    assert regions_within([region], 1e9, runs) == [runs]
    assert regions_within([region], 0.99 * region.least_s, runs) == [0]
    (some,) = regions_within([region], 1.01 * region.least_s, runs)
    assert min(runs, LEAST_REGIONS) <= some <= runs


def test_what_is_left_out_takes_nothing_from_the_rest() -> None:
    found = regions_within([region_of(seconds) for seconds in (0.2, 100.0, 1.0, 0.2)], 20.0)
    assert found[1] == 0
    assert found[0] == found[3] == REGIONS
    assert LEAST_REGIONS <= found[2] <= REGIONS
