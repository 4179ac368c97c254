"""Which footprints are visited on a GPU, and how each is warmed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.fake_gpu import MIB, FakeGpu, install
from tests.unit.experiments.machines import a_machine

from memgauge.experiments.shared.gpu_walks import LINE_BYTES
from memgauge.experiments.workingset.gpu import (
    L1_AT_MOST_BYTES,
    GpuWorkingset,
    largest_on_gpu,
    walk_over,
)
from memgauge.experiments.workingset.plan import LEAST_BYTES, WorkingsetParameters, footprints
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build

SYSTEM = a_machine(2)
L2 = 50 * MIB


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    made = FakeGpu()
    install(monkeypatch, made)
    return made


def requested(**given: str) -> WorkingsetParameters:
    return build(WorkingsetParameters, memory="cuda:0", **given)


@given(st.integers(4, 1 << 20), st.integers(4, 1 << 20))
def test_footprints_ascend_in_whole_kib_and_end_with_the_largest(
    largest_kib: int, dense_kib: int
) -> None:
    sizes = footprints(largest_kib << 10, dense_kib << 10)
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == largest_kib << 10
    assert all(size % 1024 == 0 for size in sizes)
    assert all(b <= 1.5 * a for a, b in pairwise(sizes))
    assert all(b <= 1.26 * a for a, b in pairwise(sizes) if LEAST_BYTES <= b <= dense_kib << 10)


def test_the_curve_goes_to_six_times_the_l2_or_as_far_as_memory_has_room() -> None:
    facts = FakeGpu().facts
    assert largest_on_gpu(requested(), facts) == 6 * L2
    little = FakeGpu(l2_bytes=MIB, memory_bytes=64 * MIB).facts
    assert largest_on_gpu(requested(), little) == 4 * MIB
    assert largest_on_gpu(requested(largest_bytes="10MiB"), facts) == 10 * MIB
    with pytest.raises(RequestError, match=r"--largest-bytes 4.00 kB: the smallest footprint"):
        largest_on_gpu(requested(largest_bytes="4000"), facts)


def test_what_a_cache_may_hold_is_there_before_it_is_walked() -> None:
    small = walk_over(L1_AT_MOST_BYTES, L2)
    assert small.warm_hops >= L1_AT_MOST_BYTES // LINE_BYTES
    assert walk_over(2 * L2, L2).sweeps
    assert not walk_over(2 * L2 + 1024, L2).sweeps
    assert {walk_over(size, L2).through for size in (4096, L2, 6 * L2)} == {"l1"}


def test_every_footprint_is_waited_for_and_the_large_ones_are_read(gpu: FakeGpu) -> None:
    parameters = requested(largest_bytes="32MiB")
    (group,) = GpuWorkingset().plan(parameters, SYSTEM)
    walked = [p for p in group.points if p.quantity == "latency"]
    read = [p for p in group.points if p.quantity == "bandwidth"]
    sizes = {p.requested["footprint_bytes"] for p in walked}
    assert {p.requested["footprint_bytes"] for p in read} < sizes
    assert min(int(str(p.requested["footprint_bytes"])) for p in read) >= 132 * 16 * 1024
    for point in read:
        size = int(str(point.requested["footprint_bytes"]))
        assert point.bytes_counted == point.bytes_moved
        assert point.bytes_counted % size == 0
        assert 132 * 32 * MIB - size < point.bytes_counted <= 132 * 32 * MIB
    with GpuWorkingset().open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        for point in bench.points:
            (sample,) = bench.measure(point.point, 3)
            (thread,) = sample.threads
            assert thread.end_ns[0] > thread.begin_ns[0]
            assert (sample.cycles_per_ns is None) == (point.quantity == "bandwidth")
            assert point.actual["l2_bytes"] == L2
            assert point.requested["memory"] == "cuda:0"
    assert gpu.closed == len(walked) + 1


@pytest.mark.usefixtures("gpu")
def test_what_says_something_of_the_host_is_refused() -> None:
    with pytest.raises(RequestError, match=r"--pages: .*cuda:0"):
        GpuWorkingset().plan(requested(pages="thp"), SYSTEM)
