"""Dependent loads in a GPU's memory, on a stand-in that counts them."""

import signal

import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn

from memgauge._core import Gpu, GpuChase, GpuDriver, clock_now_ns
from memgauge.model.errors import RequestError, SystemFailure

pytestmark = pytest.mark.native

ORDERS: list[dict[str, object]] = [
    {},
    {"seed": 2},
    {"order": "stride"},
    {"order": "block-random", "block_bytes": 4096},
    {"order": "block-random", "block_bytes": 1 << 30},
]


@pytest.mark.parametrize("requested", ORDERS)
def test_a_ring_visits_every_node_once(
    gpu_stand_in: GpuStandIn, requested: dict[str, object]
) -> None:
    files = gpu_stand_in.files()
    gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
    for size in (256, 100_000, 1 << 20):
        chase = GpuChase(gpu, size, **requested)  # type: ignore[arg-type]
        assert chase.nodes == size // 128
        assert chase.is_single_cycle()


def test_hops_are_as_many_as_asked_and_sweeps_read_all_of_it(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
    chase = GpuChase(gpu, 1 << 16, through="l2")
    chase.run(1)  # the clocks' kernels are compiled
    before = files.totals()
    walk = chase.run(1003, warm_hops=17, iterations=3)
    hops = 17 + 3 * 1003
    found = files.totals().kernel_read_bytes - before.kernel_read_bytes
    assert found == 8 * (hops + 1)  # and where to begin
    assert len(walk.cycles) == len(walk.slice.threads[0].begin_ns) == 3
    before = files.totals()
    chase.run(1, sweeps=2)
    swept = files.totals().kernel_read_bytes - before.kernel_read_bytes - 16
    assert swept == 2 * 8 * (1 << 16) // 32  # 8 bytes of each sector


@pytest.mark.parametrize("step", [32, 1024])
def test_times_are_those_inside_the_kernel(gpu_stand_in: GpuStandIn, step: int) -> None:
    ns_per_byte = 12.5  # 100 ns for each hop
    files = gpu_stand_in.files(
        clock="scripted", kernel_ns_per_byte=ns_per_byte, globaltimer_step_ns=step
    )
    gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
    chase = GpuChase(gpu, 1 << 20)
    before = clock_now_ns()
    walk = chase.run(10_000, warm_hops=5_000, iterations=2)
    assert walk.timer_resolution_ns == step
    (thread,) = walk.slice.threads
    for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True):
        assert end - begin == pytest.approx(10_000 * 8 * ns_per_byte, abs=4 * step)
    assert gpu.clock_error_ns is not None
    assert thread.begin_ns[0] >= before - gpu.clock_error_ns
    assert walk.cycles_per_ns == pytest.approx(1.0, rel=0.02)  # the stand-in's 1 GHz
    assert chase.run(1).cycles_per_ns is None


def test_a_ring_that_makes_no_sense_is_refused(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
    with pytest.raises(RequestError, match="has not two nodes 128 bytes apart"):
        GpuChase(gpu, 255)
    with pytest.raises(RequestError, match="ask for a power of two from 8"):
        GpuChase(gpu, 4096, 96)
    with pytest.raises(RequestError, match="choose among l1, l2"):
        GpuChase(gpu, 4096, through="l3")
    with pytest.raises(RequestError, match="blocks of 100 bytes do not fit"):
        GpuChase(gpu, 4096, order="block-random", block_bytes=100)
    with pytest.raises(RequestError, match="blocks of 256 bytes do not fit"):
        GpuChase(gpu, 4096, block_bytes=256)
    with pytest.raises(RequestError, match="at least one hop"):
        GpuChase(gpu, 4096).run(0)


def test_a_timer_that_stands_still_is_told(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files(globaltimer_step_ns=10**18)
    gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
    with pytest.raises(SystemFailure, match=r"cuda:0: its %globaltimer stands still"):
        GpuChase(gpu, 4096)


def test_a_signal_ends_a_walk_when_its_kernel_has_ended(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    chase = GpuChase(Gpu(GpuDriver(files.driver), 0, files.compiler), 4096)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(KeyboardInterrupt):
            chase.run(20_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert len(chase.run(10).cycles) == 1
    assert chase.is_single_cycle()
