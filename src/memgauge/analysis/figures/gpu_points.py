"""Points that were measured by a GPU in its own memory, and what they record about it."""

from __future__ import annotations

from collections.abc import Iterable

from memgauge.model.memory import names_gpu
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.points.memory import RequestedMemory
from memgauge.model.records import Point

GPU_MEMORY = "device memory"
WHOLE = "whole GPU"
"""Who moves bytes, where the host has a number of threads."""


def gpu_of(point: Point) -> str:
    """The GPU's memory that the point was measured in, such as `cuda:0`; empty: the host's."""
    memory = RequestedMemory.of(point.requested).memory
    return memory if names_gpu(memory) else ""


def gpu_name(points: Iterable[Point]) -> str:
    """What the driver calls the GPU of these points, such as `NVIDIA H100`; empty: none."""
    names = (GpuDevice.of(point.actual).gpu or gpu_of(point) for point in points)
    return next((name for name in names if name), "")


def l2_bytes(points: Iterable[Point]) -> int | None:
    """The second-level cache that the driver claims of the GPU; None: it does not report it."""
    known = (GpuDevice.of(point.actual).l2_bytes for point in points)
    return next((size for size in known if size and size > 0), None)


def gpu_peak_gb_per_s(points: Iterable[Point]) -> float | None:
    """Theoretical bandwidth of the GPU's memory, by its clock and bus; None: not known."""
    known = (GpuDevice.of(point.actual).theoretical_bytes_per_s for point in points)
    return next((rate * 1e-9 for rate in known if rate and rate > 0), None)
