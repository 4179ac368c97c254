"""What points that a GPU measures record about it."""

from __future__ import annotations

from memgauge.model.points.facts import Facts


class GpuDevice(Facts, frozen=True, kw_only=True):
    """The device as its driver describes it; missing: the driver does not report it."""

    gpu: str = ""
    """Its name, such as `NVIDIA H100`."""
    gpu_uuid: str = ""
    gpu_bus_id: str = ""
    compute: str = ""
    """Compute capability, such as 9.0."""
    multiprocessors: int | None = None
    l2_bytes: int | None = None
    memory_bytes: int | None = None
    memory_clock_khz: int | None = None
    bus_bits: int | None = None
    theoretical_bytes_per_s: float | None = None
    """Of its memory, by clock and bus width; missing also of a MIG instance."""
    ecc: bool | None = None
    mig: bool | None = None
    """It is a MIG instance: a part of a GPU."""
    cuda: str = ""
    """Version of the driver's interface."""
    compiler: str = ""
    timed_by: str = ""
    """What stamps the begin and the end of what is timed."""
