"""What experiments on a GPU's memory share: the device, what is known of it, what is refused.

An experiment that can measure a GPU has a second class in a file gpu.py, with the same name and
parameters, which `registry` gives where the requested memory is a GPU's. Its points request that
memory and no threads; what they record as actual is the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memgauge.model.errors import RequestError
from memgauge.model.parameters import HOST_OPTIONS, CommonParameters, fields_of
from memgauge.model.points.gpu import GpuDevice
from memgauge.system.gpu.driver import gpu_driver

if TYPE_CHECKING:
    from memgauge import _core
    from memgauge.model.record_kinds.fields import Scalar

BY_EVENTS = "device events"
"""How most are timed: the device stamps the begin and the end of each launch."""
BY_TIMER = "device timer"
"""Or within a kernel, by the device's global timer."""

UNKNOWN_L2_BYTES = 64 << 20
"""Taken for the second-level cache where the driver does not report it: as large as those of
today's largest GPUs, so that what must not fit in it does not."""

_TRANSFERS_PER_CLOCK = 2
"""All memories of GPUs in use transfer on both edges of the clock that the driver reports."""


def gpu_facts(gpu: _core.Gpu, timed_by: str = BY_EVENTS) -> dict[str, Scalar]:
    """The recorded `GpuDevice` of a point."""
    facts = gpu.facts
    return GpuDevice(
        gpu=facts.name,
        gpu_uuid=facts.uuid,
        gpu_bus_id=facts.bus_id,
        compute=facts.compute,
        multiprocessors=facts.multiprocessors,
        l2_bytes=facts.l2_bytes,
        memory_bytes=facts.memory_bytes,
        memory_clock_khz=facts.memory_clock_khz,
        bus_bits=facts.bus_bits,
        theoretical_bytes_per_s=theoretical_bytes_per_s(facts),
        ecc=facts.ecc,
        mig=facts.mig,
        cuda=gpu_driver().version,
        compiler=f"NVRTC {gpu.compiler_version}",
        timed_by=timed_by,
    ).recorded()


def theoretical_bytes_per_s(facts: _core.GpuFacts) -> float | None:
    """Of the memory's clock and bus width as the driver reports them; None of a MIG instance.

    An instance has part of the bus, and the driver reports the width of all of it.
    """
    if facts.mig or not facts.memory_clock_khz or not facts.bus_bits:
        return None
    return _TRANSFERS_PER_CLOCK * facts.memory_clock_khz * 1e3 * facts.bus_bits / 8


def refuse_host_options(parameters: CommonParameters, further: Iterable[str] = ()) -> None:
    """Refuse what was requested of the host and means nothing to kernels of a GPU.

    Args:
        parameters: as requested.
        further: fields of this experiment that are refused too.

    Raises:
        RequestError: one of them was given; names it.
    """
    refused = {*HOST_OPTIONS, *further}
    for field in fields_of(type(parameters)):
        value = getattr(parameters, field.name)
        if field.name in refused and value != field.value(field.default):
            raise RequestError(
                f"{field.flag}: does not apply to {parameters.memory}, whose kernels run on the "
                f"GPU; leave {field.flag} out"
            )
