"""The GPUs as CUPTI sees them: which ways to count are open, and by which metrics of the chip."""

from __future__ import annotations

from functools import cache

import msgspec

from memgauge import _core
from memgauge.counters.cupti.metrics import FIGURES, Figure, Metric, chosen
from memgauge.model.errors import RequestError
from memgauge.system.gpu.driver import gpu_driver
from memgauge.system.gpu.libraries import cuda_driver_file, cupti_file

WAYS = ("range", "sampling")

_PRIVILEGES = "INSUFFICIENT_PRIVILEGES"
_REFUSED = (_PRIVILEGES, "HARDWARE_BUSY", "INVALID_OPERATION")
"""Results of CUPTI that a right, or the end of another profiler, would change."""


class CountingMethod(msgspec.Struct, frozen=True, kw_only=True):
    """One way to count on one GPU."""

    metrics: dict[str, Metric] = {}
    """By name of the figure: what counts it there."""
    error: str = ""
    """Why nothing can be counted so; empty: nothing stands against it."""

    def lacks(self, figure: Figure) -> str:
        """Why a figure cannot be counted so; empty: it can."""
        if self.error:
            return self.error
        if figure.name in self.metrics:
            return ""
        return "this CUPTI knows no metric of it for this chip; a newer one may"


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU."""

    index: int
    name: str
    bus_id: str
    chip: str
    ways: dict[str, CountingMethod]

    @property
    def instance(self) -> str:
        """As counters name it."""
        return f"GPU {self.index} {self.bus_id}".rstrip()

    def reasons(self, figure: Figure) -> dict[str, str]:
        """Why it cannot be counted, by way; without those in which it can."""
        found = {way: self.ways[way].lacks(figure) for way in figure.ways}
        return {way: reason for way, reason in found.items() if reason}


def is_refused(reason: str) -> bool:
    """Whether a right, or the end of another profiler, would change it."""
    return any(result in reason for result in _REFUSED)


@cache
def library() -> _core.CuptiLibrary:
    """CUPTI for this driver, loaded once for this process. It starts the driver.

    Raises:
        RequestError: no driver, no CUPTI, or one that is too old; says what to install.
    """
    return _core.CuptiLibrary(cupti_file(gpu_driver().version), cuda_driver_file())


@cache
def devices() -> dict[int, Device]:
    """All GPUs that the driver shows, by their number there.

    Raises:
        RequestError: as `library`, or CUPTI does not start with this driver.
    """
    facts = {one.index: one for one in gpu_driver().devices}
    return {one.index: _device(one, facts.get(one.index)) for one in library().devices()}


def _device(seen: _core.CuptiDevice, facts: _core.GpuFacts | None) -> Device:
    errors = {"range": seen.range_error, "sampling": seen.sampling_error}
    if _PRIVILEGES in seen.sampling_error:
        # Ranges need the same right, and say so only once a context is there.
        errors["range"] = errors["range"] or seen.sampling_error
    return Device(
        index=seen.index,
        name=facts.name if facts else "",
        bus_id=facts.bus_id if facts else "",
        chip=seen.chip,
        ways={way: _way(seen.chip, way, errors[way]) for way in WAYS},
    )


def _way(chip: str, way: str, error: str) -> CountingMethod:
    if error or not chip:
        return CountingMethod(error=error or "CUPTI does not report the chip")
    try:
        return CountingMethod(metrics=metrics_of(library(), chip, way))
    except RequestError as refused:
        return CountingMethod(error=str(refused))


def metrics_of(host: _core.CuptiLibrary, chip: str, way: str) -> dict[str, Metric]:
    """What counts each figure on a chip, by name of the figure; no GPU is needed.

    Args:
        host: CUPTI as loaded; its host library knows the metrics of chips.
        chip: The chip's name in CUPTI.
        way: How the metrics will be counted, one of `WAYS`: `range` or `sampling`.

    Raises:
        RequestError: the library does not know the chip, or not this way for it.
    """
    requested = _core.CuptiMetrics(host, chip, way)
    names = requested.names()
    found = {figure.name: chosen(figure, names, requested.describe) for figure in FIGURES}
    return {name: metric for name, metric in found.items() if metric is not None}
