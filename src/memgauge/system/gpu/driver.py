"""The GPU driver and its devices, started and opened on first use, once per process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from memgauge.model.errors import RequestError
from memgauge.model.memory import on_gpu
from memgauge.system.gpu.libraries import cuda_driver_file, nvrtc_file

if TYPE_CHECKING:
    from memgauge import _core
    from memgauge.model.memory import MemoryPlacement


def gpu_driver() -> _core.GpuDriver:
    """The driver, started if necessary, which can take a second.

    Raises:
        RequestError: there is no driver, it is too old, or it cannot be started.
    """
    return _driver()


def is_started() -> bool:
    """Whether this process has started the driver successfully."""
    return _driver.cache_info().currsize > 0


def device_facts(placement: MemoryPlacement) -> _core.GpuFacts:
    """A device as the driver describes it; it is not opened.

    Raises:
        RequestError: there is no such device, or it cannot be used; the message lists the devices.
    """
    devices = {one.index: one for one in gpu_driver().devices}
    facts = None if placement.device is None else devices.get(placement.device)
    if facts is None:
        raise RequestError(f"memory {placement}: {_none_such(list(devices.values()))}")
    if facts.error:
        name = facts.name or "the device"
        raise RequestError(f"memory {placement}: {name} cannot be used: {facts.error}")
    return facts


def opened_gpu(placement: MemoryPlacement) -> _core.Gpu:
    """A device, opened for the rest of this process.

    Raises:
        RequestError: no driver, no such device, or nothing that compiles for it.
    """
    return _gpu(device_facts(placement).index)


def _none_such(devices: list[_core.GpuFacts]) -> str:
    if not devices:
        return (
            "the driver reports no device; check whether CUDA_VISIBLE_DEVICES hides them, and "
            "what nvidia-smi -L lists"
        )
    listed = ", ".join(f"{on_gpu(one.index)} ({one.name})" for one in devices)
    return f"the driver reports no such device; choose from {listed}, or set CUDA_VISIBLE_DEVICES"


@cache
def _driver() -> _core.GpuDriver:
    from memgauge import _core

    return _core.GpuDriver(cuda_driver_file())


@cache
def _gpu(device: int) -> _core.Gpu:
    from memgauge import _core

    driver = gpu_driver()
    return _core.Gpu(driver, device, nvrtc_file(driver.version))
