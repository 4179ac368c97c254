"""Which rings are walked on a GPU, what they hit, and for how long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.fake_gpu import MIB, FakeGpu, install
from tests.unit.experiments.machines import a_machine

from memgauge.analysis.figures.speeds import elapsed_ns
from memgauge.experiments.latency.gpu import (
    L1_BYTES,
    MEMORY_NODE_BYTES,
    GpuLatency,
    memory_footprint,
    walks,
)
from memgauge.experiments.shared.gpu_walks import (
    LINE_BYTES,
    MOST_REPETITIONS,
    PAGE_BYTES,
    TIMER_SHARE,
    repetitions,
)
from memgauge.experiments.shared.rings import LatencyParameters
from memgauge.experiments.workingset.gpu import largest_on_gpu
from memgauge.experiments.workingset.plan import WorkingsetParameters
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build

SYSTEM = a_machine(2)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    made = FakeGpu()
    install(monkeypatch, made)
    return made


def requested(**given: str) -> LatencyParameters:
    return build(LatencyParameters, memory="cuda:0", **given)


def test_each_level_is_walked_past_those_before_it() -> None:
    found = walks(FakeGpu().facts)
    assert [walk.name for walk in found] == [
        "latency/L1/random",
        "latency/L2/random",
        "latency/DRAM/block-random",
        "latency/DRAM/random",
    ]
    first, second, *memory = found
    assert (first.through, first.footprint_bytes) == ("l1", L1_BYTES)
    assert first.warm_hops >= L1_BYTES // LINE_BYTES, "all of it is in the L1 before"
    assert (second.through, second.footprint_bytes) == ("l2", 50 * MIB // 8)
    assert second.sweeps
    for walk in memory:
        lines = walk.footprint_bytes // walk.node_bytes
        assert lines * LINE_BYTES >= 3 * 50 * MIB, "no line is still there when it comes round"
        assert (walk.through, walk.sweeps) == ("l2", 0)
        largest = largest_on_gpu(build(WorkingsetParameters), FakeGpu().facts)
        assert walk.footprint_bytes == largest, "translation costs both as much"


@given(
    st.one_of(st.none(), st.integers(1 << 18, 1 << 28)),
    st.integers(16 * MIB, 1 << 38),
)
def test_a_ring_in_memory_is_whole_pages_and_no_more_than_a_part_of_it(
    l2_bytes: int | None, memory_bytes: int
) -> None:
    facts = FakeGpu(l2_bytes=l2_bytes, memory_bytes=memory_bytes).facts
    size = memory_footprint(facts)
    assert size % PAGE_BYTES == 0
    assert PAGE_BYTES <= size <= max(PAGE_BYTES, memory_bytes // 16)
    for walk in walks(facts):
        assert walk.footprint_bytes >= 2 * walk.node_bytes


def test_a_point_says_what_was_walked_and_by_what(gpu: FakeGpu) -> None:
    parameters = requested()
    (group,) = GpuLatency().plan(parameters, SYSTEM)
    assert group.bytes == sum(walk.footprint_bytes for walk in walks(gpu.facts))
    with GpuLatency().open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        for point in bench.points:
            assert (point.threads, point.requested["memory"]) == (1, "cuda:0")
            assert "threads" not in point.requested
            assert "pages" not in point.requested
            assert point.actual["gpu"] == "NVIDIA Example"
            (sample,) = bench.measure(point.point, 7)
            (thread,) = sample.threads
            assert thread.end_ns[0] - thread.begin_ns[0] == 100 * point.accesses
            assert (sample.round, sample.cycles_per_ns) == (7, 1.7)
        assert bench.points[-1].requested["node_bytes"] == MEMORY_NODE_BYTES
        assert bench.points[0].actual["nodes"] == L1_BYTES // LINE_BYTES
    assert gpu.closed == len(group.points)


@given(st.integers(1, 10**9), st.integers(1, 10**6))
def test_a_walk_is_repeated_until_the_timers_step_is_small(elapsed: int, step: int) -> None:
    times = repetitions(elapsed, step)
    assert 1 <= times <= MOST_REPETITIONS
    if times < MOST_REPETITIONS:
        assert step <= TIMER_SHARE * elapsed * times * (1 + 1e-9)
    assert times == 1 or step > TIMER_SHARE * elapsed * (times - 1)


def test_a_timer_that_stays_too_coarse_is_said(gpu: FakeGpu) -> None:
    gpu.resolution_ns, gpu.ns_per_hop = 1_000_000, 1.0
    parameters = requested()
    (group,) = GpuLatency().plan(parameters, SYSTEM)
    with GpuLatency().open(group, parameters) as bench:
        (sample,) = bench.measure("latency/DRAM/random", 0)
        (warning,) = GpuLatency().check(bench.points[-1], [elapsed_ns(sample) or 0], SYSTEM)
        assert gpu.chases[-1].runs[-1][2] == MOST_REPETITIONS
    assert warning.code == "timer-coarse"
    assert "steps of 1000000 ns" in warning.message


def test_an_l2_that_the_driver_does_not_tell_is_left_out_and_said_once(gpu: FakeGpu) -> None:
    gpu.l2_bytes = None
    parameters = requested()
    (group,) = GpuLatency().plan(parameters, SYSTEM)
    assert [p.requested["level"] for p in group.points] == ["L1", "DRAM", "DRAM"]
    with GpuLatency().open(group, parameters) as bench:
        said = [w for p in bench.points for w in GpuLatency().check(p, [], SYSTEM)]
    assert [warning.code for warning in said] == ["l2-unknown"]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("given", "flag"),
    [({"threads": "1"}, "--threads"), ({"cpus": "0"}, "--cpus"), ({"pages": "4k"}, "--pages")],
)
def test_what_says_something_of_the_host_is_refused(given: dict[str, str], flag: str) -> None:
    with pytest.raises(RequestError, match=f"{flag}: .*cuda:0"):
        GpuLatency().plan(requested(**given), SYSTEM)
