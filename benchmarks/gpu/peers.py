"""Copies by memgauge, CuPy, PyTorch and the driver itself: within a GPU, and to and from the host.

Each is timed by events of the device around copies back to back, so that what Python costs to queue
one is no part of it. A peer that is missing says why and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.gpu.driver import Driver
from memgauge import _core
from memgauge.model.memory import on_gpu
from memgauge.system.gpu.driver import opened_gpu

Copy = Callable[[int], float]
"""ns of so many copies, by the device."""
OURS = "memgauge"
VISITS = 3
"""Of each kernel before the fastest is chosen."""


def within(peer: str, device: int, size_bytes: int) -> Copy:
    """Copies from one array in device memory to another."""
    return _WITHIN[peer](device, size_bytes)


def across(peer: str, device: int, size_bytes: int, direction: str) -> Copy:
    """Copies between pinned memory of the host and the device."""
    return _ACROSS[peer](device, size_bytes, direction)


def _span_ns(taken: _core.Slice) -> float:
    thread = taken.threads[0]
    return float(thread.end_ns[-1] - thread.begin_ns[0])


def _ours_within(device: int, size_bytes: int) -> Copy:
    arrays = _core.GpuStreamArrays(opened_gpu(on_gpu(device)), size_bytes // 8)
    specs = [_core.GpuKernelSpec("copy"), *_core.gpu_tuned_specs("copy")]
    arrays.prepare(specs)
    speeds = {
        at: min(_span_ns(arrays.run(one)) for _ in range(VISITS)) for at, one in enumerate(specs)
    }
    best = specs[min(speeds, key=lambda at: speeds[at])]
    return lambda times: _span_ns(arrays.run(best, iterations=times))


def _driver_within(device: int, size_bytes: int) -> Copy:
    driver = Driver(device)
    one, other = driver.memory(size_bytes), driver.memory(size_bytes)
    return lambda times: driver.within(other, one, size_bytes, times)


def _cupy_timed(cupy: Any, device: int, work: Callable[[Any], None]) -> Copy:
    with cupy.cuda.Device(device):
        stream = cupy.cuda.Stream(non_blocking=True)
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()

    def copy(times: int) -> float:
        with cupy.cuda.Device(device), stream:
            begin.record(stream)
            for _ in range(times):
                work(stream)
            end.record(stream)
            end.synchronize()
            return float(cupy.cuda.get_elapsed_time(begin, end)) * 1e6

    return copy


def _cupy_within(device: int, size_bytes: int) -> Copy:
    cupy: Any = import_module("cupy")
    with cupy.cuda.Device(device):
        one = cupy.ones(size_bytes // 8)
        other = cupy.zeros(size_bytes // 8)
    return _cupy_timed(cupy, device, lambda _stream: cupy.copyto(other, one))


def _torch_timed(torch: Any, device: int, work: Callable[[], None]) -> Copy:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    stream = torch.cuda.Stream(device)

    def copy(times: int) -> float:
        with torch.cuda.device(device), torch.cuda.stream(stream):
            begin.record(stream)
            for _ in range(times):
                work()
            end.record(stream)
            end.synchronize()
            return float(begin.elapsed_time(end)) * 1e6

    return copy


def _torch_within(device: int, size_bytes: int) -> Copy:
    torch: Any = import_module("torch")
    one = torch.ones(size_bytes // 8, dtype=torch.float64, device=f"cuda:{device}")
    other = torch.zeros_like(one)
    torch.cuda.synchronize(device)
    return _torch_timed(torch, device, lambda: other.copy_(one))


def _ours_across(device: int, size_bytes: int, direction: str) -> Copy:
    transfers = _core.GpuTransfers(opened_gpu(on_gpu(device)), size_bytes, host="pinned")
    return lambda times: _span_ns(transfers.run(direction, size_bytes, iterations=times))


def _driver_across(device: int, size_bytes: int, direction: str) -> Copy:
    driver = Driver(device)
    there, here = driver.memory(size_bytes), driver.pinned(size_bytes)
    if direction == "host-to-device":
        return lambda times: driver.to_device(there, here, size_bytes, times)
    return lambda times: driver.to_host(here, there, size_bytes, times)


def _cupy_across(device: int, size_bytes: int, direction: str) -> Copy:
    cupy: Any = import_module("cupy")
    with cupy.cuda.Device(device):
        there = cupy.zeros(size_bytes // 8)
        here = import_module("cupyx").zeros_pinned(size_bytes // 8)
    if direction == "host-to-device":
        return _cupy_timed(cupy, device, lambda stream: there.set(here, stream=stream))
    # blocking=False: else each waits for the one before.
    return _cupy_timed(
        cupy, device, lambda stream: there.get(stream=stream, out=here, blocking=False)
    )


def _torch_across(device: int, size_bytes: int, direction: str) -> Copy:
    torch: Any = import_module("torch")
    there = torch.zeros(size_bytes // 8, dtype=torch.float64, device=f"cuda:{device}")
    here = torch.zeros(size_bytes // 8, dtype=torch.float64).pin_memory()
    torch.cuda.synchronize(device)
    into, given = (there, here) if direction == "host-to-device" else (here, there)
    return _torch_timed(torch, device, lambda: into.copy_(given, non_blocking=True))


_WITHIN: dict[str, Callable[[int, int], Copy]] = {
    OURS: _ours_within,
    "driver": _driver_within,
    "CuPy": _cupy_within,
    "PyTorch": _torch_within,
}
_ACROSS: dict[str, Callable[[int, int, str], Copy]] = {
    OURS: _ours_across,
    "driver": _driver_across,
    "CuPy": _cupy_across,
    "PyTorch": _torch_across,
}
PEERS = tuple(_WITHIN)
