"""What is read of NVIDIA GPUs: figures as data, each with the ways to read it, best first.

Source: NVIDIA, NVML API Reference Guide; numbers of fields from its section "Field Value Enums".
"""

from __future__ import annotations

import msgspec

from memgauge.model.counting.events import Quantity

SOURCE = "NVIDIA, NVML API Reference Guide"
ALL_LINKS = 0xFFFFFFFF
"""A field's scope that means the sum over all NVLinks."""


class QueryMethod(msgspec.Struct, frozen=True):
    """One way to ask the library."""

    call: str
    """A call of `_core.NvmlQuery`."""
    encoding: str
    note: str = ""
    """What this way means, where ways differ."""
    argument: int = 0
    scope: int = 0


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a GPU."""

    name: str
    quantity: Quantity
    unit: str
    scale: float
    gauge: bool
    meaning: str
    ways: tuple[QueryMethod, ...]
    pitfalls: tuple[str, ...] = ()


def _field(number: int, name: str, note: str = "", scope: int = 0) -> QueryMethod:
    encoding = f"nvmlDeviceGetFieldValues: NVML_FI_DEV_{name} ({number})"
    return QueryMethod("field", encoding, note, argument=number, scope=scope)


_PCIE = "counted since the driver was loaded; some drivers count in 32 bits, which is taken care of"
_NVLINK = "data without protocol overhead; counted in KiB"


def _total(name: str, quantity: Quantity, meaning: str, way: QueryMethod) -> Figure:
    over_nvlink = way.scope == ALL_LINKS
    return Figure(
        name=name,
        quantity=quantity,
        unit="B",
        scale=1024.0 if over_nvlink else 1.0,
        gauge=False,
        meaning=meaning,
        ways=(way,),
        pitfalls=(_NVLINK if over_nvlink else _PCIE,),
    )


FIGURES = (
    Figure(
        name="power",
        quantity="power",
        unit="W",
        scale=1e-3,
        gauge=True,
        meaning="power of the whole board",
        ways=(
            _field(186, "POWER_INSTANT", "instantaneous"),
            _field(185, "POWER_AVERAGE", "an average over one second: phases are smeared"),
            QueryMethod(
                "power",
                "nvmlDeviceGetPowerUsage",
                "an average over one second on Ampere (but GA100) and newer: phases are smeared",
            ),
        ),
        pitfalls=("to integrate, take differences of energy instead",),
    ),
    Figure(
        name="energy",
        quantity="energy",
        unit="J",
        scale=1e-3,
        gauge=False,
        meaning="energy of the whole board since the driver was loaded, counted in mJ",
        ways=(QueryMethod("energy", "nvmlDeviceGetTotalEnergyConsumption"),),
        pitfalls=("starts at zero when the driver is loaded anew; Volta and newer",),
    ),
    Figure(
        name="sm_clock",
        quantity="frequency",
        unit="Hz",
        scale=1e6,
        gauge=True,
        meaning="clock of the streaming multiprocessors, in whole MHz",
        ways=(QueryMethod("clock", "nvmlDeviceGetClockInfo: NVML_CLOCK_SM", argument=1),),
    ),
    Figure(
        name="memory_clock",
        quantity="frequency",
        unit="Hz",
        scale=1e6,
        gauge=True,
        meaning="clock of the GPU's memory, in whole MHz",
        ways=(QueryMethod("clock", "nvmlDeviceGetClockInfo: NVML_CLOCK_MEM", argument=2),),
    ),
    Figure(
        name="memory_used",
        quantity="used_bytes",
        unit="B",
        scale=1.0,
        gauge=True,
        meaning="GPU memory in use by all processes, and what the driver reserves for itself",
        ways=(QueryMethod("memory_used", "nvmlDeviceGetMemoryInfo: used"),),
    ),
    _total(
        "pcie_received_bytes",
        "received_bytes",
        "bytes that the GPU received over PCIe",
        _field(198, "PCIE_COUNT_RX_BYTES"),
    ),
    _total(
        "pcie_sent_bytes",
        "sent_bytes",
        "bytes that the GPU sent over PCIe",
        _field(197, "PCIE_COUNT_TX_BYTES"),
    ),
    _total(
        "nvlink_received_bytes",
        "received_bytes",
        "bytes that the GPU received over all its NVLinks",
        _field(139, "NVLINK_THROUGHPUT_DATA_RX", scope=ALL_LINKS),
    ),
    _total(
        "nvlink_sent_bytes",
        "sent_bytes",
        "bytes that the GPU sent over all its NVLinks",
        _field(138, "NVLINK_THROUGHPUT_DATA_TX", scope=ALL_LINKS),
    ),
    Figure(
        name="gpu_utilisation",
        quantity="utilisation",
        unit="",
        scale=0.01,
        gauge=True,
        meaning="share of the last sample period in which a kernel ran, whatever part it used",
        ways=(QueryMethod("gpu_utilisation", "nvmlDeviceGetUtilizationRates: gpu"),),
        pitfalls=("sample period of 1/6 to 1 second, by product; 1 means busy, not well used",),
    ),
    Figure(
        name="memory_utilisation",
        quantity="utilisation",
        unit="",
        scale=0.01,
        gauge=True,
        meaning="share of the last sample period in which GPU memory was read or written",
        ways=(QueryMethod("memory_utilisation", "nvmlDeviceGetUtilizationRates: memory"),),
        pitfalls=("a share of time, not of bandwidth",),
    ),
    Figure(
        name="temperature",
        quantity="temperature",
        unit="°C",
        scale=1.0,
        gauge=True,
        meaning="temperature of the GPU's die",
        ways=(QueryMethod("temperature", "nvmlDeviceGetTemperature: NVML_TEMPERATURE_GPU"),),
    ),
)
