"""The GPUs that a run measured, as parts of its machine."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.section import Table
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.records import Point
from memgauge.model.units import format_bytes


def gpu_titles(points: Iterable[Point]) -> list[str]:
    """Each as `NVIDIA H100 (cuda:0, 0000:3b:00.0)`; or the number alone, if that is all."""
    return [_title(memory, device) for memory, device in _gpus(points).items()]


def with_gpus(table: Table, points: Iterable[Point]) -> Table:
    """The table of a machine, with what the driver reported about each GPU that was measured."""
    rows = [row for memory, device in _gpus(points).items() for row in _rows(memory, device)]
    return msgspec.structs.replace(table, rows=[*table.rows, *rows]) if rows else table


def _gpus(points: Iterable[Point]) -> dict[str, GpuDevice]:
    """Devices by memory; of several points that of the first that names its device."""
    found: dict[str, GpuDevice] = {}
    for point in points:
        memory = gpu_of(point)
        if memory and not (memory in found and found[memory].gpu):
            found[memory] = GpuDevice.of(point.actual)
    return found


def _title(memory: str, device: GpuDevice) -> str:
    if not device.gpu:
        return memory
    return f"{device.gpu} ({', '.join(filter(None, (memory, device.gpu_bus_id)))})"


def _rows(memory: str, device: GpuDevice) -> list[list[str | float | int | bool | None]]:
    if not device.gpu:
        return []
    rate = device.theoretical_bytes_per_s
    identity = (device.gpu_bus_id, device.gpu_uuid)
    return [
        [f"GPU {memory}", ", ".join([device.gpu, *_size(device)])],
        [f"{memory} is", ", ".join(filter(None, identity))],
        [
            f"{memory} theoretical bandwidth",
            "not reported by the driver" if rate is None else f"{rate / 1e9:.1f} GB/s",
        ],
        [f"{memory} driver", ", ".join(filter(None, (f"CUDA {device.cuda}", device.compiler)))],
    ]


def _size(device: GpuDevice) -> list[str]:
    known = [
        f"compute capability {device.compute}" if device.compute else "",
        f"{device.multiprocessors} multiprocessors" if device.multiprocessors else "",
        f"{format_bytes(device.memory_bytes)} of memory" if device.memory_bytes else "",
        f"L2 {format_bytes(device.l2_bytes)}" if device.l2_bytes else "",
        {True: "ECC on", False: "ECC off", None: ""}[device.ecc],
        "a MIG instance" if device.mig else "",
    ]
    return [part for part in known if part]
